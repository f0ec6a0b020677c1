//! `lariat model`: what Lariat understood of a model.

use crate::failure::{ExitStatus, Failure};
use crate::load;
use crate::options::ModelOptions;
use crate::output;
use lariat_exec::Layout;
use lariat_lang::Loaded;
use lariat_model::{Composition, Model, ProcessId, VariableKind};
use serde_json::{Value, json};
use std::fmt::Write;

pub fn describe(options: &ModelOptions) -> Result<ExitStatus, Failure> {
    let Loaded { model, .. } = load::load(&options.source, options.display.quiet)?;
    let layout = Layout::new(&model);
    let description =
        if options.display.json { format!("{:#}\n", as_json(&model, &layout)) } else { as_text(&model, &layout) };
    output::text(&description)?;
    Ok(ExitStatus::Fine)
}

fn composition(model: &Model) -> &'static str {
    match model.composition {
        Composition::Asynchronous => "asynchronous: one process, or one pair on a channel, moves at a time",
        Composition::Synchronous => "synchronous: all processes move at once",
    }
}

fn as_text(model: &Model, layout: &Layout) -> String {
    let mut out = format!("{}: {}\n", model.file, composition(model));
    let bits: u32 = layout.fields().iter().map(|f| f.bits).sum();
    let _ = writeln!(out, "state: {} cells in {bits} bits, {} bytes a row", model.n_system_cells, layout.row_bytes());
    let _ = writeln!(out, "\nvariables (name, type, values in reachable states at most, initially, bits)");
    for variable in &model.variables {
        let cells = variable.first.index()..variable.first.index() + variable.n_cells as usize;
        let range = model.cells[cells.clone()].iter().map(|c| c.range).reduce(lariat_model::Interval::join);
        let initial: Vec<String> = model.cells[cells.clone()].iter().map(|c| c.initial.to_string()).collect();
        let bits: u32 = cells.filter_map(|c| layout.fields().get(c)).map(|f| f.bits).sum();
        let kind = match variable.kind {
            VariableKind::Scalar(value_type) => value_type.word().to_owned(),
            VariableKind::Array(value_type) => format!("{}[{}]", value_type.word(), variable.n_cells),
            VariableKind::Location(_) => "location".to_owned(),
            VariableKind::Buffer(channel) => model.channel(channel).description(),
        };
        let range = range.map_or_else(String::new, |r| r.to_string());
        let name = model.variable_name(variable);
        let _ = writeln!(out, "  {name:<20} {kind:<10} {range:<12} {:<12} {bits}", shortened(&initial.join(" ")));
    }
    if !model.channels.is_empty() {
        out.push_str("\nchannels\n");
        for channel in &model.channels {
            let _ = writeln!(out, "  {:<20} {}", channel.name, channel.description());
        }
    }
    out.push_str("\nprocesses\n");
    for (i, process) in model.processes.iter().enumerate() {
        let id = ProcessId(i as u32);
        let role = if model.property == Some(id) { " (the property)" } else { "" };
        let initial = model.cells[process.location.index()].initial;
        let locations: Vec<String> = process
            .locations
            .iter()
            .enumerate()
            .map(|(i, l)| {
                let initial = if i as i32 == initial { "->" } else { "" };
                let committed = if l.committed { " committed" } else { "" };
                let accepting = if l.accepting { " accepting" } else { "" };
                format!("{initial}{}{committed}{accepting}", l.name)
            })
            .collect();
        let _ = writeln!(out, "  {}{role}: {}", process.name, locations.join(", "));
        for transition in model.transitions_of(id) {
            let transition = model.transition(transition);
            let _ = writeln!(out, "    line {:<5} {}", transition.line, model.show_transition(transition));
        }
    }
    out.push_str("\nproperties\n");
    for assertion in &model.assertions {
        let process = model.process(assertion.process);
        let location = &process.locations[assertion.location as usize].name;
        let text = model.show_expression(&assertion.expression);
        let _ = writeln!(out, "  line {:<5} assert at {}.{location}: {text}", assertion.line, process.name);
    }
    match model.property {
        Some(property) => {
            let _ = writeln!(out, "  property process {}", model.process(property).name);
        }
        None if model.assertions.is_empty() => out.push_str("  none\n"),
        None => {}
    }
    out
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 12 {
        text.to_owned()
    } else {
        format!("{}...", text.chars().take(9).collect::<String>())
    }
}

fn as_json(model: &Model, layout: &Layout) -> Value {
    let variables: Vec<Value> = model
        .variables
        .iter()
        .map(|variable| {
            let cells = variable.first.index()..variable.first.index() + variable.n_cells as usize;
            let fields: Vec<Value> = cells
                .map(|i| {
                    let cell = &model.cells[i];
                    let field = layout.fields().get(i);
                    json!({
                        "initial": cell.initial, "low": cell.range.low, "high": cell.range.high,
                        "bit": field.map(|f| f.bit), "bits": field.map(|f| f.bits),
                    })
                })
                .collect();
            let kind = match variable.kind {
                VariableKind::Scalar(value_type) | VariableKind::Array(value_type) => value_type.word(),
                VariableKind::Location(_) => "location",
                VariableKind::Buffer(_) => "buffer",
            };
            json!({"name": model.variable_name(variable), "type": kind, "cells": fields})
        })
        .collect();
    let processes: Vec<Value> = (0..model.processes.len() as u32)
        .map(|i| {
            let process = model.process(ProcessId(i));
            let locations: Vec<Value> = process
                .locations
                .iter()
                .map(|l| json!({"name": l.name, "committed": l.committed, "accepting": l.accepting}))
                .collect();
            let transitions: Vec<Value> = model
                .transitions_of(ProcessId(i))
                .map(|t| model.transition(t))
                .map(|t| {
                    let (from, to) = (&process.locations[t.from as usize].name, &process.locations[t.to as usize].name);
                    json!({"line": t.line, "from": from, "to": to, "text": model.show_transition(t)})
                })
                .collect();
            let is_property = model.property == Some(ProcessId(i));
            json!({"name": process.name, "property": is_property, "locations": locations, "transitions": transitions})
        })
        .collect();
    json!({
        "file": model.file,
        "synchronous": model.composition == Composition::Synchronous,
        "state_bytes": layout.row_bytes(),
        "variables": variables,
        "channels": model.channels.iter().map(|c| json!({"name": c.name, "kind": c.description()})).collect::<Vec<_>>(),
        "processes": processes,
        "assertions": model.assertions.len(),
    })
}
