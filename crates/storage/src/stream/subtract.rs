//! The rows of one stream that are not in another: candidates minus visited rows leave what is new.
//!
//! The visited rows are usually many more. Where they are, each candidate looks for its place among them from the last one's on, further and
//! further ([`first_not_below`]), and groups and blocks that no candidate falls into are not decoded or not read at all; where the two are about as many,
//! both are walked through without a branch that depends on the rows.

use super::{RowStream, first_not_below};
use crate::key::{Key, Value};
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;
use std::marker::PhantomData;

/// With more rows than this to each of the others, searching is faster than walking.
const SEARCH_RATIO: usize = 8;

/// The rows of `A` that are not in `B`, with their values.
pub struct Subtract<'b, K: Key, V: Value, W: Value, A, B> {
    rows: A,
    without: B,
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, V>,
    from: usize,
    to: usize,
    /// Whether nothing is left to be subtracted, so that batches are handed through.
    is_through: bool,
    _values_without: PhantomData<W>,
}

impl<'b, K: Key, V: Value, W: Value, A: RowStream<K, V>, B: RowStream<K, W>> Subtract<'b, K, V, W, A, B> {
    /// Subtracts, in batches of `batch_rows` rows.
    pub fn new(rows: A, without: B, batch_rows: usize, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let (mut keys, mut values) = (ReservedVec::new(budget), ReservedVec::new(budget));
        keys.resize(batch_rows.max(1), K::default())?;
        values.resize(batch_rows.max(1), V::default())?;
        Ok(Self { rows, without, keys, values, from: 0, to: 0, is_through: false, _values_without: PhantomData })
    }

    fn fill(&mut self) -> Result<(), StorageError> {
        (self.from, self.to) = (0, 0);
        // A step gives at most as many rows as it takes, so it is given no more than there is room for.
        while self.to < self.keys.len() {
            let (keys, values) = self.rows.batch()?;
            let Some(first) = keys.first() else {
                break;
            };
            self.without.skip_to(*first)?;
            let (without, _) = self.without.batch()?;
            let Some(last) = without.last() else {
                self.is_through = self.to == 0;
                break;
            };
            let room = keys.len().min(self.keys.len() - self.to);
            // Rows behind the last of the others wait for the others' next batch.
            let n = if keys[room - 1] <= *last { room } else { keys[..room].partition_point(|key| key <= last) };
            let (out, out_values) = (&mut self.keys[self.to..], &mut self.values[self.to..]);
            let given = subtract((&keys[..n], &values[..n]), without, (out, out_values));
            self.rows.consume(n);
            self.to += given;
        }
        Ok(())
    }
}

impl<K: Key, V: Value, W: Value, A: RowStream<K, V>, B: RowStream<K, W>> RowStream<K, V>
    for Subtract<'_, K, V, W, A, B>
{
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        if self.from == self.to && !self.is_through {
            self.fill()?;
        }
        if self.is_through {
            return self.rows.batch();
        }
        Ok((&self.keys[self.from..self.to], &self.values[self.from..self.to]))
    }

    fn consume(&mut self, n: usize) {
        if self.is_through {
            self.rows.consume(n);
        } else {
            self.from += n;
        }
    }
}

/// Subtracts rows of which the last is not behind the last of `without`; how many are left. The output has room for all.
fn subtract<K: Key, V: Value>(rows: (&[K], &[V]), without: &[K], out: (&mut [K], &mut [V])) -> usize {
    if rows.0.len() * SEARCH_RATIO < without.len() { search(rows, without, out) } else { walk(rows, without, out) }
}

fn search<K: Key, V: Value>(rows: (&[K], &[V]), without: &[K], out: (&mut [K], &mut [V])) -> usize {
    let (mut place, mut n) = (0, 0);
    for (key, value) in rows.0.iter().zip(rows.1) {
        place = first_not_below(without, place, *key);
        out.0[n] = *key;
        out.1[n] = *value;
        n += usize::from(without.get(place) != Some(key));
    }
    n
}

fn walk<K: Key, V: Value>(rows: (&[K], &[V]), without: &[K], out: (&mut [K], &mut [V])) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    loop {
        // So many steps cannot pass any end.
        let steps = (rows.0.len() - i).min(without.len() - j);
        if steps == 0 {
            return n;
        }
        for _ in 0..steps {
            let (key, other) = (rows.0[i], without[j]);
            out.0[n] = key;
            out.1[n] = rows.1[i];
            n += usize::from(key < other);
            i += usize::from(key <= other);
            j += usize::from(other <= key);
            if n == out.0.len() {
                return n;
            }
        }
    }
}
