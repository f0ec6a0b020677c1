//! The command line: one table from which parsing, help, the manual page and completions come.

use clap::{Args, Parser, Subcommand, ValueEnum};
use lariat_base::size::parse_size;
use lariat_base::time::parse_time;
use std::path::PathBuf;
use std::time::Duration;

/// Lariat: a model checker for state spaces that do not fit into memory.
#[derive(Parser)]
#[command(name = "lariat", version, about, max_term_width = 110)]
#[command(after_help = "\
Examples:
  lariat check models/peterson.mdve -D N=3 --invariant 'not (P_0.critical && P_1.critical)'
  lariat check models/phils.mdve --deadlock --trace deadlock.itf.json
  lariat check models/ticket.mdve -D BUG=1 --property Starving
  lariat explore models/hanoi.mdve -D N=8 --json
  lariat simulate models/elevator.mdve --seed 7 --steps 20

Exit codes:
  0  every property holds, or the exploration is complete
  1  a property is violated; its counterexample was replayed
  2  the command line, the model or an expression is wrong
  3  no answer: a limit was reached, or it was interrupted
  4  the machine failed")]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Check properties of a model: verdict and counterexample
    Check(CheckOptions),
    /// Generate the whole state space: states, transitions, levels, deadlocks; with a temporal property that of the product
    Explore(ExploreOptions),
    /// Go on with a check or an exploration that a limit, an interrupt or a crash has ended
    Resume(ResumeOptions),
    /// Translate an LTL formula to a Büchi automaton
    Ltl(LtlOptions),
    /// Show what Lariat understood: processes, variables, state layout, transitions, properties
    Model(ModelOptions),
    /// Walk through a model, randomly or step by step
    Simulate(SimulateOptions),
    /// Re-run a stored counterexample step by step, and say whether it is one (exit code 0 if it is, 2 if not)
    Replay(ReplayOptions),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page (view with `lariat man | man -l -`)
    Man,
}

/// Where the model comes from.
#[derive(Args)]
pub struct ModelSource {
    /// The model: a DVE file (.dve), or one with m4 macros (.mdve)
    pub model: String,

    /// Set a parameter of an .mdve model (may be repeated)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub defines: Vec<String>,

    /// Expand an .mdve model with this program instead of the built-in macro processor
    #[arg(long, value_name = "PROGRAM")]
    pub m4: Option<String>,
}

/// How a search runs.
#[derive(Args)]
pub struct SearchOptions {
    /// The search algorithm
    #[arg(long, value_enum, default_value_t = Algorithm::Auto)]
    pub algorithm: Algorithm,

    /// The hash table in which mono, local and part keep states
    #[arg(long, value_enum, default_value_t = TableOption::Chained)]
    pub table: TableOption,

    /// Tell states apart by signatures of so many bits, from 16 to 64 (hash compaction): less memory and disk, but a state may be missed, with a
    /// probability that is reported. For disk, mono, local, part, ebfs and cbfs, and properties of states
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(16..=64))]
    pub compact: Option<u32>,

    /// Where ddfs, iddfs and minimal keep their perfect hash function
    #[arg(long, value_enum, default_value_t = MphfOption::Auto)]
    pub mphf: MphfOption,

    /// How ddfs finds the states that it numbers
    #[arg(long, value_enum, default_value_t = GenerationOption::Levels)]
    pub generation: GenerationOption,

    /// Let iddfs search after each N levels [default: whenever there are twice as many states]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub depth_step: Option<u64>,

    /// What makes successors
    #[arg(long, value_enum, default_value_t = EngineOption::Jit)]
    pub engine: EngineOption,

    /// How much memory to use, for example 512MiB or 2GiB [default: half of what the machine or its cgroup has]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,

    /// Stop without an answer after this time, for example 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,

    /// How many threads search [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub disk: DiskOptions,

    #[command(flatten)]
    pub liveness: crate::liveness::LivenessOptions,

    #[command(flatten)]
    pub display: DisplayOptions,

    /// Add memory, bytes per state and the time of each phase
    #[arg(long)]
    pub stats: bool,
}

/// What to go on with.
#[derive(Args)]
pub struct ResumeOptions {
    /// The directory that was given with --disk, or that the interrupted command named
    pub directory: PathBuf,

    /// Use this much memory instead of what was given then
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,

    /// Have up to this on disk instead of what was given then
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub disk_limit: Option<u64>,

    /// Stop without an answer after this time from now
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,

    /// Use this many threads instead of what was given then
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub threads: Option<u16>,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,

