//! Which moves are possible, in the order of the interpreter's `moves.rs`.
//!
//! `out` is where the next successor goes. Whatever makes moves is given the block that comes after them, and leads there on all its ways
//! with the new `out`, so that nothing but registers says how many successors there are.
//!
//! In a synchronous system what is made here are the processes' *choices*: the state after each process's transition alone, with the
//! transition's number behind it. Putting them together is up to the caller; see `together.rs`.

use crate::function::Emitter;
use crate::groups::Group;
use crate::plan::{Move, Partner};
use crate::state::State;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Switch;
use lariat_model::{ChannelKind, Communication, Expression, Transition};
use std::collections::BTreeMap;
use std::ops::Range;

/// The bytes of the number behind a choice.
pub(crate) const NUMBER_BYTES: usize = 4;
/// Set in the number of a choice that leads to the error state.
pub(crate) const FAILED: usize = 1 << 31;

impl Emitter<'_, '_> {
    /// A block that is given `out`.
    fn block_with_out(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.append_block_param(block, types::I64);
        block
    }

    fn continue_in(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.out = self.b.block_params(block)[0];
    }

    fn jump(&mut self, to: Block) {
        let out = self.out;
        self.b.ins().jump(to, &[out.into()]);
    }

    /// One after the other, the last with `after` behind it.
    fn in_turn<T>(&mut self, items: &[T], after: Block, mut make: impl FnMut(&mut Self, &T, Block)) {
        let Some((last, others)) = items.split_last() else { return self.jump(after) };
        for item in others {
            let next = self.block_with_out();
            make(self, item, next);
            self.continue_in(next);
        }
        make(self, last, after);
    }

    /// The bytes from one successor, or choice, to the next.
    pub(crate) fn stride(&self) -> usize {
        self.row_bytes + if self.plan.synchronous { NUMBER_BYTES } else { 0 }
    }

    /// The moves of a group.
    pub(crate) fn group(&mut self, group: &Group, old: &State) {
        let only_committed = self.plan.has_committed.then(|| self.any_committed(old));
        match group {
            Group::Processes(places) => places.clone().for_each(|place| self.process(place, only_committed, old)),
            Group::Part(place, parts) => self.part(*place, parts, only_committed, old),
        }
    }

    fn location(&mut self, place: usize, state: &State) -> Value {
        self.read(state, self.model.process(self.plan.processes[place].id).location)
    }

    /// Whether any process is in a committed location.
    fn any_committed(&mut self, old: &State) -> Value {
        let plan = self.plan;
        let mut any = self.b.ins().iconst(types::I8, 0);
        for (place, process) in plan.processes.iter().enumerate() {
            for (i, _) in process.locations.iter().enumerate().filter(|(_, l)| l.committed) {
                let location = self.location(place, old);
                let here = self.b.ins().icmp_imm_u(IntCC::Equal, location, i as i64);
                any = self.b.ins().bor(any, here);
            }
        }
        any
    }

    /// All moves of a process.
    fn process(&mut self, place: usize, only_committed: Option<Value>, old: &State) {
        let locations = self.plan.processes[place].locations.iter().enumerate();
        let parts: Vec<_> = locations.map(|(i, location)| (i as u32, 0..location.moves.len())).collect();
        self.part(place, &parts, only_committed, old);
    }

    /// Some moves of a process, by location.
    fn part(&mut self, place: usize, parts: &[(u32, Range<usize>)], only_committed: Option<Value>, old: &State) {
        let plan = self.plan;
        let parts: Vec<_> = parts.iter().filter(|(_, moves)| !moves.is_empty()).collect();
        if parts.is_empty() {
            return;
        }
        let after = self.block_with_out();
        let out = self.out;
        let blocks = self.dispatch(place, parts.iter().map(|(location, _)| *location), after, old);
        for (block, (location, moves)) in blocks.into_iter().zip(parts) {
            let location = &plan.processes[place].locations[*location as usize];
            self.b.switch_to_block(block);
            self.out = out;
            if let (Some(only_committed), false) = (only_committed, location.committed) {
                let free = self.b.create_block();
                self.b.ins().brif(only_committed, after, &[out.into()], free, &[]);
                self.b.switch_to_block(free);
            }
            self.in_turn(&location.moves[moves.clone()], after, |emitter, one, after| match one {
                Move::Single(number) => emitter.single_move(*number, old, after),
                Move::Rendezvous(number, partners) => emitter.rendezvous_moves(*number, partners, old, after),
            });
        }
        self.continue_in(after);
    }

