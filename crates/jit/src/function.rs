//! Functions: what they are given, how they read and write rows.
//!
//! `expand(rows, end, out, ends, start, context) -> out` makes the successors of the rows from `rows` to `end`, writes them from `out` on, and
//! to `ends` for each row the number of targets from `start` to its last. Where a model is large, the moves of some processes are
//! functions of their own: `moves(row, out, context) -> out`.
//!
//! Narrow rows are read into registers once. Wide ones are copied to memory with space behind it; a new row is a copy at `out` that is
//! changed there. So the code of a move is as long as what it changes, and not as the row.
//!
//! # Invariant
//! Behind `out` there is room for all successors that a row can have, and 8 bytes more: rows are stored in whole words, and
//! what is stored behind a row is overwritten by the next.

use crate::code::Role;
use crate::copy;
use crate::element::Tables;
use crate::plan::Plan;
use crate::state::State;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, FuncRef, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use lariat_exec::{Field, Layout, PropertyProcess};
use lariat_model::Model;

/// Rows of more 64-bit words than this are worked on in memory.
const WORDS_IN_REGISTERS: usize = 4;

/// What all functions of a model have in common.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'e> {
    pub(crate) model: &'e Model,
    pub(crate) layout: &'e Layout,
    pub(crate) plan: &'e Plan,
    /// Where cells lie, in bits from where a state begins.
    pub(crate) fields: &'e [Field],
    /// 64-bit words of a state.
    pub(crate) n_words: usize,
    /// Whether states are worked on in memory.
    pub(crate) in_memory: bool,
    /// The bytes of a new row.
    pub(crate) row_bytes: usize,
    /// Where in a state that begins which a new row replaces: the first word, and the first cell. Before it lies what moves only read.
    pub(crate) own: (usize, usize),
}

impl<'e> Setting<'e> {
    /// For the moves of the system.
    pub(crate) fn of_system(model: &'e Model, layout: &'e Layout, plan: &'e Plan) -> Self {
        let n_words = layout.row_bytes().div_ceil(8);
        let in_memory = n_words > WORDS_IN_REGISTERS;
        let row_bytes = layout.row_bytes();
        Self { model, layout, plan, fields: layout.fields(), n_words, in_memory, row_bytes, own: (0, 0) }
    }

    /// For the moves of the property process. A state is the system's row and then the process's own, both in whole words.
    pub(crate) fn of_property(property: &'e PropertyProcess, plan: &'e Plan, fields: &'e [Field]) -> Self {
        let (model, layout) = (property.model(), property.system());
        let system_words = layout.row_bytes().div_ceil(8);
        let row_bytes = property.layout().row_bytes();
        let n_words = system_words + row_bytes.div_ceil(8);
        let own = (system_words, model.n_system_cells);
        Self { model, layout, plan, fields, n_words, in_memory: true, row_bytes, own }
    }

    /// All functions that a system needs.
    pub(crate) fn roles(&self) -> Vec<Role> {
        let mut roles = Vec::new();
        if self.plan.groups.len() > 1 {
            roles.extend((0..self.plan.groups.len()).map(Role::Moves));
        }
        if self.in_memory && copy::needs_function(self.row_bytes) {
            roles.push(Role::Copy);
        }
        roles.extend([Role::Expand, Role::Labels]);
        roles
    }
}

/// Makes the code of one function.
pub(crate) struct Emitter<'e, 'b> {
    pub(crate) b: FunctionBuilder<'b>,
    pub(crate) model: &'e Model,
    pub(crate) layout: &'e Layout,
    pub(crate) plan: &'e Plan,
    pub(crate) fields: &'e [Field],
    /// Tables that the code refers to; they must live as long as it.
    pub(crate) tables: &'e mut Tables,
    pub(crate) n_words: usize,
    pub(crate) in_memory: bool,
    pub(crate) row_bytes: usize,
    pub(crate) own: (usize, usize),
    /// `copy(from, to)`, where rows are too long to be copied in place.
    pub(crate) copy: Option<FuncRef>,
    /// Space for the words of the row that is expanded, and for those of a new state: see `old_memory` and `new_memory`.
    slots: [Option<StackSlot>; 2],
    /// Where the state that is expanded lies, if it lies in memory.
    pub(crate) old_row: Option<Value>,
    /// Where the state that a move is making begins, if it is made in memory.
    pub(crate) new_row: Value,
    /// Where the next successor goes.
    pub(crate) out: Value,
    /// The address of the caller's `RangeBroken`.
    pub(crate) context: Value,
    /// Where evaluations without a result go, if the move that is compiled has any.
    pub(crate) fault: Option<Block>,
    /// Where values outside of their ranges are told, if any check can find one.
    pub(crate) broken: Option<Block>,
    /// What the function is given; the last is the context.
    pub(crate) parameters: Vec<Value>,
}

