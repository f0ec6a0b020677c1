//! Traces in the Informal Trace Format (ITF), the JSON form that Apalache and Quint read and write.
//!
//! Every state carries all variables; the location of a process is a string under the process's name. What ITF has no
//! place for is under `#meta`: the property, the moves that led to a state, and what led to the error state, whose variables are
//! `{"#unserializable": "error"}`. A trace with `loop` shows an infinite run: its last state is the same as the one with that index.

use lariat_base::outcome::PropertyKind;
use lariat_base::trace::{Move, Trace, TraceProperty, TraceState, TraceStep, TraceValue, TraceVariable};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writes the trace as ITF.
pub fn trace_itf(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let property = trace.property.as_ref().map(|p| match &p.automaton {
        None => json!({"kind": p.kind.word(), "expression": p.expression}),
        Some(text) => json!({"kind": p.kind.word(), "expression": p.expression, "automaton": text}),
    });
    let locations: Vec<&str> = trace.variables.iter().filter(|v| v.is_location).map(|v| v.name.as_str()).collect();
    let meta = json!({
        "format": "ITF",
        "description": "created by lariat",
        "model": trace.model,
        "property": property,
        "what": trace.what,
        "locations": locations,
    });
    let names: Vec<&str> = trace.variables.iter().map(|v| v.name.as_str()).collect();
    write!(out, "{{\n  \"#meta\": ")?;
    indented(&meta, 2, out)?;
    write!(out, ",\n  \"vars\": ")?;
    indented(&json!(names), 2, out)?;
    // There may be many states, so each is made when it is written.
    write!(out, ",\n  \"states\": [\n    ")?;
    indented(&state(trace, 0, &[], &trace.initial), 4, out)?;
    for (i, step) in trace.steps.iter().enumerate() {
        write!(out, ",\n    ")?;
        indented(&state(trace, i + 1, &step.moves, &step.state), 4, out)?;
    }
    write!(out, "\n  ]")?;
    if let Some(to) = trace.loop_to {
        write!(out, ",\n  \"loop\": {to}")?;
    }
    writeln!(out, "\n}}")
}

/// Writes a value on several lines, of which all but the first are indented by this much more. Line breaks inside of texts are escaped, so there are no others.
fn indented(value: &Value, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    let text = format!("{value:#}");
    for (i, line) in text.split('\n').enumerate() {
        match i {
            0 => write!(out, "{line}")?,
            _ => write!(out, "\n{:indent$}{line}", "")?,
        }
    }
    Ok(())
}

fn state(trace: &Trace, index: usize, moves: &[Move], state: &TraceState) -> Value {
    let mut meta = Map::new();
    meta.insert("index".to_owned(), json!(index));
    if index > 0 {
        let moves: Vec<Value> = moves
            .iter()
            .map(|m| json!({"process": m.process, "from": m.from, "to": m.to, "line": m.line, "channel": m.channel}))
            .collect();
        meta.insert("moves".to_owned(), json!(moves));
    }
    let mut fields = Map::new();
    match state {
        TraceState::Error(why) => {
            meta.insert("error".to_owned(), json!(why));
            fields.insert("#meta".to_owned(), Value::Object(meta));
            for variable in &trace.variables {
                fields.insert(variable.name.clone(), json!({"#unserializable": "error"}));
            }
        }
        TraceState::Values(values) => {
            fields.insert("#meta".to_owned(), Value::Object(meta));
            for (variable, value) in trace.variables.iter().zip(values) {
                let value = match value {
                    TraceValue::Number(n) => json!(n),
                    TraceValue::List(list) => json!(list),
                    TraceValue::Location(name) => json!(name),
                };
                fields.insert(variable.name.clone(), value);
            }
        }
    }
    Value::Object(fields)
}

