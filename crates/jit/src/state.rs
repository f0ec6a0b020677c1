//! The state: the words of a row, in registers or in memory, and what a move has written over them so far.

use crate::function::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, InstructionData, MemFlagsData, Opcode, Value, types};
use lariat_exec::Field;
use lariat_model::{CellId, Expression, Interval};
use std::collections::BTreeMap;

/// A state: words of a packed row, and the cells that were written since.
#[derive(Clone)]
pub(crate) struct State {
    /// None where states are worked on in memory.
    pub(crate) words: Vec<Value>,
    pub(crate) written: BTreeMap<CellId, Value>,
    /// Whether these are the words of the row that is expanded, which lie in memory too.
    pub(crate) is_old: bool,
}

impl State {
    /// The state that is expanded, in memory.
    pub(crate) fn in_memory() -> Self {
        Self { words: Vec::new(), written: BTreeMap::new(), is_old: true }
    }
}

/// The 64-bit word and the bit in it where a field begins.
pub(crate) fn word_and_bit(bit: u32) -> (usize, u32) {
    ((bit / 64) as usize, bit % 64)
}

pub(crate) fn mask(bits: u32) -> u64 {
    (1u64 << bits) - 1
}

impl Emitter<'_, '_> {
    pub(crate) fn field(&self, cell: CellId) -> Field {
        self.fields[cell.index()]
    }

