//! Lassos for people: an infinite run of the model as a trace, and the check that it is one and that a property forbids it.
//!
//! What a search finds is a lasso of a product. Its rows without the watcher's part are a run of the model, which is brought into its shortest
//! form. That the watcher accepts the run is found out anew, from the run alone.

use crate::interpreter::Interpreter;
use crate::trace::ReplayError;
use lariat_base::trace::Trace;
use lariat_graph::{Graph, GraphError, RowBuffer, Watcher, accepts};

/// An infinite run of the model: the rows in their order, and then from the one with number `loop_to` on again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The rows, each loop once.
    pub rows: RowBuffer,
    /// Where the last row leads back to.
    pub loop_to: usize,
}

impl Run {
    /// The run that goes through `prefix` and then through `cycle` again and again, in its shortest form: it may be that the loop goes round
    /// several times while the watcher goes round once, and that the last steps before the loop are already like those of the loop.
    pub fn new(mut prefix: RowBuffer, mut cycle: RowBuffer) -> Self {
        let n = cycle.len();
        let rows = |from, to| &cycle.as_rows().bytes()[from * cycle.width()..to * cycle.width()];
        let repeats = |period: &usize| n.is_multiple_of(*period) && rows(*period, n) == rows(0, n - period);
        if let Some(period) = (1..=n).find(repeats) {
            cycle.truncate(period);
        }
        let again = cycle.iter().rev().cycle();
        let n_like_loop = prefix.iter().rev().zip(again).take_while(|(before, last)| before == last).count();
        prefix.truncate(prefix.len() - n_like_loop);
        if !cycle.is_empty() {
            cycle.rotate_left((cycle.len() - n_like_loop % cycle.len()) % cycle.len());
        }
        let loop_to = prefix.len();
        prefix.extend(cycle.as_rows());
        Self { rows: prefix, loop_to }
    }

    /// Steps of the loop.
    pub fn cycle(&self) -> usize {
        self.rows.len() - self.loop_to
    }
}

impl Interpreter<'_> {
    /// Whether the run stays in a deadlock for ever.
    pub fn ends_in_deadlock(&self, run: &Run) -> bool {
        run.cycle() == 1 && self.stutters(run.rows.row(run.loop_to))
    }

    /// Whether nothing can move in a row, other than the error state, so that it counts as staying there.
    pub(crate) fn stutters(&self, row: &[u8]) -> bool {
        row != self.layout.error_row() && self.steps(row).is_empty()
    }

    /// A run as a trace whose last state is that to which the loop returns.
    pub fn run_trace(&self, run: &Run) -> Result<Trace, ReplayError> {
        self.trace(run.rows.as_rows(), Some(run.loop_to))
    }

    /// The run that a stored trace shows, if it is one of the model.
    pub fn retrace_run(&self, trace: &Trace) -> Result<Run, ReplayError> {
        let not = |why: &str| ReplayError::NotViolated(why.to_owned());
        let loop_to = trace.loop_to.ok_or_else(|| not("it has no loop, and only infinite runs are judged"))?;
        let (mut rows, _) = self.retrace(trace)?;
        let last = rows.len() - 1;
        if loop_to >= last || rows.row(last) != rows.row(loop_to) {
            return Err(not(&format!("its last state is not the same as state {loop_to}, to which it returns")));
        }
        rows.truncate(last);
        Ok(Run { rows, loop_to })
    }

    /// What is wrong with a run, in words, if `watcher` accepts it. The interpreter's labels are the watcher's propositions.
    pub fn run_violation(&self, watcher: &dyn Watcher, run: &Run) -> Result<String, ReplayError> {
        if !self.accepted(watcher, run).map_err(|error| ReplayError::NotViolated(error.to_string()))? {
            return Err(ReplayError::NotViolated("the property allows this run".to_owned()));
        }
        let count = |n: usize| if n == 1 { "1 step".to_owned() } else { format!("{n} steps") };
        let after = count(run.loop_to);
        Ok(if self.ends_in_deadlock(run) {
            format!("after {after} there is a deadlock, which counts as staying there for ever")
        } else {
            format!("after {after} the run repeats {} for ever", count(run.cycle()))
        })
    }

    fn accepted(&self, watcher: &dyn Watcher, run: &Run) -> Result<bool, GraphError> {
        let rows = run.rows.as_rows();
        let mut labels = Vec::new();
        if watcher.reads_labels() {
            self.expander().labels(rows, &mut labels)?;
        }
        accepts(watcher, rows, &labels, run.loop_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(prefix: &[u8], cycle: &[u8]) -> (Vec<u8>, usize) {
        let rows = |bytes: &[u8]| {
            let mut rows = RowBuffer::new(1);
            bytes.iter().for_each(|byte| rows.push(&[*byte]));
            rows
        };
        let run = Run::new(rows(prefix), rows(cycle));
        (run.rows.as_rows().bytes().to_vec(), run.loop_to)
    }

    #[test]
    fn runs_are_shortened() {
        assert_eq!(run(&[0, 1], &[2, 3]), (vec![0, 1, 2, 3], 2));
        assert_eq!(run(&[0, 1], &[2, 3, 2, 3]), (vec![0, 1, 2, 3], 2));
        assert_eq!(run(&[0, 3], &[2, 3, 2, 3]), (vec![0, 3, 2], 1));
        assert_eq!(run(&[2, 3], &[2, 3]), (vec![2, 3], 0));
        assert_eq!(run(&[0, 5, 5], &[5, 5]), (vec![0, 5], 1));
        assert_eq!(run(&[0, 3, 4, 2, 3, 4], &[2, 3, 4]), (vec![0, 3, 4, 2], 1));
        assert_eq!(run(&[], &[1, 2, 1]), (vec![1, 2, 1], 0));
    }
}
