//! The answer as text.

use lariat_base::outcome::{CompactSummary, Counts, CyclesSummary, DiskSummary, Outcome, Verdict};
use lariat_base::size::{format_count, format_size};
use lariat_base::time::format_seconds;
use std::fmt::Write;

/// The summary that `check` and `explore` print; counterexamples are printed beside it.
pub fn outcome_text(outcome: &Outcome, with_stats: bool) -> String {
    let mut out = String::new();
    for property in &outcome.properties {
        let how = match (&property.counterexample, property.verdict) {
            (Some(c), Verdict::Violated) if c.cycle > 0 => format!(" ({})", c.what),
            (Some(c), Verdict::Violated) => format!(" ({}, after {})", c.what, steps(c.prefix)),
            (_, Verdict::Unknown) => " (the search did not see every state)".to_owned(),
            (_, Verdict::Holds) => outcome.compact.map_or(String::new(), |compact| format!(" ({})", missed(compact))),
            _ => String::new(),
        };
        let _ = writeln!(out, "{}: {}{how}", property.name, property.verdict.word());
        if let Some(c) = &property.counterexample
            && let Some((before, round)) = c.product
            && (before, round) != (c.prefix, c.cycle)
        {
            let _ = writeln!(
                out,
                "  in the product it is {} longer: {} before a loop of {round}",
                steps((before + round).saturating_sub(c.prefix + c.cycle)),
                steps(before)
            );
        }
        if let Some(file) = property.counterexample.as_ref().and_then(|c| c.file.as_ref()) {
            let _ = writeln!(out, "  written to {file}");
        }
        if let Some(cycles) = &property.cycles {
            cycles_text(cycles, &mut out);
        }
    }
    let word = match (outcome.command, outcome.verdict_word()) {
        ("explore", "unknown") => "unknown (incomplete)",
        (_, word) => word,
    };
    let _ = write!(out, "{word}: {}", counts_text(&outcome.counts));
    let rate = outcome.counts.states as f64 / outcome.seconds.max(1e-9);
    let _ = writeln!(out, "; {}, {} states/s", format_seconds(outcome.seconds), format_count(rate as u64));
    if let Some(compact) = outcome.compact {
        let _ = writeln!(out, "{}; signatures have {} bits", missed(compact), compact.bits);
    }
    if let Some(error) = &outcome.error_state {
        let _ = writeln!(out, "the error state is reachable: {error}");
    }
    if let Some(limit) = outcome.limit {
        let _ = writeln!(out, "no complete answer: {}; the counts above are what was reached.", limit.sentence());
        if let Some(disk) = &outcome.disk {
            let _ = writeln!(out, "go on with: lariat resume {}", disk.directory);
        }
    } else if outcome.verdict() == Verdict::Violated && !outcome.complete && outcome.algorithm != "daac" {
        let _ = writeln!(out, "the search ended at the counterexample; the counts are what it had seen by then.");
    }
    if with_stats {
        stats(outcome, &mut out);
    }
    out
}

/// What hash compaction means.
fn missed(compact: CompactSummary) -> String {
    let probability = match compact.omission_probability {
        p if p < 1e-3 => format!("{p:.1e}"),
        p => format!("{p:.3}"),
    };
    format!("with hash compaction: a state may have been missed with probability ≤ {probability}")
}

/// What is known of all counterexamples.
fn cycles_text(cycles: &CyclesSummary, out: &mut String) {
    let of = |n: u64, what: &str| format!("{} {what}{}", format_count(n), if n == 1 { "" } else { "s" });
    let (n, components) = (of(cycles.found, "accepting cycle"), of(cycles.n_components, "component"));
    let _ = match &cycles.incomplete {
        None => writeln!(out, "  all: {n} in {components}"),
        Some(why) => writeln!(out, "  incomplete: {n} so far, in {components}; {why}"),
    };
    if let Some(directory) = &cycles.directory {
        let _ = writeln!(out, "  written to {directory}");
    }
    for (i, component) in cycles.components.iter().enumerate() {
        let _ = writeln!(
            out,
            "  component {}: {}, {} accepting, {}; {}, after {} at the earliest",
            i + 1,
            of(component.states, "state"),
            format_count(component.accepting),
            of(component.edges, "edge"),
            of(component.cycles, "cycle"),
            steps(component.distance)
        );
    }
    if cycles.replayed < cycles.found {
        let _ = writeln!(out, "  what follows is about the first {}", of(cycles.replayed, "cycle"));
    }
    for group in &cycles.groups {
        let (before, round) = group.shortest;
        let _ = writeln!(
            out,
            "  {} with the same transitions, the shortest after {} with a loop of {}:",
            of(group.cycles, "cycle"),
            steps(before),
            round
        );
        let _ = writeln!(out, "    {}", group.transitions.join(", "));
    }
    if cycles.n_groups > cycles.groups.len() as u64 {
        let _ =
            writeln!(out, "  and {} more of such groups", format_count(cycles.n_groups - cycles.groups.len() as u64));
    }
    if cycles.found > 1 && !cycles.common.is_empty() {
        let _ = writeln!(out, "  every loop has: {}", cycles.common.join(", "));
    }
    if !cycles.only_bad.is_empty() {
        let good = of(cycles.good_runs, "good run");
        let of_these = if cycles.incomplete.is_none() && cycles.replayed == cycles.found { "" } else { " of these" };
        let _ = writeln!(
            out,
            "  every counterexample{of_these} has, and none of {good} that random walks found: {}",
            cycles.only_bad.join(", ")
        );
    }
}

