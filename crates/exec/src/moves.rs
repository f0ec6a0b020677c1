//! Which moves are possible in a state, in a fixed order.
//!
//! In an asynchronous system one process moves, or a sender and a receiver on a rendezvous channel; moves come in the
//! order of the processes and of their transitions in the file, a rendezvous at its sender's place.
//!
//! **Committed locations** (`commit`): while any process is in one, only processes in committed locations move, and for a
//! rendezvous both partners must be in one. If none of those can move, the state is a deadlock.
//!
//! In a synchronous system every process takes one enabled transition at once; channels and `commit` have no meaning
//! there, and a process without an enabled transition makes the state a deadlock.
//!
//! A guard that cannot be evaluated counts as true, and the move leads to the error state.

use crate::effects::Next;
use crate::interpreter::{Interpreter, Scratch};
use lariat_model::{ChannelKind, Communication, Composition, Fault, Model, ProcessId, Transition, TransitionId};

/// The transitions that leave each location, sorted for look-up.
#[derive(Clone, Debug)]
pub(crate) struct MoveTable {
    processes: Vec<ProcessMoves>,
    /// For each channel the processes (by place in `processes`) that receive on it by rendezvous.
    receivers: Vec<Vec<usize>>,
    has_committed: bool,
}

#[derive(Clone, Debug)]
struct ProcessMoves {
    location: usize,
    /// For each location.
    leaving: Vec<Leaving>,
}

#[derive(Clone, Debug, Default)]
struct Leaving {
    committed: bool,
    /// Transitions that begin a move: all but receivers on rendezvous channels.
    starting: Vec<TransitionId>,
    /// Receivers on rendezvous channels, with the channel's number.
    receiving: Vec<(usize, TransitionId)>,
    /// All transitions, for synchronous systems.
    all: Vec<TransitionId>,
}

impl MoveTable {
    pub(crate) fn new(model: &Model) -> Self {
        let mut receivers = vec![Vec::new(); model.channels.len()];
        let ids: Vec<ProcessId> = model.system_processes().collect();
        let mut processes = Vec::with_capacity(ids.len());
        for (place, id) in ids.iter().enumerate() {
            let process = model.process(*id);
            let mut leaving: Vec<Leaving> =
                process.locations.iter().map(|l| Leaving { committed: l.committed, ..Leaving::default() }).collect();
            for transition_id in model.transitions_of(*id) {
                let transition = model.transition(transition_id);
                let from = &mut leaving[transition.from as usize];
                from.all.push(transition_id);
                match rendezvous_receiver(model, transition) {
                    Some(channel) => {
                        from.receiving.push((channel, transition_id));
                        if !receivers[channel].contains(&place) {
                            receivers[channel].push(place);
                        }
                    }
                    None => from.starting.push(transition_id),
                }
            }
            processes.push(ProcessMoves { location: process.location.index(), leaving });
        }
        let has_committed = processes.iter().any(|p| p.leaving.iter().any(|l| l.committed));
        Self { processes, receivers, has_committed }
    }

    fn leaving<'t>(&'t self, place: usize, cells: &[i32]) -> &'t Leaving {
        let process = &self.processes[place];
        &process.leaving[cells[process.location] as usize]
    }
}

fn rendezvous_receiver(model: &Model, transition: &Transition) -> Option<usize> {
    match &transition.communication {
        Communication::Receive { channel, .. }
            if matches!(model.channel(*channel).kind, ChannelKind::Rendezvous { .. }) =>
        {
            Some(channel.index())
        }
        _ => None,
    }
}

/// Whether a guard allows a move; a fault is passed on to the move.
fn allows(transition: &Transition, cells: &[i32]) -> Result<bool, Fault> {
    match &transition.guard {
        Some(guard) => guard.is_true(cells),
        None => Ok(true),
    }
}

