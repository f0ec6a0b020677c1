//! Array elements whose index is known only at run time.
//!
//! Where all elements have fields alike and lie in one word, an element is a shift away. Else the words are in memory too: those of
//! the row that is expanded are put there once, those of a new state when they are needed. Elements with fields of their own are
//! described by a table beside the code.

use crate::function::Emitter;
use crate::state::{State, mask, word_and_bit};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use lariat_exec::Field;
use lariat_model::{CellId, Interval};
use std::sync::Arc;

/// Cells `first`, `first + stride`, ..., as many as `length`.
#[derive(Clone, Copy)]
pub(crate) struct Elements {
    pub(crate) first: CellId,
    pub(crate) length: u32,
    pub(crate) stride: u32,
}

impl Elements {
    pub(crate) fn array(first: CellId, length: u32) -> Self {
        Self { first, length, stride: 1 }
    }

    pub(crate) fn cell(self, i: u32) -> CellId {
        CellId(self.first.0 + i * self.stride)
    }

    fn cells(self) -> impl Iterator<Item = CellId> {
        (0..self.length).map(move |i| self.cell(i))
    }

    fn contains(self, cell: CellId) -> bool {
        let above = cell.0.wrapping_sub(self.first.0);
        cell >= self.first && above.is_multiple_of(self.stride) && above / self.stride < self.length
    }
}

/// For each element: first bit, mask, what zero stands for, the range's low end and span, the cell.
pub(crate) type ElementTable = Box<[[u32; 8]]>;
/// Tables that code refers to by address.
#[derive(Default)]
pub(crate) struct Tables {
    elements: Vec<ElementTable>,
    values: Vec<Arc<[i32]>>,
    row: Option<Box<[u8]>>,
}

impl Tables {
    /// The address of a table of values, which lives as long as this.
    pub(crate) fn keep(&mut self, table: &Arc<[i32]>) -> i64 {
        self.values.push(Arc::clone(table));
        table.as_ptr() as i64
    }

    /// The address of a copy of the row, which is always the same one and lives as long as this.
    pub(crate) fn keep_row(&mut self, row: &[u8]) -> i64 {
        self.row.get_or_insert_with(|| row.into()).as_ptr() as i64
    }
}

const TABLE_ROW_LOG2: i64 = 5;

/// The fields of elements that are alike: the first one, and how far the next is.
struct Alike {
    first: Field,
    step: u32,
}

impl Emitter<'_, '_> {
    fn alike(&self, elements: Elements) -> Option<Alike> {
        let first = self.field(elements.first);
        let range = self.model.cells[elements.first.index()].range;
        let step = if elements.length > 1 { self.field(elements.cell(1)).bit - first.bit } else { 0 };
        let alike = elements.cells().enumerate().all(|(i, cell)| {
            let field = self.field(cell);
            let expected = Field { bit: first.bit + i as u32 * step, ..first };
            field == expected && self.model.cells[cell.index()].range == range
        });
        alike.then_some(Alike { first, step })
    }

    /// The word that all elements lie in, if it is in a register.
    fn register_of(&self, elements: Elements) -> Option<usize> {
        if self.in_memory {
            return None;
        }
        let last = self.field(elements.cell(elements.length - 1));
        let (word, _) = word_and_bit(self.field(elements.first).bit);
        (last.bit + last.bits <= (word as u32 + 1) * 64).then_some(word)
    }

