//! The two pages at a file's edges: the header, which says what the file holds, and the footer, which says that it is whole.

use super::{BLOCK_BYTES_MAX, EDGE_BYTES, checksum, get_u32, get_u64, put};
use crate::StorageError;
use crate::key::ROW_BYTES_MAX;
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, Disk, DiskFile, FileKind, PAGE_BYTES};
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"LARIAT\r\n";
const FOOTER_MAGIC: [u8; 8] = *b"LARIATok";
const CHECKSUM_AT: usize = EDGE_BYTES - 8;
/// The places that the edges' checksums belong to; blocks are numbered from 0.
const HEADER_PLACE: u64 = u64::MAX;
const FOOTER_PLACE: u64 = u64::MAX - 1;

/// What a block file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFileKind {
    /// Sorted rows.
    Run = 1,
    /// A perfect hash function.
    PerfectHash = 2,
}

impl BlockFileKind {
    /// The version of its format that is written and read.
    pub fn version(self) -> u32 {
        match self {
            BlockFileKind::Run | BlockFileKind::PerfectHash => 1,
        }
    }
}

/// What a file's header says of its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileShape {
    /// What it is.
    pub kind: BlockFileKind,
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Bytes of a row's value.
    pub value_bytes: usize,
    /// Bytes of a block: whole pages.
    pub block_bytes: usize,
    /// The most rows that are decoded together.
    pub group_rows: usize,
}

impl FileShape {
    /// Whether a file can have this shape.
    pub(crate) fn is_possible(&self) -> bool {
        (1..=ROW_BYTES_MAX).contains(&self.row_bytes)
            && self.value_bytes <= ROW_BYTES_MAX
            && (PAGE_BYTES..=BLOCK_BYTES_MAX).contains(&self.block_bytes)
            && self.block_bytes.is_multiple_of(PAGE_BYTES)
            && self.block_bytes >= 2 * (self.row_bytes + self.value_bytes)
            && (1..=crate::run::GROUP_ROWS_MAX).contains(&self.group_rows)
    }

    pub(super) fn write(&self, page: &mut [u8]) {
        page.fill(0);
        put(page, 0, &MAGIC);
        put(page, 8, &(self.kind as u32).to_le_bytes());
        put(page, 12, &self.kind.version().to_le_bytes());
        put(page, 16, &(self.row_bytes as u32).to_le_bytes());
        put(page, 20, &(self.value_bytes as u32).to_le_bytes());
        put(page, 24, &(self.block_bytes as u32).to_le_bytes());
        put(page, 28, &(self.group_rows as u32).to_le_bytes());
        put(page, CHECKSUM_AT, &checksum(&page[..CHECKSUM_AT], HEADER_PLACE).to_le_bytes());
    }

    fn read(file: &str, page: &[u8], kind: BlockFileKind) -> Result<Self, StorageError> {
        if page[..8] != MAGIC {
            return Err(StorageError::corrupt(
                file,
                0,
                "the header of a file of Lariat",
                format_args!("{:02x?}", &page[..8]),
            ));
        }
        // The version comes before the checksum: another version may have another one.
        let version = get_u32(page, 12);
        if version != kind.version() {
            return Err(StorageError::Version { file: file.to_owned(), expected: kind.version(), got: version });
        }
        check_edge(file, page, 0, HEADER_PLACE)?;
        let got_kind = get_u32(page, 8);
        if got_kind != kind as u32 {
            return Err(StorageError::Shape {
                file: file.to_owned(),
                expected: format!("kind {}", kind as u32),
                got: format!("kind {got_kind}"),
            });
        }
        let number = |at| get_u32(page, at) as usize;
        let (row_bytes, value_bytes, block_bytes, group_rows) = (number(16), number(20), number(24), number(28));
        let shape = Self { kind, row_bytes, value_bytes, block_bytes, group_rows };
        if !shape.is_possible() {
            return Err(StorageError::corrupt(file, 16, "a possible shape", format_args!("{shape:?}")));
        }
        Ok(shape)
    }
}

/// What a file's footer says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footer {
    /// Rows in all blocks.
    pub(crate) rows: u64,
    /// Blocks with rows.
    pub(crate) blocks: u64,
    /// Where the index begins, which is where the last block with rows ends.
    pub(crate) index_at: u64,
    /// Blocks of the index.
    pub(crate) index_blocks: u64,
    /// The whole file's length.
    pub(crate) file_bytes: u64,
}

