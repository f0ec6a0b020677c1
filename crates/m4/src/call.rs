//! A macro call while its arguments are collected, and the text of a macro with them put in.

use std::rc::Rc;

use crate::budget::check_length;
use crate::builtins::Builtin;
use crate::symbols::Definition;

/// One argument.
pub(crate) enum Argument {
    Text(Vec<u8>),
    /// What `defn` of a builtin gives; only some builtins understand it.
    Builtin(Builtin),
}

impl Argument {
    /// The text; a builtin has none.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Argument::Text(text) => text,
            Argument::Builtin(_) => b"",
        }
    }
}

/// A call whose arguments are not complete yet.
pub(crate) struct Call {
    pub(crate) name: Vec<u8>,
    pub(crate) definition: Rc<Definition>,
    pub(crate) line: u32,
    pub(crate) arguments: Vec<Argument>,
    text: Vec<u8>,
    builtin: Option<Builtin>,
    parentheses: usize,
    /// Whether the current argument has nothing yet, so that white space is skipped.
    fresh: bool,
}

impl Call {
    pub(crate) fn new(name: Vec<u8>, definition: Rc<Definition>, line: u32) -> Self {
        Call {
            name,
            definition,
            line,
            arguments: Vec::new(),
            text: Vec::new(),
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
    pub(crate) fn add(&mut self, text: &[u8]) -> Result<(), String> {
        self.fresh = false;
        self.text.extend_from_slice(text);
        check_length(self.text.len())
    }

    /// Adds the token of a builtin; it counts only at the start of an argument.
    pub(crate) fn add_builtin(&mut self, builtin: Builtin) {
        self.fresh = false;
        if self.text.is_empty() {
            self.builtin = Some(builtin);
        }
    }

    /// Adds a character that may structure the arguments; true once the call is complete.
    pub(crate) fn add_simple(&mut self, byte: u8) -> Result<bool, String> {
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
        self.add(&[byte])?;
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
    out: &mut Vec<u8>,
) -> Result<(), String> {
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        if let Some((open, _)) = quotes {
            out.extend_from_slice(open);
        }
        out.extend_from_slice(argument.text());
        if let Some((_, close)) = quotes {
            out.extend_from_slice(close);
        }
        check_length(out.len())?;
    }
    Ok(())
}

/// The text of a macro with `$1`, `$#`, `$*`, `$@` and the like replaced.
pub(crate) fn substitute(
    body: &[u8],
    name: &[u8],
    arguments: &[Argument],
    quotes: &(Vec<u8>, Vec<u8>),
) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        at += 1;
        if byte != b'$' {
            out.push(byte);
            continue;
        }
        match body.get(at) {
            Some(digit) if digit.is_ascii_digit() => {
                let mut index = 0usize;
                while let Some(digit) = body.get(at).filter(|digit| digit.is_ascii_digit()) {
                    index = index.saturating_mul(10).saturating_add((digit - b'0').into());
                    at += 1;
                }
                match index.checked_sub(1) {
                    None => out.extend_from_slice(name),
                    Some(index) => {
                        let text = arguments.get(index).map_or(&b""[..], Argument::text);
                        out.extend_from_slice(text);
                    }
                }
            }
            Some(b'#') => {
                out.extend_from_slice(arguments.len().to_string().as_bytes());
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
            _ => out.push(b'$'),
        }
        check_length(out.len())?;
    }
    Ok(out)
}
