//! Which algorithm can do what.

use crate::failure::Failure;
use crate::liveness;
use crate::options::{Algorithm, SearchOptions};

/// Whether the algorithm keeps states on disk.
pub fn needs_disk(algorithm: Algorithm) -> bool {
    use Algorithm::{Cbfs, Disk, Ebfs, Local, Mono, Part};
    matches!(algorithm, Disk | Mono | Local | Part | Ebfs | Cbfs)
        || is_semi_external(algorithm)
        || liveness::is_on_disk(algorithm)
}

/// Whether the algorithm looks for accepting cycles with a perfect hash function.
pub fn is_semi_external(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Ddfs | Algorithm::Iddfs | Algorithm::Minimal | Algorithm::Daac)
}

/// Whether states can be told apart by signatures in what is asked for.
pub fn check_compaction(options: &SearchOptions, temporal: bool) -> Result<(), Failure> {
    use Algorithm::{Auto, Cbfs, Disk, Ebfs, Local, Mono, Part};
    const CAN: &str = "auto, disk, mono, local, part, ebfs or cbfs";
    if options.compact.is_none() {
        return Ok(());
    }
    if temporal {
        return Err(Failure::input(
            "--compact is for properties of states: a cycle of signatures need not be one of states; leave it out for temporal properties",
        ));
    }
    if matches!(options.algorithm, Auto | Disk | Mono | Local | Part | Ebfs | Cbfs) {
        return Ok(());
    }
    Err(Failure::input(format!("--compact is not for this algorithm; give {CAN}")))
}

/// Whether the algorithm can do what is asked for.
pub fn check_algorithm(options: &SearchOptions, states: bool, temporal: bool) -> Result<(), Failure> {
    match options.algorithm {
        algorithm if is_semi_external(algorithm) && !temporal => Err(Failure::input(
            "--algorithm ddfs, iddfs, minimal and daac look for accepting cycles, and nothing here needs one; leave it out",
        )),
        algorithm if is_semi_external(algorithm) || (temporal && liveness::is_on_disk(algorithm)) => Ok(()),
        algorithm if temporal && (algorithm == Algorithm::Ram || needs_disk(algorithm)) => Err(Failure::input(
            "ram and the algorithms on disk look for states; for a temporal property give ndfs, scc, proof, dac, map, ioemc, flash or las, or leave it out",
        )),
        algorithm if liveness::is_for_cycles(algorithm) && states && !temporal => Err(Failure::input(
            "ndfs, scc, proof, dac, map, ioemc, flash and las look for accepting cycles, and nothing here needs one; give ram, or leave it out",
        )),
        _ => Ok(()),
    }
}

/// The algorithm that finds all counterexamples.
pub fn all_algorithm(options: &SearchOptions, states: bool) -> Result<Algorithm, Failure> {
    match options.algorithm {
        _ if states => {
            Err(Failure::input("--all finds accepting cycles: it needs temporal properties, and those only"))
        }
        Algorithm::Auto | Algorithm::Daac => Ok(Algorithm::Daac),
        _ => Err(Failure::input("--all has an algorithm of its own; leave --algorithm out, or give daac")),
    }
}

/// The algorithm that finds shortest counterexamples.
pub fn shortest_algorithm(options: &SearchOptions, temporal: bool) -> Result<Algorithm, Failure> {
    match (options.algorithm, temporal) {
        (Algorithm::Auto | Algorithm::Minimal, true) => Ok(Algorithm::Minimal),
        (_, true) => Err(Failure::input(
            "--shortest has an algorithm of its own for temporal properties; leave --algorithm out, or give minimal",
        )),
        (Algorithm::Part, false) => {
            Err(Failure::input("--algorithm part does not know how far a state is; give another one for --shortest"))
        }
        // All others show a path to a nearest state anyway.
        (other, false) => Ok(other),
    }
}
