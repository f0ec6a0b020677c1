//! A macro call while its arguments are collected, and the text of a macro with them put in.

use std::rc::Rc;

use crate::budget::check_length;
use crate::builtins::Builtin;
use crate::input::Place;
use crate::symbols::Definition;
use crate::text::{NOWHERE, Text};

/// The text of what has none.
static NOTHING: Text = Text::new();

/// One argument.
pub(crate) enum Argument {
    Text(Text),
    /// What `defn` of a builtin gives; only some builtins understand it.
    Builtin(Builtin),
}

impl Argument {
    /// The text; a builtin has none.
    pub(crate) fn text(&self) -> &Text {
        match self {
            Argument::Text(text) => text,
            Argument::Builtin(_) => &NOTHING,
        }
    }

    /// The bytes of the text.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.text().bytes()
    }
}

/// A call whose arguments are not complete yet.
pub(crate) struct Call {
    pub(crate) name: Vec<u8>,
    pub(crate) definition: Rc<Definition>,
    pub(crate) place: Place,
    pub(crate) arguments: Vec<Argument>,
    text: Text,
    builtin: Option<Builtin>,
    parentheses: usize,
    /// Whether the current argument has nothing yet, so that white space is skipped.
    fresh: bool,
}

impl Call {
    pub(crate) fn new(name: Vec<u8>, definition: Rc<Definition>, place: Place) -> Self {
        Call {
            name,
            definition,
            place,
            arguments: Vec::new(),
            text: Text::new(),
            builtin: None,
            parentheses: 0,
            fresh: true,
        }
    }

    /// Notes that a macro call is part of the current argument.
    pub(crate) fn touch(&mut self) {
        self.fresh = false;
    }

    /// Adds text that is not looked at any more.
    pub(crate) fn add(&mut self, text: &Text) -> Result<(), String> {
        self.fresh = false;
        self.text.append(text);
        check_length(self.text.len())
    }

    /// Adds the token of a builtin; it counts only at the start of an argument.
    pub(crate) fn add_builtin(&mut self, builtin: Builtin) {
        self.fresh = false;
        if self.text.is_empty() {
            self.builtin = Some(builtin);
        }
    }

    /// Adds a character of line `own` that may structure the arguments; true once the call is complete.
    pub(crate) fn add_simple(&mut self, byte: u8, own: u32) -> Result<bool, String> {
        let space = byte.is_ascii_whitespace() || byte == 0x0b;
        if self.fresh && space {
            return Ok(false);
        }
        match byte {
            b',' | b')' if self.parentheses == 0 => {
                self.finish_argument();
                return Ok(byte == b')');
            }
            b'(' => self.parentheses += 1,
            b')' => self.parentheses -= 1,
            _ => {}
        }
        self.fresh = false;
        self.text.push(byte, own);
        check_length(self.text.len())?;
        Ok(false)
    }

    fn finish_argument(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.arguments.push(match self.builtin.take() {
            Some(builtin) => Argument::Builtin(builtin),
            None => Argument::Text(text),
        });
        self.fresh = true;
    }
}

/// The arguments joined by `separator`, each between `quotes` if there are any.
pub(crate) fn joined(
    arguments: &[Argument],
    separator: u8,
    quotes: Option<&(Vec<u8>, Vec<u8>)>,
    out: &mut Text,
) -> Result<(), String> {
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            out.push(separator, NOWHERE);
        }
        if let Some((open, _)) = quotes {
            out.push_all(open, NOWHERE);
        }
        out.append(argument.text());
        if let Some((_, close)) = quotes {
            out.push_all(close, NOWHERE);
        }
        check_length(out.len())?;
    }
    Ok(())
}

/// The text of a macro with `$1`, `$#`, `$*`, `$@` and the like replaced; all of it keeps its lines.
pub(crate) fn substitute(
    body: &Text,
    name: &[u8],
    arguments: &[Argument],
    quotes: &(Vec<u8>, Vec<u8>),
) -> Result<Text, String> {
    let (text, body) = (body, body.bytes());
    let mut out = Text::new();
    let mut at = 0;
    loop {
        let plain = body.get(at..).unwrap_or_default();
        let plain = plain.iter().position(|&byte| byte == b'$').unwrap_or(plain.len());
        out.append_part(text, at..at + plain);
        at += plain + 1;
        if at > body.len() {
            break;
        }
        match body.get(at) {
            Some(digit) if digit.is_ascii_digit() => {
                let mut index = 0usize;
                while let Some(digit) = body.get(at).filter(|digit| digit.is_ascii_digit()) {
                    index = index.saturating_mul(10).saturating_add((digit - b'0').into());
                    at += 1;
                }
                match index.checked_sub(1) {
                    None => out.push_all(name, NOWHERE),
                    Some(index) => out.append(arguments.get(index).map_or(&NOTHING, Argument::text)),
                }
            }
            Some(b'#') => {
                out.push_all(arguments.len().to_string().as_bytes(), NOWHERE);
                at += 1;
            }
            Some(b'*') => {
                joined(arguments, b',', None, &mut out)?;
                at += 1;
            }
            Some(b'@') => {
                joined(arguments, b',', Some(quotes), &mut out)?;
                at += 1;
            }
            _ => out.append_part(text, at - 1..at),
        }
        check_length(out.len())?;
    }
    check_length(out.len())?;
    Ok(out)
}
