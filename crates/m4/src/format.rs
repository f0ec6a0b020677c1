//! The builtin `format`: the conversions of C's printf for integers, characters and strings.

use crate::builtins::number;
use crate::call::Argument;
use crate::error::shown;

/// The widest field, so that a slip in the width does not fill the memory.
const WIDEST: usize = 1_000_000;

#[derive(Default)]
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// How many `h` there are: they cut a number to 16 and 8 bits.
    halves: usize,
}

struct Formatter<'a> {
    pattern: &'a [u8],
    at: usize,
    values: std::slice::Iter<'a, Argument>,
}

/// Formats the arguments after the first by the first.
pub(crate) fn format(values: &[Argument]) -> Result<Vec<u8>, String> {
    let mut values = values.iter();
    let pattern = values.next().map_or(&b""[..], Argument::bytes);
    let mut formatter = Formatter { pattern, at: 0, values };
    let mut out = Vec::new();
    while let Some(byte) = formatter.take() {
        if byte != b'%' {
            out.push(byte);
        } else if formatter.peek() == Some(b'%') {
            formatter.at += 1;
            out.push(b'%');
        } else {
            formatter.convert(&mut out)?;
            crate::budget::check_length(out.len())?;
        }
    }
    Ok(out)
}

impl Formatter<'_> {
    fn peek(&self) -> Option<u8> {
        self.pattern.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn text(&mut self) -> Vec<u8> {
        self.values.next().map_or(Vec::new(), |value| value.bytes().to_vec())
    }

    fn number(&mut self) -> Result<i32, String> {
        number(&self.text(), b"format")
    }

    fn spec(&mut self) -> Result<Spec, String> {
        let mut spec = Spec::default();
        loop {
            match self.peek() {
                Some(b'-') => spec.left = true,
                Some(b'0') => spec.zero = true,
                Some(b'+') => spec.plus = true,
                Some(b' ') => spec.space = true,
                Some(b'#') => spec.alternate = true,
                _ => break,
            }
            self.at += 1;
        }
        let width = self.size()?;
        spec.left |= width < 0;
        spec.width = width.unsigned_abs() as usize;
        if self.peek() == Some(b'.') {
            self.at += 1;
            spec.precision = usize::try_from(self.size()?).ok();
        }
        while let Some(b'h' | b'l') = self.peek() {
            spec.halves += usize::from(self.peek() == Some(b'h'));
            self.at += 1;
        }
        if spec.width.max(spec.precision.unwrap_or(0)) > WIDEST {
            return Err("format: the field is too wide".to_string());
        }
        Ok(spec)
    }

    /// A width or precision: digits, or a star for the next argument.
    fn size(&mut self) -> Result<i32, String> {
        if self.peek() == Some(b'*') {
            self.at += 1;
            return self.number();
        }
        let mut size = 0i32;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            size = size.saturating_mul(10).saturating_add(i32::from(digit - b'0'));
            self.at += 1;
        }
        Ok(size)
    }

    fn convert(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        let start = self.at - 1;
        let mut spec = self.spec()?;
        let conversion = self.take();
        match conversion {
            Some(b'd' | b'i') => {
                let value = match spec.halves {
                    0 => self.number()?,
                    1 => (self.number()? as i16).into(),
                    _ => (self.number()? as i8).into(),
                };
                let sign = match value {
                    ..0 => "-",
                    _ if spec.plus => "+",
                    _ if spec.space => " ",
                    _ => "",
                };
                integer(&spec, sign, value.unsigned_abs().to_string(), out);
            }
            Some(kind @ (b'u' | b'o' | b'x' | b'X')) => {
                let value = self.number()? as u32;
                unsigned(&mut spec, kind, value, out);
            }
            Some(b'c') => {
                // Like m4, whose texts end at a zero byte, 0 gives no character.
                let byte = Some(self.number()? as u8).filter(|&byte| byte != 0);
                pad(&spec, Vec::from_iter(byte), out);
            }
            Some(b's') => {
                let mut text = self.text();
                text.truncate(spec.precision.unwrap_or(usize::MAX));
                pad(&spec, text, out);
            }
            _ => {
                let unknown = shown(&self.pattern[start..self.at]);
                return Err(format!("format: unknown conversion {unknown}"));
            }
        }
        Ok(())
    }
}

fn unsigned(spec: &mut Spec, kind: u8, value: u32, out: &mut Vec<u8>) {
    let value = match spec.halves {
        0 => value,
        1 => value & 0xffff,
        _ => value & 0xff,
    };
    let digits = match kind {
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let prefix = match kind {
        b'x' if spec.alternate && value != 0 => "0x",
        b'X' if spec.alternate && value != 0 => "0X",
        _ => "",
    };
    if kind == b'o' && spec.alternate && value != 0 {
        let least = digits.len() + 1;
        integer(&Spec { precision: spec.precision.max(Some(least)), ..*spec }, "", digits, out);
        return;
    }
    integer(spec, prefix, digits, out);
}

fn integer(spec: &Spec, prefix: &str, digits: String, out: &mut Vec<u8>) {
    let digits = if spec.precision == Some(0) && digits == "0" { String::new() } else { digits };
    let room = spec.width.saturating_sub(prefix.len());
    let least = match spec.precision {
        Some(precision) => precision,
        None if spec.zero && !spec.left => room,
        None => 0,
    };
    let text = format!("{prefix}{digits:0>least$}");
    pad(spec, text.into_bytes(), out);
}

fn pad(spec: &Spec, text: Vec<u8>, out: &mut Vec<u8>) {
    let missing = spec.width.saturating_sub(text.len());
    let blanks = std::iter::repeat_n(b' ', missing);
    if spec.left {
        out.extend(text);
        out.extend(blanks);
    } else {
        out.extend(blanks);
        out.extend(text);
    }
}
