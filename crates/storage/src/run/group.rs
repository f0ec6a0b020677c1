//! A group in a block: a small header, the first key as it is, then the other keys and the values, compressed.

use super::literals::SLACK_BYTES;
use super::repeats::{KeyEncoder, ROW_SLACK, decode_keys};
use super::values::{get_values, put_values};
use crate::block_file::{get_u32, put};
use crate::key::{Key, Value};
use crate::{ReservedVec, StorageError};

const HEADER_BYTES: usize = 12;

/// Bytes of a row and of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widths {
    pub(crate) row: usize,
    pub(crate) value: usize,
}

/// Writes a group to the end of `out`.
pub(crate) fn put_group<K: Key, V: Value>(
    encoder: &mut KeyEncoder<K>,
    keys: &[K],
    values: &[V],
    widths: Widths,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.resize(start + HEADER_BYTES + widths.row, 0);
    keys[0].write_row(&mut out[start + HEADER_BYTES..]);
    let keys_start = out.len();
    encoder.encode(keys, out);
    let key_bytes = out.len() - keys_start;
    put_values(values, widths.value, out);
    let bytes = out.len() - start;
    put(&mut out[start..], 0, &(bytes as u32).to_le_bytes());
    put(&mut out[start..], 4, &(key_bytes as u32).to_le_bytes());
    put(&mut out[start..], 8, &(keys.len() as u32).to_le_bytes());
}

/// A group in a block that was read.
pub(crate) struct Group<'a, K> {
    pub(crate) first: K,
    pub(crate) rows: usize,
    /// All its bytes.
    pub(crate) bytes: usize,
    /// The keys behind the first, and what follows them.
    keys: &'a [u8],
    /// The values, and what follows them.
    values: &'a [u8],
}

impl<'a, K: Key> Group<'a, K> {
    /// The group that begins at `place` in a block's contents; none if there cannot be one.
    pub(crate) fn at(contents: &'a [u8], place: usize, widths: Widths, group_rows: usize) -> Option<Self> {
        let bytes = contents.get(place..).filter(|rest| rest.len() >= HEADER_BYTES + widths.row + SLACK_BYTES)?;
        let (size, key_bytes, rows) =
            (get_u32(bytes, 0) as usize, get_u32(bytes, 4) as usize, get_u32(bytes, 8) as usize);
        let keys_start = HEADER_BYTES + widths.row;
        let values_start = keys_start.checked_add(key_bytes)?;
        if rows == 0 || rows > group_rows || values_start > size || size > bytes.len() - SLACK_BYTES {
            return None;
        }
        let first = K::from_row(&bytes[HEADER_BYTES..keys_start]);
        Some(Self { first, rows, bytes: size, keys: &bytes[keys_start..], values: &bytes[values_start..] })
    }

    /// Decodes the group in place of what the vectors have; `keys` gets [`ROW_SLACK`] more. False if it is not what was written.
    pub(crate) fn decode<V: Value>(
        &self,
        widths: Widths,
        keys: &mut ReservedVec<'_, K>,
        values: &mut ReservedVec<'_, V>,
    ) -> Result<bool, StorageError> {
        if keys.len() < self.rows + ROW_SLACK {
            keys.resize(self.rows + ROW_SLACK, K::default())?;
        }
        values.resize(self.rows, V::default())?;
        let decoded = decode_keys(self.first, self.rows, self.keys, keys);
        Ok(decoded.and_then(|()| get_values(self.values, widths.value, values)).is_some())
    }
}
