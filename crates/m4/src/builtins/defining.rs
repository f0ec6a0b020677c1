//! Builtins that define macros, call them by name, or choose between their arguments.

use std::rc::Rc;

use super::{Args, Builtin};
use crate::call::{Argument, joined};
use crate::error::shown;
use crate::machine::Machine;
use crate::symbols::Definition;
use crate::text::Text;

/// What is charged for a definition, so that endless `pushdef` runs out of steps, not of memory.
const DEFINITION: usize = 50;

/// Runs `define` and its relatives.
pub(super) fn run(machine: &mut Machine<'_>, builtin: Builtin, args: &Args<'_>) -> Result<(), String> {
    match builtin {
        Builtin::Define | Builtin::PushDef => define(machine, builtin, args),
        Builtin::PopDef => {
            for value in args.values {
                machine.symbols.pop(value.bytes());
            }
            Ok(())
        }
        Builtin::Undefine => {
            for value in args.values {
                machine.symbols.remove(value.bytes());
            }
            Ok(())
        }
        Builtin::Defn => defn(machine, args),
        _ => by_name(machine, builtin, args),
    }
}

fn define(machine: &mut Machine<'_>, builtin: Builtin, args: &Args<'_>) -> Result<(), String> {
    let Some(Argument::Text(name)) = args.get(1) else {
        return Ok(());
    };
    let name = name.bytes();
    let definition = match args.get(2) {
        None => Definition::Text(Text::new()),
        Some(Argument::Text(text)) => Definition::Text(text.clone()),
        Some(Argument::Builtin(builtin)) => Definition::Builtin(*builtin),
    };
    machine.budget.take(DEFINITION + name.len() + args.text(2).len())?;
    if builtin == Builtin::Define {
        machine.symbols.define(name, definition);
    } else {
        machine.symbols.push(name, definition);
    }
    Ok(())
}

fn defn(machine: &mut Machine<'_>, args: &Args<'_>) -> Result<(), String> {
    let mut text = Text::new();
    for value in args.values {
        let definition = machine.symbols.get(value.bytes());
        match definition.as_deref() {
            None => {}
            // Several definitions make one text, and a builtin has none.
            Some(Definition::Builtin(_)) if args.count() > 1 => {}
            Some(Definition::Builtin(builtin)) => {
                return machine.input.push_builtin(*builtin, machine.place);
            }
            Some(Definition::Text(body)) => {
                let one = [Argument::Text(body.clone())];
                joined(&one, b',', Some(&machine.syntax.quote), &mut text)?;
            }
        }
    }
    machine.push_result(text)
}

/// `indir` and `builtin`; a chain of them is a loop here, for its length is up to the input.
fn by_name(machine: &mut Machine<'_>, builtin: Builtin, args: &Args<'_>) -> Result<(), String> {
    let mut builtin = builtin;
    let mut values = args.values;
    while let Some((first, rest)) = values.split_first() {
        let name = first.bytes();
        let definition = if builtin == Builtin::Indir {
            machine.symbols.get(name)
        } else {
            Builtin::by_name(name).map(|found| Rc::new(Definition::Builtin(found)))
        };
        let Some(definition) = definition else {
            return Err(format!("{}: no macro {}", builtin.name(), shown(name)));
        };
        match *definition {
            Definition::Builtin(next @ (Builtin::Indir | Builtin::ByName)) => builtin = next,
            _ => return machine.invoke(name, &definition, rest),
        }
        values = rest;
    }
    Ok(())
}

/// Runs the builtins whose result is some of their arguments.
pub(super) fn choose(machine: &mut Machine<'_>, builtin: Builtin, args: &Args<'_>) -> Result<(), String> {
    let text = match builtin {
        Builtin::IfDef if args.count() < 2 => Text::new(),
        Builtin::IfDef => {
            let defined = machine.symbols.get(args.text(1)).is_some();
            chosen(args, if defined { 2 } else { 3 })
        }
        Builtin::IfElse => ifelse(args).map_or(Text::new(), |number| chosen(args, number)),
        _ => {
            let mut text = Text::new();
            let rest = args.values.get(1..).unwrap_or_default();
            joined(rest, b',', Some(&machine.syntax.quote), &mut text)?;
            text
        }
    };
    machine.push_result(text)
}

/// An argument as it is, with its lines.
fn chosen(args: &Args<'_>, number: usize) -> Text {
    args.get(number).map_or(Text::new(), |argument| argument.text().clone())
}

/// The number of the argument that `ifelse` chooses.
fn ifelse(args: &Args<'_>) -> Option<usize> {
    if args.count() < 3 {
        return None;
    }
    let mut first = 1;
    loop {
        if args.text(first) == args.text(first + 1) {
            return Some(first + 2);
        }
        match args.count() - (first - 1) {
            ..=3 => return None,
            4 | 5 => return Some(first + 3),
            _ => first += 3,
        }
    }
}
