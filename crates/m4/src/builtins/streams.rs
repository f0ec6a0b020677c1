//! Builtins that change what is read or where text is written.

use super::{Args, Builtin};
use crate::error::shown;
use crate::machine::Machine;
use crate::text::Text;

/// Runs one of them; most give no text.
pub(super) fn run(machine: &mut Machine<'_>, builtin: Builtin, args: &Args<'_>) -> Result<Vec<u8>, String> {
    match builtin {
        Builtin::ChangeCom => change_comment(machine, args),
        Builtin::ChangeQuote => change_quote(machine, args),
        Builtin::Divert => machine.output.divert(args.number(1)?),
        Builtin::DivNum => return Ok(machine.output.current().to_string().into_bytes()),
        Builtin::Dnl => machine.skip_line()?,
        Builtin::ErrPrint => machine.complaint = args.text(1).to_vec(),
        Builtin::Include => return included(machine, args.text(1)),
        Builtin::SInclude => return Ok(included(machine, args.text(1)).unwrap_or_default()),
        Builtin::M4Exit => exit(machine, args)?,
        Builtin::M4Wrap => {
            let mut text = Text::new();
            crate::call::joined(args.values, b' ', None, &mut text)?;
            machine.wrap(text)?;
        }
        _ => undivert(machine, args)?,
    }
    Ok(Vec::new())
}

fn change_comment(machine: &mut Machine<'_>, args: &Args<'_>) {
    let open = args.text(1).to_vec();
    let close = match args.text(2) {
        b"" => b"\n".to_vec(),
        close => close.to_vec(),
    };
    machine.syntax.comment = (open, close);
}

fn change_quote(machine: &mut Machine<'_>, args: &Args<'_>) {
    let open = match args.get(1) {
        None => b"`".to_vec(),
        Some(open) => open.bytes().to_vec(),
    };
    let close = match args.text(2) {
        b"" => b"'".to_vec(),
        close => close.to_vec(),
    };
    // With an empty opening quote the closing one still shows in what $@ gives.
    let close = if open.is_empty() && args.count() > 1 { args.text(2).to_vec() } else { close };
    machine.syntax.quote = (open, close);
}

fn included(machine: &mut Machine<'_>, name: &[u8]) -> Result<Vec<u8>, String> {
    let Ok(name) = std::str::from_utf8(name) else {
        return Err(format!("include: {} is not a file name", shown(name)));
    };
    let text = (machine.include)(name)?;
    machine.budget.take(text.len())?;
    Ok(text.into_bytes())
}

fn exit(machine: &mut Machine<'_>, args: &Args<'_>) -> Result<(), String> {
    let code = args.number(1)?;
    if code != 0 {
        let complaint = String::from_utf8_lossy(machine.complaint.trim_ascii()).into_owned();
        let reason = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
        return Err(format!("the model stops the expansion with m4exit({code}){reason}"));
    }
    machine.stopped = true;
    machine.input.clear();
    Ok(())
}

fn undivert(machine: &mut Machine<'_>, args: &Args<'_>) -> Result<(), String> {
    if args.count() == 0 {
        machine.output.undivert_all();
    }
    for value in args.values {
        let text = value.bytes();
        let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
        if text.trim_ascii_start().first().is_none_or(digit) {
            machine.output.undivert(super::strings::number(text, args.name)?);
        } else {
            // Anything but a number is a file, written out without being expanded.
            let text = included(machine, text)?;
            machine.output.write_from(&text, machine.place.near)?;
        }
    }
    Ok(())
}
