//! Publishing how far the search is, and going on from there.
//!
//! Between rounds everything is in sets on disk, so their names and the counters are all that is noted. Filters are made again.

use super::{Phase, Search};
use crate::{SearchError, checkpoint};
use lariat_storage::Key;

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
        manifest.set_number("expanded", self.n_expanded);
        self.tally.note(&mut manifest);
        self.sets.note(&mut manifest, "tier", &self.tiers)?;
        self.sets.note(&mut manifest, "approx", &self.approx)?;
        self.sets.note(&mut manifest, "initial", &self.initial)?;
        self.sets.note_open(&mut manifest, &self.open)?;
        self.sets.publish(&manifest)
    }

    /// Takes up what was published; false if nothing was.
    pub(super) fn take_up(&mut self) -> Result<bool, SearchError> {
        let Some(manifest) = checkpoint::take_up(self.tally.context, self.sets.disk(), NAME)? else {
            return Ok(false);
        };
        self.tally.context.begin_phase("resume");
        let phase = manifest.text("phase")?;
        self.phase = PHASES.iter().find(|(name, _)| *name == phase).map_or(Phase::Initialise, |(_, phase)| *phase);
        self.iteration = manifest.number("iteration")?;
        self.n_expanded = manifest.number("expanded")?;
        self.tiers = self.sets.take_up(&manifest, "tier")?;
        self.approx = self.sets.take_up(&manifest, "approx")?;
        self.initial = self.sets.take_up(&manifest, "initial")?;
        self.open = self.sets.take_up_open(&manifest)?;
        self.tally.restore(&manifest)?;
        Ok(true)
    }
}
