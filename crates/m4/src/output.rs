//! The output and its diversions, with the input line each output line comes from.

use std::collections::BTreeMap;

use crate::budget::check_length;
use crate::input::Place;
use crate::text::Text;

#[derive(Default)]
struct Buffer {
    text: Vec<u8>,
    /// For each line the one its first character that is not blank comes from; for a blank line
    /// that of its first character, be it the newline.
    origins: Vec<u32>,
    /// Whether the last line has nothing but blanks so far.
    blank: bool,
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.trim_ascii().is_empty()
}

impl Buffer {
    fn at_line_start(&self) -> bool {
        self.text.last().is_none_or(|&last| last == b'\n')
    }

    /// Adds bytes that all come from `line`.
    fn push(&mut self, bytes: &[u8], line: u32) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let starts = self.at_line_start();
            let blank = is_blank(part);
            if starts {
                self.origins.push(line);
            } else if self.blank
                && !blank
                && let Some(origin) = self.origins.last_mut()
            {
                *origin = line;
            }
            self.blank = blank && (starts || self.blank);
            self.text.extend_from_slice(part);
        }
    }

    fn append(&mut self, other: Buffer) {
        let mut origins = &other.origins[..];
        let mut blank = other.blank;
        if let Some((first, rest)) = origins.split_first()
            && let Some(last) = self.origins.last_mut()
            && !self.text.ends_with(b"\n")
        {
            // The first line of `other` goes on with a line that has its origin, unless all is blank.
            let line = other.text.split(|&byte| byte == b'\n').next().unwrap_or_default();
            if self.blank && !is_blank(line) {
                *last = *first;
            }
            blank &= self.blank || !rest.is_empty();
            origins = rest;
        }
        if !other.text.is_empty() {
            self.blank = blank;
        }
        self.origins.extend_from_slice(origins);
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

    /// Writes text that came from `place`.
    pub(crate) fn write(&mut self, text: &Text, place: Place) -> Result<(), String> {
        for (bytes, own) in text.stretches() {
            self.write_from(bytes, place.line(own))?;
        }
        Ok(())
    }

    /// Writes bytes that all come from one input line.
    pub(crate) fn write_from(&mut self, bytes: &[u8], line: u32) -> Result<(), String> {
        if self.current < 0 {
            return Ok(());
        }
        self.length += bytes.len();
        check_length(self.length)?;
        if let Some(buffer) = self.buffer() {
            buffer.push(bytes, line);
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
