//! Splits the input into tokens: words, quoted strings, comments and single characters.

use crate::builtins::Builtin;
use crate::input::{Input, Next};

/// The delimiters of quotes and comments; an empty opening one switches the feature off.
pub(crate) struct Syntax {
    pub(crate) quote: (Vec<u8>, Vec<u8>),
    pub(crate) comment: (Vec<u8>, Vec<u8>),
}

impl Default for Syntax {
    fn default() -> Self {
        Syntax { quote: (b"`".to_vec(), b"'".to_vec()), comment: (b"#".to_vec(), b"\n".to_vec()) }
    }
}

/// Text with the input lines its own lines come from.
pub(crate) struct Piece {
    pub(crate) text: Vec<u8>,
    /// The line of the first byte.
    pub(crate) first: u32,
    /// The line of each byte that follows a newline.
    pub(crate) rest: Vec<u32>,
}

impl Piece {
    pub(crate) fn new(first: u32) -> Self {
        Piece { text: Vec::new(), first, rest: Vec::new() }
    }

    fn push(&mut self, byte: u8, line: u32) {
        match self.text.last() {
            None => self.first = line,
            Some(b'\n') => self.rest.push(line),
            Some(_) => {}
        }
        self.text.push(byte);
    }

    fn push_all(&mut self, bytes: &[u8], line: u32) {
        for &byte in bytes {
            self.push(byte, line);
        }
    }
}

/// One token.
pub(crate) enum Token {
    /// A name that may be a macro.
    Word(Piece),
    /// A single character of any other kind.
    Simple(u8, u32),
    /// A quoted string without its quotes, or a comment: never expanded.
    Text(Piece),
    /// The token of a builtin.
    Builtin(Builtin),
    End,
}

/// Whether a macro name may start with `byte`.
pub(crate) fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether `byte` may be inside a macro name.
pub(crate) fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether the input goes on with the parenthesis that starts arguments.
pub(crate) fn at_arguments(input: &mut Input, syntax: &Syntax) -> bool {
    input.peek() == Next::Byte(b'(') && !input.starts_with(&syntax.comment.0) && !input.starts_with(&syntax.quote.0)
}

/// Takes the next token; the error has the line where the unfinished token starts.
pub(crate) fn next_token(input: &mut Input, syntax: &Syntax) -> Result<Token, (u32, String)> {
    let byte = match input.peek() {
        Next::End => return Ok(Token::End),
        Next::Builtin(builtin) => {
            input.take();
            return Ok(Token::Builtin(builtin));
        }
        Next::Byte(byte) => byte,
    };
    let line = input.line();
    if input.starts_with(&syntax.comment.0) {
        return comment(input, syntax, line);
    }
    if starts_word(byte) {
        return Ok(word(input, line));
    }
    if input.take_if(&syntax.quote.0) {
        return quoted(input, syntax, line);
    }
    input.take();
    Ok(Token::Simple(byte, line))
}

fn word(input: &mut Input, line: u32) -> Token {
    let mut piece = Piece::new(line);
    while let Next::Byte(byte) = input.peek() {
        if !in_word(byte) {
            break;
        }
        input.take();
        piece.text.push(byte);
    }
    Token::Word(piece)
}

fn comment(input: &mut Input, syntax: &Syntax, line: u32) -> Result<Token, (u32, String)> {
    let (open, close) = &syntax.comment;
    input.take_if(open);
    let mut piece = Piece::new(line);
    piece.push_all(open, line);
    loop {
        let next = input.peek();
        let here = input.line();
        if input.take_if(close) {
            piece.push_all(close, here);
            return Ok(Token::Text(piece));
        }
        match next {
            // GNU m4 refuses a last line without newline here; there is no doubt what it means.
            Next::End if close == b"\n" => return Ok(Token::Text(piece)),
            Next::End => return Err((line, "the input ends inside a comment".to_string())),
            Next::Builtin(_) => {}
            Next::Byte(byte) => piece.push(byte, here),
        }
        input.take();
    }
}

fn quoted(input: &mut Input, syntax: &Syntax, line: u32) -> Result<Token, (u32, String)> {
    let (open, close) = &syntax.quote;
    let mut piece = Piece::new(line);
    let mut depth = 1u32;
    loop {
        let next = input.peek();
        let here = input.line();
        if input.take_if(close) {
            depth -= 1;
            if depth == 0 {
                return Ok(Token::Text(piece));
            }
            piece.push_all(close, here);
            continue;
        }
        if input.take_if(open) {
            depth += 1;
            piece.push_all(open, here);
            continue;
        }
        match next {
            Next::End => return Err((line, "the input ends inside a quoted string".to_string())),
            Next::Builtin(_) => {}
            Next::Byte(byte) => piece.push(byte, here),
        }
        input.take();
    }
}
