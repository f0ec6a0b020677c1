//! What is to be compiled: the moves of each process by location, who receives for whom, and how many successors there can be.
//!
//! Moves that are never possible are left out: those whose guard is always false, and those out of locations that are never entered.

use crate::Unsupported;
use crate::groups::{Group, groups};
use crate::simplify::Simplifier;
use lariat_exec::{Field, Layout, PropertyProcess};
use lariat_model::{ChannelKind, Communication, Composition, Model, ProcessId, Transition};
use std::ops::Range;

/// Models with more moves would take too long to compile.
const MOVES_MAX: usize = 50_000;
/// The moves of a property process are one function.
const PROPERTY_MOVES_MAX: usize = 1_000;
/// The moves of a model.
pub(crate) struct Plan {
    /// The transitions that take part in moves, simplified.
    pub(crate) transitions: Vec<Transition>,
    pub(crate) processes: Vec<ProcessPlan>,
    pub(crate) has_committed: bool,
    /// Whether all processes move at once; then what is compiled are their choices, each a move of its own.
    pub(crate) synchronous: bool,
    /// The most successors that a row can have.
    pub(crate) successors_max: usize,
    /// All moves in their order, divided into functions.
    pub(crate) groups: Vec<Group>,
    /// All moves that there is code for.
    pub(crate) n_moves: usize,
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

/// A transition that begins a move, as its place in [`Plan::transitions`].
pub(crate) enum Move {
    /// The process moves alone, or with a buffer.
    Single(usize),
    /// The process sends; each partner may receive.
    Rendezvous(usize, Vec<Partner>),
}

/// A process that may receive, by its location.
#[derive(Clone)]
pub(crate) struct Partner {
    pub(crate) place: usize,
    pub(crate) receiving: Vec<(u32, Vec<usize>)>,
}

impl Plan {
    /// What is to be compiled for rows with this layout.
    pub(crate) fn new(model: &Model, layout: &Layout) -> Result<Self, Unsupported> {
        let ids: Vec<ProcessId> = model.system_processes().collect();
        if ids.is_empty() {
            return Err(Unsupported::Model("a system without processes"));
        }
        let synchronous = model.composition == Composition::Synchronous;
        let (transitions, own) = possible(model, layout, &ids);
        let receivers = receivers(model, &own, &transitions);
        let mut processes = Vec::with_capacity(ids.len());
        for (place, id) in ids.iter().enumerate() {
            let mut locations: Vec<LocationPlan> = model
                .process(*id)
                .locations
                .iter()
                .map(|l| LocationPlan { committed: l.committed && !synchronous, moves: Vec::new() })
                .collect();
            for i in own[place].clone() {
                let from = &mut locations[transitions[i].from as usize];
                match rendezvous(model, &transitions[i]) {
                    None => from.moves.push(Move::Single(i)),
                    Some((channel, true)) => {
                        let others = receivers[channel].iter().filter(|p| p.place != place);
                        let partners: Vec<Partner> =
                            others.filter_map(|p| with_committed(model, p, ids[p.place], from.committed)).collect();
                        if !partners.is_empty() {
                            from.moves.push(Move::Rendezvous(i, partners));
                        }
                    }
                    Some((_, false)) => {}
                }
            }
            processes.push(ProcessPlan { id: *id, locations });
        }
        let sizes: Vec<usize> = processes.iter().map(ProcessPlan::size).collect();
        let n_moves = sizes.iter().sum();
        if n_moves > MOVES_MAX {
            return Err(Unsupported::Model("a model with so many moves"));
        }
        Ok(Self {
            transitions,
            synchronous,
            has_committed: processes.iter().any(|p| p.locations.iter().any(|l| l.committed)),
            successors_max: processes.iter().map(ProcessPlan::successors_max).sum(),
            groups: groups(&processes, &sizes),
            n_moves,
            processes,
        })
    }
}

impl Plan {
    /// The moves of the property process, in states with these fields.
    pub(crate) fn of_property(property: &PropertyProcess, fields: &[Field]) -> Result<Self, Unsupported> {
        let model = property.model();
        let mut simplifier = Simplifier::new(model, fields);
        let of_process = model.transitions_of(property.id()).map(|id| model.transition(id));
        let transitions: Vec<Transition> = of_process.filter_map(|t| simplifier.transition(t)).collect();
        // Code makes a part in the place of the process's own cells, and nothing may be written in front of it.
        let mut targets = transitions.iter().flat_map(|t| &t.assignments).map(|a| a.target.first_cell());
        if targets.any(|cell| cell.index() < model.n_system_cells) {
            return Err(Unsupported::Model("a property process that changes the system"));
        }
        let n_locations = property.process().locations.len();
        let mut locations: Vec<LocationPlan> =
            std::iter::repeat_with(LocationPlan::default).take(n_locations).collect();
        for (i, transition) in transitions.iter().enumerate() {
            locations[transition.from as usize].moves.push(Move::Single(i));
        }
        let process = ProcessPlan { id: property.id(), locations };
        let n_moves = transitions.len();
        if n_moves > PROPERTY_MOVES_MAX {
            return Err(Unsupported::Model("a property process with so many moves"));
        }
        Ok(Self {
            transitions,
            synchronous: false,
            has_committed: false,
            successors_max: process.successors_max(),
            groups: vec![Group::Processes(0..1)],
            n_moves,
            processes: vec![process],
        })
    }
}

/// The transitions that are possible, simplified, and those of each process as a range. Synchronous systems do not communicate.
fn possible(model: &Model, layout: &Layout, ids: &[ProcessId]) -> (Vec<Transition>, Vec<Range<usize>>) {
    let mut simplifier = Simplifier::new(model, layout.fields());
    let mut transitions = Vec::new();
    let mut own: Vec<Range<usize>> = Vec::with_capacity(ids.len());
    for id in ids {
        let first = transitions.len();
        let entered = model.cells[model.process(*id).location.index()].range;
        let of_process = model.transitions_of(*id).map(|t| model.transition(t));
        for transition in of_process.filter(|t| entered.contains(t.from as i32)) {
            transitions.extend(match model.composition {
                Composition::Asynchronous => simplifier.transition(transition),
                Composition::Synchronous => {
                    simplifier.transition(&Transition { communication: Communication::None, ..transition.clone() })
                }
            });
        }
        own.push(first..transitions.len());
    }
    (transitions, own)
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

/// For each channel, who receives on it by rendezvous.
fn receivers(model: &Model, own: &[Range<usize>], transitions: &[Transition]) -> Vec<Vec<Partner>> {
    let mut receivers: Vec<Vec<Partner>> = vec![Vec::new(); model.channels.len()];
    for (place, own) in own.iter().enumerate() {
        for i in own.clone() {
            let Some((channel, false)) = rendezvous(model, &transitions[i]) else { continue };
            let of_channel = &mut receivers[channel];
            if of_channel.last().is_none_or(|last| last.place != place) {
                of_channel.push(Partner { place, receiving: Vec::new() });
            }
            if let Some(partner) = of_channel.last_mut() {
                let from = transitions[i].from;
                match partner.receiving.iter_mut().find(|(location, _)| *location == from) {
                    Some((_, list)) => list.push(i),
                    None => partner.receiving.push((from, vec![i])),
                }
            }
        }
    }
    receivers
}

/// The partner in those of its locations that are committed, or in those that are not. A sender moves from a committed location while only
/// those do, and from another only while nobody is in a committed one; so a receiver's location is of the same kind.
fn with_committed(model: &Model, partner: &Partner, id: ProcessId, committed: bool) -> Option<Partner> {
    let locations = &model.process(id).locations;
    let mut partner = partner.clone();
    partner.receiving.retain(|(location, _)| locations[*location as usize].committed == committed);
    (!partner.receiving.is_empty()).then_some(partner)
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
    /// For how many moves there is code.
    pub(crate) fn size(&self) -> usize {
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
