//! The rows of a stream that a function chooses, with the values that it gives them.

use super::RowStream;
use crate::key::{Key, Value};
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;
use std::marker::PhantomData;

/// The rows of `A` for which `F` has a value to go on with.
pub struct Select<'b, K: Key, V: Value, X: Value, A, F> {
    rows: A,
    judge: F,
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, X>,
    from: usize,
    to: usize,
    _value: PhantomData<V>,
}

impl<'b, K, V, X, A, F> Select<'b, K, V, X, A, F>
where
    K: Key,
    V: Value,
    X: Value,
    A: RowStream<K, V>,
    F: FnMut(K, V) -> Option<X>,
{
    /// Chooses, in batches of `batch_rows` rows.
    pub fn new(rows: A, judge: F, batch_rows: usize, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let (mut keys, mut values) = (ReservedVec::new(budget), ReservedVec::new(budget));
        keys.resize(batch_rows.max(1), K::default())?;
        values.resize(batch_rows.max(1), X::default())?;
        Ok(Self { rows, judge, keys, values, from: 0, to: 0, _value: PhantomData })
    }

    fn fill(&mut self) -> Result<(), StorageError> {
        (self.from, self.to) = (0, 0);
        while self.to < self.keys.len() {
            let (keys, values) = self.rows.batch()?;
            let n = keys.len().min(self.keys.len() - self.to);
            if n == 0 {
                break;
            }
            for (key, value) in keys[..n].iter().zip(values) {
                if let Some(result) = (self.judge)(*key, *value) {
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

impl<K, V, X, A, F> RowStream<K, X> for Select<'_, K, V, X, A, F>
where
    K: Key,
    V: Value,
    X: Value,
    A: RowStream<K, V>,
    F: FnMut(K, V) -> Option<X>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::SliceStream;

    #[test]
    fn what_is_chosen_comes_in_order_with_its_new_value() {
        let budget = MemoryBudget::new(1 << 20);
        let keys: Vec<u64> = (0..1000).collect();
        let values: Vec<u32> = (0..1000).map(|i| i * 2).collect();
        for batch_rows in [1, 7, 2000] {
            let third = |key: u64, value: u32| key.is_multiple_of(3).then_some(value as u8);
            let mut chosen = Select::new(SliceStream::new(&keys, &values), third, batch_rows, &budget).unwrap();
            let mut found = Vec::new();
            while let n @ 1.. = chosen.batch().unwrap().0.len() {
                let (keys, values) = chosen.batch().unwrap();
                found.extend(keys.iter().copied().zip(values.iter().copied()));
                chosen.consume(n);
            }
            let expected: Vec<(u64, u8)> = (0..1000).step_by(3).map(|key| (key, (key * 2) as u8)).collect();
            assert_eq!(found, expected);
        }
    }
}