impl<'e, 'b> Emitter<'e, 'b> {
    /// Begins a function.
    pub(crate) fn new(mut b: FunctionBuilder<'b>, setting: Setting<'e>, tables: &'e mut Tables) -> Self {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let parameters = b.block_params(entry).to_vec();
        let (out, context) = (parameters[0], parameters[parameters.len() - 1]);
        let Setting { model, layout, plan, fields, n_words, in_memory, row_bytes, own } = setting;
        Self {
            b,
            model,
            layout,
            plan,
            fields,
            tables,
            n_words,
            in_memory,
            row_bytes,
            own,
            copy: None,
            slots: [None; 2],
            old_row: None,
            new_row: out,
            out,
            context,
            fault: None,
            broken: None,
            parameters,
        }
    }

    fn slot(&mut self, which: usize) -> Value {
        // A field may begin in the last byte, and is read with the seven behind it.
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, (self.n_words * 8 + 8) as u32, 3);
        let slot = *self.slots[which].get_or_insert_with(|| self.b.create_sized_stack_slot(data));
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// Where the words of the row that is expanded lie, for elements with unknown index.
    pub(crate) fn old_memory(&mut self) -> Value {
        self.slot(0)
    }

    /// Space for the words of a new state.
    pub(crate) fn new_memory(&mut self) -> Value {
        self.slot(1)
    }

    /// The block for evaluations without a result.
    pub(crate) fn fault_block(&mut self) -> Block {
        match self.fault {
            Some(block) => block,
            None => {
                let block = self.b.create_block();
                self.b.set_cold_block(block);
                self.fault = Some(block);
                block
            }
        }
    }

    /// The body of `expand`. With `moves` the work is done by those functions, else here.
    pub(crate) fn expand(&mut self, moves: &[FuncRef]) {
        let [rows, end, out, ends, start, _] = self.parameters[..] else { return };
        let (head, [row, end_at, out]) = self.loop_head([rows, ends, out]);
        self.out = out;
        let (body, done) = (self.b.create_block(), self.b.create_block());
        let at_end = self.b.ins().icmp(IntCC::Equal, row, end);
        self.b.ins().brif(at_end, done, &[], body, &[]);
        self.b.switch_to_block(done);
        self.b.ins().return_(&[out]);

        self.b.switch_to_block(body);
        let old = self.load_row(row, moves.is_empty());
        let row_of_moves = self.old_row.unwrap_or(row);
        let (work, behind) = (self.b.create_block(), self.b.create_block());
        let last_out = self.b.append_block_param(behind, types::I64);
        let is_error = self.is_error(&old);
        self.b.ins().brif(is_error, behind, &[out.into()], work, &[]);
        self.b.switch_to_block(work);
        match &self.plan.groups[..] {
            [all] if moves.is_empty() => self.group(all, &old),
            _ => self.call_groups(moves, row_of_moves, &old),
        }
        let out = self.out;
        self.b.ins().jump(behind, &[out.into()]);

        self.b.switch_to_block(behind);
        let n_bytes = self.b.ins().isub(last_out, start);
        let stride = self.stride() as i64;
        let n_rows = self.b.ins().udiv_imm_u(n_bytes, stride);
        let n_rows = self.b.ins().ireduce(types::I32, n_rows);
        self.b.ins().store(MemFlagsData::trusted(), n_rows, end_at, 0);
        let next_row = self.b.ins().iadd_imm_u(row, self.layout.row_bytes() as i64);
        let next_end = self.b.ins().iadd_imm_u(end_at, 4);
        self.b.ins().jump(head, &[next_row.into(), next_end.into(), last_out.into()]);
        self.end_broken();
    }

