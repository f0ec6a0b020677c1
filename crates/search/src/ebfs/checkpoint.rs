//! Publishing how far the search is, and going on from there.
//!
//! When a level is complete everything is in sets on disk, so their names and the counters are all that is noted.

use super::stored::Stored;
use super::{KEYS, LEVEL, MERGED, Search};
use crate::SearchError;
use crate::checkpoint::Publisher;
use lariat_storage::{Key, Manifest, ManifestFile, RunParts, StorageError, Value};

pub(super) const NAME: &str = "ebfs";
/// Which parts a level has is saved as eight bytes.
pub(super) const PLACES_BYTES: usize = 8;
const READ_BUFFERS: usize = 1;

/// Names in a manifest.
const LEVELS: &str = "levels";
const VISITED: &str = "visited";
const FRONTIER: &str = "frontier";
const KEPT: &str = "kept";
const MERGED_SETS: &str = "merged";
const DONE_WITH: &str = "done-with";

impl<'s, K: Key, V: Value, S: Stored<K, V>> Search<'s, K, V, S> {
    pub(super) fn publish_if_due(&mut self, frontier: &RunParts<'s, K>, counted: &Manifest) -> Result<(), SearchError> {
        let is_due = self.publisher.as_ref().is_some_and(Publisher::is_due);
        if is_due { self.publish(frontier, counted) } else { Ok(()) }
    }

    /// Publishes the beginning of a level if a limit has ended the search.
    pub(super) fn publish_at_limit(
        &mut self,
        frontier: &RunParts<'s, K>,
        counted: &Manifest,
    ) -> Result<(), SearchError> {
        if self.tally.limit().is_some() { self.publish(frontier, counted) } else { Ok(()) }
    }

    /// Publishes that a level is to be expanded, with what was counted before.
    fn publish(&mut self, frontier: &RunParts<'s, K>, counted: &Manifest) -> Result<(), SearchError> {
        // What it notes is everything but itself.
        let Some(mut publisher) = self.publisher.take() else { return Ok(()) };
        let result = publisher.publish(|manifest, _| Ok(self.note(manifest, frontier, counted)?));
        self.publisher = Some(publisher);
        self.n_published = (self.levels.len() as u64, self.n_merged);
        result
    }

    fn note(
        &mut self,
        manifest: &mut Manifest,
        frontier: &RunParts<'s, K>,
        counted: &Manifest,
    ) -> Result<(), StorageError> {
        manifest.copy_from(counted);
        for places in &self.levels[self.saved_levels.len() as usize..] {
            self.saved_levels.push(&places.to_le_bytes())?;
        }
        self.saved_levels.note_growing(manifest, LEVELS)?;
        manifest.set_number(MERGED_SETS, self.n_merged);
        manifest.set_number(DONE_WITH, self.done_with);
        manifest.set_number(VISITED, self.visited.len() as u64);
        for (i, set) in self.visited.iter().enumerate() {
            self.note_set(manifest, &format!("{VISITED}-{i}"), set)?;
        }
        self.note_set(manifest, FRONTIER, frontier)?;
        if self.keeps_levels {
            for (level, places) in self.levels.iter().enumerate() {
                for name in RunParts::<K>::names(&format!("{LEVEL}{level}"), *places) {
                    manifest.add_file(ManifestFile { role: KEPT.to_owned(), name, rows: 0, bytes: 0 });
                }
            }
        }
        Ok(())
    }

    fn note_set(&self, manifest: &mut Manifest, role: &str, set: &RunParts<'s, K>) -> Result<(), StorageError> {
        if !self.is_published(set) {
            set.sync()?;
        }
        set.note(manifest, role);
        Ok(())
    }

    /// Takes up what was published, if anything was; the level that is to be expanded.
    pub(super) fn take_up(&mut self) -> Result<Option<RunParts<'s, K>>, SearchError> {
        let Some(publisher) = &mut self.publisher else { return Ok(None) };
        let Some(manifest) = publisher.take_up()? else { return Ok(None) };
        self.tally.restore(&manifest)?;
        self.saved_levels.take_up(&manifest, LEVELS)?;
        let mut reader = self.saved_levels.reader(0..self.saved_levels.len(), READ_BUFFERS)?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                break;
            }
            let places = |row: &[u8]| row.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            self.levels.extend(rows.iter().map(places));
        }
        let (key_bytes, value_bytes) = self.stored.widths(self.tally.graph.row_bytes());
        let (disk, budget) = (self.disk, self.tally.context.budget);
        for i in 0..manifest.number(VISITED)? {
            let role = format!("{VISITED}-{i}");
            self.visited.push(RunParts::open(&manifest, &role, disk, (key_bytes, 0), budget)?);
        }
        self.n_merged = manifest.number(MERGED_SETS)?;
        self.done_with = manifest.number(DONE_WITH)?;
        self.n_published = (self.levels.len() as u64, self.n_merged);
        Ok(Some(RunParts::open(&manifest, FRONTIER, disk, (key_bytes, value_bytes), budget)?))
    }

    /// Whether what was published last may name a set.
    fn is_published(&self, set: &RunParts<'s, K>) -> bool {
        let (n_levels, n_merged) = self.n_published;
        set.files().any(|name| {
            let number = |kind: &str| {
                let rest = name.strip_prefix(self.prefix)?.strip_prefix(kind)?;
                rest.split('-').next()?.parse::<u64>().ok()
            };
            number(LEVEL).or_else(|| number(KEYS)).is_some_and(|level| level < n_levels)
                || number(MERGED).is_some_and(|merged| merged < n_merged)
        })
    }

    /// Removes the files of a set; but those that were published go when something else is.
    pub(super) fn remove(&self, set: RunParts<'s, K>) -> Result<(), SearchError> {
        if self.is_published(&set) { Ok(()) } else { Ok(set.remove(self.disk)?) }
    }
}