/// Reads what [`trace_itf`] wrote. The error says what is missing or of the wrong kind, and where.
pub fn read_itf(text: &str) -> Result<Trace, String> {
    let object: Value = serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))?;
    let meta = field(&object, "#meta", "the trace")?;
    let locations = names(field(meta, "locations", "#meta")?, "#meta.locations")?;
    let variables: Vec<TraceVariable> = names(field(&object, "vars", "the trace")?, "vars")?
        .into_iter()
        .map(|name| TraceVariable { is_location: locations.contains(&name), name })
        .collect();
    let list = array(field(&object, "states", "the trace")?, "states")?;
    let mut states = Vec::new();
    for (i, state) in list.iter().enumerate() {
        states.push(read_state(state, i, &variables)?);
    }
    let mut states = states.into_iter();
    let (_, initial) = states.next().ok_or("the trace has no states")?;
    let n_states = list.len();
    let loop_to = match object.get("loop") {
        None => None,
        Some(to) => match to.as_u64() {
            Some(to) if (to as usize) < n_states => Some(to as usize),
            _ => return Err("loop: expected the number of a state".to_owned()),
        },
    };
    Ok(Trace {
        model: string(field(meta, "model", "#meta")?, "#meta.model")?,
        property: read_property(field(meta, "property", "#meta")?)?,
        what: string(field(meta, "what", "#meta")?, "#meta.what")?,
        variables,
        initial,
        steps: states.map(|(moves, state)| TraceStep { moves, state }).collect(),
        loop_to,
    })
}

fn read_property(value: &Value) -> Result<Option<TraceProperty>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let word = string(field(value, "kind", "#meta.property")?, "#meta.property.kind")?;
    let kind = PropertyKind::from_word(&word)
        .ok_or_else(|| format!("#meta.property.kind: `{word}` is not a kind of property"))?;
    let expression = string(field(value, "expression", "#meta.property")?, "#meta.property.expression")?;
    let automaton = match value.get("automaton") {
        None => None,
        Some(text) => Some(string(text, "#meta.property.automaton")?),
    };
    Ok(Some(TraceProperty { kind, expression, automaton }))
}

fn read_state(value: &Value, index: usize, variables: &[TraceVariable]) -> Result<(Vec<Move>, TraceState), String> {
    let place = format!("states[{index}]");
    let meta = field(value, "#meta", &place)?;
    if field(meta, "index", &place)?.as_u64() != Some(index as u64) {
        return Err(format!("{place}: its index is not {index}: states are missing or out of order"));
    }
    let moves = if index == 0 { Vec::new() } else { read_moves(field(meta, "moves", &place)?, &place)? };
    if let Some(error) = meta.get("error") {
        return Ok((moves, TraceState::Error(string(error, &place)?)));
    }
    let n_fields = value.as_object().map_or(0, Map::len);
    if n_fields != variables.len() + 1 {
        return Err(format!("{place}: expected {} variables, found {}", variables.len(), n_fields.saturating_sub(1)));
    }
    let mut values = Vec::new();
    for variable in variables {
        let value = field(value, &variable.name, &place)?;
        values.push(read_value(value, variable.is_location).ok_or_else(|| {
            format!("{place}.{}: expected a number, a list of numbers or the name of a location", variable.name)
        })?);
    }
    Ok((moves, TraceState::Values(values)))
}

fn read_value(value: &Value, is_location: bool) -> Option<TraceValue> {
    let number = |value: &Value| value.as_i64().and_then(|n| i32::try_from(n).ok());
    match value {
        Value::String(name) if is_location => Some(TraceValue::Location(name.clone())),
        Value::Array(list) if !is_location => {
            Some(TraceValue::List(list.iter().map(number).collect::<Option<Vec<_>>>()?))
        }
        other if !is_location => number(other).map(TraceValue::Number),
        _ => None,
    }
}

