//! Which moves are possible, in the order of the interpreter's `moves.rs`.
//!
//! `out` is where the next successor goes. Every move ends in a block that gets the new `out`, so that nothing but registers says
//! how many successors there are.

use crate::function::Emitter;
use crate::plan::{Move, Partner};
use crate::state::State;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Switch;
use lariat_model::{ChannelKind, Communication, Expression, Transition, TransitionId};

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

    /// The moves of processes.
    pub(crate) fn processes(&mut self, places: std::ops::Range<usize>, old: &State) {
        let only_committed = self.plan.has_committed.then(|| self.any_committed(old));
        for place in places {
            self.process(place, only_committed, old);
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

    fn process(&mut self, place: usize, only_committed: Option<Value>, old: &State) {
        let plan = self.plan;
        let after = self.block_with_out();
        let nothing = self.b.create_block();
        let mut switch = Switch::new();
        let mut blocks = Vec::new();
        for (i, location) in plan.processes[place].locations.iter().enumerate() {
            if !location.moves.is_empty() {
                let block = self.b.create_block();
                switch.set_entry(i as u128, block);
                blocks.push((block, location));
            }
        }
        let out = self.out;
        let here = self.location(place, old);
        switch.emit(&mut self.b, here, nothing);
        self.b.switch_to_block(nothing);
        self.b.ins().jump(after, &[out.into()]);
        for (block, location) in blocks {
            self.b.switch_to_block(block);
            self.out = out;
            if let (Some(only_committed), false) = (only_committed, location.committed) {
                let free = self.b.create_block();
                self.b.ins().brif(only_committed, after, &[out.into()], free, &[]);
                self.b.switch_to_block(free);
            }
            for one in &location.moves {
                match one {
                    Move::Single(id) => self.single_move(*id, old),
                    Move::Rendezvous(id, partners) => self.rendezvous_moves(*id, partners, old),
                }
            }
            let out = self.out;
            self.b.ins().jump(after, &[out.into()]);
        }
        self.continue_in(after);
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

    fn single_move(&mut self, id: TransitionId, old: &State) {
        let transition = self.model.transition(id);
        let after = self.block_with_out();
        self.buffer_allows(transition, old, after);
        self.guard(transition.guard.as_ref(), old, after);
        let next = self.single(transition, old);
        self.emit(next, after);
        self.end_move(after);
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

    fn rendezvous_moves(&mut self, id: TransitionId, partners: &[Partner], old: &State) {
        if partners.is_empty() {
            return;
        }
        let sender = self.model.transition(id);
        let after = self.block_with_out();
        let failed = self.sender_guard(sender, old, after);
        for partner in partners {
            self.partner_moves(sender, failed, partner, old);
        }
        let out = self.out;
        self.b.ins().jump(after, &[out.into()]);
        self.continue_in(after);
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

    fn partner_moves(&mut self, sender: &Transition, failed: Option<Value>, partner: &Partner, old: &State) {
        let after = self.block_with_out();
        let nothing = self.b.create_block();
        let mut switch = Switch::new();
        let blocks: Vec<Block> = partner.receiving.iter().map(|_| self.b.create_block()).collect();
        for ((location, _), block) in partner.receiving.iter().zip(&blocks) {
            switch.set_entry(u128::from(*location), *block);
        }
        let out = self.out;
        let here = self.location(partner.place, old);
        switch.emit(&mut self.b, here, nothing);
        self.b.switch_to_block(nothing);
        self.b.ins().jump(after, &[out.into()]);
        for ((_, list), block) in partner.receiving.iter().zip(blocks) {
            self.b.switch_to_block(block);
            self.out = out;
            for id in list {
                self.pair_move(sender, failed, self.model.transition(*id), old);
            }
            let out = self.out;
            self.b.ins().jump(after, &[out.into()]);
        }
        self.continue_in(after);
    }

    fn pair_move(&mut self, sender: &Transition, failed: Option<Value>, receiver: &Transition, old: &State) {
        let after = self.block_with_out();
        self.guard(receiver.guard.as_ref(), old, after);
        if let Some(failed) = failed {
            let fault = self.fault_block();
            let fine = self.b.create_block();
            self.b.ins().brif(failed, fault, &[], fine, &[]);
            self.b.switch_to_block(fine);
        }
        match self.rendezvous(sender, receiver, old) {
            Some(next) => self.emit(next, after),
            None => {
                let fault = self.fault_block();
                self.b.ins().jump(fault, &[]);
            }
        }
        self.end_move(after);
    }

    /// Stores the row of a new state.
    fn emit(&mut self, mut next: State, after: Block) {
        self.flush(&mut next, |_| true);
        self.store_row(&next.words);
        self.jump_behind_row(after);
    }

    fn jump_behind_row(&mut self, after: Block) {
        let behind = self.b.ins().iadd_imm_u(self.out, self.layout.row_bytes() as i64);
        self.b.ins().jump(after, &[behind.into()]);
    }

    /// Where the move could fail: the error row. Then what comes after the move.
    fn end_move(&mut self, after: Block) {
        if let Some(fault) = self.fault.take() {
            self.b.switch_to_block(fault);
            let words: Vec<Value> =
                self.error_words().into_iter().map(|word| self.b.ins().iconst(types::I64, word as i64)).collect();
            self.store_row(&words);
            self.jump_behind_row(after);
        }
        self.continue_in(after);
    }
}
