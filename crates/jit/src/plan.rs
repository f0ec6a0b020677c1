//! What is to be compiled: the moves of each process by location, who receives for whom, and how many successors there can be.

use crate::Unsupported;
use lariat_model::{ChannelKind, Communication, Composition, Model, ProcessId, Transition, TransitionId};
use std::ops::Range;

/// Models with more moves, times the words of a row, would take too long to compile.
const WORDS_MAX: usize = 200_000;
/// A function with more moves than this is split, since the time to compile a function grows faster than its size.
const MOVES_PER_FUNCTION: usize = 256;

/// The moves of a model.
pub(crate) struct Plan {
    pub(crate) processes: Vec<ProcessPlan>,
    pub(crate) has_committed: bool,
    /// The most successors that a row can have.
    pub(crate) successors_max: usize,
    /// Neighbouring processes whose moves are compiled into one function.
    pub(crate) groups: Vec<Range<usize>>,
}

/// The moves of a process.
pub(crate) struct ProcessPlan {
    pub(crate) id: ProcessId,
    pub(crate) locations: Vec<LocationPlan>,
}

/// The moves out of a location.
#[derive(Default)]
pub(crate) struct LocationPlan {
    pub(crate) committed: bool,
    pub(crate) moves: Vec<Move>,
}

/// A transition that begins a move.
pub(crate) enum Move {
    /// The process moves alone, or with a buffer.
    Single(TransitionId),
    /// The process sends; each partner may receive.
    Rendezvous(TransitionId, Vec<Partner>),
}

/// A process that may receive, by its location.
pub(crate) struct Partner {
    pub(crate) place: usize,
    pub(crate) receiving: Vec<(u32, Vec<TransitionId>)>,
}

impl Plan {
    /// What is to be compiled for rows of this many 64-bit words.
    pub(crate) fn new(model: &Model, n_words: usize) -> Result<Self, Unsupported> {
        if model.composition == Composition::Synchronous {
            return Err(Unsupported::Model("a synchronous system"));
        }
        let ids: Vec<ProcessId> = model.system_processes().collect();
        if ids.is_empty() {
            return Err(Unsupported::Model("a system without processes"));
        }
        let mut processes = Vec::with_capacity(ids.len());
        for (place, id) in ids.iter().enumerate() {
            let mut locations: Vec<LocationPlan> = model
                .process(*id)
                .locations
                .iter()
                .map(|l| LocationPlan { committed: l.committed, moves: Vec::new() })
                .collect();
            for transition_id in model.transitions_of(*id) {
                let transition = model.transition(transition_id);
                let from = &mut locations[transition.from as usize];
                match rendezvous(model, transition) {
                    None => from.moves.push(Move::Single(transition_id)),
                    Some((channel, true)) => {
                        let partners = partners(model, &ids, place, channel, from.committed);
                        from.moves.push(Move::Rendezvous(transition_id, partners));
                    }
                    Some((_, false)) => {}
                }
            }
            processes.push(ProcessPlan { id: *id, locations });
        }
        let sizes: Vec<usize> = processes.iter().map(ProcessPlan::size).collect();
        if sizes.iter().sum::<usize>() * n_words > WORDS_MAX {
            return Err(Unsupported::Model("a model with so many moves or so wide a state"));
        }
        Ok(Self {
            has_committed: processes.iter().any(|p| p.locations.iter().any(|l| l.committed)),
            successors_max: processes.iter().map(ProcessPlan::successors_max).sum(),
            groups: groups(&sizes),
            processes,
        })
    }
}

/// The channel's number, and whether the transition sends; none if it does not communicate by rendezvous.
fn rendezvous(model: &Model, transition: &Transition) -> Option<(usize, bool)> {
    let (channel, sends) = match &transition.communication {
        Communication::None => return None,
        Communication::Send { channel, .. } => (*channel, true),
        Communication::Receive { channel, .. } => (*channel, false),
    };
    matches!(model.channel(channel).kind, ChannelKind::Rendezvous { .. }).then_some((channel.index(), sends))
}

/// Who can receive. A sender moves from a committed location while only those do, and from another only while nobody is in a committed
/// one; so a receiver's location is of the same kind.
fn partners(model: &Model, ids: &[ProcessId], sender: usize, channel: usize, committed: bool) -> Vec<Partner> {
    let mut partners = Vec::new();
    for (place, id) in ids.iter().enumerate().filter(|(place, _)| *place != sender) {
        let mut receiving: Vec<(u32, Vec<TransitionId>)> = Vec::new();
        for transition_id in model.transitions_of(*id) {
            let transition = model.transition(transition_id);
            let location = &model.process(*id).locations[transition.from as usize];
            if rendezvous(model, transition) != Some((channel, false)) || location.committed != committed {
                continue;
            }
            match receiving.iter_mut().find(|(from, _)| *from == transition.from) {
                Some((_, list)) => list.push(transition_id),
                None => receiving.push((transition.from, vec![transition_id])),
            }
        }
        if !receiving.is_empty() {
            partners.push(Partner { place, receiving });
        }
    }
    partners
}

impl ProcessPlan {
    fn size(&self) -> usize {
        self.locations.iter().flat_map(|l| &l.moves).map(Move::size).sum()
    }

    fn successors_max(&self) -> usize {
        self.locations.iter().map(|l| l.moves.iter().map(Move::successors_max).sum()).max().unwrap_or(0)
    }
}

impl Move {
    fn size(&self) -> usize {
        match self {
            Move::Single(_) => 1,
            Move::Rendezvous(_, partners) => {
                partners.iter().flat_map(|p| &p.receiving).map(|(_, list)| list.len()).sum::<usize>()
            }
        }
    }

    fn successors_max(&self) -> usize {
        match self {
            Move::Single(_) => 1,
            Move::Rendezvous(_, partners) => {
                partners.iter().map(|p| p.receiving.iter().map(|(_, list)| list.len()).max().unwrap_or(0)).sum()
            }
        }
    }
}

fn groups(sizes: &[usize]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut in_last = 0;
    for (place, size) in sizes.iter().enumerate() {
        match groups.last_mut() {
            Some(last) if in_last + size <= MOVES_PER_FUNCTION => {
                last.end = place + 1;
                in_last += size;
            }
            _ => {
                groups.push(place..place + 1);
                in_last = *size;
            }
        }
    }
    groups
}
