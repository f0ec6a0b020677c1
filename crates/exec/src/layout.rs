//! How states become rows: each cell takes as many bits as its range needs, one after the other.
//!
//! The error state is the row in which the first process is at a location behind its last one and everything else is
//! zero bits; so the field of that location has room for one more value.
//!
//! # Invariants
//! 1. Rows of different states differ, and a state has one row: bits behind the last field are zero.
//! 2. Every field lies within four bytes, so that one load reads it.

use lariat_model::{Cell, CellId, Interval, Model};

/// Where a cell lies in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The first bit.
    pub bit: u32,
    /// How many bits; none for a cell that never changes.
    pub bits: u32,
    /// What the field's zero stands for.
    pub low: i32,
}

impl Field {
    #[inline(always)]
    fn read(self, row: &[u8]) -> i32 {
        let byte = (self.bit / 8) as usize;
        let word = u32::from_le_bytes([row[byte], row[byte + 1], row[byte + 2], row[byte + 3]]);
        ((word >> (self.bit % 8)) & self.mask()) as i32 + self.low
    }

    #[inline(always)]
    fn write(self, row: &mut [u8], value: i32) {
        let byte = (self.bit / 8) as usize;
        let shift = self.bit % 8;
        let bytes: &mut [u8] = &mut row[byte..byte + 4];
        let mut word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        word = word & !(self.mask() << shift) | (((value - self.low) as u32 & self.mask()) << shift);
        bytes.copy_from_slice(&word.to_le_bytes());
    }

    #[inline(always)]
    fn mask(self) -> u32 {
        (1 << self.bits) - 1
    }
}

/// The layout of a model's rows.
#[derive(Clone, Debug)]
pub struct Layout {
    fields: Vec<Field>,
    row_bytes: usize,
    error_row: Vec<u8>,
}

impl Layout {
    /// Rows are read and written in buffers that are this much longer, so that every load is inside.
    pub const PADDING: usize = 4;

    /// The layout for the system's cells.
    pub fn new(model: &Model) -> Self {
        let error_process = model.system_processes().next();
        let error_cell = error_process.map(|p| model.process(p).location);
        let mut layout = Self::of_cells(&model.cells[..model.n_system_cells], error_cell);
        if let Some(cell) = error_cell {
            let behind_last = model.cells[cell.index()].allowed.high + 1;
            layout.error_row.resize(layout.row_bytes + Self::PADDING, 0);
            layout.fields[cell.index()].write(&mut layout.error_row, behind_last);
            layout.error_row.truncate(layout.row_bytes);
        }
        layout
    }

    /// The layout for the cells of the property process, which has no error state.
    pub(crate) fn of_property(model: &Model) -> Self {
        Self::of_cells(&model.cells[model.n_system_cells..], None)
    }

    fn of_cells(cells: &[Cell], error_cell: Option<CellId>) -> Self {
        let mut bit = 0;
        let mut fields = Vec::with_capacity(cells.len());
        for (i, cell) in cells.iter().enumerate() {
            let mut range = cell.range;
            if error_cell == Some(CellId(i as u32)) {
                range = range.join(Interval::point(cell.allowed.high + 1));
            }
            let bits = range.bits();
            fields.push(Field { bit, bits, low: range.low });
            bit += bits;
        }
        let row_bytes = (bit as usize).div_ceil(8).max(1);
        Self { fields, row_bytes, error_row: vec![0; row_bytes] }
    }

    /// The width of a row.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// The row of the error state.
    pub fn error_row(&self) -> &[u8] {
        &self.error_row
    }

    /// Where each cell lies.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The cells of a row; `row` is followed by [`Layout::PADDING`] bytes of anything.
    #[inline]
    pub(crate) fn unpack(&self, row: &[u8], cells: &mut [i32]) {
        for (cell, field) in cells.iter_mut().zip(&self.fields) {
            *cell = field.read(row);
        }
    }

    /// One cell of a row.
    pub(crate) fn cell(&self, row: &[u8], cell: usize) -> i32 {
        let field = self.fields[cell];
        let byte = (field.bit / 8) as usize;
        let mut bytes = [0; 4];
        for (to, from) in bytes.iter_mut().zip(row.iter().skip(byte)) {
            *to = *from;
        }
        Field { bit: field.bit % 8, ..field }.read(&bytes)
    }

    /// Writes one cell into a row that is followed by padding.
    #[inline(always)]
    pub(crate) fn set(&self, row: &mut [u8], cell: CellId, value: i32) {
        self.fields[cell.index()].write(row, value);
    }

    /// The row of a state.
    pub fn pack(&self, cells: &[i32]) -> Vec<u8> {
        let mut row = Vec::new();
        self.pack_into(cells, &mut row);
        row
    }

    /// Replaces the contents of `row` by the row of a state.
    pub(crate) fn pack_into(&self, cells: &[i32], row: &mut Vec<u8>) {
        row.clear();
        row.resize(self.row_bytes + Self::PADDING, 0);
        for (cell, field) in cells.iter().zip(&self.fields) {
            field.write(row, *cell);
        }
        row.truncate(self.row_bytes);
    }

    /// The cells of a row.
    pub fn cells(&self, row: &[u8]) -> Vec<i32> {
        let mut padded = row.to_vec();
        padded.resize(self.row_bytes + Self::PADDING, 0);
        let mut cells = vec![0; self.fields.len()];
        self.unpack(&padded, &mut cells);
        cells
    }
}