    /// Calls the functions of all groups in turn, each `moves(row, out, context)`; of those with a part of a process, the ones that have
    /// moves of the process's location.
    pub(crate) fn call_groups(&mut self, functions: &[FuncRef], row: Value, old: &State) {
        let plan = self.plan;
        let mut at = 0;
        while at < functions.len() {
            let Group::Part(place, _) = &plan.groups[at] else {
                self.call_moves(functions[at], row);
                at += 1;
                continue;
            };
            let mut of_location: BTreeMap<u32, Vec<FuncRef>> = BTreeMap::new();
            while let Some(Group::Part(same, parts)) = plan.groups.get(at)
                && same == place
            {
                parts.iter().for_each(|(location, _)| of_location.entry(*location).or_default().push(functions[at]));
                at += 1;
            }
            let after = self.block_with_out();
            let out = self.out;
            let blocks = self.dispatch(*place, of_location.keys().copied(), after, old);
            for (block, functions) in blocks.into_iter().zip(of_location.values()) {
                self.b.switch_to_block(block);
                self.out = out;
                functions.iter().for_each(|function| self.call_moves(*function, row));
                self.jump(after);
            }
            self.continue_in(after);
        }
    }

    fn call_moves(&mut self, function: FuncRef, row: Value) {
        let call = self.b.ins().call(function, &[row, self.out, self.context]);
        self.out = self.b.inst_results(call)[0];
    }

    /// Jumps to the block of the location that a process is in, or to `otherwise`; returns the blocks, one for each location.
    fn dispatch(
        &mut self,
        place: usize,
        locations: impl Iterator<Item = u32>,
        otherwise: Block,
        old: &State,
    ) -> Vec<Block> {
        let here = self.location(place, old);
        let out = self.out;
        let locations: Vec<(u32, Block)> = locations.map(|location| (location, self.b.create_block())).collect();
        if let [(location, block)] = locations[..] {
            let is_here = self.b.ins().icmp_imm_u(IntCC::Equal, here, i64::from(location));
            self.b.ins().brif(is_here, block, &[], otherwise, &[out.into()]);
        } else {
            let nothing = self.b.create_block();
            let mut switch = Switch::new();
            locations.iter().for_each(|(location, block)| switch.set_entry(u128::from(*location), *block));
            switch.emit(&mut self.b, here, nothing);
            self.b.switch_to_block(nothing);
            self.jump(otherwise);
        }
        locations.into_iter().map(|(_, block)| block).collect()
    }

    /// Goes to `otherwise` unless the guard holds.
    fn guard(&mut self, guard: Option<&Expression>, old: &State, otherwise: Block) {
        if let Some(guard) = guard {
            let holds = self.condition(guard, old);
            self.require(holds, otherwise);
        }
    }

    fn require(&mut self, holds: Value, otherwise: Block) {
        let enabled = self.b.create_block();
        let out = self.out;
        self.b.ins().brif(holds, enabled, &[], otherwise, &[out.into()]);
        self.b.switch_to_block(enabled);
    }

    fn single_move(&mut self, number: usize, old: &State, after: Block) {
        let plan = self.plan;
        let transition = &plan.transitions[number];
        self.buffer_allows(transition, old, after);
        self.guard(transition.guard.as_ref(), old, after);
        let next = self.single(transition, old);
        self.emit(next, number, after);
        self.end_move(number, after);
    }

