//! The output and its diversions, with the input line each output line comes from.

use std::collections::BTreeMap;

use crate::budget::check_length;
use crate::token::Piece;

#[derive(Default)]
struct Buffer {
    text: Vec<u8>,
    origins: Vec<u32>,
}

impl Buffer {
    fn at_line_start(&self) -> bool {
        self.text.last().is_none_or(|&last| last == b'\n')
    }

    fn push(&mut self, bytes: &[u8], first: u32, rest: &[u32]) {
        if bytes.is_empty() {
            return;
        }
        if self.at_line_start() {
            self.origins.push(first);
        }
        // A newline that ends the text starts no line yet, so nothing is known of that line.
        self.origins.extend_from_slice(rest);
        self.text.extend_from_slice(bytes);
    }

    fn append(&mut self, other: Buffer) {
        // The first line of `other` goes on with a line that has its origin already.
        let skipped = usize::from(!self.at_line_start()).min(other.origins.len());
        self.origins.extend_from_slice(&other.origins[skipped..]);
        self.text.extend_from_slice(&other.text);
    }
}

/// Where expanded text goes.
#[derive(Default)]
pub(crate) struct Output {
    main: Buffer,
    diverted: BTreeMap<i32, Buffer>,
    current: i32,
    length: usize,
}

impl Output {
    /// The number of the diversion that is written to.
    pub(crate) fn current(&self) -> i32 {
        self.current
    }

    /// Writes to diversion `number` from now on; a negative one discards.
    pub(crate) fn divert(&mut self, number: i32) {
        self.current = number;
    }

    fn buffer(&mut self) -> Option<&mut Buffer> {
        match self.current {
            0 => Some(&mut self.main),
            number if number > 0 => Some(self.diverted.entry(number).or_default()),
            _ => None,
        }
    }

    /// Writes a piece.
    pub(crate) fn write(&mut self, piece: &Piece) -> Result<(), String> {
        self.write_lines(&piece.text, piece.first, &piece.rest)
    }

    /// Writes bytes that all come from one input line.
    pub(crate) fn write_from(&mut self, bytes: &[u8], line: u32) -> Result<(), String> {
        let newlines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let inner = newlines - usize::from(bytes.last() == Some(&b'\n'));
        self.write_lines(bytes, line, &vec![line; inner])
    }

    fn write_lines(&mut self, bytes: &[u8], first: u32, rest: &[u32]) -> Result<(), String> {
        if self.current < 0 {
            return Ok(());
        }
        self.length += bytes.len();
        check_length(self.length)?;
        if let Some(buffer) = self.buffer() {
            buffer.push(bytes, first, rest);
        }
        Ok(())
    }

    /// Moves diversion `number` to the current output; the current one itself stays.
    pub(crate) fn undivert(&mut self, number: i32) {
        if number <= 0 || number == self.current {
            return;
        }
        if let Some(moved) = self.diverted.remove(&number) {
            match self.buffer() {
                Some(buffer) => buffer.append(moved),
                None => self.length -= moved.text.len(),
            }
        }
    }

    /// Moves all diversions to the current output, in the order of their numbers.
    pub(crate) fn undivert_all(&mut self) {
        let numbers: Vec<i32> = self.diverted.keys().copied().collect();
        for number in numbers {
            self.undivert(number);
        }
    }

    /// Forgets what is diverted, as `m4exit` does.
    pub(crate) fn drop_diverted(&mut self) {
        self.diverted.clear();
    }

    /// The text of the main output and the origins of its lines.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<u32>) {
        (self.main.text, self.main.origins)
    }
}
