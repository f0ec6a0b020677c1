//! What a move does to the state.
//!
//! The location changes first, then the assignments run from left to right on the new state. In a rendezvous the values
//! that are sent, and the index of an array element that receives one, are evaluated in the old state; the receiver's
//! variables are set, then the receiver's location and assignments, then the sender's. In a synchronous system each
//! process moves on its own copy of the old state, and what they changed is put together: nobody sees what another does
//! in the same step.
//!
//! Buffered channels: values are evaluated in the old state and stored before the assignments, on sending and on
//! receiving.

use crate::interpreter::Scratch;
use lariat_model::{CellId, ChannelKind, Communication, Fault, Model, Transition, TransitionId, VariableId};

/// The state that a move is making.
pub(crate) struct Next<'s> {
    pub(crate) model: &'s Model,
    pub(crate) old: &'s [i32],
    pub(crate) scratch: &'s mut Scratch,
}

impl Next<'_> {
    /// One process moves alone, or puts an item into a buffer, or takes one out.
    pub(crate) fn single(&mut self, transition: &Transition) -> Result<(), Fault> {
        match &transition.communication {
            Communication::Send { channel, values } => {
                if let ChannelKind::Buffer { items, length, .. } = &self.model.channel(*channel).kind {
                    let n_items = self.old[length.index()] as u32;
                    let slot = length.0 + 1 + n_items * items.len() as u32;
                    for (i, (value, item)) in values.iter().zip(items).enumerate() {
                        let value = item.wrap(value.evaluate(self.old)?);
                        self.set(CellId(slot + i as u32), value)?;
                    }
                    self.set(*length, n_items as i32 + 1)?;
                }
            }
            Communication::Receive { channel, targets } => {
                if let ChannelKind::Buffer { items, capacity, length } = &self.model.channel(*channel).kind {
                    let places: Result<Vec<CellId>, Fault> = targets.iter().map(|t| t.resolve(self.old)).collect();
                    for (i, place) in places?.into_iter().enumerate() {
                        self.set(place, self.old[length.index() + 1 + i])?;
                    }
                    self.remove_oldest(*length, items.len(), *capacity as usize)?;
                }
            }
            Communication::None => {}
        }
        self.move_process(transition)
    }

    /// Items move up by one; free slots hold zeros.
    fn remove_oldest(&mut self, length: CellId, item_cells: usize, capacity: usize) -> Result<(), Fault> {
        let n_items = self.old[length.index()] as usize;
        let first = length.index() + 1;
        for i in 0..item_cells * n_items {
            let from = first + i + item_cells;
            let value = if i + item_cells < item_cells * capacity { self.old[from] } else { 0 };
            self.set(CellId((first + i) as u32), value)?;
        }
        self.set(length, n_items as i32 - 1)
    }

    /// Sender and receiver move together.
    pub(crate) fn rendezvous(&mut self, sender: &Transition, receiver: &Transition) -> Result<(), Fault> {
        self.check_conflict(&sender.writes_global, &receiver.writes_global)?;
        if let (Communication::Send { channel, values }, Communication::Receive { targets, .. }) =
            (&sender.communication, &receiver.communication)
        {
            let items = match &self.model.channel(*channel).kind {
                ChannelKind::Rendezvous { items } => items.as_ref(),
                ChannelKind::Buffer { .. } => None,
            };
            for (i, (value, target)) in values.iter().zip(targets).enumerate() {
                let mut value = value.evaluate(self.old)?;
                if let Some(items) = items {
                    value = items[i].wrap(value);
                }
                let place = target.resolve(self.old)?;
                self.set(place, value)?;
            }
        }
        self.move_process(receiver)?;
        self.move_process(sender)
    }

    /// All processes move at once.
    pub(crate) fn together(&mut self, transitions: &[TransitionId]) -> Result<(), Fault> {
        for (i, id) in transitions.iter().enumerate() {
            let transition = self.model.transition(*id);
            for other in &transitions[..i] {
                self.check_conflict(&self.model.transition(*other).writes_global, &transition.writes_global)?;
            }
        }
        let mut changed: Vec<(CellId, i32)> = Vec::new();
        for id in transitions {
            let moved = self.move_process(self.model.transition(*id));
            changed.extend(self.scratch.written.iter().map(|cell| (*cell, self.scratch.cells[cell.index()])));
            self.scratch.undo(self.old);
            moved?;
        }
        changed.into_iter().try_for_each(|(cell, value)| self.set(cell, value))
    }

    /// Two partners must not assign the same global variable; an array counts as one.
    fn check_conflict(&self, a: &[VariableId], b: &[VariableId]) -> Result<(), Fault> {
        match a.iter().find(|variable| b.contains(variable)) {
            Some(variable) => Err(Fault::WriteConflict { variable: *variable }),
            None => Ok(()),
        }
    }

    fn move_process(&mut self, transition: &Transition) -> Result<(), Fault> {
        self.set(self.model.process(transition.process).location, transition.to as i32)?;
        for assignment in &transition.assignments {
            let place = assignment.target.resolve(&self.scratch.cells)?;
            let value = assignment.value.evaluate(&self.scratch.cells)?;
            self.set(place, value)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn set(&mut self, cell: CellId, value: i32) -> Result<(), Fault> {
        let known = &self.model.cells[cell.index()];
        if !known.range.contains(value) {
            if !known.allowed.contains(value) {
                return Err(Fault::ValueOutOfRange { cell, value });
            }
            self.scratch.range_broken = Some((cell, value));
        }
        self.scratch.cells[cell.index()] = value;
        self.scratch.written.push(cell);
        Ok(())
    }
}
