//! The characters of a never claim: white space, words, and where a guard ends.

use crate::position::ReadError;
use crate::token::{begins_word, continues_word};

/// A place in the text of a claim. Comments were replaced by blanks, so that places stay what they are.
pub(crate) struct Scanner {
    text: String,
    at: usize,
}

impl Scanner {
    pub fn new(text: &str) -> Result<Self, ReadError> {
        Ok(Self { text: without_comments(text)?, at: 0 })
    }

    pub fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError::at(&self.text, self.at, message)
    }

    pub fn error_at(&self, at: usize, message: impl Into<String>) -> ReadError {
        ReadError::at(&self.text, at, message)
    }

    pub fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.text.len()
    }

    fn skip_blanks(&mut self) {
        self.at += blanks(&self.text, self.at);
    }

    /// Whether a symbol is next.
    pub fn sees(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        self.text[self.at..].starts_with(symbol)
    }

    /// Takes a symbol if it is next.
    pub fn take(&mut self, symbol: &str) -> bool {
        let found = self.sees(symbol);
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    pub fn expect(&mut self, symbol: &str) -> Result<(), ReadError> {
        if self.take(symbol) { Ok(()) } else { Err(self.error(format!("`{symbol}` is missing here"))) }
    }

    /// The word that is next, if one is.
    pub fn peek_word(&mut self) -> &str {
        self.skip_blanks();
        word_at(&self.text, self.at)
    }

    /// Takes a certain word if it is next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Takes the word that is next.
    pub fn word(&mut self, what: &str) -> Result<(String, usize), ReadError> {
        let word = self.peek_word().to_owned();
        if word.is_empty() {
            return Err(self.error(format!("{what} is missing here")));
        }
        let start = self.at;
        self.at += word.len();
        Ok((word, start))
    }

    /// Takes a label: a word and a colon, but not two.
    pub fn take_label(&mut self) -> Option<String> {
        let word = self.peek_word().to_owned();
        let after = self.at + word.len();
        let colon = after + blanks(&self.text, after);
        let is_label = !word.is_empty() && self.text[colon..].starts_with(':') && !self.text[colon..].starts_with("::");
        self.at = if is_label { colon + 1 } else { self.at };
        is_label.then_some(word)
    }

    /// Takes the guard that is next, with the place where it begins. It ends where parentheses are balanced and a statement, another
    /// option or the end of the block follows.
    pub fn guard(&mut self) -> Result<(String, usize), ReadError> {
        self.skip_blanks();
        let start = self.at;
        let mut depth = 0_usize;
        let mut end = start;
        let bytes = self.text.as_bytes();
        while end < bytes.len() {
            let rest = &self.text[end..];
            let length = match bytes[end] {
                byte if depth == 0 && ends_guard(&self.text, end, byte) => break,
                b'(' | b'[' => {
                    depth += 1;
                    1
                }
                b')' | b']' if depth == 0 => break,
                b')' | b']' => {
                    depth -= 1;
                    1
                }
                b'"' => quoted_length(rest),
                byte if continues_word(byte) => rest.bytes().take_while(|b| continues_word(*b)).count(),
                _ => rest.chars().next().map_or(1, char::len_utf8),
            };
            end += length;
        }
        self.at = end;
        let guard = self.text[start..end].trim_end();
        if guard.is_empty() {
            Err(self.error_at(start, "a guard is missing here"))
        } else {
            Ok((guard.to_owned(), start))
        }
    }
}

fn blanks(text: &str, at: usize) -> usize {
    text[at..].bytes().take_while(u8::is_ascii_whitespace).count()
}

fn word_at(text: &str, at: usize) -> &str {
    if !text.as_bytes().get(at).is_some_and(|b| begins_word(*b)) {
        return "";
    }
    &text[at..at + text[at..].bytes().take_while(|b| continues_word(*b)).count()]
}

/// Whether a guard outside of parentheses ends at a place. `->` ends it only before a statement, as it may be an implication too.
fn ends_guard(text: &str, at: usize, byte: u8) -> bool {
    let is_statement = |word: &str| matches!(word, "goto" | "assert" | "break" | "skip" | "atomic" | "if" | "do");
    match byte {
        b';' | b'}' | b'{' => true,
        b':' => text[at..].starts_with("::"),
        b'-' if text[at..].starts_with("->") => is_statement(word_at(text, at + 2 + blanks(text, at + 2))),
        _ if begins_word(byte) => matches!(word_at(text, at), "goto" | "fi" | "od" | "assert" | "break"),
        _ => false,
    }
}

fn quoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'"' | b'\\')) { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Replaces comments by blanks, byte for byte; line ends stay.
fn without_comments(text: &str) -> Result<String, ReadError> {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("/*") {
            let end = rest.find("*/").ok_or_else(|| ReadError::at(text, at, "the comment is never closed"))?;
            end + 2
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            let length =
                if rest.starts_with('"') { quoted_length(rest) } else { rest.chars().next().map_or(1, char::len_utf8) };
            result.push_str(&rest[..length]);
            at += length;
            continue;
        };
        result.extend(rest[..length].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        at += length;
    }
    Ok(result)
}
