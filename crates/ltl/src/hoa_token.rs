//! Text in the Hanoi omega-automata format as tokens, and the automaton that is meant where a file has several.

use crate::position::ReadError;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HoaKind {
    /// `name:`
    Header(String),
    Identifier(String),
    /// `@name`
    Alias(String),
    Integer(u32),
    Text(String),
    /// One of `!&|()[]{}`.
    Symbol(char),
    Body,
    End,
    Abort,
}

/// A token and the byte it begins at.
#[derive(Clone, Debug)]
pub(crate) struct HoaToken {
    pub kind: HoaKind,
    pub start: usize,
}

/// The tokens of the only automaton of a text, up to its `--END--`. Aborted ones do not count.
pub(crate) fn automaton_tokens(text: &str) -> Result<Vec<HoaToken>, ReadError> {
    let mut current = Vec::new();
    let mut whole: Option<Vec<HoaToken>> = None;
    for token in tokens(text)? {
        match token.kind {
            HoaKind::Abort => current.clear(),
            HoaKind::End if whole.is_none() => whole = Some(std::mem::take(&mut current)),
            HoaKind::End => return Err(ReadError::at(text, token.start, "there is more than one automaton")),
            _ => current.push(token),
        }
    }
    match (current.first(), whole) {
        (None, Some(whole)) => Ok(whole),
        (Some(_), None) => Err(ReadError::at(text, text.len(), "`--END--` is missing")),
        (Some(extra), Some(_)) => Err(ReadError::at(text, extra.start, "there is something after the automaton")),
        (None, None) => Err(ReadError::at(text, 0, "there is no automaton")),
    }
}

fn tokens(text: &str) -> Result<Vec<HoaToken>, ReadError> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
        } else if text[at..].starts_with("/*") {
            at = comment_end(text, at)?;
        } else {
            let (kind, end) = token(text, at)?;
            found.push(HoaToken { kind, start: at });
            at = end;
        }
    }
    Ok(found)
}

/// Comments may be nested.
fn comment_end(text: &str, start: usize) -> Result<usize, ReadError> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => at += 1,
        }
    }
    Err(ReadError::at(text, start, "the comment is never closed"))
}

fn token(text: &str, at: usize) -> Result<(HoaKind, usize), ReadError> {
    let bytes = text.as_bytes();
    for (marker, kind) in [("--BODY--", HoaKind::Body), ("--END--", HoaKind::End), ("--ABORT--", HoaKind::Abort)] {
        if text[at..].starts_with(marker) {
            return Ok((kind, at + marker.len()));
        }
    }
    let name_end = |from: usize| {
        from + bytes[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count()
    };
    match bytes[at] {
        b'"' => string(text, at),
        b'@' if name_end(at + 1) > at + 1 => {
            let end = name_end(at + 1);
            Ok((HoaKind::Alias(text[at + 1..end].to_owned()), end))
        }
        byte if byte.is_ascii_digit() => {
            let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = text[at..end].parse().map_err(|_| ReadError::at(text, at, "this number is too large"))?;
            Ok((HoaKind::Integer(number), end))
        }
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            let end = name_end(at);
            let name = text[at..end].to_owned();
            match bytes.get(end) {
                Some(b':') => Ok((HoaKind::Header(name), end + 1)),
                _ => Ok((HoaKind::Identifier(name), end)),
            }
        }
        byte if b"!&|()[]{}".contains(&byte) => Ok((HoaKind::Symbol(char::from(byte)), at + 1)),
        _ => {
            let character = text[at..].chars().next().unwrap_or(' ');
            Err(ReadError::at(text, at, format!("unknown character `{character}`")))
        }
    }
}

/// A string: a backslash stands before a character that is meant as it is.
fn string(text: &str, start: usize) -> Result<(HoaKind, usize), ReadError> {
    let mut content = String::new();
    let mut characters = text[start + 1..].char_indices();
    while let Some((offset, character)) = characters.next() {
        match character {
            '"' => return Ok((HoaKind::Text(content), start + offset + 2)),
            '\\' => content.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => content.push(character),
        }
    }
    Err(ReadError::at(text, start, "the quote is never closed"))
}
