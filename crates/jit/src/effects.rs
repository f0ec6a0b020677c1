//! What moves do, in the order of the interpreter's `effects.rs`.

use crate::element::Elements;
use crate::function::Emitter;
use crate::state::State;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use lariat_model::{CellId, ChannelKind, Communication, Expression, Interval, Place, Transition, ValueType};

/// A place whose index was evaluated.
enum Resolved {
    Cell(CellId),
    Element(Elements, Value),
}

impl Emitter<'_, '_> {
    /// The state after one process moved alone, or with a buffer that allows it.
    pub(crate) fn single(&mut self, transition: &Transition, old: &State) -> State {
        let mut next = self.next_of(old);
        match &transition.communication {
            Communication::None => {}
            Communication::Send { channel, values } => {
                if let ChannelKind::Buffer { items, capacity, length } = &self.model.channel(*channel).kind {
                    self.enqueue(&mut next, old, (*length, *capacity), values, items);
                }
            }
            Communication::Receive { channel, targets } => {
                if let ChannelKind::Buffer { items, capacity, length } = &self.model.channel(*channel).kind {
                    let places: Vec<Resolved> = targets.iter().map(|target| self.resolve(target, old)).collect();
                    for (i, place) in places.into_iter().enumerate() {
                        let cell = CellId(length.0 + 1 + i as u32);
                        let value = self.read(old, cell);
                        self.set_place(&mut next, place, value, self.model.cells[cell.index()].range);
                    }
                    self.remove_oldest(&mut next, old, *length, items.len() as u32, *capacity);
                }
            }
        }
        self.move_process(&mut next, transition);
        next
    }

    fn enqueue(
        &mut self,
        next: &mut State,
        old: &State,
        (length, capacity): (CellId, u32),
        values: &[Expression],
        items: &[ValueType],
    ) {
        let n_items = self.read(old, length);
        for (i, (value, item)) in values.iter().zip(items).enumerate() {
            let (value, bounds) = self.sent(value, Some(*item), old);
            let first = CellId(length.0 + 1 + i as u32);
            if capacity == 1 {
                self.set(next, first, value, bounds);
            } else {
                let slots = Elements { first, length: capacity, stride: items.len() as u32 };
                self.set_element(next, slots, n_items, value, bounds);
            }
        }
        let more = self.plus(n_items, 1);
        self.set(next, length, more, Interval::new(1, capacity as i32));
    }

    /// Items move up by one. Free slots hold zeros, so all slots can move alike.
    fn remove_oldest(&mut self, next: &mut State, old: &State, length: CellId, item_cells: u32, capacity: u32) {
        let first = length.0 + 1;
        for i in 0..item_cells * capacity {
            let from = CellId(first + i + item_cells);
            let (value, bounds) = if i + item_cells < item_cells * capacity {
                (self.read(old, from), self.model.cells[from.index()].range)
            } else {
                (self.constant(0), Interval::point(0))
            };
            self.set(next, CellId(first + i), value, bounds);
        }
        let n_items = self.read(old, length);
        let fewer = self.plus(n_items, -1);
        self.set(next, length, fewer, Interval::new(0, capacity as i32 - 1));
    }

    /// A value that is sent, as it arrives.
    fn sent(&mut self, expression: &Expression, item: Option<ValueType>, old: &State) -> (Value, Interval) {
        let value = self.value(expression, old);
        let bounds = self.bounds(expression);
        match item {
            Some(item) if !item.range().includes(bounds) => {
                let wrapped = match item {
                    ValueType::Byte => self.b.ins().band_imm_u(value, 0xFF),
                    ValueType::Int => {
                        let short = self.b.ins().ireduce(types::I16, value);
                        self.b.ins().sextend(types::I32, short)
                    }
                };
                (wrapped, item.range())
            }
            _ => (value, bounds),
        }
    }

    /// The state after sender and receiver moved together; none if they write to the same variable, which is an error.
    pub(crate) fn rendezvous(&mut self, sender: &Transition, receiver: &Transition, old: &State) -> Option<State> {
        if sender.writes_global.iter().any(|variable| receiver.writes_global.contains(variable)) {
            return None;
        }
        let mut next = self.next_of(old);
        if let (Communication::Send { channel, values }, Communication::Receive { targets, .. }) =
            (&sender.communication, &receiver.communication)
        {
            let items = match &self.model.channel(*channel).kind {
                ChannelKind::Rendezvous { items } => items.as_ref(),
                ChannelKind::Buffer { .. } => None,
            };
            for (i, (value, target)) in values.iter().zip(targets).enumerate() {
                let (value, bounds) = self.sent(value, items.map(|items| items[i]), old);
                let place = self.resolve(target, old);
                self.set_place(&mut next, place, value, bounds);
            }
        }
        self.move_process(&mut next, receiver);
        self.move_process(&mut next, sender);
        Some(next)
    }

    fn move_process(&mut self, next: &mut State, transition: &Transition) {
        let location = self.model.process(transition.process).location;
        let to = self.constant(transition.to as i32);
        self.set(next, location, to, Interval::point(transition.to as i32));
        for assignment in &transition.assignments {
            let place = self.resolve(&assignment.target, next);
            let value = self.value(&assignment.value, next);
            let bounds = self.bounds(&assignment.value);
            self.set_place(next, place, value, bounds);
        }
    }

    fn resolve(&mut self, place: &Place, state: &State) -> Resolved {
        match place {
            Place::Cell(cell) => Resolved::Cell(*cell),
            Place::Element { first, length, index } => {
                let elements = Elements::array(*first, *length);
                if let Expression::Constant(index) = *index
                    && (index as u32) < *length
                {
                    return Resolved::Cell(elements.cell(index as u32));
                }
                let at = self.value(index, state);
                self.check_index(at, *length, self.certain_bounds(index, state));
                Resolved::Element(elements, at)
            }
        }
    }

    fn set_place(&mut self, next: &mut State, place: Resolved, value: Value, bounds: Interval) {
        match place {
            Resolved::Cell(cell) => self.set(next, cell, value, bounds),
            Resolved::Element(elements, index) => self.set_element(next, elements, index, value, bounds),
        }
    }
}
