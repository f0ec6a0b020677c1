//! What searches tell while they run. Searches emit typed events; the command line and reports listen.

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Distinct states stored.
    pub states: u64,
    /// Edges generated.
    pub transitions: u64,
    /// The BFS level being expanded (the initial one is 0), in searches that have levels.
    pub level: Option<u64>,
    /// The states on the stack, in depth-first searches.
    pub depth: Option<u64>,
    /// States that wait for expansion; those of this level, where there are levels.
    pub frontier: u64,
    /// Bytes taken from the memory budget.
    pub memory_used: u64,
    /// The memory budget.
    pub memory_budget: u64,
}

/// Something that happened in a search.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Emitted often; listeners show it as seldom as they like.
    Progress(Progress),
    /// A named part of the work begins.
    Phase(&'static str),
    /// So many counterexamples were found, in searches for more than one.
    Found(u64),
}

/// A listener for events, called from worker threads.
pub trait Observer: Sync {
    /// Takes note of `event`.
    fn event(&self, event: &Event);
}

/// A listener that ignores everything.
pub struct SilentObserver;

impl Observer for SilentObserver {
    fn event(&self, _event: &Event) {}
}
