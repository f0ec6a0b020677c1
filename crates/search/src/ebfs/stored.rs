//! How states are stored: as keys, or as signatures that have them as values.

use crate::compact::{Identity, value_bytes};
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, StorageError, Value};
use std::marker::PhantomData;

/// What a state is sorted by, and what is stored beside that until it is expanded.
pub(super) trait Stored<K: Key, V: Value>: Copy + Send + Sync {
    /// Whether keys do not tell what the state is.
    const IS_COMPACT: bool;

    /// The bytes of keys and of values, where rows have so many.
    fn widths(&self, row_bytes: usize) -> (usize, usize);

    fn split(&self, row: &[u8]) -> (K, V);

    fn write(&self, key: K, value: V, row: &mut [u8]);
}

/// States are keys.
#[derive(Clone, Copy)]
pub(super) struct Whole;

impl<K: Key> Stored<K, ()> for Whole {
    const IS_COMPACT: bool = false;

    fn widths(&self, row_bytes: usize) -> (usize, usize) {
        (row_bytes, 0)
    }

    #[inline]
    fn split(&self, row: &[u8]) -> (K, ()) {
        (K::from_row(row), ())
    }

    #[inline]
    fn write(&self, key: K, (): (), row: &mut [u8]) {
        key.write_row(row);
    }
}

/// Keys are signatures, and values are states.
#[derive(Clone, Copy)]
pub(super) struct Signed(pub(super) Identity);

impl<V: Key> Stored<u64, V> for Signed {
    const IS_COMPACT: bool = true;

    fn widths(&self, row_bytes: usize) -> (usize, usize) {
        (self.0.key_bytes(), value_bytes::<V>(row_bytes))
    }

    #[inline]
    fn split(&self, row: &[u8]) -> (u64, V) {
        (self.0.number(row), V::from_row(row))
    }

    #[inline]
    fn write(&self, _key: u64, value: V, row: &mut [u8]) {
        value.write_row(row);
    }
}

/// The keys of a stream.
pub(super) struct KeysOnly<R, V> {
    stream: R,
    /// As many as the keys of a batch.
    nothing: Vec<()>,
    values: PhantomData<fn() -> V>,
}

impl<R, V> KeysOnly<R, V> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream, nothing: Vec::new(), values: PhantomData }
    }
}

impl<K: Key, V: Value, R: RowStream<K, V>> RowStream<K, ()> for KeysOnly<R, V> {
    fn batch(&mut self) -> Result<(&[K], &[()]), StorageError> {
        let (keys, _) = self.stream.batch()?;
        self.nothing.resize(keys.len(), ());
        Ok((keys, &self.nothing))
    }

    fn consume(&mut self, n: usize) {
        self.stream.consume(n);
    }

    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        self.stream.skip_to(key)
    }
}
