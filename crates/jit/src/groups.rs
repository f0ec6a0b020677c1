//! Which moves are compiled into one function.

use crate::plan::ProcessPlan;
use std::ops::Range;

/// The time to compile a function grows faster than its size: where there are more moves than this, there are several...
const MOVES_UNSPLIT: usize = 300;
/// ... into functions with about this many, which is the least that is worth a call.
const MOVES_PER_FUNCTION: usize = 64;

/// What is compiled into one function.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// All moves of neighbouring processes.
    Processes(Range<usize>),
    /// Some moves of a process: by location, as ranges of [`LocationPlan::moves`].
    Part(usize, Vec<(u32, Range<usize>)>),
}

/// All moves in their order, divided into functions; `sizes` is how many each process has.
pub(crate) fn groups(processes: &[ProcessPlan], sizes: &[usize]) -> Vec<Group> {
    if sizes.iter().sum::<usize>() <= MOVES_UNSPLIT {
        return vec![Group::Processes(0..sizes.len())];
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut in_last = 0;
    for (place, size) in sizes.iter().enumerate() {
        if *size > 2 * MOVES_PER_FUNCTION {
            groups.extend(parts(&processes[place]).into_iter().map(|part| Group::Part(place, part)));
            continue;
        }
        match groups.last_mut() {
            Some(Group::Processes(last)) if in_last + size <= MOVES_PER_FUNCTION => {
                last.end = place + 1;
                in_last += size;
            }
            _ => {
                groups.push(Group::Processes(place..place + 1));
                in_last = *size;
            }
        }
    }
    groups
}

/// The moves of a process, divided.
fn parts(process: &ProcessPlan) -> Vec<Vec<(u32, Range<usize>)>> {
    let mut parts = vec![Vec::new()];
    let mut in_last = 0;
    for (location, plan) in process.locations.iter().enumerate() {
        let mut start = 0;
        for (i, one) in plan.moves.iter().enumerate() {
            in_last += one.size();
            let is_last = i + 1 == plan.moves.len();
            if is_last || in_last >= MOVES_PER_FUNCTION {
                if let Some(part) = parts.last_mut() {
                    part.push((location as u32, start..i + 1));
                }
                start = i + 1;
            }
            if in_last >= MOVES_PER_FUNCTION {
                parts.push(Vec::new());
                in_last = 0;
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{LocationPlan, Move};
    use lariat_model::ProcessId;

    fn process(n_moves: &[usize]) -> ProcessPlan {
        let location = |n: &usize| LocationPlan { committed: false, moves: (0..*n).map(Move::Single).collect() };
        ProcessPlan { id: ProcessId(0), locations: n_moves.iter().map(location).collect() }
    }

    #[test]
    fn all_moves_are_in_one_part_in_order() {
        for n_moves in [vec![1000], vec![64, 64, 2], vec![0, 63, 2, 0, 500, 1], vec![1; 500]] {
            let parts = parts(&process(&n_moves));
            let mut next = vec![0; n_moves.len()];
            for part in &parts {
                let size: usize = part.iter().map(|(_, moves)| moves.len()).sum();
                assert!(size > 0 && size <= MOVES_PER_FUNCTION, "{n_moves:?}: {part:?}");
                for (location, moves) in part {
                    assert_eq!(next[*location as usize], moves.start, "{n_moves:?}: {parts:?}");
                    next[*location as usize] = moves.end;
                }
            }
            assert_eq!(next, n_moves);
        }
    }

    #[test]
    fn small_models_are_one_function_and_large_processes_several() {
        let of_sizes = |sizes: &[usize]| groups(&sizes.iter().map(|n| process(&[*n])).collect::<Vec<_>>(), sizes);
        assert_eq!(of_sizes(&[100, 100]), [Group::Processes(0..2)]);
        let divided = of_sizes(&[20, 30, 40, 300, 10, 10]);
        assert_eq!(divided[..2], [Group::Processes(0..2), Group::Processes(2..3)]);
        assert_eq!(divided[2], Group::Part(3, vec![(0, 0..64)]));
        assert_eq!(divided[divided.len() - 1], Group::Processes(4..6));
    }
}
