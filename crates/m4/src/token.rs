//! Splits the input into tokens: words, quoted strings, comments and single characters.

use crate::builtins::Builtin;
use crate::input::{Input, Next, Place};
use crate::text::Text;

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

/// A token of several bytes.
pub(crate) struct Piece {
    pub(crate) text: Text,
    /// The calls that its first byte comes from.
    pub(crate) place: Place,
}

/// One token.
pub(crate) enum Token {
    /// A name that may be a macro.
    Word(Piece),
    /// A single character of any other kind.
    Simple {
        byte: u8,
        own: u32,
        place: Place,
    },
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
    let (place, own) = (input.place(), input.own());
    if input.starts_with(&syntax.comment.0) {
        return comment(input, syntax, place);
    }
    if starts_word(byte) {
        return Ok(word(input, place));
    }
    if input.take_if(&syntax.quote.0) {
        return quoted(input, syntax, place);
    }
    input.take();
    Ok(Token::Simple { byte, own, place })
}

fn word(input: &mut Input, place: Place) -> Token {
    let mut text = Text::new();
    while let Next::Byte(byte) = input.peek() {
        if !in_word(byte) {
            break;
        }
        input.take();
        text.push(byte, input.own());
    }
    Token::Word(Piece { text, place })
}

fn comment(input: &mut Input, syntax: &Syntax, place: Place) -> Result<Token, (u32, String)> {
    let (open, close) = &syntax.comment;
    let mut text = Text::new();
    text.push_all(open, input.own());
    input.take_if(open);
    loop {
        let next = input.peek();
        let here = input.own();
        if next.may_start(close) && input.take_if(close) {
            text.push_all(close, here);
            return Ok(Token::Text(Piece { text, place }));
        }
        match next {
            // GNU m4 refuses a last line without newline here; there is no doubt what it means.
            Next::End if close == b"\n" => return Ok(Token::Text(Piece { text, place })),
            Next::End => return Err((place.outer, "the input ends inside a comment".to_string())),
            Next::Builtin(_) => {}
            Next::Byte(byte) => text.push(byte, here),
        }
        input.take();
    }
}

fn quoted(input: &mut Input, syntax: &Syntax, place: Place) -> Result<Token, (u32, String)> {
    let (open, close) = &syntax.quote;
    let mut text = Text::new();
    let mut depth = 1u32;
    loop {
        let next = input.peek();
        let here = input.own();
        if next.may_start(close) && input.take_if(close) {
            depth -= 1;
            if depth == 0 {
                return Ok(Token::Text(Piece { text, place }));
            }
            text.push_all(close, here);
            continue;
        }
        if next.may_start(open) && input.take_if(open) {
            depth += 1;
            text.push_all(open, here);
            continue;
        }
        match next {
            Next::End => return Err((place.outer, "the input ends inside a quoted string".to_string())),
            Next::Builtin(_) => {}
            Next::Byte(byte) => text.push(byte, here),
        }
        input.take();
    }
}
