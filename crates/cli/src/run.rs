//! Running searches: budget, signals, progress and phases around them.

mod auto;

use crate::algorithms::{is_semi_external, needs_disk};
use crate::failure::Failure;
use crate::liveness::{self, SearchChoice};
use crate::options::{Algorithm, DiskOptions, SearchOptions, TableOption};
use crate::progress::ProgressLine;
use crate::scratch::Scratch;
use crate::{machine, output, resume};
use lariat_base::outcome::{CompactSummary, Counts, Limit, ModelSummary, Outcome, PhaseSummary};
use lariat_base::size::format_size;
use lariat_base::{MemoryBudget, StopSignal};
use lariat_disk::DiskError;
use lariat_exec::Interpreter;
use lariat_graph::{Graph, GraphError, Strength};
use lariat_search::daac::{self, CycleSearch};
use lariat_search::{
    Compaction, Context, Exploration, Extent, Goal, LassoSearch, SearchError, cbfs, disk, ebfs, local, mono, part, ram,
};
use lariat_search::{PROPERTY, forget_other_property};
use lariat_storage::{StorageError, Table};
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What compiled code, the model and small buffers take of the budget. The program's own code is not counted.
const PROGRAM_BYTES: u64 = 2 << 20;
const MEMORY_MIN: u64 = 16 << 20;
/// Interrupts that come as soon as this after the first are the same one, sent to the process and to its group.
const SAME_INTERRUPT: Duration = Duration::from_millis(500);

/// The clock of a command: named phases, one after the other.
pub struct Phases {
    list: Vec<PhaseSummary>,
    started: Instant,
    phase: Instant,
}

impl Phases {
    pub fn begin() -> Self {
        Self { list: Vec::new(), started: Instant::now(), phase: Instant::now() }
    }

    /// Ends a phase under this name. Phases of the same name are one.
    pub fn end(&mut self, name: &'static str) {
        self.add(PhaseSummary { name, seconds: self.phase.elapsed().as_secs_f64(), times: 1 });
    }

    /// Ends a search, which may have had phases of its own.
    pub fn end_search(&mut self, parts: Vec<PhaseSummary>) {
        let in_parts: f64 = parts.iter().map(|part| part.seconds).sum();
        let seconds = (self.phase.elapsed().as_secs_f64() - in_parts).max(0.0);
        self.add(PhaseSummary { name: "search", seconds, times: 1 });
        parts.into_iter().for_each(|part| self.add(part));
    }

    fn add(&mut self, phase: PhaseSummary) {
        match self.list.iter_mut().find(|known| known.name == phase.name) {
            Some(known) => {
                known.seconds += phase.seconds;
                known.times += phase.times;
            }
            None => self.list.push(phase),
        }
        self.phase = Instant::now();
    }
}

/// Runs the searches of a command, one after the other, within one budget and one time limit.
pub struct Searcher {
    algorithm: Algorithm,
    table: Table,
    compaction: Option<Compaction>,
    choice: SearchChoice,
    memory: u64,
    budget: MemoryBudget,
    stop: Arc<StopSignal>,
    progress: ProgressLine,
    threads: usize,
    /// Where the model was read from.
    model: String,
    /// The temporal property that is being checked.
    property: Option<String>,
    disk: DiskOptions,
    /// The directory, once something is written to it.
    scratch: OnceCell<Opened>,
}

/// A directory in use, and what is noted there about the check.
struct Opened {
    scratch: Scratch,
    labels: resume::Labels,
}

/// What reports say about a search.
#[derive(Clone)]
pub struct Searched {
    pub algorithm: &'static str,
    pub threads: usize,
    pub state_bytes: usize,
    pub counts: Counts,
    pub complete: bool,
    pub limit: Option<Limit>,
    pub stored_bytes: u64,
}

impl Searcher {
    /// Searches of a model that was read from a file.
    pub fn new(options: &SearchOptions, model: &str, phases: &Phases) -> Result<Self, Failure> {
        Self::with_algorithm(options.algorithm, options, model, phases)
    }

