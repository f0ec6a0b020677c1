//! The searches for accepting cycles: which algorithm, with which of its own options.

use crate::options::{Algorithm, GenerationOption, MphfOption, SearchOptions};
use clap::{Args, ValueEnum};
use lariat_graph::{Graph, Strength};
use lariat_search::iddfs::Deepening;
use lariat_search::{
    Context, Generation, HashPlacement, LassoSearch, SearchError, dac, ddfs, flash, iddfs, ioemc, las, map, minimal,
    ndfs, proof, scc,
};

/// What the algorithms for temporal properties leave open.
#[derive(Args, Clone)]
pub struct LivenessOptions {
    /// Where dac keeps candidates: in memory until that is full, or on disk (DAC')
    #[arg(long, value_enum, default_value_t = CandidatesOption::Ram, help_heading = "Algorithms for temporal properties")]
    pub candidates: CandidatesOption,

    /// Where dac begins: with accepting states that no other one leads to, or with all states
    #[arg(long, value_enum, default_value_t = InitialiseOption::Leading, help_heading = "Algorithms for temporal properties")]
    pub initialise: InitialiseOption,

    /// When dac merges candidates with its set: when nothing else can be done, or after every level as published
    #[arg(long, value_enum, default_value_t = MergeOption::Delayed, help_heading = "Algorithms for temporal properties")]
    pub merge: MergeOption,

    /// The fraction of the recent states that ioemc moves to disk at once
    #[arg(long, value_name = "FRACTION", default_value_t = 0.02, value_parser = parse_fraction, help_heading = "Algorithms for temporal properties")]
    pub rho1: f64,

    /// The fraction of the stacks in memory that ioemc and flash move to disk at once
    #[arg(long, value_name = "FRACTION", default_value_t = 0.9, value_parser = parse_fraction, help_heading = "Algorithms for temporal properties")]
    pub rho2: f64,

    /// Where flash keeps visited states
    #[arg(long, value_enum, default_value_t = StrategyOption::Compressing, help_heading = "Algorithms for temporal properties")]
    pub strategy: StrategyOption,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrategyOption {
    /// In a hash table on disk
    Mapping,
    /// The same, with a buffer in memory that is merged into it
    Merging,
    /// In a file as they came, their positions in memory
    Compressing,
    /// In hash tables one behind the other
    Padding,
    /// In hash tables slot by slot beside each other
    Slicing,
}

fn parse_fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fraction) if fraction > 0.0 && fraction < 1.0 => Ok(fraction),
        _ => Err("a fraction is a number between 0 and 1, such as 0.02".to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CandidatesOption {
    /// In memory
    Ram,
    /// On disk
    Disk,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InitialiseOption {
    /// Leading accepting states
    Leading,
    /// All states
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MergeOption {
    /// As late as possible, into a small set
    Delayed,
    /// After every level, into the whole set
    Level,
}

/// Whether the algorithm looks for accepting cycles, with its states on disk.
pub fn is_on_disk(algorithm: Algorithm) -> bool {
    use Algorithm::{Dac, Flash, Ioemc, Las, Map, Proof};
    matches!(algorithm, Dac | Map | Ioemc | Flash | Las | Proof)
}

/// Whether several threads work on it.
pub fn is_parallel(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Dac | Algorithm::Map | Algorithm::Las | Algorithm::Proof)
}

/// Whether the algorithm looks for accepting cycles, wherever its states are.
pub fn is_for_cycles(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Ndfs | Algorithm::Scc) || is_on_disk(algorithm)
}

/// Looks for an accepting cycle; the name of what did it.
pub fn find_lasso(
    options: &SearchChoice,
    graph: &dyn Graph,
    strength: Strength,
    context: &Context,
) -> (&'static str, Result<LassoSearch, SearchError>) {
    match options.algorithm {
        Algorithm::Scc => ("scc", scc::find_lasso(graph, context)),
        Algorithm::Ddfs => ("ddfs", ddfs::find_lasso(graph, options.generation(), options.mphf(), context)),
        Algorithm::Iddfs => ("iddfs", iddfs::find_lasso(graph, options.mphf(), options.deepening, context)),
        Algorithm::Minimal => ("minimal", minimal::find_lasso(graph, options.mphf(), context)),
        Algorithm::Dac => ("dac", dac::find_lasso(graph, options.dac(), context)),
        Algorithm::Ioemc => ("ioemc", ioemc::find_lasso(graph, options.ioemc(), context)),
        Algorithm::Flash => ("flash", flash::find_lasso(graph, options.strategy(), options.options.rho2, context)),
        Algorithm::Las => ("las", las::find_lasso(graph, context)),
        Algorithm::Map => ("map", map::find_lasso(graph, context)),
        Algorithm::Proof => ("proof", proof::find_lasso(graph, strength, context)),
        _ => ("ndfs", ndfs::find_lasso(graph, strength, context)),
    }
}

/// The algorithm that was asked for, and its options.
pub struct SearchChoice {
    algorithm: Algorithm,
    options: LivenessOptions,
    mphf: MphfOption,
    generation: GenerationOption,
    deepening: Deepening,
}

impl SearchChoice {
    pub fn of(algorithm: Algorithm, options: &SearchOptions) -> Self {
        Self {
            algorithm,
            options: options.liveness.clone(),
            mphf: options.mphf,
            generation: options.generation,
            deepening: options.depth_step.map_or_else(Deepening::default, Deepening::Levels),
        }
    }

    /// Where the semi-external searches keep their perfect hash function.
    pub fn mphf(&self) -> HashPlacement {
        match self.mphf {
            MphfOption::Auto => HashPlacement::Auto,
            MphfOption::Ram => HashPlacement::Memory,
            MphfOption::Disk => HashPlacement::Disk,
        }
    }

    fn generation(&self) -> Generation {
        match self.generation {
            GenerationOption::Levels => Generation::Levels,
            GenerationOption::Disk => Generation::Disk,
        }
    }

    fn strategy(&self) -> flash::Strategy {
        match self.options.strategy {
            StrategyOption::Mapping => flash::Strategy::Mapping,
            StrategyOption::Merging => flash::Strategy::Merging,
            StrategyOption::Compressing => flash::Strategy::Compressing,
            StrategyOption::Padding => flash::Strategy::Padding,
            StrategyOption::Slicing => flash::Strategy::Slicing,
        }
    }

    fn ioemc(&self) -> ioemc::Options {
        ioemc::Options { rho1: self.options.rho1, rho2: self.options.rho2 }
    }

    fn dac(&self) -> dac::Options {
        dac::Options {
            candidates: match self.options.candidates {
                CandidatesOption::Ram => dac::Candidates::Ram,
                CandidatesOption::Disk => dac::Candidates::Disk,
            },
            initialise: match self.options.initialise {
                InitialiseOption::Leading => dac::Initialise::Leading,
                InitialiseOption::All => dac::Initialise::All,
            },
            merging: match self.options.merge {
                MergeOption::Delayed => dac::Merging::Delayed,
                MergeOption::Level => dac::Merging::EachLevel,
            },
        }
    }
}
