//! What is left of a graph when states are taken away that are on no accepting cycle for certain.
//!
//! A state on an accepting cycle is reached from an accepting state, and has a predecessor that is on the cycle too. So states that no accepting state reaches are
//! taken away, and then, again and again, states without predecessors. Both together are a pass; what a pass takes away may let the next one take away more.
//!
//! # Paper
//! Barnat, Brim, Šimeček, *I/O efficient accepting cycle detection*, 2007: `Elim-No-Accepting` and `Elim-No-Predecessors` of One-Way-Catch-Them-Young. *Deviations.* States have
//! numbers, so that a set is a bit for each; it ends when a pass takes little away, since those who come after need no fixpoint.
//!
//! # Invariants
//! 1. Every state on an accepting cycle is in the set, at all times.
//! 2. A counter is the number of edges to the state from states of the set, or the largest that there is if it ever was that much: then it stays.
//!
//! # Cost
//! Four bits to ten a state, in memory or on disk. A pass expands every state of the set three times at most.

use crate::enumerate::States;
use crate::lasso::Halt;
use lariat_disk::FileKind;
use lariat_graph::{RowBuffer, Rows};
use lariat_storage::{Manifest, NumberArray, RowLog, RowLogOptions, RowQueue};

/// Passes that are made at least.
const PASSES_MIN: u32 = 2;
/// Passes go on while they take away one state of so many.
const WORTH_A_PASS: u64 = 8;
/// Bits of a counter: as many of these as there is memory for. Most states have few predecessors.
const COUNTER_BITS: [u32; 3] = [8, 4, 2];
/// The part of memory that is for counters.
const COUNTERS_PART: u64 = 2;
/// States that are expanded together.
const BATCH_ROWS: usize = 64;

/// A set of states.
pub(crate) struct StateSet<'s> {
    /// A bit for each state.
    pub(crate) bits: NumberArray<'s>,
    pub(crate) len: u64,
}

/// What a set is noted as, and the key of its length.
const KEPT: &str = "kept";
const KEPT_LEN: &str = "kept-states";

/// The states that may be on an accepting cycle: those that an interrupted search has published, or else found now, and published.
pub(crate) fn trim<'s>(states: &mut States<'s>) -> Result<StateSet<'s>, Halt> {
    let (disk, budget) = (states.disk, states.context.budget);
    let mut manifest = Manifest::read(disk, budget)?.unwrap_or_default();
    let mut log = RowLog::new(disk, KEPT, RowLogOptions::within(8, states.memory(32), FileKind::Table), budget);
    if let Ok(len) = manifest.number(KEPT_LEN) {
        let mut kept = StateSet { bits: states.bits(8)?, len };
        log.take_up(&manifest, KEPT)?;
        kept.bits.load(&mut log)?;
        return Ok(kept);
    }
    let mut kept = trim_anew(states)?;
    kept.bits.save(&mut log)?;
    log.note(&mut manifest, KEPT)?;
    manifest.set_number(KEPT_LEN, kept.len);
    manifest.publish(disk, budget)?;
    Ok(kept)
}

fn trim_anew<'s>(states: &mut States<'s>) -> Result<StateSet<'s>, Halt> {
    let mut kept = StateSet { bits: states.bits(8)?, len: states.len() };
    let mut reached = states.bits(8)?;
    let mut counters = counters(states)?;
    for number in 0..kept.len {
        kept.bits.set(number, 1)?;
    }
    for pass in 1.. {
        let before = kept.len;
        states.begin_phase("reach");
        keep_reached(states, &mut kept, &mut reached)?;
        states.begin_phase("eliminate");
        eliminate(states, &mut kept, &mut counters)?;
        let taken = before - kept.len;
        if kept.len == 0 || taken == 0 || (pass >= PASSES_MIN && taken < before / WORTH_A_PASS) {
            break;
        }
        reached.clear();
        counters.clear();
    }
    Ok(kept)
}

/// A counter for each state, in memory if that is possible: they are asked for all over.
fn counters<'s>(states: &mut States<'s>) -> Result<NumberArray<'s>, Halt> {
    let memory = states.memory(COUNTERS_PART) as u64;
    let fits = |bits: &u32| NumberArray::bytes_for(states.len(), *bits) <= memory;
    let bits = COUNTER_BITS.into_iter().find(fits).unwrap_or(COUNTER_BITS[0]);
    Ok(states.array(states.len(), bits, COUNTERS_PART)?)
}

/// States that wait to be expanded.
struct Waiting<'s> {
    rows: RowQueue<'s>,
    batch: RowBuffer,
}

