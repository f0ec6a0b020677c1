//! Text that knows, byte for byte, in which line of the source it is written.

use std::ops::Range;

/// The line of what the source does not have: results of builtins, included files, the preamble.
pub(crate) const NOWHERE: u32 = 0;

/// Bytes of one line that stand next to each other.
#[derive(Clone, Copy)]
struct Run {
    /// Where the bytes of the next line start.
    end: usize,
    line: u32,
}

/// Bytes with their lines, which stay through arguments, definitions and rescanning.
#[derive(Clone, Default)]
pub(crate) struct Text {
    bytes: Vec<u8>,
    /// In the order of their ends; empty for text of one line, which most is.
    runs: Vec<Run>,
    /// The line of the bytes after the last run; there are some, unless there are no bytes at all.
    line: u32,
}

/// A place in a text, for reading it from the start to the end.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cursor {
    at: usize,
    run: usize,
}

impl Text {
    /// A text without bytes.
    pub(crate) const fn new() -> Self {
        Text { bytes: Vec::new(), runs: Vec::new(), line: NOWHERE }
    }

    /// Bytes that are written nowhere in the source.
    pub(crate) fn nowhere(bytes: Vec<u8>) -> Self {
        Text { bytes, ..Text::new() }
    }

    /// The bytes alone.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes alone.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no bytes.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The line of the first byte.
    pub(crate) fn first_line(&self) -> u32 {
        self.runs.first().map_or(self.line, |run| run.line)
    }

    /// Adds a byte of `line`.
    pub(crate) fn push(&mut self, byte: u8, line: u32) {
        self.turn(line);
        self.bytes.push(byte);
    }

    /// Adds bytes of `line`.
    pub(crate) fn push_all(&mut self, bytes: &[u8], line: u32) {
        if !bytes.is_empty() {
            self.turn(line);
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Adds another text.
    pub(crate) fn append(&mut self, other: &Text) {
        self.append_part(other, 0..other.len());
    }

    /// Adds a part of another text.
    pub(crate) fn append_part(&mut self, other: &Text, part: Range<usize>) {
        let first = other.runs.partition_point(|run| run.end <= part.start);
        let mut at = part.start;
        for run in other.runs.get(first..).unwrap_or_default() {
            if at >= part.end {
                break;
            }
            let end = run.end.min(part.end);
            self.push_all(&other.bytes[at..end], run.line);
            at = end;
        }
        self.push_all(&other.bytes[at..part.end.max(at)], other.line);
    }

    /// Says that the next bytes are of `line`; there must be some.
    fn turn(&mut self, line: u32) {
        if line != self.line {
            if !self.bytes.is_empty() {
                self.runs.push(Run { end: self.bytes.len(), line: self.line });
            }
            self.line = line;
        }
    }

    /// The stretches that are of one line each, with it.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = (&[u8], u32)> {
        let last = Run { end: self.bytes.len(), line: self.line };
        let mut at = 0;
        self.runs.iter().copied().chain((!self.is_empty()).then_some(last)).map(move |run| {
            let bytes = &self.bytes[at..run.end];
            at = run.end;
            (bytes, run.line)
        })
    }
}

impl Cursor {
    /// The byte here with its line, if the text goes on.
    pub(crate) fn peek(&self, text: &Text) -> Option<(u8, u32)> {
        let byte = *text.bytes.get(self.at)?;
        Some((byte, text.runs.get(self.run).map_or(text.line, |run| run.line)))
    }

    /// Goes on by one byte.
    pub(crate) fn step(&mut self, text: &Text) {
        self.at += 1;
        if text.runs.get(self.run).is_some_and(|run| run.end <= self.at) {
            self.run += 1;
        }
    }

    /// The bytes from here on.
    pub(crate) fn rest<'t>(&self, text: &'t Text) -> &'t [u8] {
        text.bytes.get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Text {
        let mut text = Text::new();
        text.push_all(b"ab", 3);
        text.push(b'c', 3);
        text.push_all(b"", 9);
        text.push_all(b"de", 5);
        text
    }

    fn lines(text: &Text) -> Vec<(&[u8], u32)> {
        text.stretches().collect()
    }

    #[test]
    fn neighbours_of_one_line_make_one_run() {
        assert_eq!(lines(&sample()), [(&b"abc"[..], 3), (b"de", 5)]);
        assert_eq!(lines(&Text::nowhere(Vec::new())), []);
    }

    #[test]
    fn parts_keep_their_lines() {
        let mut text = Text::nowhere(b"-".to_vec());
        text.append_part(&sample(), 2..4);
        text.append_part(&sample(), 3..3);
        text.append(&sample());
        assert_eq!(lines(&text), [(&b"-"[..], NOWHERE), (b"c", 3), (b"d", 5), (b"abc", 3), (b"de", 5)]);
        assert_eq!((text.len(), text.first_line()), (8, NOWHERE));
    }

    #[test]
    fn a_cursor_sees_every_byte() {
        let text = sample();
        let mut cursor = Cursor::default();
        let mut seen = Vec::new();
        while let Some(here) = cursor.peek(&text) {
            seen.push(here);
            cursor.step(&text);
        }
        assert_eq!(seen, [(b'a', 3), (b'b', 3), (b'c', 3), (b'd', 5), (b'e', 5)]);
        assert!(cursor.rest(&text).is_empty());
    }
}
