//! The JSON object of `--json`: a contract, described in `docs/interface.md`.

use lariat_base::outcome::{Outcome, PropertyOutcome};
use serde_json::{Value, json};

/// The one object that `--json` prints.
pub fn outcome_json(outcome: &Outcome, version: &str) -> String {
    let counts = &outcome.counts;
    let phases: Vec<Value> =
        outcome.phases.iter().map(|(name, seconds)| json!({"name": name, "seconds": rounded(*seconds)})).collect();
    let object = json!({
        "lariat": version,
        "command": outcome.command,
        "model": {
            "file": outcome.model.file,
            "state_bytes": outcome.model.state_bytes,
            "processes": outcome.model.processes,
        },
        "verdict": outcome.verdict_word(),
        "properties": outcome.properties.iter().map(property).collect::<Vec<_>>(),
        "algorithm": outcome.algorithm,
        "threads": outcome.threads,
        "limit": outcome.limit.map(|limit| limit.word()),
        "states": counts.states,
        "transitions": counts.transitions,
        "levels": counts.levels,
        "deadlocks": counts.deadlocks,
        "accepting": counts.accepting.unwrap_or(0),
        "error": outcome.error_state,
        "seconds": rounded(outcome.seconds),
        "memory": {
            "budget": outcome.memory_budget,
            "peak": outcome.memory_peak,
            "stored": outcome.memory_stored,
        },
        "disk": {"peak": 0, "stored": 0, "bytes_per_state": 0.0},
        "io": {
            "read_ops": 0, "write_ops": 0, "random_reads": 0, "random_writes": 0,
            "bytes_read": 0, "bytes_written": 0, "block": 0,
        },
        "phases": phases,
    });
    format!("{object:#}\n")
}

fn property(property: &PropertyOutcome) -> Value {
    let counterexample = property.counterexample.as_ref().map(|c| {
        json!({
            "prefix": c.prefix,
            "cycle": c.cycle,
            "file": c.file,
            "replayed": c.replayed,
            "what": c.what,
        })
    });
    json!({
        "name": property.name,
        "kind": property.kind.word(),
        "verdict": property.verdict.word(),
        "automaton": property.automaton.map(|a| json!({"states": a.states, "edges": a.edges})),
        "product": property.product.map(|counts| json!({
            "states": counts.states,
            "transitions": counts.transitions,
            "deadlocks": counts.deadlocks,
            "accepting": counts.accepting,
        })),
        "counterexamples": u8::from(counterexample.is_some()),
        "counterexample": counterexample,
    })
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
