//! Which check the files on disk belong to, for searches for accepting cycles that can be gone on with.

use crate::{Context, SearchError};
use lariat_disk::Disk;
use lariat_storage::Manifest;

const ALGORITHM: &str = "algorithm";

/// A manifest that says which check it is of, and by which algorithm; the search adds its own state.
pub(crate) fn begin(context: &Context, algorithm: &str) -> Manifest {
    let mut manifest = Manifest::new();
    context.labels.iter().for_each(|(key, text)| manifest.set_text(key, text));
    manifest.set_text(ALGORITHM, algorithm);
    manifest
}

/// What this search published, if it did; everything else is removed from disk.
pub(crate) fn take_up(context: &Context, disk: &dyn Disk, algorithm: &str) -> Result<Option<Manifest>, SearchError> {
    let Some(manifest) = Manifest::open(disk, context.budget)? else {
        return Ok(None);
    };
    let is_same = |(key, text): &(&str, String)| manifest.text(key).is_ok_and(|noted| noted == text);
    let Ok(noted) = manifest.text(ALGORITHM) else {
        return Ok(None);
    };
    if !context.labels.iter().all(is_same) {
        // Another search of the same check, which has ended.
        let mut empty = Manifest::new();
        context.labels.iter().for_each(|(key, text)| empty.set_text(key, text));
        empty.publish(disk, context.budget)?;
        empty.remove_others(disk)?;
        return Ok(None);
    }
    if noted != algorithm {
        return Err(SearchError::OtherSearch);
    }
    Ok(Some(manifest))
}

/// A row as text.
pub(crate) fn to_digits(row: &[u8]) -> String {
    row.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The row of a text.
pub(crate) fn from_digits(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}
