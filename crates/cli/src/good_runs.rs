//! Good runs, to compare counterexamples with: which of the transitions that all counterexamples have do good runs have too?
//!
//! That no good run at all has such a transition would need an automaton for the good runs. So random walks look for some. Where there are good runs with a transition, many go on from where a
//! counterexample has taken it; so that is where most walks begin that could prove it harmless.

use crate::all_cycles::{Subject, transition, transitions};
use crate::check::Counterexample;
use lariat_base::Random;
use lariat_exec::{ReplayError, Run};
use lariat_graph::{DeadlockRuns, Graph, RowBuffer};
use std::collections::{BTreeSet, HashMap};

/// Random walks that are tried: from the start, and from behind each transition that only counterexamples seem to have; and the steps of each.
const WALKS: usize = 300;
const WALKS_BEHIND: usize = 50;
const WALK_STEPS: usize = 5000;
/// Steps that all walks may make, and runs that are judged may have, together: very long counterexamples are not followed again and again.
const STEPS_MAX: usize = 2_000_000;

/// A path that walks go on from.
struct Start {
    rows: RowBuffer,
    /// The places of all rows, in the order of the rows.
    sorted: Vec<usize>,
}

impl Start {
    fn new(rows: RowBuffer) -> Self {
        let mut sorted: Vec<usize> = (0..rows.len()).collect();
        sorted.sort_by_key(|place| rows.row(*place));
        Self { rows, sorted }
    }

    /// The last place of a row.
    fn place(&self, row: &[u8]) -> Option<usize> {
        let behind = self.sorted.partition_point(|place| self.rows.row(*place) <= row);
        let place = *self.sorted.get(behind.checked_sub(1)?)?;
        (self.rows.row(place) == row).then_some(place)
    }
}

/// A walk that was made.
struct Walk {
    /// The run that it is, unless it takes long to become one, or is none.
    run: Option<Run>,
    /// Whether it could have gone another way.
    had_choice: bool,
}

/// The search for good runs.
struct GoodRuns<'g, 's> {
    subject: &'g Subject<'s>,
    /// Transitions that no good run had so far.
    suspects: BTreeSet<String>,
    n_found: u64,
    steps_left: usize,
    random: Random,
}

/// Those of some transitions that no good run had, and how many good runs were found.
pub fn only_bad(
    subject: &Subject<'_>,
    suspects: BTreeSet<String>,
    shortest: Option<&Counterexample>,
) -> (Vec<String>, u64) {
    let mut good = GoodRuns { subject, suspects, n_found: 0, steps_left: STEPS_MAX, random: Random::new(1) };
    let mut initial = RowBuffer::new(subject.graph.row_bytes());
    initial.push(&subject.graph.initial_row());
    good.look(&Start::new(initial), WALKS, |suspects| !suspects.is_empty());
    for suspect in good.suspects.clone() {
        if let Some(path) = shortest.and_then(|shortest| path_behind(shortest, &suspect)) {
            good.look(&Start::new(path), WALKS_BEHIND, |suspects| suspects.contains(&suspect));
        }
    }
    // Without a good run there is nothing to compare with.
    if good.n_found == 0 { (Vec::new(), 0) } else { (good.suspects.into_iter().collect(), good.n_found) }
}

/// The rows of a counterexample up to the one that a transition leads to.
fn path_behind(counterexample: &Counterexample, suspect: &str) -> Option<RowBuffer> {
    let Counterexample { trace, run, .. } = counterexample;
    let step = trace.steps.position(|moves| moves.iter().any(|taken| transition(taken) == suspect))?;
    let mut path = run.rows.clone();
    path.push(run.rows.row(run.loop_to));
    path.truncate(step + 2);
    Some(path)
}

impl GoodRuns<'_, '_> {
    /// Makes walks from behind a path, as long as that is of use.
    fn look(&mut self, start: &Start, n_walks: usize, is_of_use: impl Fn(&BTreeSet<String>) -> bool) {
        for _ in 0..n_walks {
            if self.steps_left == 0 || !is_of_use(&self.suspects) {
                return;
            }
            let walk = self.walk(start);
            if let Some(run) = &walk.run {
                self.judge(run);
            }
            if !walk.had_choice {
                // The next one would be the same.
                return;
            }
        }
    }

    /// If a run is good, its transitions are no suspects any more.
    fn judge(&mut self, run: &Run) {
        self.steps_left = self.steps_left.saturating_sub(run.rows.len());
        let judged = self.subject.graph.run_violation(self.subject.watcher, run);
        if !matches!(judged, Err(ReplayError::NotViolated(_))) {
            return;
        }
        if let Ok(trace) = self.subject.graph.run_trace(run) {
            let harmless = transitions(&trace, 0);
            self.suspects.retain(|transition| !harmless.contains(transition));
            self.n_found += 1;
        }
    }

    /// Walks on from the end of a path up to where it comes to a state again, or to a deadlock.
    fn walk(&mut self, start: &Start) -> Walk {
        let graph = self.subject.graph;
        let mut walked = RowBuffer::new(graph.row_bytes());
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut had_choice = false;
        while walked.len() <= WALK_STEPS {
            let Some(last) = walked.last().or(start.rows.last()) else { break };
            let mut steps = graph.steps(last);
            if steps.is_empty() {
                let is_run = self.subject.deadlock_runs == DeadlockRuns::Stutter;
                let loop_to = start.rows.len() + walked.len() - 1;
                return Walk { run: is_run.then(|| run(start, &walked, loop_to)), had_choice };
            }
            self.steps_left = self.steps_left.saturating_sub(1);
            had_choice |= steps.len() > 1;
            let next = steps.swap_remove(self.random.below(steps.len())).target;
            if let Some(loop_to) = places.get(&next).copied().or_else(|| start.place(&next)) {
                return Walk { run: Some(run(start, &walked, loop_to)), had_choice };
            }
            walked.push(&next);
            places.insert(next, start.rows.len() + walked.len() - 1);
        }
        Walk { run: None, had_choice }
    }
}

/// The run along a path and a walk from its end, whose last row leads back to the one with this number.
fn run(start: &Start, walked: &RowBuffer, loop_to: usize) -> Run {
    let mut rows = start.rows.clone();
    rows.extend(walked.as_rows());
    let (before, round) = rows.as_rows().split_at(loop_to);
    let (mut prefix, mut cycle) = (RowBuffer::new(rows.width()), RowBuffer::new(rows.width()));
    prefix.extend(before);
    cycle.extend(round);
    Run::new(prefix, cycle)
}