    /// Goes to the fault block unless the index is one of the elements; `bounds` is what is certain about it.
    pub(crate) fn check_index(&mut self, index: Value, length: u32, bounds: Interval) {
        if bounds.low >= 0 && bounds.high < length as i32 {
            return;
        }
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, index, i64::from(length));
        let fault = self.fault_block();
        let done = self.b.create_block();
        self.b.ins().brif(inside, done, &[], fault, &[]);
        self.b.switch_to_block(done);
    }

    /// An element; the index is one of them.
    pub(crate) fn read_element(&mut self, state: &State, elements: Elements, index: Value) -> Value {
        let mut state = state.clone();
        if state.written.keys().any(|cell| elements.contains(*cell)) {
            self.flush(&mut state, |cell| elements.contains(cell));
        }
        match (self.alike(elements), self.register_of(elements)) {
            (Some(alike), _) if alike.first.bits == 0 => self.constant(alike.first.low),
            (Some(alike), Some(word)) => {
                let shift = self.shift_in_word(&alike, index);
                let bits = self.b.ins().ushr(state.words[word], shift);
                self.unpacked(bits, alike.first)
            }
            (Some(alike), None) => {
                let memory = self.in_memory(&state, elements);
                let bit = self.bit_of(&alike, index);
                let (_, _, bits) = self.load_bits(memory, bit);
                self.unpacked(bits, alike.first)
            }
            (None, _) => {
                let memory = self.in_memory(&state, elements);
                let row = self.table_row(elements, index);
                let bit = self.table_entry(row, 0);
                let (_, _, bits) = self.load_bits(memory, bit);
                let bits = self.b.ins().ireduce(types::I32, bits);
                let mask = self.table_entry(row, 1);
                let low = self.table_entry(row, 2);
                let raw = self.b.ins().band(bits, mask);
                self.b.ins().iadd(raw, low)
            }
        }
    }

    /// Writes an element; the index is one of them.
    pub(crate) fn set_element(
        &mut self,
        state: &mut State,
        elements: Elements,
        index: Value,
        value: Value,
        bounds: Interval,
    ) {
        self.flush(state, |cell| elements.contains(cell));
        let alike = self.alike(elements);
        match &alike {
            Some(_) => self.check_range(elements.first, value, bounds),
            None => self.check_element_range(elements, index, value, bounds),
        }
        match (alike, self.register_of(elements)) {
            (Some(alike), _) if alike.first.bits == 0 => {}
            (Some(alike), Some(word)) => {
                let shift = self.shift_in_word(&alike, index);
                let bits = self.packed(value, alike.first.low);
                let ones = self.b.ins().iconst(types::I64, mask(alike.first.bits) as i64);
                state.words[word] = self.merged(state.words[word], ones, bits, shift);
            }
            (Some(alike), None) => {
                let bits = self.packed(value, alike.first.low);
                let ones = self.b.ins().iconst(types::I64, mask(alike.first.bits) as i64);
                let bit = self.bit_of(&alike, index);
                self.store_bits(state, elements, bit, ones, bits);
            }
            (None, _) => {
                let row = self.table_row(elements, index);
                let bit = self.table_entry(row, 0);
                let ones = self.table_entry(row, 1);
                let low = self.table_entry(row, 2);
                let raw = self.b.ins().isub(value, low);
                // An element that never changes has no bits, and must not leave any.
                let raw = self.b.ins().band(raw, ones);
                let ones = self.b.ins().uextend(types::I64, ones);
                let bits = self.b.ins().uextend(types::I64, raw);
                self.store_bits(state, elements, bit, ones, bits);
            }
        }
        state.is_old = false;
    }

    fn check_element_range(&mut self, elements: Elements, index: Value, value: Value, bounds: Interval) {
        if elements.cells().all(|cell| self.model.cells[cell.index()].range.includes(bounds)) {
            return;
        }
        let row = self.table_row(elements, index);
        let low = self.table_entry(row, 3);
        let span = self.table_entry(row, 4);
        let above = self.b.ins().isub(value, low);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, above, span);
        let done = self.b.create_block();
        let outside = self.b.create_block();
        self.b.set_cold_block(outside);
        self.b.ins().brif(inside, done, &[], outside, &[]);
        self.b.switch_to_block(outside);
        let cell = self.table_entry(row, 5);
        self.fault_or_broken(cell, value, self.model.cells[elements.first.index()].allowed);
        self.b.switch_to_block(done);
    }

    /// `word` with `bits` in place of `ones`, both shifted.
    fn merged(&mut self, word: Value, ones: Value, bits: Value, shift: Value) -> Value {
        let hole = self.b.ins().ishl(ones, shift);
        let kept = self.b.ins().band_not(word, hole);
        let bits = self.b.ins().ishl(bits, shift);
        self.b.ins().bor(kept, bits)
    }

    fn times(&mut self, value: Value, constant: u32) -> Value {
        if constant == 1 { value } else { self.b.ins().imul_imm_u(value, i64::from(constant)) }
    }

    fn bit_of(&mut self, alike: &Alike, index: Value) -> Value {
        let bit = self.times(index, alike.step);
        self.plus(bit, alike.first.bit as i32)
    }

    fn shift_in_word(&mut self, alike: &Alike, index: Value) -> Value {
        let bit = self.times(index, alike.step);
        self.plus(bit, word_and_bit(alike.first.bit).1 as i32)
    }

    /// The address of the state's words in memory.
    fn in_memory(&mut self, state: &State, elements: Elements) -> Value {
        if self.in_memory {
            return self.memory_of(state, elements.first);
        }
        if state.is_old {
            return self.old_memory();
        }
        self.spill(state, elements)
    }

    /// Puts the words of a new state that the elements lie in into memory.
    fn spill(&mut self, state: &State, elements: Elements) -> Value {
        let memory = self.new_memory();
        for word in self.words_of(elements) {
            self.b.ins().store(MemFlagsData::trusted(), state.words[word], memory, word as i32 * 8);
        }
        memory
    }

    fn words_of(&self, elements: Elements) -> std::ops::RangeInclusive<usize> {
        let last = self.field(elements.cell(elements.length - 1));
        let end = (last.bit + last.bits).max(1) - 1;
        let last_word = word_and_bit(end).0.min(self.n_words - 1);
        word_and_bit(self.field(elements.first).bit).0.min(last_word)..=last_word
    }

    /// The address of the eight bytes that hold the field at `bit`, the field's place in them, and their bits from there on.
    fn load_bits(&mut self, memory: Value, bit: Value) -> (Value, Value, Value) {
        let byte = self.b.ins().ushr_imm_u(bit, 3);
        let byte = self.b.ins().uextend(types::I64, byte);
        let address = self.b.ins().iadd(memory, byte);
        let shift = self.b.ins().band_imm_u(bit, 7);
        let word = self.b.ins().load(types::I64, MemFlagsData::trusted(), address, 0);
        (address, shift, self.b.ins().ushr(word, shift))
    }

    fn store_bits(&mut self, state: &mut State, elements: Elements, bit: Value, ones: Value, bits: Value) {
        let memory = if self.in_memory { self.new_row } else { self.spill(state, elements) };
        let (address, shift, _) = self.load_bits(memory, bit);
        let word = self.b.ins().load(types::I64, MemFlagsData::trusted(), address, 0);
        let word = self.merged(word, ones, bits, shift);
        self.b.ins().store(MemFlagsData::trusted(), word, address, 0);
        if self.in_memory {
            return;
        }
        for word in self.words_of(elements) {
            state.words[word] = self.b.ins().load(types::I64, MemFlagsData::trusted(), memory, word as i32 * 8);
        }
    }

    /// The address of the element's row in the table of the elements.
    fn table_row(&mut self, elements: Elements, index: Value) -> Value {
        let rows = elements.cells().map(|cell| {
            let field = self.field(cell);
            let range = self.model.cells[cell.index()].range;
            let span = range.high.wrapping_sub(range.low) as u32;
            [field.bit, mask(field.bits) as u32, field.low as u32, range.low as u32, span, cell.0, 0, 0]
        });
        let table: ElementTable = rows.collect();
        let address = table.as_ptr() as i64;
        self.tables.elements.push(table);
        let table = self.b.ins().iconst(types::I64, address);
        let index = self.b.ins().uextend(types::I64, index);
        let offset = self.b.ins().ishl_imm_u(index, TABLE_ROW_LOG2);
        self.b.ins().iadd(table, offset)
    }

    fn table_entry(&mut self, row: Value, column: i32) -> Value {
        let flags = MemFlagsData::trusted().with_readonly();
        self.b.ins().load(types::I32, flags, row, column * 4)
    }
}
