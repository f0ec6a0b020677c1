//! Which check the files on disk belong to, and when how far it is is published, for searches that can be gone on with.

use crate::{Context, SearchError};
use lariat_disk::Disk;
use lariat_storage::Manifest;
use std::time::{Duration, Instant};

pub(crate) use crate::sets::PUBLISH_AFTER;

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

/// Publishing does not take more than this part of all time.
const COST_PART: u32 = 16;

/// Publishes how far a search is, now and then.
pub(crate) struct Publisher<'s> {
    context: &'s Context<'s>,
    disk: &'s dyn Disk,
    algorithm: &'static str,
    after: Duration,
    published: Instant,
    cost: Duration,
    /// How often it was done, by which files are named.
    number: u64,
}

impl<'s> Publisher<'s> {
    /// For a search that publishes as often as this, and if that is no time at all, whenever it can.
    pub(crate) fn new(context: &'s Context<'s>, disk: &'s dyn Disk, algorithm: &'static str, after: Duration) -> Self {
        Self { context, disk, algorithm, after, published: Instant::now(), cost: Duration::ZERO, number: 0 }
    }

    /// Whether enough was done since the last time.
    pub(crate) fn is_due(&self) -> bool {
        self.after.is_zero() || self.published.elapsed() >= self.after.max(self.cost * COST_PART)
    }

    /// Publishes what `note` notes, which is told how often there was something published, and removes what does not belong to it.
    pub(crate) fn publish(
        &mut self,
        note: impl FnOnce(&mut Manifest, u64) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        let began = Instant::now();
        self.context.begin_phase("publish");
        self.number += 1;
        let mut manifest = begin(self.context, self.algorithm);
        manifest.set_number("published", self.number);
        note(&mut manifest, self.number)?;
        manifest.publish(self.disk, self.context.budget)?;
        manifest.remove_others(self.disk)?;
        (self.published, self.cost) = (Instant::now(), began.elapsed());
        Ok(())
    }

    /// What was published, if anything was; everything else is removed from disk.
    pub(crate) fn take_up(&mut self) -> Result<Option<Manifest>, SearchError> {
        let manifest = take_up(self.context, self.disk, self.algorithm)?;
        if let Some(manifest) = &manifest {
            self.context.begin_phase("resume");
            self.number = manifest.number("published")?;
        }
        Ok(manifest)
    }
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