impl Interpreter<'_> {
    /// Calls `visit` for every move out of `old` with its transitions (the sender first) and the result: after `Ok` the
    /// new state is in the scratch space.
    pub(crate) fn for_each_move(
        &self,
        old: &[i32],
        scratch: &mut Scratch,
        visit: &mut impl FnMut(&[TransitionId], Result<(), Fault>, &Scratch),
    ) {
        scratch.begin(old);
        match self.model.composition {
            Composition::Asynchronous => self.asynchronous_moves(old, scratch, visit),
            Composition::Synchronous => self.synchronous_moves(old, scratch, visit),
        }
    }

    fn asynchronous_moves(
        &self,
        old: &[i32],
        scratch: &mut Scratch,
        visit: &mut impl FnMut(&[TransitionId], Result<(), Fault>, &Scratch),
    ) {
        let table = &self.moves;
        let n_processes = table.processes.len();
        let only_committed = table.has_committed && (0..n_processes).any(|p| table.leaving(p, old).committed);
        for place in 0..n_processes {
            let leaving = table.leaving(place, old);
            if only_committed && !leaving.committed {
                continue;
            }
            for id in &leaving.starting {
                let transition = self.model.transition(*id);
                if let Communication::Send { channel, .. } = &transition.communication
                    && matches!(self.model.channel(*channel).kind, ChannelKind::Rendezvous { .. })
                {
                    let sender = Sender { place, id: *id, channel: channel.index(), only_committed };
                    self.rendezvous_moves(&sender, old, scratch, visit);
                    continue;
                }
                if !self.buffer_allows(transition, old) {
                    continue;
                }
                let result = match allows(transition, old) {
                    Ok(false) => continue,
                    Ok(true) => Next { model: self.model, old, scratch }.single(transition),
                    Err(fault) => Err(fault),
                };
                visit(&[*id], result, scratch);
                scratch.undo(old);
            }
        }
    }

    fn rendezvous_moves(
        &self,
        sender: &Sender,
        old: &[i32],
        scratch: &mut Scratch,
        visit: &mut impl FnMut(&[TransitionId], Result<(), Fault>, &Scratch),
    ) {
        let sending = self.model.transition(sender.id);
        let sender_allows = allows(sending, old);
        if sender_allows == Ok(false) {
            return;
        }
        for place in &self.moves.receivers[sender.channel] {
            let leaving = self.moves.leaving(*place, old);
            if *place == sender.place || (sender.only_committed && !leaving.committed) {
                continue;
            }
            for (_, id) in leaving.receiving.iter().filter(|(channel, _)| *channel == sender.channel) {
                let receiving = self.model.transition(*id);
                let result = match (sender_allows, allows(receiving, old)) {
                    (_, Ok(false)) => continue,
                    (Err(fault), _) | (_, Err(fault)) => Err(fault),
                    _ => Next { model: self.model, old, scratch }.rendezvous(sending, receiving),
                };
                visit(&[sender.id, *id], result, scratch);
                scratch.undo(old);
            }
        }
    }

    /// A full buffer takes nothing and an empty one gives nothing.
    fn buffer_allows(&self, transition: &Transition, old: &[i32]) -> bool {
        match &transition.communication {
            Communication::None => true,
            Communication::Send { channel, .. } => match &self.model.channel(*channel).kind {
                ChannelKind::Buffer { capacity, length, .. } => old[length.index()] < *capacity as i32,
                ChannelKind::Rendezvous { .. } => true,
            },
            Communication::Receive { channel, .. } => match &self.model.channel(*channel).kind {
                ChannelKind::Buffer { length, .. } => old[length.index()] > 0,
                ChannelKind::Rendezvous { .. } => true,
            },
        }
    }

    /// All combinations of one enabled transition for each process, the first process's choice changing slowest.
    fn synchronous_moves(
        &self,
        old: &[i32],
        scratch: &mut Scratch,
        visit: &mut impl FnMut(&[TransitionId], Result<(), Fault>, &Scratch),
    ) {
        let table = &self.moves;
        let mut enabled: Vec<Vec<(TransitionId, Option<Fault>)>> = Vec::with_capacity(table.processes.len());
        for place in 0..table.processes.len() {
            let of_process: Vec<_> = table
                .leaving(place, old)
                .all
                .iter()
                .filter_map(|id| match allows(self.model.transition(*id), old) {
                    Ok(false) => None,
                    Ok(true) => Some((*id, None)),
                    Err(fault) => Some((*id, Some(fault))),
                })
                .collect();
            if of_process.is_empty() {
                return;
            }
            enabled.push(of_process);
        }
        let mut choice = vec![0; enabled.len()];
        loop {
            let chosen = || choice.iter().zip(&enabled).map(|(c, of_process)| of_process[*c]);
            let ids: Vec<TransitionId> = chosen().map(|(id, _)| id).collect();
            let result = match chosen().find_map(|(_, fault)| fault) {
                Some(fault) => Err(fault),
                None => Next { model: self.model, old, scratch }.together(&ids),
            };
            visit(&ids, result, scratch);
            scratch.undo(old);
            let Some(last) = (0..choice.len()).rev().find(|i| choice[*i] + 1 < enabled[*i].len()) else { return };
            choice[last] += 1;
            choice[last + 1..].fill(0);
        }
    }
}

struct Sender {
    place: usize,
    id: TransitionId,
    channel: usize,
    only_committed: bool,
}
