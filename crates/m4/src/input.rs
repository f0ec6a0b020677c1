//! The stack of texts that are read: the source at the bottom, expansions on top of it.
//!
//! An expansion is put here instead of being expanded by a nested call, so that the depth of
//! rescanning costs no machine stack.

use crate::budget::{ENDLESS, MOST_PENDING};
use crate::builtins::Builtin;
use crate::text::{Cursor, NOWHERE, Text};

/// The calls that text comes from, as lines; for the source itself both are its own line.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    /// The line of the outermost call: errors and `__line__` tell it.
    pub(crate) outer: u32,
    /// The line of the nearest call that is written in the source, be it in a quoted argument or
    /// a definition: text without a line of its own is said to come from there.
    pub(crate) near: u32,
}

impl Place {
    /// The line that a byte comes from if `own` is the line where it is written.
    pub(crate) fn line(self, own: u32) -> u32 {
        if own == NOWHERE { self.near } else { own }
    }
}

enum Frame {
    /// The source; its bytes have their lines by counting.
    Source {
        bytes: Vec<u8>,
        at: usize,
        line: u32,
        /// Whether this is the caller's source: the preamble has lines that mean nothing to anybody.
        written: bool,
    },
    /// An expansion.
    Text { text: Text, cursor: Cursor, place: Place },
    /// What `defn` of a builtin leaves: a token that only `define` and its like understand.
    Builtin { builtin: Builtin, place: Place },
}

/// What comes next in the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Byte(u8),
    Builtin(Builtin),
    End,
}

impl Next {
    /// Whether the input may go on with `wanted`; cheap, for it is asked for every byte of a string.
    pub(crate) fn may_start(self, wanted: &[u8]) -> bool {
        matches!(self, Next::Byte(byte) if wanted.first() == Some(&byte))
    }
}

/// The texts waiting to be read.
#[derive(Default)]
pub(crate) struct Input {
    frames: Vec<Frame>,
    place: Place,
    own: u32,
}

impl Input {
    /// Starts with `source`; its bytes have their lines if it is `written` by the caller.
    pub(crate) fn start(&mut self, source: &str, written: bool) {
        self.place = Place { outer: 1, near: 1 };
        self.frames.clear();
        self.frames.push(Frame::Source { bytes: source.as_bytes().to_vec(), at: 0, line: 1, written });
    }

    /// Drops everything that is still to be read.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Puts `text`, which came from `place`, before the rest of the input.
    pub(crate) fn push_text(&mut self, text: Text, place: Place) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        self.push(Frame::Text { text, cursor: Cursor::default(), place })
    }

    /// Puts the token of a builtin before the rest of the input.
    pub(crate) fn push_builtin(&mut self, builtin: Builtin, place: Place) -> Result<(), String> {
        self.push(Frame::Builtin { builtin, place })
    }

    fn push(&mut self, frame: Frame) -> Result<(), String> {
        // Texts read to their end go first, so that a macro that calls itself last needs no room.
        self.peek();
        if self.frames.len() >= MOST_PENDING {
            return Err(ENDLESS.to_string());
        }
        self.frames.push(frame);
        Ok(())
    }

    /// What comes next, without taking it.
    pub(crate) fn peek(&mut self) -> Next {
        while let Some(frame) = self.frames.last() {
            match frame {
                Frame::Builtin { builtin, place } => {
                    self.place = *place;
                    self.own = NOWHERE;
                    return Next::Builtin(*builtin);
                }
                Frame::Source { bytes, at, line, written } => {
                    self.place = Place { outer: *line, near: *line };
                    self.own = if *written { *line } else { NOWHERE };
                    if let Some(byte) = bytes.get(*at) {
                        return Next::Byte(*byte);
                    }
                }
                Frame::Text { text, cursor, place } => {
                    self.place = *place;
                    if let Some((byte, own)) = cursor.peek(text) {
                        self.own = own;
                        return Next::Byte(byte);
                    }
                }
            }
            self.frames.pop();
        }
        Next::End
    }

    /// Takes what comes next.
    pub(crate) fn take(&mut self) -> Next {
        let next = self.peek();
        match self.frames.last_mut() {
            Some(Frame::Source { at, line, .. }) => {
                *at += 1;
                if next == Next::Byte(b'\n') {
                    *line = line.saturating_add(1);
                }
            }
            Some(Frame::Text { text, cursor, .. }) => cursor.step(text),
            Some(Frame::Builtin { .. }) => {
                self.frames.pop();
            }
            None => {}
        }
        next
    }

    /// The calls that what was peeked or taken last comes from.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// The line where what was peeked or taken last is written in the source.
    pub(crate) fn own(&self) -> u32 {
        self.own
    }

    /// Whether the input goes on with `wanted`, over the borders of texts; never for an empty one.
    pub(crate) fn starts_with(&self, wanted: &[u8]) -> bool {
        let mut rest = wanted;
        for frame in self.frames.iter().rev() {
            let here = match frame {
                Frame::Source { bytes, at, .. } => bytes.get(*at..).unwrap_or_default(),
                Frame::Text { text, cursor, .. } => cursor.rest(text),
                Frame::Builtin { .. } => return false,
            };
            let common = here.len().min(rest.len());
            if here[..common] != rest[..common] {
                return false;
            }
            rest = &rest[common..];
            if rest.is_empty() {
                return !wanted.is_empty();
            }
        }
        false
    }

    /// Takes `wanted` if the input goes on with it.
    pub(crate) fn take_if(&mut self, wanted: &[u8]) -> bool {
        if !self.starts_with(wanted) {
            return false;
        }
        for _ in wanted {
            self.take();
        }
        true
    }
}
