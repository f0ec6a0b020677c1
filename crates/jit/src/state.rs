//! The state in registers: the words of a row, and what a move has written over them so far.

use crate::function::Emitter;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use lariat_exec::Field;
use lariat_model::{CellId, Expression, Interval};
use std::collections::BTreeMap;

/// A state: words of a packed row, and the cells that were written since.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) words: Vec<Value>,
    pub(crate) written: BTreeMap<CellId, Value>,
    /// Whether these are the words of the row that is expanded, which lie in memory too.
    pub(crate) is_old: bool,
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
        self.layout.fields()[cell.index()]
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
        let (word, bit) = word_and_bit(field.bit);
        let mut bits = self.b.ins().ushr_imm_u(state.words[word], i64::from(bit));
        if bit + field.bits > 64 {
            let high = self.b.ins().ishl_imm_u(state.words[word + 1], i64::from(64 - bit));
            bits = self.b.ins().bor(bits, high);
        }
        self.unpacked(bits, field)
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
            let outside = self.b.create_block();
            self.b.set_cold_block(outside);
            self.b.ins().brif(inside, done, &[], outside, &[]);
            self.b.switch_to_block(outside);
            if !known.allowed.includes(bounds) {
                let allowed = self.is_in(value, known.allowed);
                let broken = self.b.create_block();
                self.b.set_cold_block(broken);
                let fault = self.fault_block();
                self.b.ins().brif(allowed, broken, &[], fault, &[]);
                self.b.switch_to_block(broken);
            }
            let number = self.constant(cell.0 as i32);
            self.tell_range_broken(number, value);
            self.b.ins().jump(done, &[]);
        }
        self.b.switch_to_block(done);
    }

    /// Tells the caller about a value outside of its range; see `RangeBroken` in `code.rs`.
    pub(crate) fn tell_range_broken(&mut self, cell: Value, value: Value) {
        let yes = self.constant(1);
        let flags = MemFlagsData::trusted();
        let context = self.context;
        self.b.ins().store(flags, yes, context, 0);
        self.b.ins().store(flags, cell, context, 4);
        self.b.ins().store(flags, value, context, 8);
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

    /// Puts all that was written, or what was written to these cells, into the words.
    pub(crate) fn flush(&mut self, state: &mut State, cells: impl Fn(CellId) -> bool) {
        let mut cleared = vec![0u64; state.words.len()];
        let mut added: Vec<Vec<Value>> = vec![Vec::new(); state.words.len()];
        let written = std::mem::take(&mut state.written);
        for (cell, value) in written {
            if !cells(cell) {
                state.written.insert(cell, value);
                continue;
            }
            let field = self.field(cell);
            if field.bits == 0 {
                continue;
            }
            let bits = self.packed(value, field.low);
            let (word, bit) = word_and_bit(field.bit);
            cleared[word] |= mask(field.bits) << bit;
            added[word].push(self.b.ins().ishl_imm_u(bits, i64::from(bit)));
            if bit + field.bits > 64 {
                cleared[word + 1] |= mask(field.bits) >> (64 - bit);
                added[word + 1].push(self.b.ins().ushr_imm_u(bits, i64::from(64 - bit)));
            }
        }
        for (word, (cleared, added)) in state.words.iter_mut().zip(cleared.into_iter().zip(added)) {
            if cleared != 0 {
                state.is_old = false;
                *word = self.b.ins().band_imm_u(*word, !cleared as i64);
            }
            for bits in added {
                *word = self.b.ins().bor(*word, bits);
            }
        }
    }
}
