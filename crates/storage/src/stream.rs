//! Sorted rows as streams, and set algebra on them.
//!
//! A [`RowStream`] gives increasing rows in batches, as a reader gives bytes: look at what is there, then say how much of it was used. Runs on
//! disk, slices in memory and the results of set algebra are streams, so that operations nest without files between them.
//!
//! | operation | here |
//! |---|---|
//! | union of any number of streams, values combined | [`Merge`] |
//! | rows of one stream that are not in another: what is new | [`Subtract`] |
//! | rows that a function chooses | [`Select`] |
//! | rows of one stream with what another one knows of them: intersection, updates | [`Join`] |
//!
//! # Invariants
//! 1. The rows of a stream increase strictly, over all its batches.

mod join;
mod merge;
mod select;
mod subtract;

pub use join::{Join, intersect};
pub use merge::Merge;
pub use select::Select;
pub use subtract::Subtract;

use crate::StorageError;
use crate::key::{Key, Value};
use crate::run::RunWriter;

/// Increasing rows, batch by batch.
pub trait RowStream<K: Key, V: Value> {
    /// The next rows and their values, at least one; none at the end. The same again until some are consumed.
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError>;

    /// Goes behind the first `n` rows of the batch.
    fn consume(&mut self, n: usize);

    /// Goes to the first row that is not below a key, if that is not behind it already.
    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        loop {
            let (keys, _) = self.batch()?;
            let below = match keys.last() {
                Some(last) if *last < key => keys.len(),
                _ => first_not_below(keys, 0, key),
            };
            let is_there = keys.is_empty() || below < keys.len();
            self.consume(below);
            if is_there {
                return Ok(());
            }
        }
    }
}

impl<K: Key, V: Value, S: RowStream<K, V> + ?Sized> RowStream<K, V> for Box<S> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        (**self).batch()
    }

    fn consume(&mut self, n: usize) {
        (**self).consume(n);
    }

    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        (**self).skip_to(key)
    }
}

/// Where, from `from` on, the first key is that is not below `key`; the length if there is none.
///
/// Looks near first, then further and further, so that it is as fast for the next key as for one that is far away.
#[inline]
pub fn first_not_below<K: Key>(keys: &[K], from: usize, key: K) -> usize {
    let (mut from, mut step) = (from, 1);
    loop {
        match keys.get(from + step - 1) {
            Some(there) if *there < key => {
                from += step;
                step *= 2;
            }
            _ => break,
        }
    }
    let end = (from + step - 1).min(keys.len());
    from + keys[from..end].partition_point(|there| *there < key)
}

/// Rows in memory.
pub struct SliceStream<'a, K, V> {
    keys: &'a [K],
    values: &'a [V],
}

impl<'a, K: Key, V: Value> SliceStream<'a, K, V> {
    /// Increasing rows, and a value for each.
    pub fn new(keys: &'a [K], values: &'a [V]) -> Self {
        debug_assert!(keys.is_sorted_by(|a, b| a < b), "rows increase");
        assert_eq!(keys.len(), values.len(), "every row has a value");
        Self { keys, values }
    }
}

impl<'a, K: Key> SliceStream<'a, K, ()> {
    /// Increasing rows without values.
    pub fn of_keys(keys: &'a [K]) -> Self {
        // Nothing is allocated, and nothing lost, since the items have no size.
        Self::new(keys, Vec::leak(vec![(); keys.len()]))
    }
}

impl<K: Key, V: Value> RowStream<K, V> for SliceStream<'_, K, V> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        Ok((self.keys, self.values))
    }

    fn consume(&mut self, n: usize) {
        self.keys = &self.keys[n..];
        self.values = &self.values[n..];
    }
}

/// Writes the rest of a stream to a run; how many rows that are.
pub fn write_all<K: Key, V: Value>(
    stream: &mut impl RowStream<K, V>,
    writer: &mut RunWriter<'_, K, V>,
) -> Result<u64, StorageError> {
    let mut rows = 0;
    loop {
        let (keys, values) = stream.batch()?;
        let n = keys.len();
        if n == 0 {
            return Ok(rows);
        }
        writer.push_batch(keys, values)?;
        stream.consume(n);
        rows += n as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_as_far_as_it_must() {
        let keys: Vec<u64> = (0..100).map(|i| i * 2).collect();
        for from in 0..=100 {
            for key in 0..210 {
                let expected = from + keys[from..].iter().filter(|there| **there < key).count();
                assert_eq!(first_not_below(&keys, from, key), expected, "{key} from {from}");
            }
        }
    }
}