fn read_moves(value: &Value, place: &str) -> Result<Vec<Move>, String> {
    array(value, place)?
        .iter()
        .map(|m| {
            let text = |key: &str| string(field(m, key, place)?, place);
            let line = field(m, "line", place)?.as_u64().and_then(|n| u32::try_from(n).ok());
            let channel = field(m, "channel", place)?;
            Ok(Move {
                process: text("process")?,
                from: text("from")?,
                to: text("to")?,
                line: line.ok_or_else(|| format!("{place}: a line is a number"))?,
                channel: if channel.is_null() { None } else { Some(string(channel, place)?) },
            })
        })
        .collect()
}

fn field<'v>(value: &'v Value, key: &str, place: &str) -> Result<&'v Value, String> {
    value.get(key).ok_or_else(|| format!("{place}: `{key}` is missing"))
}

fn array<'v>(value: &'v Value, place: &str) -> Result<&'v Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("{place}: expected a list"))
}

fn string(value: &Value, place: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{place}: expected text"))
}

fn names(value: &Value, place: &str) -> Result<Vec<String>, String> {
    array(value, place)?.iter().map(|v| string(v, place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Trace {
        let variable = |name: &str, is_location| TraceVariable { name: name.to_owned(), is_location };
        let values = |x, list: &[i32], at: &str| {
            TraceState::Values(vec![
                TraceValue::Number(x),
                TraceValue::List(list.to_vec()),
                TraceValue::Location(at.to_owned()),
            ])
        };
        let step = |from: &str, to: &str, state| TraceStep {
            moves: vec![Move {
                process: "P".to_owned(),
                from: from.to_owned(),
                to: to.to_owned(),
                line: 7,
                channel: Some("c!".to_owned()),
            }],
            state,
        };
        Trace {
            model: "m.dve".to_owned(),
            property: Some(TraceProperty {
                kind: PropertyKind::Invariant,
                expression: "x < 3".to_owned(),
                automaton: None,
            }),
            what: "the invariant is false".to_owned(),
            variables: vec![variable("x", false), variable("a", false), variable("P", true)],
            initial: values(0, &[1, 2], "q"),
            steps: [step("q", "r", values(-3, &[], "r")), step("r", "q", TraceState::Error("1/0".to_owned()))]
                .into_iter()
                .collect(),
            loop_to: None,
        }
    }

    fn itf(trace: &Trace) -> String {
        let mut text = Vec::new();
        trace_itf(trace, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut trace = example();
        assert_eq!(read_itf(&itf(&trace)), Ok(trace.clone()));
        trace.loop_to = Some(1);
        let mut steps: Vec<TraceStep> = trace.steps.iter().collect();
        steps[1].moves.clear();
        trace.steps = steps.into_iter().collect();
        trace.property = Some(TraceProperty {
            kind: PropertyKind::Automaton,
            expression: "a.hoa".to_owned(),
            automaton: Some("HOA: v1\n".to_owned()),
        });
        assert_eq!(read_itf(&itf(&trace)), Ok(trace.clone()));
        trace.property = None;
        assert_eq!(read_itf(&itf(&trace)), Ok(trace));
    }

    #[test]
    fn it_is_json_as_it_is_printed_elsewhere() {
        for mut trace in [example(), Trace { loop_to: Some(1), ..example() }] {
            for variables in [trace.variables.clone(), Vec::new()] {
                trace.variables = variables;
                let text = itf(&trace);
                let value: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(text, format!("{value:#}\n"));
            }
        }
    }

    #[test]
    fn broken_traces_are_refused() {
        let good = itf(&example());
        for (from, to) in
            [("\"vars\"", "\"wars\""), ("\"index\": 1", "\"index\": 2"), ("-3", "\"-3\""), ("\"x\": 0,", "")]
        {
            assert!(good.contains(from));
            assert!(read_itf(&good.replacen(from, to, 1)).is_err(), "{from} -> {to}");
        }
        assert!(read_itf("").is_err());
        assert!(read_itf("[]").is_err());
        assert!(read_itf(&good[..good.len() / 2]).is_err());
    }
}
