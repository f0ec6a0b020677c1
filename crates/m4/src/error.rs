//! The error of an expansion: what went wrong, and at which line of the input.

use std::fmt;

/// Why an expansion failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct M4Error {
    /// The 1-based line of the input, for a macro call the line where the call starts.
    pub line: u32,
    /// What went wrong.
    pub message: String,
}

impl fmt::Display for M4Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for M4Error {}

/// Text of the input as it is shown in a message: short, and valid whatever the bytes are.
pub(crate) fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    if text.len() <= LONGEST {
        return String::from_utf8_lossy(text).into_owned();
    }
    format!("{}...", String::from_utf8_lossy(&text[..LONGEST]))
}