fn counts_text(counts: &Counts) -> String {
    let mut text = format!("{} states, {} transitions", format_count(counts.states), format_count(counts.transitions));
    if let Some(levels) = counts.levels {
        let _ = write!(text, ", {} levels", format_count(levels));
    }
    let deadlocks = format_count(counts.deadlocks);
    // In a product the automaton's being blocked is no deadlock of the model.
    let _ = match counts.accepting {
        None => write!(text, ", {deadlocks} deadlocks"),
        Some(accepting) => write!(text, ", {} accepting, {deadlocks} without successors", format_count(accepting)),
    };
    text
}

fn stats(outcome: &Outcome, out: &mut String) {
    let states = outcome.counts.states.max(1) as f64;
    let stored = outcome.disk.as_ref().map_or(outcome.memory_stored, |disk| disk.stored);
    let _ = writeln!(out, "algorithm        {} with {} thread(s)", outcome.algorithm, outcome.threads);
    let _ = writeln!(out, "state            {} bytes packed", outcome.model.state_bytes);
    let _ = writeln!(out, "stored           {} ({:.1} bytes a state)", format_size(stored), stored as f64 / states);
    let _ = writeln!(
        out,
        "memory           {} at its peak, of a budget of {}",
        format_size(outcome.memory_peak),
        format_size(outcome.memory_budget)
    );
    if let Some(disk) = &outcome.disk {
        let io = &disk.io;
        let _ = writeln!(
            out,
            "disk             {} at its peak, in {} ({})",
            format_size(disk.peak),
            disk.directory,
            disk.mode
        );
        let transfers = |n, bytes| format!("{} in {} transfers", format_size(bytes), format_count(n));
        let _ = writeln!(
            out,
            "written          {}, {} random",
            transfers(io.write_ops, io.bytes_written),
            format_count(io.random_writes)
        );
        let _ = writeln!(
            out,
            "read             {}, {} random",
            transfers(io.read_ops, io.bytes_read),
            format_count(io.random_reads)
        );
    }
    for phase in &outcome.phases {
        let times = if phase.times > 1 { format!(", {} times", format_count(phase.times)) } else { String::new() };
        let _ = writeln!(out, "phase {:<10} {}{times}", phase.name, format_seconds(phase.seconds));
    }
    if let Some(disk) = &outcome.disk {
        io_lines(outcome, disk, out);
    }
}

/// What was read and written, by phase and kind of file, beside what a scan and a sort would need.
fn io_lines(outcome: &Outcome, disk: &DiskSummary, out: &mut String) {
    let _ = writeln!(out, "waited for disk  {} (all threads together)", format_seconds(disk.seconds_waited));
    if let Some(bounds) = outcome.io_bounds() {
        let _ = writeln!(
            out,
            "transfers        {} of {} in the mean; scan(N) is {}, sort(E) {}",
            format_count(disk.io.read_ops + disk.io.write_ops),
            format_size(disk.io.block()),
            format_count(bounds.scan),
            format_count(bounds.sort)
        );
    }
    for line in &disk.io_lines {
        let io = &line.io;
        let _ = writeln!(
            out,
            "i/o {:<12} {:<8} read {} in {} ({} random), written {} in {} ({} random)",
            if line.phase.is_empty() { "before" } else { &line.phase },
            line.kind,
            format_size(io.bytes_read),
            format_count(io.read_ops),
            format_count(io.random_reads),
            format_size(io.bytes_written),
            format_count(io.write_ops),
            format_count(io.random_writes)
        );
    }
}

fn steps(n: u64) -> String {
    if n == 1 { "1 step".to_owned() } else { format!("{} steps", format_count(n)) }
}
