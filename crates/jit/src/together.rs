//! Synchronous systems: from the choices of each process to the states in which all have moved at once.
//!
//! Compiled code makes the choices: for each transition that a process can take, the row after that transition alone, or a mark that it fails. No
//! two processes write the same cell, since that is an error; so what they changed is put together by exclusive or.
//!
//! # Cost
//! One exclusive or of a row for each process whose choice is new; the last process's choice changes fastest.

use crate::moves::{FAILED, NUMBER_BYTES};
use crate::plan::Plan;
use lariat_graph::Edges;
use lariat_model::VariableId;
use std::ops::Range;

/// What is known about the choices of a model.
pub(crate) struct Together {
    row_bytes: usize,
    n_processes: usize,
    error_row: Vec<u8>,
    /// For each transition the place of its process.
    places: Vec<usize>,
    /// For each transition the variables that it writes, those left out that only one process writes: `n_words` words of bits.
    writes: Vec<u64>,
    n_words: usize,
}

/// Space for putting choices together.
#[derive(Default)]
pub(crate) struct Space {
    /// For each process its choices, as a range of all.
    choices: Vec<Range<usize>>,
    /// The choice of each process that is looked at, and what the processes up to it have done together.
    chosen: Vec<usize>,
    rows: Vec<u8>,
    written: Vec<u64>,
    failed: Vec<bool>,
}

impl Together {
    pub(crate) fn new(plan: &Plan, error_row: &[u8]) -> Self {
        let mut place_of = vec![0; plan.processes.iter().map(|p| p.id.index() + 1).max().unwrap_or(0)];
        plan.processes.iter().enumerate().for_each(|(place, process)| place_of[process.id.index()] = place);
        let places: Vec<usize> = plan.transitions.iter().map(|t| place_of[t.process.index()]).collect();
        let shared = shared_variables(plan, &places);
        let n_words = shared.len().div_ceil(64);
        let mut writes = vec![0; n_words * places.len()];
        for (i, transition) in plan.transitions.iter().enumerate() {
            for variable in &transition.writes_global {
                if let Ok(bit) = shared.binary_search(variable) {
                    writes[i * n_words + bit / 64] |= 1 << (bit % 64);
                }
            }
        }
        let n_processes = plan.processes.len();
        Self { row_bytes: error_row.len(), n_processes, error_row: error_row.to_vec(), places, writes, n_words }
    }

    /// The bytes of a choice.
    pub(crate) fn stride(&self) -> usize {
        self.row_bytes + NUMBER_BYTES
    }

    /// Appends the edges of `row` whose choices these are; the choices are changed.
    pub(crate) fn push(&self, row: &[u8], choices: &mut [u8], space: &mut Space, out: &mut Edges) {
        if self.begin(row, choices, space) {
            self.go_on_from(0, choices, space);
            loop {
                let last = self.n_processes - 1;
                out.push(if space.failed[last + 1] { &self.error_row } else { self.row(space, last + 1) });
                if out.has_overflowed() {
                    break;
                }
                let more = (0..=last).rev().find(|place| space.chosen[*place] + 1 < space.choices[*place].end);
                let Some(place) = more else { break };
                space.chosen[place] += 1;
                for later in place + 1..=last {
                    space.chosen[later] = space.choices[later].start;
                }
                self.go_on_from(place, choices, space);
            }
        }
        out.end_source();
    }

    /// Sorts the choices by process, and leaves in each what it changes. False if a process has none.
    fn begin(&self, row: &[u8], choices: &mut [u8], space: &mut Space) -> bool {
        space.choices.clear();
        space.choices.resize(self.n_processes, 0..0);
        for (i, choice) in choices.chunks_exact_mut(self.stride()).enumerate() {
            let place = self.places[number(choice).0];
            let of_process = &mut space.choices[place];
            let is_first = of_process.start == of_process.end;
            *of_process = if is_first { i..i + 1 } else { of_process.start..i + 1 };
            add(&mut choice[..self.row_bytes], row);
        }
        space.chosen.clear();
        space.chosen.extend(space.choices.iter().map(|choices| choices.start));
        space.rows.clear();
        space.rows.resize((self.n_processes + 1) * self.row_bytes, 0);
        space.rows[..self.row_bytes].copy_from_slice(row);
        space.written.clear();
        space.written.resize((self.n_processes + 1) * self.n_words, 0);
        space.failed.clear();
        space.failed.resize(self.n_processes + 1, false);
        space.choices.iter().all(|choices| !choices.is_empty())
    }

    /// What the processes from `place` on do, after those before it.
    fn go_on_from(&self, place: usize, choices: &[u8], space: &mut Space) {
        for place in place..self.n_processes {
            let choice = &choices[space.chosen[place] * self.stride()..][..self.stride()];
            let change = &choice[..self.row_bytes];
            let (before, after) = space.rows[place * self.row_bytes..].split_at_mut(self.row_bytes);
            let after = &mut after[..self.row_bytes];
            after.copy_from_slice(before);
            add(after, change);
            let (number, fails) = number(choice);
            let mut failed = space.failed[place] || fails;
            for word in 0..self.n_words {
                let before = space.written[place * self.n_words + word];
                let more = self.writes[number * self.n_words + word];
                failed |= before & more != 0;
                space.written[(place + 1) * self.n_words + word] = before | more;
            }
            space.failed[place + 1] = failed;
        }
    }

    fn row<'s>(&self, space: &'s Space, place: usize) -> &'s [u8] {
        &space.rows[place * self.row_bytes..(place + 1) * self.row_bytes]
    }
}

/// The variables that transitions of more than one process write, sorted.
fn shared_variables(plan: &Plan, places: &[usize]) -> Vec<VariableId> {
    let mut writers: Vec<(VariableId, usize)> = Vec::new();
    for (transition, place) in plan.transitions.iter().zip(places) {
        writers.extend(transition.writes_global.iter().map(|variable| (*variable, *place)));
    }
    writers.sort_unstable();
    writers.dedup();
    let mut shared: Vec<VariableId> = writers.windows(2).filter(|w| w[0].0 == w[1].0).map(|w| w[0].0).collect();
    shared.dedup();
    shared
}

fn add(to: &mut [u8], change: &[u8]) {
    to.iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
}

/// The number of the transition behind a choice, and whether it fails.
fn number(choice: &[u8]) -> (usize, bool) {
    let behind = choice[choice.len() - NUMBER_BYTES..].iter();
    let number = behind.rev().fold(0, |number, byte| number << 8 | usize::from(*byte));
    (number & !FAILED, number & FAILED != 0)
}