impl<'s> Waiting<'s> {
    fn new(states: &States<'s>) -> Self {
        let width = states.graph.row_bytes();
        let options = RowLogOptions::within(width, states.memory(4), FileKind::Queue);
        let rows = RowQueue::new(states.disk, "waiting", options, states.context.budget);
        Self { rows, batch: RowBuffer::new(width) }
    }

    /// Expands what waits, and what comes to it, until there is nothing left. `see` is called with each successor and says whether that is to wait.
    fn expand_all(
        &mut self,
        states: &mut States<'s>,
        see: &mut dyn FnMut(u64) -> Result<bool, Halt>,
    ) -> Result<(), Halt> {
        while !self.rows.is_empty() {
            self.batch.clear();
            self.batch.extend(self.rows.take_rows(BATCH_ROWS)?);
            states.attend(self.rows.len(), None)?;
            let batch = std::mem::replace(&mut self.batch, RowBuffer::new(states.graph.row_bytes()));
            self.expand(states, batch.as_rows(), see)?;
            self.batch = batch;
        }
        Ok(())
    }

    fn expand(
        &mut self,
        states: &mut States<'s>,
        mut rows: Rows<'_>,
        see: &mut dyn FnMut(u64) -> Result<bool, Halt>,
    ) -> Result<(), Halt> {
        while !rows.is_empty() {
            let successors = states.expand(rows)?;
            for (number, target) in successors.numbers.iter().zip(successors.edges.targets().iter()) {
                if see(*number)? {
                    self.rows.push(target)?;
                }
            }
            rows = rows.split_at(successors.edges.n_sources()).1;
        }
        Ok(())
    }
}

/// Keeps what is reached from accepting states of the set, inside of it, by at least one edge.
fn keep_reached<'s>(
    states: &mut States<'s>,
    kept: &mut StateSet<'s>,
    reached: &mut NumberArray<'s>,
) -> Result<(), Halt> {
    let mut waiting = Waiting::new(states);
    let mut n_reached = 0;
    let mut accepting = RowBuffer::new(states.graph.row_bytes());
    states.scan(&mut |states, rows, numbers| {
        accepting.clear();
        for (row, number) in rows.iter().zip(numbers) {
            if kept.bits.get(*number)? == 1 && states.graph.is_accepting(row) {
                accepting.push(row);
            }
        }
        let mut see = |number| {
            let is_new = kept.bits.get(number)? == 1 && reached.mark(number)?;
            n_reached += u64::from(is_new);
            Ok(is_new)
        };
        waiting.expand(states, accepting.as_rows(), &mut see)?;
        waiting.expand_all(states, &mut see)
    })?;
    std::mem::swap(&mut kept.bits, reached);
    kept.len = n_reached;
    Ok(())
}

/// Takes states without predecessors in the set away, until there are none.
fn eliminate<'s>(states: &mut States<'s>, kept: &mut StateSet<'s>, counters: &mut NumberArray<'s>) -> Result<(), Halt> {
    if kept.len == 0 {
        return Ok(());
    }
    // The largest counter counts no more.
    let many = counters.max();
    let mut waiting = Waiting::new(states);
    let mut inside = RowBuffer::new(states.graph.row_bytes());
    states.scan(&mut |states, rows, numbers| {
        inside.clear();
        for (row, number) in rows.iter().zip(numbers) {
            if kept.bits.get(*number)? == 1 {
                inside.push(row);
            }
        }
        waiting.expand(states, inside.as_rows(), &mut |number| {
            let count = counters.get(number)?;
            if count < many {
                counters.set(number, count + 1)?;
            }
            Ok(false)
        })
    })?;
    states.scan(&mut |states, rows, numbers| {
        for (row, number) in rows.iter().zip(numbers) {
            if kept.bits.get(*number)? == 1 && counters.get(*number)? == 0 {
                take_away(kept, *number)?;
                waiting.rows.push(row)?;
            }
        }
        waiting.expand_all(states, &mut |number| {
            let count = counters.get(number)?;
            if count == many || count == 0 || kept.bits.get(number)? == 0 {
                return Ok(false);
            }
            counters.set(number, count - 1)?;
            if count == 1 {
                take_away(kept, number)?;
            }
            Ok(count == 1)
        })
    })
}

fn take_away(kept: &mut StateSet<'_>, number: u64) -> Result<(), Halt> {
    kept.bits.set(number, 0)?;
    kept.len -= 1;
    Ok(())
}
