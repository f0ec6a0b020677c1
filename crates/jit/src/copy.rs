//! Copying rows that are worked on in memory.

use crate::function::Emitter;
use crate::state::State;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use lariat_model::CellId;

/// Rows of at most this many bytes are copied where they are needed, longer ones by a function.
const IN_PLACE_MAX: usize = 32;
/// Rows of more bytes are copied by a loop.
const UNROLLED_MAX: usize = 512;
/// What the loop copies in a round.
const ROUND: usize = 64;

/// Whether there is to be a function that copies rows of this many bytes.
pub(crate) fn needs_function(row_bytes: usize) -> bool {
    row_bytes > IN_PLACE_MAX
}

impl Emitter<'_, '_> {
    /// The memory in which the fields of a cell lie.
    pub(crate) fn memory_of(&self, state: &State, cell: CellId) -> Value {
        match self.old_row {
            Some(old_row) if state.is_old || cell.index() < self.own.1 => old_row,
            _ => self.new_row,
        }
    }

    /// Makes the new row a copy of the old one, at `out`.
    pub(crate) fn begin_new_row(&mut self) {
        let Some(old_row) = self.old_row else { return };
        let first_word = self.own.0;
        if first_word == 0 {
            self.new_row = self.out;
            return self.copy_row(old_row, self.out);
        }
        for word in 0..self.n_words - first_word {
            let (from, to) = ((first_word + word) as i32 * 8, word as i32 * 8);
            let bytes = self.b.ins().load(types::I64, MemFlagsData::trusted(), old_row, from);
            self.b.ins().store(MemFlagsData::trusted(), bytes, self.out, to);
        }
        // Bits are counted from where a state begins; nothing in front of the row is touched.
        self.new_row = self.b.ins().iadd_imm_s(self.out, -(first_word as i64) * 8);
    }

    /// Copies a row, and no byte beside it. Rows in memory are longer than two words.
    pub(crate) fn copy_row(&mut self, from: Value, to: Value) {
        match self.copy {
            Some(copy) => {
                self.b.ins().call(copy, &[from, to]);
            }
            None => self.copy_bytes(from, to, 0, self.row_bytes),
        }
    }

    /// The body of `copy(from, to)`.
    pub(crate) fn copy_function(&mut self) {
        let [from, to] = self.parameters[..] else { return };
        let n_bytes = self.row_bytes;
        if n_bytes <= UNROLLED_MAX {
            self.copy_bytes(from, to, 0, n_bytes);
        } else {
            self.copy_rounds(from, to, n_bytes);
        }
        self.b.ins().return_(&[]);
    }

    /// Copies the bytes from `first` to `end`, by sixteen; the last sixteen may overlap those before.
    fn copy_bytes(&mut self, from: Value, to: Value, first: usize, end: usize) {
        let flags = MemFlagsData::trusted();
        let starts = (first..end).step_by(16).map(|start| start.min(end - 16));
        for start in starts {
            let bytes = self.b.ins().load(types::I8X16, flags, from, start as i32);
            self.b.ins().store(flags, bytes, to, start as i32);
        }
    }

    fn copy_rounds(&mut self, from: Value, to: Value, n_bytes: usize) {
        // The last round ends with the row, and may overlap the one before.
        let last = self.b.ins().iadd_imm_u(from, (n_bytes - ROUND) as i64);
        let (head, [at, out, _]) = self.loop_head([from, to, to]);
        let (round, done) = (self.b.create_block(), self.b.create_block());
        let is_last = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, at, last);
        self.b.ins().brif(is_last, done, &[], round, &[]);
        self.b.switch_to_block(round);
        self.copy_bytes(at, out, 0, ROUND);
        let next = self.b.ins().iadd_imm_u(at, ROUND as i64);
        let next_out = self.b.ins().iadd_imm_u(out, ROUND as i64);
        self.b.ins().jump(head, &[next.into(), next_out.into(), next_out.into()]);
        self.b.switch_to_block(done);
        self.copy_bytes(from, to, n_bytes - ROUND, n_bytes);
    }
}
