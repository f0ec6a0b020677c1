//! The builtins that use regular expressions.

use super::Args;
use crate::budget::check_length;
use crate::regex::{Match, Regex};

/// `regexp(text, pattern, replacement)`.
pub(super) fn regexp(args: &Args<'_>) -> Result<Vec<u8>, String> {
    if args.count() < 2 {
        // Like m4: without a pattern, the empty one matches at the start.
        return Ok(if args.count() == 1 { b"0" } else { &b""[..] }.to_vec());
    }
    let text = args.text(1);
    let found = Regex::new(args.text(2))?.find(text, 0)?;
    if args.count() == 2 {
        let at = found.map_or("-1".to_string(), |found| found.start().to_string());
        return Ok(at.into_bytes());
    }
    let mut out = Vec::new();
    if let Some(found) = found {
        replace(args.text(3), text, &found, &mut out)?;
    }
    Ok(out)
}

/// `patsubst(text, pattern, replacement)`.
pub(super) fn patsubst(args: &Args<'_>) -> Result<Vec<u8>, String> {
    let text = args.text(1);
    if args.count() < 2 {
        return Ok(text.to_vec());
    }
    let regex = Regex::new(args.text(2))?;
    let mut out = Vec::new();
    let mut at = 0;
    while at <= text.len() {
        let Some(found) = regex.find(text, at)? else {
            break;
        };
        out.extend_from_slice(&text[at..found.start()]);
        replace(args.text(3), text, &found, &mut out)?;
        at = found.end();
        if found.start() == found.end() {
            // An empty match lets one character through, or the same place would match again.
            out.extend(text.get(at));
            at += 1;
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    check_length(out.len())?;
    Ok(out)
}

fn replace(replacement: &[u8], text: &[u8], found: &Match, out: &mut Vec<u8>) -> Result<(), String> {
    let mut bytes = replacement.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'&') => out.extend_from_slice(found.group(text, 0)),
            Some(digit) if digit.is_ascii_digit() => {
                out.extend_from_slice(found.group(text, usize::from(digit - b'0')));
            }
            Some(&other) => out.push(other),
            None => {}
        }
    }
    check_length(out.len())
}