impl Footer {
    pub(super) fn write(&self, page: &mut [u8]) {
        page.fill(0);
        put(page, 0, &FOOTER_MAGIC);
        for (i, number) in
            [self.rows, self.blocks, self.index_at, self.index_blocks, self.file_bytes].iter().enumerate()
        {
            put(page, 8 + 8 * i, &number.to_le_bytes());
        }
        put(page, CHECKSUM_AT, &checksum(&page[..CHECKSUM_AT], FOOTER_PLACE).to_le_bytes());
    }

    fn read(file: &str, page: &[u8], at: u64, shape: &FileShape) -> Result<Self, StorageError> {
        if page[..8] != FOOTER_MAGIC {
            return Err(StorageError::corrupt(
                file,
                at,
                "the footer of a finished file",
                format_args!("{:02x?}", &page[..8]),
            ));
        }
        check_edge(file, page, at, FOOTER_PLACE)?;
        let [rows, blocks, index_at, index_blocks, file_bytes] = std::array::from_fn(|i| get_u64(page, 8 + 8 * i));
        let footer = Self { rows, blocks, index_at, index_blocks, file_bytes };
        if file_bytes != at + EDGE_BYTES as u64 {
            let got = at + EDGE_BYTES as u64;
            return Err(StorageError::corrupt(file, at, format_args!("a file of {file_bytes} bytes"), got));
        }
        let block = shape.block_bytes as u64;
        let fits = |from: u64, to: u64, blocks: u64| {
            to.checked_sub(from)
                .is_some_and(|bytes| bytes.is_multiple_of(PAGE_BYTES as u64) && bytes.div_ceil(block) == blocks)
        };
        if !fits(EDGE_BYTES as u64, index_at, blocks) || !fits(index_at, at, index_blocks) {
            return Err(StorageError::corrupt(file, at, "blocks that fill the file", format_args!("{footer:?}")));
        }
        Ok(footer)
    }
}

fn check_edge(file: &str, page: &[u8], at: u64, place: u64) -> Result<(), StorageError> {
    let (expected, got) = (get_u64(page, CHECKSUM_AT), checksum(&page[..CHECKSUM_AT], place));
    if expected == got {
        return Ok(());
    }
    Err(StorageError::corrupt(file, at, format_args!("checksum {expected:016x}"), format_args!("{got:016x}")))
}

/// A finished file.
#[derive(Clone)]
pub(crate) struct BlockFile {
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) shape: FileShape,
    pub(crate) footer: Footer,
}

/// Blocks of a file that lie one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockRange {
    /// Where the first begins.
    pub(crate) at: u64,
    /// The first one's number.
    pub(crate) first: u64,
    /// How many there are.
    pub(crate) blocks: u64,
    /// Where the last ends.
    pub(crate) end: u64,
}

impl BlockFile {
    /// Opens a file and reads its edges.
    pub(crate) fn open(
        disk: &dyn Disk,
        name: &str,
        kind: BlockFileKind,
        file_kind: FileKind,
        budget: &MemoryBudget,
    ) -> Result<Self, StorageError> {
        let file = disk.open(name, file_kind)?;
        let length = file.len();
        if length < 2 * EDGE_BYTES as u64 || !length.is_multiple_of(PAGE_BYTES as u64) {
            let expected = "header and footer, whole pages";
            return Err(StorageError::corrupt(name, length, expected, format_args!("{length} bytes")));
        }
        let page = AlignedBuffer::new(EDGE_BYTES, budget)?;
        let page = file.read(page, 0, EDGE_BYTES).wait().buffer()?;
        let shape = FileShape::read(name, &page, kind)?;
        let footer_at = length - EDGE_BYTES as u64;
        let page = file.read(page, footer_at, EDGE_BYTES).wait().buffer()?;
        let footer = Footer::read(name, &page, footer_at, &shape)?;
        Ok(Self { file, shape, footer })
    }

    pub(crate) fn name(&self) -> &str {
        self.file.name()
    }

    /// The blocks with rows.
    pub(crate) fn row_blocks(&self) -> BlockRange {
        BlockRange { at: EDGE_BYTES as u64, first: 0, blocks: self.footer.blocks, end: self.footer.index_at }
    }

    /// The blocks of the index.
    pub(crate) fn index_blocks(&self) -> BlockRange {
        let (at, end) = (self.footer.index_at, self.footer.file_bytes - EDGE_BYTES as u64);
        BlockRange { at, first: self.footer.blocks, blocks: self.footer.index_blocks, end }
    }
}
