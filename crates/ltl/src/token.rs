//! Formula text as tokens.
//!
//! Invariants: tokens are in the order of the text and do not overlap; parentheses and brackets are balanced, and each knows its partner.
//! Which letters are operators is left to the parser, because that depends on where a word stands.

use std::ops::Range;

use crate::parse::{Bare, FormulaError};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    /// Text in double quotes, with its escapes resolved.
    Quoted(String),
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    /// `[]`
    Always,
    /// `<>`
    Eventually,
    /// `()`
    Next,
    Not,
    /// `~`: a negation, and a complement inside of a model expression.
    Tilde,
    And,
    Or,
    Xor,
    /// `->`: an implication, or a reference to a variable of a process.
    Arrow,
    /// `=>`
    Implies,
    Equivalent,
    Minus,
    /// `+ * / % << >>`
    Arithmetic,
    /// `== != < <= > >=`
    Comparison,
    Dot,
}

/// A token and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
    /// For parentheses and brackets: the number of the other one.
    pub partner: usize,
}

/// Symbols, longest first where one begins with another.
const SYMBOLS: [(&str, Kind); 34] = [
    ("<->", Kind::Equivalent),
    ("<=>", Kind::Equivalent),
    ("[]", Kind::Always),
    ("<>", Kind::Eventually),
    ("()", Kind::Next),
    ("->", Kind::Arrow),
    ("=>", Kind::Implies),
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("/\\", Kind::And),
    ("\\/", Kind::Or),
    ("==", Kind::Comparison),
    ("!=", Kind::Comparison),
    ("<=", Kind::Comparison),
    (">=", Kind::Comparison),
    ("<<", Kind::Arithmetic),
    (">>", Kind::Arithmetic),
    ("<", Kind::Comparison),
    (">", Kind::Comparison),
    ("&", Kind::And),
    ("|", Kind::Or),
    ("^", Kind::Xor),
    ("!", Kind::Not),
    ("~", Kind::Tilde),
    ("(", Kind::Open),
    (")", Kind::Close),
    ("[", Kind::OpenBracket),
    ("]", Kind::CloseBracket),
    ("-", Kind::Minus),
    ("+", Kind::Arithmetic),
    ("*", Kind::Arithmetic),
    ("/", Kind::Arithmetic),
    ("%", Kind::Arithmetic),
    (".", Kind::Dot),
];

/// Whether a word may begin with it.
pub(crate) fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a word may go on with it.
pub(crate) fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str, bare: Bare) -> Result<Vec<Token>, FormulaError> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let (kind, end) = token(text, at, bare)?;
        found.push(Token { kind, span: at..end, partner: 0 });
        at = end;
    }
    match_partners(&mut found)?;
    Ok(found)
}

/// The token that begins at a byte, and its end.
fn token(text: &str, at: usize, bare: Bare) -> Result<(Kind, usize), FormulaError> {
    let bytes = text.as_bytes();
    if begins_word(bytes[at]) {
        return Ok((Kind::Word, word_end(bytes, at, bare)));
    }
    if bytes[at].is_ascii_digit() {
        let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        if bytes.get(end).is_some_and(|b| begins_word(*b)) {
            return Err(FormulaError::new(at..end + 1, "a name cannot begin with a digit"));
        }
        return Ok((Kind::Number, end));
    }
    if bytes[at] == b'"' {
        return quoted(text, at);
    }
    if let Some((symbol, kind)) = SYMBOLS.iter().find(|(symbol, _)| text[at..].starts_with(symbol)) {
        return Ok((kind.clone(), at + symbol.len()));
    }
    let character = text[at..].chars().next().unwrap_or(' ');
    let error = FormulaError::new(at..at + character.len_utf8(), format!("unknown character `{character}`"));
    Err(match character {
        '=' => error.help("equality is written `==`"),
        '\'' => error.help("a proposition is quoted with double quotes"),
        _ => error,
    })
}

/// Where the word that begins at a byte ends. Without model expressions, dots, `$`, `#` and an index are part of the word.
fn word_end(bytes: &[u8], start: usize, bare: Bare) -> usize {
    let word_length = |from: usize| bytes[from..].iter().take_while(|b| continues_word(**b)).count();
    let mut at = start + word_length(start);
    if bare == Bare::Expressions {
        return at;
    }
    loop {
        match bytes.get(at) {
            Some(b'$' | b'#') => at += 1,
            Some(b'.') if bytes.get(at + 1).is_some_and(|b| continues_word(*b)) => at += 1,
            Some(b'[') => match word_length(at + 1) {
                length if length > 0 && bytes.get(at + 1 + length) == Some(&b']') => at += length + 2,
                _ => return at,
            },
            Some(byte) if continues_word(*byte) => at += word_length(at),
            _ => return at,
        }
    }
}

/// Text in double quotes: `\"` and `\\` stand for the second character, any other backslash for itself.
fn quoted(text: &str, start: usize) -> Result<(Kind, usize), FormulaError> {
    let mut content = String::new();
    let mut characters = text[start + 1..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        match character {
            '"' if content.trim().is_empty() => {
                return Err(FormulaError::new(start..start + offset + 2, "a proposition without text"));
            }
            '"' => return Ok((Kind::Quoted(content), start + offset + 2)),
            '\\' => match characters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => content.push(escaped),
                None => content.push('\\'),
            },
            _ => content.push(character),
        }
    }
    Err(FormulaError::new(start..text.len(), "the quote is never closed").help("put `\"` behind the proposition"))
}

/// Finds for every parenthesis and bracket the other one.
fn match_partners(tokens: &mut [Token]) -> Result<(), FormulaError> {
    let mut open: Vec<usize> = Vec::new();
    for at in 0..tokens.len() {
        let opening = match tokens[at].kind {
            Kind::Open | Kind::OpenBracket => {
                open.push(at);
                continue;
            }
            Kind::Close => Kind::Open,
            Kind::CloseBracket => Kind::OpenBracket,
            _ => continue,
        };
        match open.pop() {
            Some(partner) if tokens[partner].kind == opening => {
                tokens[at].partner = partner;
                tokens[partner].partner = at;
            }
            _ => return Err(FormulaError::new(tokens[at].span.clone(), "nothing was opened that this closes")),
        }
    }
    match open.last() {
        Some(at) => Err(FormulaError::new(tokens[*at].span.clone(), "this is never closed")),
        None => Ok(()),
    }
}