    /// A full buffer takes nothing and an empty one gives nothing.
    fn buffer_allows(&mut self, transition: &Transition, old: &State, otherwise: Block) {
        let (channel, sends) = match &transition.communication {
            Communication::None => return,
            Communication::Send { channel, .. } => (*channel, true),
            Communication::Receive { channel, .. } => (*channel, false),
        };
        if let ChannelKind::Buffer { capacity, length, .. } = &self.model.channel(channel).kind {
            let n_items = self.read(old, *length);
            let allows = if sends {
                self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, n_items, i64::from(*capacity))
            } else {
                self.b.ins().icmp_imm_u(IntCC::SignedGreaterThan, n_items, 0)
            };
            self.require(allows, otherwise);
        }
    }

    fn rendezvous_moves(&mut self, number: usize, partners: &[Partner], old: &State, after: Block) {
        let plan = self.plan;
        let sender = &plan.transitions[number];
        let failed = self.sender_guard(sender, old, after);
        self.in_turn(partners, after, |emitter, partner, after| {
            emitter.partner_moves(number, failed, partner, old, after);
        });
    }

    /// The sender's guard; where it may have no value, whether it has none: then the partners' guards are asked all the same.
    fn sender_guard(&mut self, sender: &Transition, old: &State, otherwise: Block) -> Option<Value> {
        let guard = sender.guard.as_ref()?;
        self.guard(Some(guard), old, otherwise);
        let fault = self.fault.take()?;
        let go_on = self.b.create_block();
        let failed = self.b.append_block_param(go_on, types::I8);
        let no = self.b.ins().iconst(types::I8, 0);
        self.b.ins().jump(go_on, &[no.into()]);
        self.b.switch_to_block(fault);
        let yes = self.b.ins().iconst(types::I8, 1);
        self.b.ins().jump(go_on, &[yes.into()]);
        self.b.switch_to_block(go_on);
        Some(failed)
    }

    fn partner_moves(&mut self, sender: usize, failed: Option<Value>, partner: &Partner, old: &State, after: Block) {
        let out = self.out;
        let blocks = self.dispatch(partner.place, partner.receiving.iter().map(|(l, _)| *l), after, old);
        for ((_, receivers), block) in partner.receiving.iter().zip(blocks) {
            self.b.switch_to_block(block);
            self.out = out;
            self.in_turn(receivers, after, |emitter, receiver, after| {
                emitter.pair_move(sender, failed, *receiver, old, after);
            });
        }
    }

    fn pair_move(&mut self, sender: usize, failed: Option<Value>, receiver: usize, old: &State, after: Block) {
        let plan = self.plan;
        let receiving = &plan.transitions[receiver];
        self.guard(receiving.guard.as_ref(), old, after);
        if let Some(failed) = failed {
            let fault = self.fault_block();
            let fine = self.b.create_block();
            self.b.ins().brif(failed, fault, &[], fine, &[]);
            self.b.switch_to_block(fine);
        }
        match self.rendezvous(&plan.transitions[sender], receiving, old) {
            Some(next) => self.emit(next, sender, after),
            None => {
                let fault = self.fault_block();
                self.b.ins().jump(fault, &[]);
            }
        }
        self.end_move(sender, after);
    }

    /// Stores the row of a new state.
    fn emit(&mut self, mut next: State, number: usize, after: Block) {
        self.flush(&mut next, |_| true);
        if !self.in_memory {
            self.store_row(&next.words);
        }
        self.jump_behind_row(number, after);
    }

    fn jump_behind_row(&mut self, number: usize, after: Block) {
        if self.plan.synchronous {
            let number = self.constant(number as i32);
            self.b.ins().store(MemFlagsData::trusted(), number, self.out, self.row_bytes as i32);
        }
        let stride = self.stride() as i64;
        let behind = self.b.ins().iadd_imm_u(self.out, stride);
        self.b.ins().jump(after, &[behind.into()]);
    }

    /// Where the move could fail: the error row. A property process has none, and its caller is told.
    fn end_move(&mut self, number: usize, after: Block) {
        if let Some(fault) = self.fault.take() {
            self.b.switch_to_block(fault);
            if self.own.0 > 0 {
                let nothing = self.constant(0);
                let broken = self.broken_block();
                let arguments = [nothing.into(), nothing.into(), self.out.into()];
                self.b.ins().jump(broken, &arguments);
                return;
            }
            self.store_error_row();
            self.jump_behind_row(number | FAILED, after);
        }
    }
}
