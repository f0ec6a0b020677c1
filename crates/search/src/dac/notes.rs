//! Publishing how far the search is, and going on from there.
//!
//! Between rounds everything is in sets on disk, so their names and the counters are all that is noted. Filters are made again.

use super::{OpenSet, Phase, Search};
use crate::{SearchError, checkpoint};
use lariat_base::Event;
use lariat_storage::{Key, Manifest, RunParts, StorageError};

const NAME: &str = "dac";
const PHASES: [(&str, Phase); 4] = [
    ("initialise", Phase::Initialise),
    ("accepting", Phase::Accepting),
    ("predecessors", Phase::Predecessors),
    ("lasso", Phase::Lasso),
];

impl<'s, K: Key> Search<'s, K> {
    /// Publishes the state of the search, and removes what does not belong to it.
    pub(super) fn publish(&mut self) -> Result<(), SearchError> {
        let mut manifest = checkpoint::begin(self.tally.context, NAME);
        let phase = PHASES.iter().find(|(_, phase)| *phase == self.phase).map_or("", |(name, _)| name);
        manifest.set_text("phase", phase);
        manifest.set_number("iteration", self.iteration);
        manifest.set_number("sets", self.n_sets);
        manifest.set_number("expanded", self.n_expanded);
        self.tally.note(&mut manifest);
        let open: Vec<RunParts<'s, K>> = self.open.iter().map(|open| open.parts.clone()).collect();
        for (role, sets) in [("tier", &self.tiers), ("open", &open), ("approx", &self.approx), ("initial", &self.initial)]
        {
            manifest.set_number(role, sets.len() as u64);
            for (i, set) in sets.iter().enumerate() {
                if set.files().any(|name| number_of(name) >= self.n_published) {
                    set.sync()?;
                }
                set.note(&mut manifest, &format!("{role}-{i}"));
            }
        }
        for (i, open) in self.open.iter().enumerate() {
            if let Some(from) = open.from {
                let mut row = vec![0; self.tally.graph.row_bytes()];
                from.write_row(&mut row);
                manifest.set_text(&format!("open-from-{i}"), &to_digits(&row));
            }
        }
        manifest.publish(self.disk, self.tally.context.budget)?;
        self.n_published = self.n_sets;
        Ok(manifest.remove_others(self.disk)?)
    }

    /// Takes up what was published; false if nothing was.
    pub(super) fn take_up(&mut self) -> Result<bool, SearchError> {
        let Some(manifest) = checkpoint::take_up(self.tally.context, self.disk, NAME)? else {
            return Ok(false);
        };
        self.tally.context.observer.event(&Event::Phase("resume"));
        let phase = manifest.text("phase")?;
        self.phase = PHASES.iter().find(|(name, _)| *name == phase).map_or(Phase::Initialise, |(_, phase)| *phase);
        self.iteration = manifest.number("iteration")?;
        self.n_sets = manifest.number("sets")?;
        self.n_published = self.n_sets;
        self.n_expanded = manifest.number("expanded")?;
        self.tiers = self.open_sets(&manifest, "tier")?;
        self.approx = self.open_sets(&manifest, "approx")?;
        self.initial = self.open_sets(&manifest, "initial")?;
        for (i, parts) in self.open_sets(&manifest, "open")?.into_iter().enumerate() {
            let from = manifest.text(&format!("open-from-{i}")).ok().map(|digits| K::from_row(&from_digits(digits)));
            self.open.push(OpenSet { parts, from });
        }
        self.tally.restore(&manifest)?;
        Ok(true)
    }

    fn open_sets(&self, manifest: &Manifest, role: &str) -> Result<Vec<RunParts<'s, K>>, StorageError> {
        let widths = (self.shares.run.row_bytes, self.shares.run.value_bytes);
        (0..manifest.number(role)?)
            .map(|i| RunParts::open(manifest, &format!("{role}-{i}"), self.disk, widths, self.tally.context.budget))
            .collect()
    }
}

/// The number in a set's name, which is followed by that of the part.
fn number_of(name: &str) -> u64 {
    name.split('-').nth(1).and_then(|number| number.parse().ok()).unwrap_or(u64::MAX)
}

fn to_digits(row: &[u8]) -> String {
    row.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_digits(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}