    /// The same by another algorithm than the options say.
    pub fn with_algorithm(
        algorithm: Algorithm,
        options: &SearchOptions,
        model: &str,
        phases: &Phases,
    ) -> Result<Self, Failure> {
        let memory = memory_budget(options)?;
        let time_left = options.time_limit.map(|limit| limit.saturating_sub(phases.started.elapsed()));
        let stop = Arc::new(StopSignal::new(time_left));
        listen_for_interrupts(&stop);
        let searcher = Self {
            algorithm,
            table: match options.table {
                TableOption::Chained => Table::Chained,
                TableOption::Open => Table::Open,
            },
            compaction: options.compact.and_then(Compaction::new),
            choice: SearchChoice::of(algorithm, options),
            memory,
            budget: MemoryBudget::new(memory - PROGRAM_BYTES),
            stop,
            progress: ProgressLine::new(options.display.quiet),
            threads: options.threads.map_or_else(machine::processors, usize::from),
            model: model.to_owned(),
            property: None,
            disk: options.disk.clone(),
            scratch: OnceCell::new(),
        };
        let is_on_disk = needs_disk(algorithm) || liveness::is_on_disk(algorithm) || options.compact.is_some();
        if is_on_disk || options.disk.resumes.is_some() {
            searcher.open_scratch()?;
        }
        Ok(searcher)
    }

    /// Takes the directory into use, and notes there which check it belongs to.
    fn open_scratch(&self) -> Result<(), Failure> {
        let scratch = Scratch::open(&self.disk)?;
        let labels = match &self.disk.resumes {
            Some(noted) => noted.clone(),
            None => {
                let mut labels = resume::labels(&self.model)?;
                labels.extend(self.property.iter().map(|name| (PROPERTY, name.clone())));
                scratch.note(&labels)?;
                labels
            }
        };
        // It is opened once only.
        let _ = self.scratch.set(Opened { scratch, labels });
        Ok(())
    }

    /// Notes which property the next search is for: what is on disk for another one is of no use to it.
    pub fn begin_property(&mut self, name: &str) {
        self.property = Some(name.to_owned());
        if let Some(opened) = self.scratch.get_mut() {
            opened.labels.retain(|(key, _)| *key != PROPERTY);
            opened.labels.push((PROPERTY, name.to_owned()));
        }
    }

    fn scratch(&self) -> Option<&Scratch> {
        self.scratch.get().map(|opened| &opened.scratch)
    }

