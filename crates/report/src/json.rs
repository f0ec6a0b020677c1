//! The JSON object of `--json`: a contract, described in `docs/interface.md`.

use lariat_base::outcome::{CyclesSummary, IoLine, IoSummary, Outcome, PhaseSummary, PropertyOutcome};
use serde_json::{Value, json};

/// The one object that `--json` prints.
pub fn outcome_json(outcome: &Outcome, version: &str) -> String {
    let counts = &outcome.counts;
    let phases: Vec<Value> = outcome.phases.iter().map(phase).collect();
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
        "compact": outcome.compact.map(|compact| json!({
            "bits": compact.bits,
            "omission_probability": compact.omission_probability,
        })),
        "error": outcome.error_state,
        "seconds": rounded(outcome.seconds),
        "memory": {
            "budget": outcome.memory_budget,
            "peak": outcome.memory_peak,
            "stored": outcome.memory_stored,
        },
        "disk": disk(outcome),
        "io": io(outcome),
        "phases": phases,
    });
    format!("{object:#}\n")
}

fn property(property: &PropertyOutcome) -> Value {
    let counterexample = property.counterexample.as_ref().map(|c| {
        json!({
            "prefix": c.prefix,
            "cycle": c.cycle,
            "product": c.product.map(|(prefix, cycle)| json!({"prefix": prefix, "cycle": cycle})),
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
        "counterexamples": property.cycles.as_ref().map_or(u64::from(counterexample.is_some()), |cycles| cycles.found),
        "counterexample": counterexample,
        "cycles": property.cycles.as_ref().map(cycles),
    })
}

/// What is known of all counterexamples.
fn cycles(cycles: &CyclesSummary) -> Value {
    let components = cycles.components.iter().map(|component| {
        json!({
            "states": component.states,
            "accepting": component.accepting,
            "edges": component.edges,
            "distance": component.distance,
            "cycles": component.cycles,
        })
    });
    let groups = cycles.groups.iter().map(|group| {
        json!({
            "cycles": group.cycles,
            "prefix": group.shortest.0,
            "cycle": group.shortest.1,
            "transitions": group.transitions,
        })
    });
    json!({
        "found": cycles.found,
        "complete": cycles.incomplete.is_none(),
        "incomplete": cycles.incomplete,
        "replayed": cycles.replayed,
        "components": cycles.n_components,
        "first_components": components.collect::<Vec<_>>(),
        "groups": cycles.n_groups,
        "first_groups": groups.collect::<Vec<_>>(),
        "common": cycles.common,
        "only_bad": cycles.only_bad,
        "good_runs": cycles.good_runs,
        "directory": cycles.directory,
    })
}

fn disk(outcome: &Outcome) -> Value {
    let (peak, stored) = outcome.disk.as_ref().map_or((0, 0), |disk| (disk.peak, disk.stored));
    let bytes_per_state = stored as f64 / outcome.counts.states.max(1) as f64;
    json!({"peak": peak, "stored": stored, "bytes_per_state": (bytes_per_state * 1e3).round() / 1e3})
}

fn phase(phase: &PhaseSummary) -> Value {
    json!({"name": phase.name, "seconds": rounded(phase.seconds), "times": phase.times})
}

fn transfers(io: &IoSummary) -> Value {
    json!({
        "read_ops": io.read_ops,
        "write_ops": io.write_ops,
        "random_reads": io.random_reads,
        "random_writes": io.random_writes,
        "bytes_read": io.bytes_read,
        "bytes_written": io.bytes_written,
    })
}

fn io(outcome: &Outcome) -> Value {
    let disk = outcome.disk.as_ref();
    let io = disk.map_or(IoSummary::default(), |disk| disk.io);
    let bounds = outcome.io_bounds();
    let line = |line: &IoLine| {
        let mut value = transfers(&line.io);
        value["phase"] = json!(line.phase);
        value["kind"] = json!(line.kind);
        value
    };
    let mut value = transfers(&io);
    value["block"] = json!(io.block());
    value["mode"] = json!(disk.map(|disk| disk.mode.as_str()));
    value["seconds_waited"] = json!(rounded(disk.map_or(0.0, |disk| disk.seconds_waited)));
    value["scan"] = json!(bounds.map(|bounds| bounds.scan));
    value["sort"] = json!(bounds.map(|bounds| bounds.sort));
    value["by_phase"] = disk.map_or(Vec::new(), |disk| disk.io_lines.iter().map(line).collect()).into();
    value
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
