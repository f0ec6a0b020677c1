//! Characters to tokens.

use crate::diagnostic::Diagnostics;
use crate::source::{Source, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name.
    Name,
    /// A word of the language.
    Keyword(Keyword),
    /// Digits.
    Number,
    /// A mark such as `{` or `->`.
    Mark(&'static str),
    /// The end of the text.
    End,
}

macro_rules! keywords {
    ($($variant:ident $word:literal),* $(,)?) => {
        /// The words of the language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are the words")]
        pub enum Keyword { $($variant),* }

        impl Keyword {
            /// All words, for suggestions.
            pub const WORDS: &[&str] = &[$($word),*];

            /// The word as it is written.
            pub fn word(self) -> &'static str {
                match self { $(Keyword::$variant => $word),* }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Keyword::$variant),)* _ => None }
            }
        }
    };
}

keywords! {
    Byte "byte", Int "int", Const "const", Channel "channel", Process "process", State "state", Init "init",
    Accept "accept", Commit "commit", Assert "assert", Trans "trans", Guard "guard", Sync "sync", Effect "effect",
    System "system", Async "async", Property "property", Not "not", And "and", Or "or", Imply "imply", True "true",
    False "false",
}

/// Longer marks before their beginnings.
const MARKS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "{", "}", "[", "]", "(", ")", ",", ";", ":", ".", "!", "?",
    "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~",
];

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

impl Token {
    /// What it is called in a message.
    pub fn describe(&self, source: &Source) -> String {
        match self.kind {
            TokenKind::End => "the end of the text".to_owned(),
            TokenKind::Keyword(word) => format!("the word `{}`", word.word()),
            _ => {
                let text = source.slice(self.span);
                let short: String = text.chars().take(40).collect();
                format!("`{short}`")
            }
        }
    }
}

/// All tokens of the source, the end last.
pub fn tokens(source: &Source, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let text = source.text();
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len() / 4);
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' | b'\x0c' => {
                at += 1;
                continue;
            }
            b'\\' if rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n") => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at += line_comment_length(rest);
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                at += match text[at + 2..].find("*/") {
                    Some(end) => end + 4,
                    None => {
                        let span = Span { start: at as u32, end: at as u32 + 2 };
                        diagnostics.error(span, "this comment does not end").label("expected `*/` after it");
                        rest.len()
                    }
                };
                continue;
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                let inside = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'#');
                rest.iter().take_while(|b| inside(b)).count()
            }
            b'0'..=b'9' => rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count(),
            _ => match MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())) {
                Some(mark) => mark.len(),
                None => {
                    at += unknown_characters(&text[at..], at, diagnostics);
                    continue;
                }
            },
        };
        let span = Span { start: at as u32, end: (at + length) as u32 };
        tokens.push(Token { kind: kind_of(source.slice(span)), span });
        at += length;
    }
    let end = text.len() as u32;
    tokens.push(Token { kind: TokenKind::End, span: Span { start: end, end } });
    tokens
}

/// A `//` comment goes on after a line that ends in a backslash.
fn line_comment_length(rest: &[u8]) -> usize {
    let mut length = 0;
    for line in rest.split_inclusive(|b| *b == b'\n') {
        length += line.len();
        if !(line.ends_with(b"\\\n") || line.ends_with(b"\\\r\n")) {
            break;
        }
    }
    length
}

fn kind_of(text: &str) -> TokenKind {
    let first = text.as_bytes().first().copied().unwrap_or(b' ');
    if first.is_ascii_digit() {
        return TokenKind::Number;
    }
    if first.is_ascii_alphabetic() || first == b'_' {
        return Keyword::from_word(text).map_or(TokenKind::Name, TokenKind::Keyword);
    }
    MARKS.iter().find(|mark| **mark == text).map_or(TokenKind::End, |mark| TokenKind::Mark(mark))
}

/// Reports a run of characters that begin no token, and returns its length.
fn unknown_characters(rest: &str, at: usize, diagnostics: &mut Diagnostics) -> usize {
    let known = |c: char| {
        c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || c == '_' || MARKS.iter().any(|m| m.starts_with(c))
    };
    let length: usize = rest.chars().take_while(|c| !known(*c)).map(char::len_utf8).sum();
    let length = length.max(rest.chars().next().map_or(1, char::len_utf8));
    if !diagnostics.is_full() {
        let shown: String = rest[..length].chars().take(10).flat_map(char::escape_default).collect();
        let span = Span { start: at as u32, end: (at + length) as u32 };
        let error = diagnostics.error(span, format!("`{shown}` has no meaning in DVE"));
        if rest.starts_with('"') {
            error.help("text in quotes is not part of the language");
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("test", text);
        let mut diagnostics = Diagnostics::default();
        let tokens = tokens(&source, &mut diagnostics);
        let found: Vec<&str> = tokens.iter().map(|t| source.slice(t.span)).collect();
        assert_eq!(found[..found.len() - 1], *expected);
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(&source));
    }

    #[test]
    fn splits_text() {
        check("a->b!c?{d,e};", &["a", "->", "b", "!", "c", "?", "{", "d", ",", "e", "}", ";"]);
        check("x<<1>=2&&y|z", &["x", "<<", "1", ">=", "2", "&&", "y", "|", "z"]);
        check("a$1#b // to the end \\\n and on\nc /* x\ny */ d \\\n e", &["a$1#b", "c", "d", "e"]);
    }
}