    /// Show neither progress nor warnings
    #[arg(long, short)]
    pub quiet: bool,

    /// Add memory, disk and the time of each phase
    #[arg(long)]
    pub stats: bool,
}

/// Where a search that does not fit into memory keeps its states.
#[derive(Args, Clone)]
pub struct DiskOptions {
    /// The directory for what does not fit into memory [default: a fresh one under the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub disk: Option<PathBuf>,

    /// Stop without an answer rather than have more than this on disk, for example 20GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub disk_limit: Option<u64>,

    /// Keep the files on disk even when there is an answer
    #[arg(long)]
    pub keep: bool,

    /// What is noted about the check in the directory, if it is to be gone on with.
    #[arg(skip)]
    pub resumes: Option<crate::resume::Labels>,
}

/// What is shown.
#[derive(Args)]
pub struct DisplayOptions {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,

    /// Show neither progress nor warnings
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Algorithm {
    /// The best one for the task: ram, and disk from where the memory is used up; ndfs for temporal properties
    Auto,
    /// Breadth-first search in memory
    Ram,
    /// Search with the states on disk, for state spaces larger than memory
    Disk,
    /// On disk: one visited set, candidates in memory, one pass over the disk for each level (Stern and Dill)
    Mono,
    /// On disk: as mono, but most passes look at the newest states only (Della Penna and others)
    Local,
    /// On disk: partitions of the visited set, one in memory at a time
    Part,
    /// On disk: external breadth-first search, each level sorted and merged with the levels before
    Ebfs,
    /// On disk: breadth-first search with positions of states in memory, and a read for each that may be known
    Cbfs,
    /// Nested depth-first search in memory, for temporal properties
    Ndfs,
    /// Search by strongly connected components in memory, for temporal properties
    Scc,
    /// On disk, for temporal properties: all states, then accepting states that are on no cycle are taken away; what auto turns to
    Proof,
    /// Semi-external double depth-first search, for temporal properties: a bit for each state, and a perfect hash function (Edelkamp and others)
    Ddfs,
    /// The same with iterative deepening: the states near the initial ones are searched before there are all
    Iddfs,
    /// Semi-external search for a shortest counterexample of a temporal property (Gastin and Moro); what --shortest means
    Minimal,
    /// Semi-external search for all accepting cycles (Wu and others); what --all means
    Daac,
    /// On disk, for temporal properties: what no accepting cycle leads to is eliminated (Barnat, Brim and Simecek)
    Dac,
    /// On disk, for temporal properties: the largest accepting state that leads to each is sent along edges (Barnat and others)
    Map,
    /// On disk, for temporal properties: nested depth-first search, visited states sorted by hash, recent ones in memory (Wu and others)
    Ioemc,
    /// On disk, for temporal properties: nested depth-first search with hash tables on disk, one way for each --strategy (Edelkamp and others)
    Flash,
    /// On disk, for temporal properties: liveness as safety, a search for a state that comes back (Edelkamp and Jabbar)
    Las,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GenerationOption {
    /// Level by level, by external breadth-first search, as published
    Levels,
    /// By the search on disk
    Disk,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MphfOption {
    /// In memory if it takes no more than a third of that
    Auto,
    /// In memory: 2.6 bits for each state
    Ram,
    /// On disk: a read for each state that is looked up
    Disk,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableOption {
    /// Lists of states with the same hash
    Chained,
    /// States beside each other, without lists
    Open,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineOption {
    /// The model compiled to machine code; the interpreter where that cannot be done
    Jit,
    /// The interpreter
    Interpreter,
}

/// Properties of infinite runs.
#[derive(Args)]
pub struct TemporalOptions {
    /// Every run satisfies the LTL formula, e.g. 'G (P_0.wait -> F P_0.critical)' (may be repeated)
    #[arg(long, value_name = "FORMULA", help_heading = "Temporal properties")]
    pub ltl: Vec<String>,

    /// The same for a formula in a file, or for all `#property` lines of a property file of DiVinE (may be repeated)
    #[arg(long, value_name = "FILE", help_heading = "Temporal properties")]
    pub ltl_file: Vec<String>,

    /// No run is accepted by the Büchi automaton in FILE: HOA, or a never claim (may be repeated)
    #[arg(long, value_name = "FILE", help_heading = "Temporal properties")]
    pub automaton: Vec<String>,

    /// No run is accepted by the model's property process NAME
    #[arg(long, value_name = "NAME", help_heading = "Temporal properties")]
    pub property: Vec<String>,

    /// What becomes of runs that end in a deadlock
    #[arg(long, value_enum, default_value_t = DeadlockRunsOption::Stutter, help_heading = "Temporal properties")]
    pub deadlock_runs: DeadlockRunsOption,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeadlockRunsOption {
    /// They stay in their last state for ever
    Stutter,
    /// They are not judged: only infinite runs are
    Ignore,
}

#[derive(Args)]
pub struct CheckOptions {
    #[command(flatten)]
    pub source: ModelSource,

    /// EXPR must hold in every reachable state, e.g. 'not (P_0.critical && P_1.critical)' (may be repeated)
    #[arg(
        long,
        value_name = "EXPR",
        help_heading = "What to check (default: the model's property process, or else --deadlock --assertions)"
    )]
    pub invariant: Vec<String>,

    /// No reachable state satisfies EXPR; if one does, show the shortest path to it (may be repeated)
    #[arg(
        long,
        value_name = "EXPR",
        help_heading = "What to check (default: the model's property process, or else --deadlock --assertions)"
    )]
    pub reach: Vec<String>,

    /// No reachable state is without successors
    #[arg(
        long,
        help_heading = "What to check (default: the model's property process, or else --deadlock --assertions)"
    )]
    pub deadlock: bool,

