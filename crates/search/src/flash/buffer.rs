//! New states in memory, and which of them have a mark, until they are written to disk together.

use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};
use lariat_storage::{Manifest, RecentTable, ReservedVec, RowLog, RowLogOptions, StorageError, hash_row};

/// H_f of the paper.
pub(super) struct Buffer<'s> {
    disk: &'s dyn Disk,
    budget: &'s MemoryBudget,
    row_bytes: usize,
    rows: RecentTable<'s>,
    marked: RecentTable<'s>,
    n_saved: u64,
}

/// A state that leaves the buffer: the hash, then the row.
pub(super) struct Leaving<'s> {
    rows: ReservedVec<'s, u8>,
    row_bytes: usize,
    /// For each its hash and its place in `rows`, in the order of the hash.
    order: ReservedVec<'s, (u64, u32)>,
    marked: ReservedVec<'s, bool>,
}

impl Leaving<'_> {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The hash of the state with this place in the order, its row, and whether it has a mark.
    pub(super) fn get(&self, i: usize) -> (u64, &[u8], bool) {
        let (hash, place) = self.order[i];
        let at = place as usize * self.row_bytes;
        (hash, &self.rows[at..at + self.row_bytes], self.marked[place as usize])
    }
}

impl<'s> Buffer<'s> {
    /// A buffer that takes about `memory_bytes`, with what it needs while it is emptied.
    pub(super) fn new(
        disk: &'s dyn Disk,
        row_bytes: usize,
        memory_bytes: usize,
        budget: &'s MemoryBudget,
    ) -> Result<Self, StorageError> {
        // Rows are there twice, marked ones once more, and in the end their order.
        let capacity = memory_bytes / (3 * row_bytes + 48);
        let table = || RecentTable::new(row_bytes, capacity * (row_bytes + 8), budget);
        Ok(Self { disk, budget, row_bytes, rows: table()?, marked: table()?, n_saved: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows.is_full()
    }

    pub(super) fn contains(&self, row: &[u8], hash: u64) -> bool {
        self.rows.contains(hash, row)
    }

    /// Adds a state that is not there.
    pub(super) fn insert(&mut self, row: &[u8], hash: u64) {
        self.rows.insert(hash, row);
    }

    /// Whether a state that is there had no mark; it has one from now on.
    pub(super) fn mark(&mut self, row: &[u8], hash: u64) -> bool {
        if self.marked.contains(hash, row) {
            return false;
        }
        self.marked.insert(hash, row);
        true
    }

    /// Empties the buffer.
    pub(super) fn take_all(&mut self) -> Result<Leaving<'s>, StorageError> {
        let n = self.rows.len();
        let mut leaving = Leaving {
            rows: ReservedVec::with_capacity(n * self.row_bytes, self.budget)?,
            row_bytes: self.row_bytes,
            order: ReservedVec::with_capacity(n, self.budget)?,
            marked: ReservedVec::with_capacity(n, self.budget)?,
        };
        let marked = &self.marked;
        self.rows.take_oldest(n, |row| {
            let hash = hash_row(row);
            leaving.order.push((hash, leaving.order.len() as u32))?;
            leaving.marked.push(marked.contains(hash, row))?;
            leaving.rows.extend_from_slice(row)
        })?;
        let n_marked = self.marked.len();
        self.marked.take_oldest(n_marked, |_| Ok::<(), StorageError>(()))?;
        leaving.order.sort_unstable();
        Ok(leaving)
    }

    fn saved(&self) -> RowLog<'s> {
        let shape = RowLogOptions::within(self.row_bytes + 1, 64 << 10, FileKind::Queue);
        RowLog::new(self.disk, &format!("buffer-{}", self.n_saved), shape, self.budget)
    }

    /// Writes the buffer to a file of its own, and notes it.
    pub(super) fn note(&mut self, manifest: &mut Manifest) -> Result<(), StorageError> {
        self.n_saved += 1;
        let mut saved = self.saved();
        let mut entry = vec![0; self.row_bytes + 1];
        self.rows.for_each(|row| {
            entry[..row.len()].copy_from_slice(row);
            entry[row.len()] = u8::from(self.marked.contains(hash_row(row), row));
            saved.push(&entry)
        })?;
        manifest.set_number("buffers", self.n_saved);
        saved.note(manifest, "buffer")
    }

    /// Calls `put` with all states that were noted, and whether they have a mark.
    pub(super) fn take_up<E: From<StorageError>>(&mut self, manifest: &Manifest) -> Result<Vec<(Vec<u8>, bool)>, E> {
        self.n_saved = manifest.number("buffers")?;
        let mut saved = self.saved();
        saved.take_up(manifest, "buffer")?;
        let mut reader = saved.into_reader(1)?;
        let mut taken = Vec::new();
        loop {
            let entries = reader.next_rows()?;
            if entries.is_empty() {
                return Ok(taken);
            }
            let split = |entry: &[u8]| (entry[..entry.len() - 1].to_vec(), entry[entry.len() - 1] == 1);
            taken.extend(entries.iter().map(split));
        }
    }
}
