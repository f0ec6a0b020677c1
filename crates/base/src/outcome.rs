//! The outcome of a command as plain data: what reports print and what the JSON object holds.

/// The answer to one property, or to a whole check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every behaviour satisfies it.
    Holds,
    /// A counterexample was found and replayed.
    Violated,
    /// A limit was reached before there was an answer.
    Unknown,
}

impl Verdict {
    /// The word that the JSON object and the text use.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Why a search ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `--memory` was used up.
    Memory,
    /// `--time-limit` passed.
    Time,
    /// Ctrl-C or a termination signal.
    Interrupted,
    /// The in-memory table cannot number more states.
    StateNumbers,
}

impl Limit {
    /// What is shown to people.
    pub fn sentence(self) -> &'static str {
        match self {
            Limit::Memory => "the memory budget is used up",
            Limit::Time => "the time limit was reached",
            Limit::Interrupted => "interrupted",
            Limit::StateNumbers => "the in-memory table cannot number more states",
        }
    }

    /// The word in the JSON object.
    pub fn word(self) -> &'static str {
        match self {
            Limit::Memory => "memory",
            Limit::Time => "time",
            Limit::Interrupted => "interrupted",
            Limit::StateNumbers => "state-numbers",
        }
    }
}

/// What kind of property was checked; the words are those of the JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// An expression that must hold in every state.
    Invariant,
    /// An expression that must hold in no state.
    Reach,
    /// No state without successors.
    Deadlock,
    /// The model's `assert`s and freedom from run-time errors.
    Assertion,
    /// No run that an automaton accepts: one from a file, or the model's property process.
    Automaton,
    /// An LTL formula.
    Ltl,
}

impl PropertyKind {
    /// The word in the JSON object and in trace files.
    pub fn word(self) -> &'static str {
        match self {
            PropertyKind::Invariant => "invariant",
            PropertyKind::Reach => "reach",
            PropertyKind::Deadlock => "deadlock",
            PropertyKind::Assertion => "assertion",
            PropertyKind::Automaton => "automaton",
            PropertyKind::Ltl => "ltl",
        }
    }

    /// The kind that `word` names.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Invariant, Self::Reach, Self::Deadlock, Self::Assertion, Self::Automaton, Self::Ltl];
        all.into_iter().find(|kind| kind.word() == word)
    }
}

/// A counterexample in brief.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterexampleSummary {
    /// Steps before the loop, or all steps of a finite path.
    pub prefix: u64,
    /// Steps of the loop; 0 for a finite path.
    pub cycle: u64,
    /// The same for the lasso of the product that shows it: as long, or longer, since the run is folded where the model is already on its loop and the automaton is not.
    pub product: Option<(u64, u64)>,
    /// Where it was written, if it was.
    pub file: Option<String>,
    /// Whether the interpreter has replayed it.
    pub replayed: bool,
    /// What is wrong in its last state, or with its loop.
    pub what: String,
}

/// The answer to one property.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyOutcome {
    /// As the user wrote it, with its kind in front: `invariant:x < 3`.
    pub name: String,
    /// What kind it is.
    pub kind: PropertyKind,
    /// The answer.
    pub verdict: Verdict,
    /// For temporal properties: the automaton of the runs that violate it.
    pub automaton: Option<AutomatonSummary>,
    /// For temporal properties: what was counted in the product of the model and that automaton.
    pub product: Option<Counts>,
    /// The counterexample, if it is violated; of several the shortest.
    pub counterexample: Option<CounterexampleSummary>,
    /// What is known of all counterexamples, if all were asked for.
    pub cycles: Option<CyclesSummary>,
}

/// All counterexamples to a temporal property in brief: the accepting cycles of the product.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CyclesSummary {
    /// Cycles that were found.
    pub found: u64,
    /// Why there may be more, in words; none if there are not.
    pub incomplete: Option<String>,
    /// Cycles that the interpreter has replayed, which the lines below are about.
    pub replayed: u64,
    /// Strongly connected components of the product with an accepting cycle.
    pub n_components: u64,
    /// The first of these.
    pub components: Vec<ComponentSummary>,
    /// Cycles with the same transitions, the shortest first: the first groups of them.
    pub groups: Vec<CycleGroup>,
    /// How many groups there are.
    pub n_groups: u64,
    /// Transitions that every loop has.
    pub common: Vec<String>,
    /// Transitions that every counterexample has, on its path or on its loop, and none of the good runs that were tried; no more is known of them.
    pub only_bad: Vec<String>,
    /// Good runs that were tried: random ones, from the start and from behind such a transition.
    pub good_runs: u64,
    /// Where they were written, if they were.
    pub directory: Option<String>,
}

/// A component in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComponentSummary {
    /// Its states.
    pub states: u64,
    /// Those of them that accept.
    pub accepting: u64,
    /// Edges between its states, parallel ones counted once.
    pub edges: u64,
    /// Steps from the initial states to its nearest accepting state.
    pub distance: u64,
    /// Its accepting cycles that were found.
    pub cycles: u64,
}

/// Cycles whose loops have the same transitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CycleGroup {
    /// How many there are.
    pub cycles: u64,
    /// Steps of the shortest one: before its loop, and of its loop.
    pub shortest: (u64, u64),
    /// The transitions.
    pub transitions: Vec<String>,
}