    /// Begins a loop over three addresses.
    pub(crate) fn loop_head(&mut self, start: [Value; 3]) -> (Block, [Value; 3]) {
        let head = self.b.create_block();
        let values = start.map(|_| self.b.append_block_param(head, types::I64));
        let arguments = start.map(Into::into);
        self.b.ins().jump(head, &arguments);
        self.b.switch_to_block(head);
        (head, values)
    }

    /// The body of `moves`.
    pub(crate) fn moves(&mut self, group: usize) {
        let [row, out, _] = self.parameters[..] else { return };
        self.out = out;
        let old = if self.in_memory {
            self.old_row = Some(row);
            State::in_memory()
        } else {
            self.load_row(row, true)
        };
        self.group(&self.plan.groups[group], &old);
        let out = self.out;
        self.b.ins().return_(&[out]);
        self.end_broken();
    }

    /// Reads a row, and no byte beside it; into memory, too, where the model has arrays.
    pub(crate) fn load_row(&mut self, row: Value, for_moves: bool) -> State {
        if self.in_memory {
            let memory = self.old_memory();
            self.copy_row(row, memory);
            self.old_row = Some(memory);
            return State::in_memory();
        }
        let flags = MemFlagsData::trusted();
        let width = self.layout.row_bytes();
        let mut words: Vec<Value> =
            (0..width / 8).map(|i| self.b.ins().load(types::I64, flags, row, i as i32 * 8)).collect();
        let rest = width % 8;
        if rest > 0 && width > 8 {
            let last = self.b.ins().load(types::I64, flags, row, width as i32 - 8);
            words.push(self.b.ins().ushr_imm_u(last, 64 - 8 * rest as i64));
        } else if rest > 0 {
            words.push(self.load_short(row, rest));
        }
        if for_moves && self.model.variables.iter().any(|v| v.n_cells > 1) {
            let memory = self.old_memory();
            for (i, word) in words.iter().enumerate() {
                self.b.ins().store(flags, *word, memory, i as i32 * 8);
            }
        }
        State { words, written: std::collections::BTreeMap::new(), is_old: true }
    }

    fn load_short(&mut self, row: Value, n_bytes: usize) -> Value {
        let mut word = self.b.ins().iconst(types::I64, 0);
        let mut at = 0;
        for (size, kind) in [(4, types::I32), (2, types::I16), (1, types::I8)] {
            if n_bytes & size != 0 {
                let part = self.b.ins().load(kind, MemFlagsData::trusted(), row, at as i32);
                let part = self.b.ins().uextend(types::I64, part);
                let part = self.b.ins().ishl_imm_u(part, 8 * at as i64);
                word = self.b.ins().bor(word, part);
                at += size;
            }
        }
        word
    }

    /// Stores the words of a row at `out`.
    pub(crate) fn store_row(&mut self, words: &[Value]) {
        for (i, word) in words.iter().enumerate() {
            self.b.ins().store(MemFlagsData::trusted(), *word, self.out, i as i32 * 8);
        }
    }

    /// Whether this is the error state: only there is the first process behind its last location.
    pub(crate) fn is_error(&mut self, state: &State) -> Value {
        let cell = self.model.process(self.plan.processes[0].id).location;
        let location = self.read(state, cell);
        let behind_last = self.model.cells[cell.index()].allowed.high + 1;
        self.b.ins().icmp_imm_u(IntCC::Equal, location, i64::from(behind_last))
    }

    /// Stores the row of the error state at `out`.
    pub(crate) fn store_error_row(&mut self) {
        let layout = self.layout;
        if self.in_memory {
            let address = self.tables.keep_row(layout.error_row());
            let row = self.b.ins().iconst(types::I64, address);
            return self.copy_row(row, self.out);
        }
        let of_chunk = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let words = layout.error_row().chunks(8).map(of_chunk);
        let words: Vec<Value> = words.map(|word| self.b.ins().iconst(types::I64, word as i64)).collect();
        self.store_row(&words);
    }
}
