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
    pub rows: Vec<Vec<u8>>,
    /// Where the last row leads back to.
    pub loop_to: usize,
}

impl Run {
    /// The run that goes through `prefix` and then through `cycle` again and again, in its shortest form: it may be that the loop goes round
    /// several times while the watcher goes round once, and that the last steps before the loop are already like those of the loop.
    pub fn new(mut prefix: Vec<Vec<u8>>, mut cycle: Vec<Vec<u8>>) -> Self {
        let n = cycle.len();
        let repeats = |period: &usize| n.is_multiple_of(*period) && (*period..n).all(|i| cycle[i] == cycle[i - period]);
        if let Some(period) = (1..=n).find(repeats) {
            cycle.truncate(period);
        }
        while !prefix.is_empty() && prefix.last() == cycle.last() {
            prefix.pop();
            cycle.rotate_right(1);
        }
        let loop_to = prefix.len();
        prefix.extend(cycle);
        Self { rows: prefix, loop_to }
    }

    /// Steps of the loop.
    pub fn cycle(&self) -> usize {
        self.rows.len() - self.loop_to
    }

    /// The rows, and the first row of the loop once more: the path on which the loop is closed.
    fn closed(&self) -> Vec<Vec<u8>> {
        self.rows.iter().chain(self.rows.get(self.loop_to)).cloned().collect()
    }
}

impl Interpreter<'_> {
    /// Whether the run stays in a deadlock for ever.
    pub fn ends_in_deadlock(&self, run: &Run) -> bool {
        run.cycle() == 1 && self.stutters(&run.rows[run.loop_to])
    }

    /// Whether nothing can move in a row, other than the error state, so that it counts as staying there.
    pub(crate) fn stutters(&self, row: &[u8]) -> bool {
        row != self.layout.error_row() && self.steps(row).is_empty()
    }

    /// A run as a trace whose last state is that to which the loop returns.
    pub fn run_trace(&self, run: &Run) -> Result<Trace, ReplayError> {
        let trace = self.trace(&run.closed())?;
        Ok(Trace { loop_to: Some(run.loop_to), ..trace })
    }

    /// The run that a stored trace shows, if it is one of the model.
    pub fn retrace_run(&self, trace: &Trace) -> Result<Run, ReplayError> {
        let not = |why: &str| ReplayError::NotViolated(why.to_owned());
        let loop_to = trace.loop_to.ok_or_else(|| not("it has no loop, and only infinite runs are judged"))?;
        let (mut rows, _) = self.retrace(trace)?;
        let last = rows.pop();
        if loop_to >= rows.len() || last.as_ref() != Some(&rows[loop_to]) {
            return Err(not(&format!("its last state is not the same as state {loop_to}, to which it returns")));
        }
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
        let mut rows = RowBuffer::new(self.row_bytes());
        run.rows.iter().for_each(|row| rows.push(row));
        let mut labels = Vec::new();
        if watcher.reads_labels() {
            self.expander().labels(rows.as_rows(), &mut labels)?;
        }
        accepts(watcher, rows.as_rows(), &labels, run.loop_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(prefix: &[u8], cycle: &[u8]) -> (Vec<u8>, usize) {
        let rows = |bytes: &[u8]| bytes.iter().map(|b| vec![*b]).collect();
        let run = Run::new(rows(prefix), rows(cycle));
        (run.rows.concat(), run.loop_to)
    }

    #[test]
    fn runs_are_shortened() {
        assert_eq!(run(&[0, 1], &[2, 3]), (vec![0, 1, 2, 3], 2));
        assert_eq!(run(&[0, 1], &[2, 3, 2, 3]), (vec![0, 1, 2, 3], 2));
        assert_eq!(run(&[0, 3], &[2, 3, 2, 3]), (vec![0, 3, 2], 1));
        assert_eq!(run(&[2, 3], &[2, 3]), (vec![2, 3], 0));
        assert_eq!(run(&[0, 5, 5], &[5, 5]), (vec![0, 5], 1));
        assert_eq!(run(&[], &[1, 2, 1]), (vec![1, 2, 1], 0));
    }
}
