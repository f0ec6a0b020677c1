//! The rows of one stream with what another one knows of them.
//!
//! A function of a row's value and of the other stream's value, if the other has the row, gives the value to go on with, or none to drop the
//! row. Intersections, updates of counters and marks, and filters by what is known are all of this form.

use super::{RowStream, first_not_below};
use crate::key::{Key, Value};
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;
use std::marker::PhantomData;

/// The rows of `A`, each judged by `F` with the value that `B` has for it.
pub struct Join<'b, K: Key, V: Value, W: Value, X: Value, A, B, F> {
    rows: A,
    others: B,
    judge: F,
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, X>,
    from: usize,
    to: usize,
    _values: PhantomData<(V, W)>,
}

impl<'b, K, V, W, X, A, B, F> Join<'b, K, V, W, X, A, B, F>
where
    K: Key,
    V: Value,
    W: Value,
    X: Value,
    A: RowStream<K, V>,
    B: RowStream<K, W>,
    F: FnMut(V, Option<W>) -> Option<X>,
{
    /// Joins, in batches of `batch_rows` rows.
    pub fn new(
        rows: A,
        others: B,
        judge: F,
        batch_rows: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let (mut keys, mut values) = (ReservedVec::new(budget), ReservedVec::new(budget));
        keys.resize(batch_rows.max(1), K::default())?;
        values.resize(batch_rows.max(1), X::default())?;
        Ok(Self { rows, others, judge, keys, values, from: 0, to: 0, _values: PhantomData })
    }

    fn fill(&mut self) -> Result<(), StorageError> {
        (self.from, self.to) = (0, 0);
        while self.to < self.keys.len() {
            let (keys, values) = self.rows.batch()?;
            let Some(first) = keys.first() else {
                break;
            };
            self.others.skip_to(*first)?;
            let (others, other_values) = self.others.batch()?;
            let room = keys.len().min(self.keys.len() - self.to);
            // Rows behind the last of the others wait for the others' next batch; if there is none, they are judged alone.
            let n = others.last().map_or(room, |last| keys[..room].partition_point(|key| key <= last));
            let mut place = 0;
            for (key, value) in keys[..n].iter().zip(values) {
                place = first_not_below(others, place, *key);
                let other = others.get(place).filter(|other| *other == key).map(|_| other_values[place]);
                if let Some(result) = (self.judge)(*value, other) {
                    self.keys[self.to] = *key;
                    self.values[self.to] = result;
                    self.to += 1;
                }
            }
            self.rows.consume(n);
        }
        Ok(())
    }
}

impl<K, V, W, X, A, B, F> RowStream<K, X> for Join<'_, K, V, W, X, A, B, F>
where
    K: Key,
    V: Value,
    W: Value,
    X: Value,
    A: RowStream<K, V>,
    B: RowStream<K, W>,
    F: FnMut(V, Option<W>) -> Option<X>,
{
    fn batch(&mut self) -> Result<(&[K], &[X]), StorageError> {
        if self.from == self.to {
            self.fill()?;
        }
        Ok((&self.keys[self.from..self.to], &self.values[self.from..self.to]))
    }

    fn consume(&mut self, n: usize) {
        self.from += n;
    }
}

/// The rows that both streams have, with their values combined.
pub fn intersect<K: Key, V: Value, W: Value, X: Value>(
    rows: impl RowStream<K, V>,
    others: impl RowStream<K, W>,
    mut combine: impl FnMut(V, W) -> X,
    batch_rows: usize,
    budget: &MemoryBudget,
) -> Result<impl RowStream<K, X>, StorageError> {
    Join::new(rows, others, move |value, other: Option<W>| other.map(|other| combine(value, other)), batch_rows, budget)
}