/// An automaton in brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutomatonSummary {
    /// Its states.
    pub states: u64,
    /// Its edges.
    pub edges: u64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Distinct states stored.
    pub states: u64,
    /// Edges generated from stored states, parallel ones counted.
    pub transitions: u64,
    /// Non-empty BFS levels, the initial one included; none in searches that have no levels.
    pub levels: Option<u64>,
    /// States without successors (the error state is not one of them).
    pub deadlocks: u64,
    /// Accepting states, where a product was searched.
    pub accepting: Option<u64>,
}

/// The model in brief.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSummary {
    /// The path as given.
    pub file: String,
    /// Bytes of a packed row.
    pub state_bytes: usize,
    /// Processes of the system.
    pub processes: usize,
}

/// What a search had on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSummary {
    /// The directory.
    pub directory: String,
    /// How transfers were done.
    pub mode: String,
    /// The most bytes that were there at once.
    pub peak: u64,
    /// Bytes of the visited states at the end.
    pub stored: u64,
    /// What was read and written.
    pub io: IoSummary,
    /// The same by phase and by kind of file.
    pub io_lines: Vec<IoLine>,
    /// Seconds for which threads waited for the disk, added up.
    pub seconds_waited: f64,
}

/// What was read and written in a phase, in files of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLine {
    /// The phase; empty before the first.
    pub phase: String,
    /// The kind of file.
    pub kind: &'static str,
    /// The transfers.
    pub io: IoSummary,
}

/// A named part of the work.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSummary {
    /// Its name.
    pub name: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// How often it began.
    pub times: u64,
}

/// Transfers in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoSummary {
    /// Reads.
    pub read_ops: u64,
    /// Writes.
    pub write_ops: u64,
    /// Reads that did not begin where the last access to the file ended.
    pub random_reads: u64,
    /// Writes that did not.
    pub random_writes: u64,
    /// Bytes from disk.
    pub bytes_read: u64,
    /// Bytes to disk.
    pub bytes_written: u64,
}

impl IoSummary {
    /// Bytes of a transfer in the mean; 0 if there was none.
    pub fn block(&self) -> u64 {
        (self.bytes_read + self.bytes_written) / (self.read_ops + self.write_ops).max(1)
    }
}

/// What hash compaction means for an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactSummary {
    /// The bits of a signature.
    pub bits: u32,
    /// An upper bound for the probability that a state was missed.
    pub omission_probability: f64,
}

/// Everything that `check` and `explore` report.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// `check` or `explore`.
    pub command: &'static str,
    /// The model.
    pub model: ModelSummary,
    /// One entry for each property; empty for `explore`.
    pub properties: Vec<PropertyOutcome>,
    /// The algorithm that ran.
    pub algorithm: &'static str,
    /// What was counted.
    pub counts: Counts,
    /// Whether the search saw every reachable state.
    pub complete: bool,
    /// Why it ended early, if it did.
    pub limit: Option<Limit>,
    /// Where the error state is reachable: what led to it, or what that means for the verdicts.
    pub error_state: Option<String>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Worker threads.
    pub threads: usize,
    /// The memory budget in bytes.
    pub memory_budget: u64,
    /// Peak bytes: of the process where the system tells, else of the budget's accountant.
    pub memory_peak: u64,
    /// Bytes that the stored states take (rows and table) at the end.
    pub memory_stored: u64,
    /// What was on disk; none for a search in memory.
    pub disk: Option<DiskSummary>,
    /// How likely it is that a state was missed; none if none can be.
    pub compact: Option<CompactSummary>,
    /// Named parts of the work.
    pub phases: Vec<PhaseSummary>,
}

/// What an algorithm that only passes over all states, or that sorts all edges, would transfer: the measures by which
/// algorithms on disk are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoBounds {
    /// Transfers to read all states once: scan(N).
    pub scan: u64,
    /// Transfers to sort all edges' targets: sort(E).
    pub sort: u64,
}

impl Outcome {
    /// scan(N) and sort(E) of this search in the model of Aggarwal and Vitter, with the rows as they are in memory, blocks of the mean
    /// size of the transfers, and the memory budget; none if nothing was transferred.
    pub fn io_bounds(&self) -> Option<IoBounds> {
        let block = self.disk.as_ref().map(|disk| disk.io.block()).filter(|block| *block > 0)?;
        let blocks = |rows: u64| (rows * self.model.state_bytes as u64).div_ceil(block);
        let (scan, all_edges) = (blocks(self.counts.states), blocks(self.counts.transitions));
        let fan_in = (self.memory_budget / block).max(2) as f64;
        let merges = (all_edges as f64 * block as f64 / self.memory_budget as f64).max(1.0).log(fan_in).ceil();
        Some(IoBounds { scan, sort: 2 * all_edges * (1 + merges as u64) })
    }

    /// The verdict over all properties; a search that was cut short never reads as *holds*.
    pub fn verdict(&self) -> Verdict {
        let of = |wanted| self.properties.iter().any(|p| p.verdict == wanted);
        if of(Verdict::Violated) {
            Verdict::Violated
        } else if of(Verdict::Unknown) || !self.complete {
            Verdict::Unknown
        } else {
            Verdict::Holds
        }
    }

    /// The verdict word of the JSON object; explorations are `complete` or `unknown`.
    pub fn verdict_word(&self) -> &'static str {
        match (self.command, self.verdict()) {
            ("explore", Verdict::Holds) => "complete",
            (_, verdict) => verdict.word(),
        }
    }
}
