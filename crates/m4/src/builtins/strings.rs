//! Builtins that compute a text from texts and numbers alone.

use super::Args;
use crate::error::shown;
use crate::eval::{evaluate, in_radix};

/// The number that `text` is; nothing counts as 0, and so does m4.
pub(crate) fn number(text: &[u8], name: &[u8]) -> Result<i32, String> {
    let digits = text.trim_ascii_start();
    if digits.is_empty() && digits.len() == text.len() {
        return Ok(0);
    }
    let parsed = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i64>().ok());
    match parsed.map(i32::try_from) {
        Some(Ok(number)) => Ok(number),
        Some(Err(_)) => Err(format!("{}: {} does not fit into 32 bits", shown(name), shown(text))),
        None => Err(format!("{}: \"{}\" is not a number", shown(name), shown(text))),
    }
}

fn decimal(number: impl ToString) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// `incr` and `decr`.
pub(super) fn step(args: &Args<'_>, by: i32) -> Result<Vec<u8>, String> {
    if args.count() == 0 {
        return Ok(Vec::new());
    }
    Ok(decimal(args.number(1)?.wrapping_add(by)))
}

/// `eval(expression, radix, width)`.
pub(super) fn eval(args: &Args<'_>) -> Result<Vec<u8>, String> {
    if args.count() == 0 {
        return Ok(Vec::new());
    }
    let radix = match args.text(2) {
        b"" => 10,
        _ => args.number(2)?,
    };
    let width = match args.count() {
        ..=2 => 1,
        _ => args.number(3)?,
    };
    let value = evaluate(args.text(1))?;
    in_radix(value, radix, width)
}

/// `len(text)`.
pub(super) fn len(args: &Args<'_>) -> Result<Vec<u8>, String> {
    if args.count() == 0 {
        return Ok(Vec::new());
    }
    Ok(decimal(args.text(1).len()))
}

/// `index(text, part)`.
pub(super) fn index(args: &Args<'_>) -> Result<Vec<u8>, String> {
    if args.count() == 0 {
        return Ok(Vec::new());
    }
    let (text, part) = (args.text(1), args.text(2));
    if part.is_empty() {
        return Ok(decimal(0));
    }
    let found = text.windows(part.len()).position(|window| window == part);
    Ok(found.map_or_else(|| decimal(-1), decimal))
}

/// `substr(text, from, length)`.
pub(super) fn substr(args: &Args<'_>) -> Result<Vec<u8>, String> {
    let text = args.text(1);
    if args.count() < 2 {
        return Ok(text.to_vec());
    }
    let Ok(from) = usize::try_from(args.number(2)?) else {
        return Ok(Vec::new());
    };
    let rest = text.get(from..).unwrap_or_default();
    if args.count() < 3 {
        return Ok(rest.to_vec());
    }
    let length = usize::try_from(args.number(3)?).unwrap_or(0);
    Ok(rest[..length.min(rest.len())].to_vec())
}

/// `translit(text, from, to)`.
pub(super) fn translit(args: &Args<'_>) -> Result<Vec<u8>, String> {
    let from = with_ranges(args.text(2));
    let to = with_ranges(args.text(3));
    let mut map: [Option<Option<u8>>; 256] = [None; 256];
    for (index, &byte) in from.iter().enumerate() {
        // The first of several entries for a character counts.
        map[usize::from(byte)].get_or_insert(to.get(index).copied());
    }
    let translated = args.text(1).iter();
    Ok(translated.filter_map(|&byte| map[usize::from(byte)].unwrap_or(Some(byte))).collect())
}

/// Writes out ranges like `a-z`; a hyphen at either end stands for itself.
fn with_ranges(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match (out.last().copied(), byte, text.get(at).copied()) {
            (Some(first), b'-', Some(last)) => {
                at += 1;
                if first <= last {
                    out.extend((first..=last).skip(1));
                } else {
                    out.extend((last..first).rev());
                }
            }
            _ => out.push(byte),
        }
    }
    out
}
