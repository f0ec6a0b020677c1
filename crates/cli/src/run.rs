//! Running a search: budget, signals, progress and phases around it.

use crate::failure::Failure;
use crate::options::{Algorithm, SearchOptions};
use crate::progress::ProgressLine;
use crate::{machine, output};
use lariat_base::outcome::{Counts, ModelSummary, Outcome};
use lariat_base::size::format_size;
use lariat_base::{MemoryBudget, StopSignal};
use lariat_exec::Interpreter;
use lariat_graph::Graph;
use lariat_search::{Context, Exploration, Extent, Goal, SearchError, ram};
use std::sync::Arc;
use std::time::Instant;

/// What the program itself takes beside the search: code, stacks, the model.
const PROGRAM_BYTES: u64 = 8 << 20;
const MEMORY_MIN: u64 = 16 << 20;

/// A search and what it found.
pub struct Run {
    pub exploration: Exploration,
    outcome: Outcome,
}

/// The clock of a command: named phases, one after the other.
pub struct Phases {
    list: Vec<(&'static str, f64)>,
    started: Instant,
    phase: Instant,
}

impl Phases {
    pub fn begin() -> Self {
        Self { list: Vec::new(), started: Instant::now(), phase: Instant::now() }
    }

    /// Ends a phase under this name.
    pub fn end(&mut self, name: &'static str) {
        self.list.push((name, self.phase.elapsed().as_secs_f64()));
        self.phase = Instant::now();
    }
}

/// Runs the chosen search.
pub fn run(
    command: &'static str,
    graph: &Interpreter,
    goals: &[Goal],
    extent: Extent,
    options: &SearchOptions,
    phases: &mut Phases,
) -> Result<Run, Failure> {
    let memory = memory_budget(options)?;
    let budget = MemoryBudget::new(memory - PROGRAM_BYTES);
    let stop = Arc::new(StopSignal::new(options.time_limit.map(|t| t.saturating_sub(phases.started.elapsed()))));
    listen_for_interrupts(&stop);
    let progress = ProgressLine::new(options.display.quiet);
    let threads = options.threads.map_or_else(machine::processors, usize::from);
    let context = Context { budget: &budget, stop: &stop, observer: &progress, threads };
    let algorithm = match options.algorithm {
        Algorithm::Auto | Algorithm::Ram => "ram",
    };
    let result = ram::explore(graph, goals, extent, &context);
    progress.finish();
    phases.end("search");
    let exploration = result.map_err(|error| match error {
        SearchError::BudgetTooSmall => Failure::limit(error.to_string()),
        other => Failure::machine(other.to_string()),
    })?;
    let outcome = Outcome {
        command,
        model: ModelSummary {
            file: graph.model().file.clone(),
            state_bytes: graph.row_bytes(),
            processes: graph.model().system_processes().count(),
        },
        properties: Vec::new(),
        algorithm,
        counts: Counts {
            states: exploration.states,
            transitions: exploration.transitions,
            levels: exploration.levels,
            deadlocks: exploration.deadlocks,
        },
        complete: exploration.complete,
        limit: exploration.limit,
        error_state: None,
        seconds: 0.0,
        threads,
        memory_budget: memory,
        memory_peak: budget.peak(),
        memory_stored: exploration.stored_bytes,
        phases: Vec::new(),
    };
    Ok(Run { exploration, outcome })
}

impl Run {
    /// The outcome, with the clock and the memory as they are now.
    pub fn outcome(self, phases: Phases) -> Outcome {
        Outcome {
            seconds: phases.started.elapsed().as_secs_f64(),
            phases: phases.list,
            memory_peak: machine::memory_peak().unwrap_or(self.outcome.memory_peak),
            ..self.outcome
        }
    }
}

/// The budget asked for, or half of what there is; never so much that the system would kill the process.
fn memory_budget(options: &SearchOptions) -> Result<u64, Failure> {
    let total = machine::memory_total();
    let Some(asked) = options.memory else {
        return Ok(total.map_or(1 << 30, |total| (total / 2).max(MEMORY_MIN)));
    };
    if asked < MEMORY_MIN {
        return Err(Failure::input(format!(
            "--memory {}: the smallest budget is {}",
            format_size(asked),
            format_size(MEMORY_MIN)
        )));
    }
    match total.map(|total| total / 10 * 9) {
        Some(most) if asked > most => {
            output::note(&format!(
                "--memory {} is more than this machine can give; {} will be used",
                format_size(asked),
                format_size(most)
            ));
            Ok(most.max(MEMORY_MIN))
        }
        _ => Ok(asked),
    }
}

fn listen_for_interrupts(stop: &Arc<StopSignal>) {
    let stop = Arc::clone(stop);
    let heard = ctrlc::set_handler(move || {
        if stop.reason() == Some(lariat_base::Limit::Interrupted) {
            // Asked twice: whatever it is doing, the user wants it gone.
            std::process::exit(crate::failure::ExitStatus::NoAnswer as i32);
        }
        stop.interrupt();
    });
    if let Err(error) = heard {
        output::note(&format!("Ctrl-C will end the program without a summary: {error}"));
    }
}