    fn context(&self) -> Context<'_> {
        let disk = self.scratch().map(Scratch::disk);
        let labels = self.scratch.get().map_or(&[][..], |opened| &opened.labels);
        Context {
            budget: &self.budget,
            stop: &self.stop,
            observer: &self.progress,
            threads: self.threads,
            disk,
            labels,
        }
    }

    /// A search of everything. Whether the error state is reachable is always known, how only if the search stays in memory: on disk the
    /// path may cost more than the search.
    pub fn explore_everything(
        &self,
        graph: &dyn Graph,
        phases: &mut Phases,
    ) -> Result<(Exploration, Searched), Failure> {
        self.explore_for(graph, &[Goal::Error], &[], Extent::Everything, phases)
    }

    /// A search for states.
    pub fn explore(
        &self,
        graph: &dyn Graph,
        goals: &[Goal],
        extent: Extent,
        phases: &mut Phases,
    ) -> Result<(Exploration, Searched), Failure> {
        self.explore_for(graph, goals, goals, extent, phases)
    }

    /// A search for some goals in memory, and for others on disk.
    fn explore_for(
        &self,
        graph: &dyn Graph,
        goals: &[Goal],
        goals_on_disk: &[Goal],
        extent: Extent,
        phases: &mut Phases,
    ) -> Result<(Exploration, Searched), Failure> {
        let (algorithm, result) = match self.compaction {
            Some(compaction) => self.explore_compact(graph, goals_on_disk, extent, compaction),
            None => self.explore_whole(graph, goals, goals_on_disk, extent)?,
        };
        self.progress.finish();
        phases.end_search(self.progress.take_phases());
        let found = result.map_err(|error| self.failure_with_advice(error))?;
        let counts = Counts {
            states: found.states,
            transitions: found.transitions,
            levels: (found.levels > 0).then_some(found.levels),
            deadlocks: found.deadlocks,
            accepting: graph.has_acceptance().then_some(found.accepting),
        };
        let searched = Searched {
            algorithm,
            threads: self.threads,
            state_bytes: graph.row_bytes(),
            counts,
            complete: found.complete,
            limit: found.limit,
            stored_bytes: found.stored_bytes,
        };
        Ok((found, searched))
    }

    /// A search that tells states apart as they are.
    fn explore_whole(
        &self,
        graph: &dyn Graph,
        goals: &[Goal],
        on_disk: &[Goal],
        extent: Extent,
    ) -> Result<(&'static str, Result<Exploration, SearchError>), Failure> {
        let (context, table) = (self.context(), self.table);
        Ok(match self.algorithm {
            Algorithm::Disk => ("disk", disk::explore(graph, on_disk, extent, &context)),
            Algorithm::Mono => ("mono", mono::explore(graph, on_disk, extent, table, &context)),
            Algorithm::Local => ("local", local::explore(graph, on_disk, extent, table, &context)),
            Algorithm::Part => ("part", part::explore(graph, on_disk, extent, table, &context)),
            Algorithm::Ebfs => ("ebfs", ebfs::explore(graph, on_disk, extent, &context)),
            Algorithm::Cbfs => ("cbfs", cbfs::explore(graph, on_disk, extent, &context)),
            Algorithm::Ram => ("ram", ram::explore(graph, goals, extent, &context)),
            algorithm => {
                if is_semi_external(algorithm) || liveness::is_on_disk(algorithm) {
                    forget_other_property(&context).map_err(failure)?;
                }
                self.explore_auto(graph, goals, on_disk, extent)?
            }
        })
    }

    /// A search that tells states apart by signatures; [`crate::algorithms::check_compaction`] has let pass only algorithms that can.
    fn explore_compact(
        &self,
        graph: &dyn Graph,
        goals: &[Goal],
        extent: Extent,
        compaction: Compaction,
    ) -> (&'static str, Result<Exploration, SearchError>) {
        let (context, table) = (self.context(), self.table);
        match self.algorithm {
            Algorithm::Mono => ("mono", mono::explore_compact(graph, goals, extent, table, compaction, &context)),
            Algorithm::Local => ("local", local::explore_compact(graph, goals, extent, table, compaction, &context)),
            Algorithm::Part => ("part", part::explore_compact(graph, goals, extent, table, compaction, &context)),
            Algorithm::Ebfs => ("ebfs", ebfs::explore_compact(graph, goals, extent, compaction, &context)),
            Algorithm::Cbfs => ("cbfs", cbfs::explore_compact(graph, goals, extent, compaction, &context)),
            _ => ("disk", disk::explore_compact(graph, goals, extent, compaction, &context)),
        }
    }

    /// A search for an accepting cycle.
    pub fn find_lasso(
        &self,
        graph: &dyn Graph,
        strength: Strength,
        phases: &mut Phases,
    ) -> Result<(LassoSearch, Searched), Failure> {
        let (algorithm, result) = match self.algorithm {
            Algorithm::Auto => self.find_lasso_auto(graph, strength)?,
            _ => liveness::find_lasso(&self.choice, graph, strength, &self.context()),
        };
        self.progress.finish();
        phases.end_search(self.progress.take_phases());
        let found = result.map_err(|error| self.failure_with_advice(error))?;
        let searched = self.searched(algorithm, graph, &found);
        Ok((found, searched))
    }

    /// A search for all accepting cycles; `each` is called with every one.
    pub fn find_cycles(
        &self,
        graph: &dyn Graph,
        rho: f64,
        each: &mut daac::Each<'_>,
        phases: &mut Phases,
    ) -> Result<(CycleSearch, Searched), Failure> {
        let result = daac::find_cycles(graph, self.choice.mphf(), rho, &self.context(), each);
        self.progress.finish();
        phases.end_search(self.progress.take_phases());
        let found = result.map_err(|error| self.failure_with_advice(error))?;
        let searched = self.searched("daac", graph, &found.search);
        Ok((found, searched))
    }

    /// What reports say about a search for accepting cycles.
    fn searched(&self, algorithm: &'static str, graph: &dyn Graph, found: &LassoSearch) -> Searched {
        let counts = Counts {
            states: found.states,
            transitions: found.transitions,
            levels: None,
            deadlocks: found.deadlocks,
            accepting: Some(found.accepting),
        };
        Searched {
            algorithm,
            threads: if liveness::is_parallel(self.algorithm) || algorithm == "proof" { self.threads } else { 1 },
            state_bytes: graph.row_bytes(),
            counts,
            complete: found.complete,
            limit: found.limit,
            stored_bytes: found.stored_bytes,
        }
    }

    /// Says how to go on, where something is left to go on with.
    fn failure_with_advice(&self, error: SearchError) -> Failure {
        let is_damage = |error: &StorageError| {
            matches!(error, StorageError::Corrupt { .. } | StorageError::Version { .. } | StorageError::Shape { .. })
        };
        let is_useless = match &error {
            SearchError::Storage(error) => is_damage(error),
            SearchError::StateTwice | SearchError::OtherSearch => true,
            _ => false,
        };
        let failure = failure(error);
        let Some(scratch) = self.scratch() else { return failure };
        let advice = if is_useless { scratch.advice_to_begin_anew() } else { scratch.advice() };
        Failure { message: format!("{}\n{advice}", failure.message), ..failure }
    }

    /// Ends the use of the disk: the files stay after a limit, and go when there is an answer.
    fn clear(&self, limit: Option<Limit>) {
        if let (Some(scratch), None) = (self.scratch(), limit) {
            scratch.clear();
        }
    }

    /// The outcome of a command, with the clock and the memory as they are now.
    pub fn outcome(&self, command: &'static str, graph: &Interpreter, searched: Searched, phases: Phases) -> Outcome {
        let disk = self.scratch().map(|scratch| scratch.summary(searched.stored_bytes));
        self.clear(searched.limit);
        Outcome {
            command,
            model: ModelSummary {
                file: graph.model().file.clone(),
                state_bytes: searched.state_bytes,
                processes: graph.model().system_processes().count(),
            },
            properties: Vec::new(),
            algorithm: searched.algorithm,
            counts: searched.counts,
            complete: searched.complete,
            limit: searched.limit,
            error_state: None,
            seconds: phases.started.elapsed().as_secs_f64(),
            threads: searched.threads,
            memory_budget: self.memory,
            memory_peak: machine::memory_peak().unwrap_or(self.budget.peak()),
            memory_stored: if disk.is_some() { 0 } else { searched.stored_bytes },
            disk,
            compact: self.compaction.map(|compaction| CompactSummary {
                bits: compaction.bits(),
                omission_probability: compaction.omission_probability(searched.counts.states),
            }),
            phases: phases.list,
        }
    }
}

fn failure(error: SearchError) -> Failure {
    match error {
        SearchError::BudgetTooSmall => Failure::limit(error.to_string()),
        SearchError::Graph(GraphError::NoValue { .. }) => Failure::input(error.to_string()),
        SearchError::Graph(GraphError::TooManySuccessors { .. }) => Failure::limit(error.to_string()),
        SearchError::OutOfDisk { error: StorageError::Disk(DiskError::Limit { .. }), .. }
        | SearchError::Storage(StorageError::Disk(DiskError::Limit { .. })) => Failure::limit(error.to_string()),
        other => Failure::machine(other.to_string()),
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
    let mut first: Option<Instant> = None;
    let heard = ctrlc::set_handler(move || {
        let asked = *first.get_or_insert_with(Instant::now);
        if asked.elapsed() > SAME_INTERRUPT {
            // Asked twice: whatever it is doing, the user wants it gone.
            std::process::exit(crate::failure::ExitStatus::NoAnswer as i32);
        }
        stop.interrupt();
    });
    if let Err(error) = heard {
        output::note(&format!("Ctrl-C will end the program without a summary: {error}"));
    }
}
