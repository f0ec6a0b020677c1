//! The stack of texts that are read: the source at the bottom, expansions on top of it.
//!
//! An expansion is put here instead of being expanded by a nested call, so that the depth of
//! rescanning costs no machine stack.

use crate::budget::{ENDLESS, MOST_PENDING};
use crate::builtins::Builtin;

enum Frame {
    Text {
        bytes: Vec<u8>,
        at: usize,
        line: u32,
        /// Whether newlines advance `line`: in the source they do, in an expansion they do not.
        counts: bool,
    },
    /// What `defn` of a builtin leaves: a token that only `define` and its like understand.
    Builtin { builtin: Builtin, line: u32 },
}

/// What comes next in the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Byte(u8),
    Builtin(Builtin),
    End,
}

/// The texts waiting to be read.
#[derive(Default)]
pub(crate) struct Input {
    frames: Vec<Frame>,
    line: u32,
}

impl Input {
    /// Starts with `source`, whose lines are counted.
    pub(crate) fn start(&mut self, source: &str) {
        self.line = 1;
        self.frames.clear();
        self.frames.push(Frame::Text { bytes: source.as_bytes().to_vec(), at: 0, line: 1, counts: true });
    }

    /// Drops everything that is still to be read.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Puts `bytes` before the rest of the input, as text of `line`.
    pub(crate) fn push_text(&mut self, bytes: Vec<u8>, line: u32) -> Result<(), String> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.push(Frame::Text { bytes, at: 0, line, counts: false })
    }

    /// Puts the token of a builtin before the rest of the input.
    pub(crate) fn push_builtin(&mut self, builtin: Builtin, line: u32) -> Result<(), String> {
        self.push(Frame::Builtin { builtin, line })
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
                Frame::Builtin { builtin, line } => {
                    self.line = *line;
                    return Next::Builtin(*builtin);
                }
                Frame::Text { bytes, at, line, .. } => {
                    self.line = *line;
                    if let Some(byte) = bytes.get(*at) {
                        return Next::Byte(*byte);
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
            Some(Frame::Text { at, line, counts, .. }) => {
                *at += 1;
                if *counts && next == Next::Byte(b'\n') {
                    *line = line.saturating_add(1);
                }
            }
            Some(Frame::Builtin { .. }) => {
                self.frames.pop();
            }
            None => {}
        }
        next
    }

    /// The outermost line of what was peeked or taken last.
    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    /// Whether the input goes on with `wanted`, over the borders of texts; never for an empty one.
    pub(crate) fn starts_with(&self, wanted: &[u8]) -> bool {
        let mut rest = wanted;
        for frame in self.frames.iter().rev() {
            let Frame::Text { bytes, at, .. } = frame else {
                return false;
            };
            let here = bytes.get(*at..).unwrap_or_default();
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
