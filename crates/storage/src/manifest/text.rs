//! A manifest as text, both ways.
//!
//! A line for each thing, words parted by spaces. What is not a plain character in a word is written as `%` and two hexadecimal digits. The last
//! line has the checksum of all before; behind it come empty lines up to a whole page.

use super::{MANIFEST, Manifest, ManifestFile};
use crate::StorageError;
use crate::block_file::checksum;
use std::fmt::Write;

const VERSION: u32 = 1;
const FIRST_WORDS: &str = "lariat manifest ";
const CHECKSUM_WORD: &str = "checksum ";
/// The place that the checksum belongs to.
const PLACE: u64 = 0;

impl Manifest {
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{FIRST_WORDS}{VERSION}\n");
        for (key, number) in &self.numbers {
            put_line(&mut text, &["number", &escaped(key), &number.to_string()]);
        }
        for (key, value) in &self.texts {
            put_line(&mut text, &["text", &escaped(key), &escaped(value)]);
        }
        for file in &self.files {
            let (role, name) = (escaped(&file.role), escaped(&file.name));
            put_line(&mut text, &["file", &role, &name, &file.rows.to_string(), &file.bytes.to_string()]);
        }
        let sum = checksum(text.as_bytes(), PLACE);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{CHECKSUM_WORD}{sum:016x}");
        text
    }

    pub(super) fn from_text(bytes: &[u8]) -> Result<Self, StorageError> {
        let wrong =
            |offset: usize, expected: &str, got: &str| StorageError::corrupt(MANIFEST, offset as u64, expected, got);
        let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to(), "text", "other bytes"))?;
        let first = text.lines().next().unwrap_or_default();
        let version = first.strip_prefix(FIRST_WORDS).ok_or_else(|| wrong(0, "a manifest of Lariat", first))?;
        if version != VERSION.to_string() {
            let got = version.parse().map_err(|_| wrong(FIRST_WORDS.len(), "a version", version))?;
            return Err(StorageError::Version { file: MANIFEST.to_owned(), expected: VERSION, got });
        }
        let written = text.trim_end_matches('\n');
        let sum_at = written.rfind('\n').map_or(0, |end| end + 1);
        let expected = written[sum_at..].strip_prefix(CHECKSUM_WORD);
        let expected = expected.ok_or_else(|| wrong(sum_at, "a checksum", &written[sum_at..]))?;
        let got = format!("{:016x}", checksum(&bytes[..sum_at], PLACE));
        if expected != got {
            return Err(wrong(sum_at, expected, &got));
        }
        let mut manifest = Self::new();
        let mut offset = first.len() + 1;
        for line in text[..sum_at].lines().skip(1) {
            manifest.read_line(line).ok_or_else(|| wrong(offset, "a number, a text or a file", line))?;
            offset += line.len() + 1;
        }
        Ok(manifest)
    }

    fn read_line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["number", key, number] => {
                self.numbers.insert(unescaped(key)?, number.parse().ok()?);
            }
            ["text", key, text] => {
                self.texts.insert(unescaped(key)?, unescaped(text)?);
            }
            ["file", role, name, rows, bytes] => {
                let (role, name) = (unescaped(role)?, unescaped(name)?);
                self.files.push(ManifestFile { role, name, rows: rows.parse().ok()?, bytes: bytes.parse().ok()? });
            }
            _ => return None,
        }
        Some(())
    }
}

fn put_line(text: &mut String, words: &[&str]) {
    text.push_str(&words.join(" "));
    text.push('\n');
}

fn escaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for byte in word.bytes() {
        match byte {
            b'%' | 0..=b' ' | 0x7f.. => {
                // Writing to a string does not fail.
                let _ = write!(text, "%{byte:02x}");
            }
            _ => text.push(char::from(byte)),
        }
    }
    text
}

fn unescaped(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut pieces = word.split('%');
    bytes.extend_from_slice(pieces.next()?.as_bytes());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_whatever_they_are() {
        for word in ["", "plain", "two words", "100 % \n\u{0}\u{7f}\u{20ac}"] {
            let text = escaped(word);
            assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
            assert_eq!(unescaped(&text).as_deref(), Some(word));
        }
        assert_eq!((unescaped("%4"), unescaped("%zz"), unescaped("%ff")), (None, None, None));
    }
}