    /// The model's assertions hold, and no value, index or division goes wrong
    #[arg(
        long,
        help_heading = "What to check (default: the model's property process, or else --deadlock --assertions)"
    )]
    pub assertions: bool,

    #[command(flatten)]
    pub temporal: TemporalOptions,

    /// Show counterexamples that are as short as can be
    #[arg(long)]
    pub shortest: bool,

    /// Find all counterexamples to temporal properties: every elementary accepting cycle once
    #[arg(long, conflicts_with = "shortest")]
    pub all: bool,

    /// With --all: stop after K counterexamples
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,

    /// With --all: the fraction of a stack that goes to disk at once
    #[arg(long, value_name = "FRACTION", default_value_t = lariat_search::daac::RHO, value_parser = parse_fraction)]
    pub rho: f64,

    /// Write the counterexample to FILE: .txt text, .json or .itf.json ITF, .dot Graphviz. Further counterexamples go to
    /// files with a number before the ending. With --all: a directory for an ITF file each, or a .jsonl file with a line for each
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,

    #[command(flatten)]
    pub search: SearchOptions,
}

/// A number between 0 and 1.
fn parse_fraction(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|f| *f > 0.0 && *f < 1.0).ok_or_else(|| format!("`{text}` is not between 0 and 1"))
}

#[derive(Args)]
pub struct ExploreOptions {
    #[command(flatten)]
    pub source: ModelSource,

    /// Write the graph to FILE: .edges, .aut (Aldebaran) or .dot; for small graphs
    #[arg(long, value_name = "FILE")]
    pub export: Option<String>,

    #[command(flatten)]
    pub temporal: TemporalOptions,

    #[command(flatten)]
    pub search: SearchOptions,
}

#[derive(Args)]
pub struct LtlOptions {
    /// The formula, e.g. 'G (p -> F q)'; any word is a proposition
    pub formula: String,

    /// How the automaton is written
    #[arg(long, value_enum, default_value_t = AutomatonFormat::Hoa)]
    pub format: AutomatonFormat,

    /// Translate the negation, which accepts the words that violate the formula
    #[arg(long)]
    pub negate: bool,

    /// Add the number of states and edges, the kind of automaton and the time, as a comment
    #[arg(long)]
    pub stats: bool,

    /// Print one JSON object instead
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AutomatonFormat {
    /// The Hanoi omega-automata format
    Hoa,
    /// A graph for Graphviz
    Dot,
    /// A never claim for SPIN
    Never,
    /// State by state, for people
    Text,
}

#[derive(Args)]
pub struct ModelOptions {
    #[command(flatten)]
    pub source: ModelSource,

    #[command(flatten)]
    pub display: DisplayOptions,
}

#[derive(Args)]
pub struct SimulateOptions {
    #[command(flatten)]
    pub source: ModelSource,

    /// Choose every step yourself
    #[arg(long, short)]
    pub interactive: bool,

    /// The walk's number: the same seed gives the same walk [default: from the clock, and shown]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How many steps a random walk has
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub steps: u64,

    /// Write the walk to FILE: .txt text, .json or .itf.json ITF, .dot Graphviz
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,

    /// Show no warnings
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args)]
pub struct ReplayOptions {
    #[command(flatten)]
    pub source: ModelSource,

    /// The trace, as `--trace FILE.itf.json` wrote it
    pub trace: String,

    #[command(flatten)]
    pub display: DisplayOptions,
}