    /// A 32-bit constant.
    pub(crate) fn constant(&mut self, value: i32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(value as u32))
    }

    /// The value of a cell.
    pub(crate) fn read(&mut self, state: &State, cell: CellId) -> Value {
        if let Some(value) = state.written.get(&cell) {
            return *value;
        }
        let field = self.field(cell);
        if field.bits == 0 {
            return self.constant(field.low);
        }
        if self.in_memory {
            // A field lies within four bytes.
            let row = self.memory_of(state, cell);
            let bits = self.b.ins().load(types::I32, MemFlagsData::trusted(), row, (field.bit / 8) as i32);
            let bits = self.b.ins().ushr_imm_u(bits, i64::from(field.bit % 8));
            let raw = self.b.ins().band_imm_u(bits, mask(field.bits) as i64);
            return self.plus(raw, field.low);
        }
        let (word, bit) = word_and_bit(field.bit);
        let mut bits = self.b.ins().ushr_imm_u(state.words[word], i64::from(bit));
        if bit + field.bits > 64 {
            let high = self.b.ins().ishl_imm_u(state.words[word + 1], i64::from(64 - bit));
            bits = self.b.ins().bor(bits, high);
        }
        self.unpacked(bits, field)
    }

    /// Whether a cell has a value, or has not, by `code`: the field is compared where it is.
    pub(crate) fn equals(&mut self, state: &State, cell: CellId, value: i32, code: IntCC) -> Value {
        let field = self.field(cell);
        let raw = value.wrapping_sub(field.low) as u32 as u64;
        let (word, bit) = if self.in_memory { (0, field.bit % 8) } else { word_and_bit(field.bit) };
        if state.written.contains_key(&cell) || field.bits == 0 || raw > mask(field.bits) || bit + field.bits > 64 {
            let found = self.read(state, cell);
            return self.b.ins().icmp_imm_u(code, found, i64::from(value as u32));
        }
        let bits = if self.in_memory {
            let row = self.memory_of(state, cell);
            self.b.ins().load(types::I32, MemFlagsData::trusted(), row, (field.bit / 8) as i32)
        } else {
            state.words[word]
        };
        let bits = self.b.ins().band_imm_u(bits, (mask(field.bits) << bit) as i64);
        self.b.ins().icmp_imm_u(code, bits, (raw << bit) as i64)
    }

    /// The value of the field whose bits are the lowest of `bits`.
    pub(crate) fn unpacked(&mut self, bits: Value, field: Field) -> Value {
        let bits = self.b.ins().ireduce(types::I32, bits);
        let raw = self.b.ins().band_imm_u(bits, mask(field.bits) as i64);
        self.plus(raw, field.low)
    }

    pub(crate) fn plus(&mut self, value: Value, constant: i32) -> Value {
        if constant == 0 { value } else { self.b.ins().iadd_imm_u(value, i64::from(constant as u32)) }
    }

    /// A value as the bits of a field, with nothing above them where it is in the field's range.
    pub(crate) fn packed(&mut self, value: Value, low: i32) -> Value {
        let raw = self.plus(value, low.wrapping_neg());
        self.b.ins().uextend(types::I64, raw)
    }

    /// Writes a cell. A value outside of the type leads to the error state; one outside of the inferred range is told to the caller.
    /// `bounds` is what is known about the value.
    pub(crate) fn set(&mut self, state: &mut State, cell: CellId, value: Value, bounds: Interval) {
        self.check_range(cell, value, bounds);
        state.written.insert(cell, value);
    }

    pub(crate) fn check_range(&mut self, cell: CellId, value: Value, bounds: Interval) {
        let known = &self.model.cells[cell.index()];
        if known.range.includes(bounds) {
            return;
        }
        let inside = self.is_in(value, known.range);
        let done = self.b.create_block();
        if known.range == known.allowed {
            let fault = self.fault_block();
            self.b.ins().brif(inside, done, &[], fault, &[]);
        } else {
            let number = self.constant(cell.0 as i32);
            if known.allowed.includes(bounds) {
                let broken = self.broken_block();
                let arguments = [number.into(), value.into(), self.out.into()];
                self.b.ins().brif(inside, done, &[], broken, &arguments);
            } else {
                let outside = self.b.create_block();
                self.b.set_cold_block(outside);
                self.b.ins().brif(inside, done, &[], outside, &[]);
                self.b.switch_to_block(outside);
                self.fault_or_broken(number, value, known.allowed);
            }
        }
        self.b.switch_to_block(done);
    }

    /// Where a value is outside of its range: a fault if it is not allowed either, else something to be told.
    pub(crate) fn fault_or_broken(&mut self, cell: Value, value: Value, allowed: Interval) {
        let is_allowed = self.is_in(value, allowed);
        let (fault, broken) = (self.fault_block(), self.broken_block());
        let arguments = [cell.into(), value.into(), self.out.into()];
        self.b.ins().brif(is_allowed, broken, &arguments, fault, &[]);
    }

    /// The block that tells the caller about a value outside of its range, and ends: what else there is to do is of no use then.
    pub(crate) fn broken_block(&mut self) -> Block {
        match self.broken {
            Some(block) => block,
            None => {
                let block = self.b.create_block();
                self.b.set_cold_block(block);
                for kind in [types::I32, types::I32, types::I64] {
                    self.b.append_block_param(block, kind);
                }
                self.broken = Some(block);
                block
            }
        }
    }

    /// The code of that block; see `RangeBroken` in `code.rs`.
    pub(crate) fn end_broken(&mut self) {
        let Some(block) = self.broken.take() else { return };
        self.b.switch_to_block(block);
        let [cell, value, out] = self.b.block_params(block)[..] else { return };
        let yes = self.constant(1);
        let flags = MemFlagsData::trusted();
        let context = self.context;
        self.b.ins().store(flags, yes, context, 0);
        self.b.ins().store(flags, cell, context, 4);
        self.b.ins().store(flags, value, context, 8);
        self.b.ins().return_(&[out]);
    }

    /// The number that a value is, where the code says so.
    fn as_constant(&self, value: Value) -> Option<i32> {
        let function = &self.b.func.dfg;
        let instruction = function.value_def(value).inst()?;
        match function.insts[instruction] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits() as i32),
            _ => None,
        }
    }

    pub(crate) fn is_in(&mut self, value: Value, range: Interval) -> Value {
        let above = self.plus(value, range.low.wrapping_neg());
        let span = range.high.wrapping_sub(range.low) as u32;
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, above, i64::from(span))
    }

    /// What a sound model's expression can evaluate to.
    pub(crate) fn bounds(&self, expression: &Expression) -> Interval {
        expression.interval(&|cell| self.model.cells[cell.index()].range).unwrap_or(Interval::ALL)
    }

    /// What the expression can evaluate to whatever the bits of the row are: what memory accesses may rely on.
    pub(crate) fn certain_bounds(&self, expression: &Expression, state: &State) -> Interval {
        let of = |cell: CellId| {
            // What was written was checked against ranges, on which nothing here may rely.
            if state.written.contains_key(&cell) {
                return Interval::ALL;
            }
            let field = self.field(cell);
            Interval::new(field.low, field.low + mask(field.bits) as i32)
        };
        expression.interval(&of).unwrap_or(Interval::ALL)
    }

    /// What a move begins with: the old state, to be changed.
    pub(crate) fn next_of(&mut self, old: &State) -> State {
        if !self.in_memory {
            return old.clone();
        }
        self.begin_new_row();
        State { is_old: false, ..old.clone() }
    }

    /// Puts all that was written, or what was written to these cells, into the words.
    pub(crate) fn flush(&mut self, state: &mut State, cells: impl Fn(CellId) -> bool) {
        let mut changes: BTreeMap<usize, Change> = BTreeMap::new();
        let written = std::mem::take(&mut state.written);
        for (cell, value) in written {
            if !cells(cell) {
                state.written.insert(cell, value);
                continue;
            }
            let field = self.field(cell);
            if field.bits > 0 {
                self.note_change(&mut changes, field, value);
            }
        }
        for (word, change) in changes {
            state.is_old = false;
            let flags = MemFlagsData::trusted();
            let (row, offset) = (self.new_row, word as i32 * 8);
            let old =
                if self.in_memory { self.b.ins().load(types::I64, flags, row, offset) } else { state.words[word] };
            let mut new = self.b.ins().band_imm_u(old, !change.cleared as i64);
            if change.constant != 0 {
                new = self.b.ins().bor_imm_u(new, change.constant as i64);
            }
            let new = change.added.into_iter().fold(new, |word, bits| self.b.ins().bor(word, bits));
            if self.in_memory {
                self.b.ins().store(flags, new, row, offset);
            } else {
                state.words[word] = new;
            }
        }
    }

    fn note_change(&mut self, changes: &mut BTreeMap<usize, Change>, field: Field, value: Value) {
        let (word, bit) = word_and_bit(field.bit);
        let ones = u128::from(mask(field.bits)) << bit;
        let parts = [(word, ones as u64), (word + 1, (ones >> 64) as u64)];
        if let Some(constant) = self.as_constant(value) {
            let bits = u128::from(constant.wrapping_sub(field.low) as u32 as u64 & mask(field.bits)) << bit;
            for ((word, ones), bits) in parts.into_iter().zip([bits as u64, (bits >> 64) as u64]) {
                if ones != 0 {
                    let change = changes.entry(word).or_default();
                    change.cleared |= ones;
                    change.constant |= bits;
                }
            }
            return;
        }
        let bits = self.packed(value, field.low);
        for (i, (word, ones)) in parts.into_iter().enumerate().filter(|(_, (_, ones))| *ones != 0) {
            let moved = match i {
                0 if bit == 0 => bits,
                0 => self.b.ins().ishl_imm_u(bits, i64::from(bit)),
                _ => self.b.ins().ushr_imm_u(bits, i64::from(64 - bit)),
            };
            let change = changes.entry(word).or_default();
            change.cleared |= ones;
            change.added.push(moved);
        }
    }
}

/// What happens to a word.
#[derive(Default)]
struct Change {
    cleared: u64,
    constant: u64,
    added: Vec<Value>,
}
