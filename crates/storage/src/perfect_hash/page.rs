//! The perfect hash function of a page: rows fall into buckets, and a byte for each bucket, its *pilot*, says where its rows go.
//!
//! A pilot is chosen such that the slots of the bucket's rows are free. There are a few more slots than rows; a row whose slot is behind the
//! last number gets a number that was left free, from a short list. Large buckets choose first. Where no pilot fits, the bucket takes the slots
//! of buckets that are small, and those choose again.
//!
//! # Paper
//! Groot Koerkamp, *PtrHash: Minimal perfect hashing at RAM throughput*, 2025. *Deviations.* Parts are as small as a page, so that a function can
//! be read from disk page by page; they are found by the hash alone and have different sizes.
//!
//! # Format
//! `docs/formats.md`, perfect hash functions.

use super::CONTENTS_MAX;
use crate::block_file::{get_u32, get_u64, put};

/// What comes before the pilots.
const HEADER_BYTES: usize = 24;
/// Rows of a page in the mean. Pages differ by chance, by a hundredth or so; one in ten thousand million has more than [`KEYS_MAX`] has room for.
pub(super) const KEYS_MEAN: usize = 12_600;
/// The most rows for which there is room.
pub(super) const KEYS_MAX: usize = 13_800;
/// Rows of a bucket in the mean, if there is room for so many pilots, and if there is not.
const BUCKET_KEYS: f64 = 3.5;
/// Rows for each slot.
const LOAD: f64 = 0.985;
/// Seeds that are tried before there are more buckets.
const SEEDS_AT_ONCE: u32 = 8;
const SEEDS_MAX: u32 = 200;
const PILOTS: u64 = 256;

const BUCKET_MULTIPLIER: u64 = 0xD6E8_FEB8_6659_FD93;
const PILOT_MULTIPLIER: u64 = 0xA24B_AED4_963E_E407;
const SLOT_MULTIPLIER: u64 = 0x9FB2_1C65_1E98_DF25;

#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// The low half of a row's hash under a seed; all bits are good.
#[inline(always)]
fn mixed(hash: u64, seed: u32) -> u64 {
    let product = u128::from(hash ^ u64::from(seed).wrapping_mul(PILOT_MULTIPLIER)) * u128::from(BUCKET_MULTIPLIER);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The bucket of a mixed hash. Some buckets get more rows than others: those choose first, while there is room.
#[inline(always)]
fn bucket(mixed: u64, buckets: u32) -> usize {
    let cubic = high(high(mixed, mixed), mixed >> 1 | 1 << 63);
    high(cubic / 256 * 255 + mixed / 256, u64::from(buckets)) as usize
}

#[inline(always)]
fn slot(mixed: u64, pilot: u8, slots: u32) -> usize {
    let turned = mixed ^ (u64::from(pilot) + 1).wrapping_mul(PILOT_MULTIPLIER);
    let product = u128::from(turned) * u128::from(SLOT_MULTIPLIER);
    high((product as u64) ^ ((product >> 64) as u64), u64::from(slots)) as usize
}

/// Whether a pilot sends two of a bucket's rows to the same slot.
fn meet(keys: &[u64], pilot: u8, slots: u32) -> bool {
    let meets = |i: usize| keys[..i].iter().any(|other| slot(*other, pilot, slots) == slot(keys[i], pilot, slots));
    (1..keys.len()).any(meets)
}

/// A page that was read.
pub(super) struct Page<'p> {
    bytes: &'p [u8],
}

impl<'p> Page<'p> {
    #[inline]
    pub(super) fn new(bytes: &'p [u8]) -> Self {
        Self { bytes }
    }

    #[inline]
    fn pilot_place(&self, mixed: u64) -> usize {
        HEADER_BYTES + bucket(mixed, get_u32(self.bytes, 16))
    }

    /// Where the byte lies that a lookup needs.
    #[inline]
    pub(super) fn pilot_address(&self, hash: u128) -> *const u8 {
        &raw const self.bytes[self.pilot_place(mixed(hash as u64, get_u32(self.bytes, 20)))]
    }

    /// The number of a row.
    #[inline]
    pub(super) fn number(&self, hash: u128) -> u64 {
        let (first, keys, slots) = (get_u64(self.bytes, 0), get_u32(self.bytes, 8), get_u32(self.bytes, 12));
        let mixed = mixed(hash as u64, get_u32(self.bytes, 20));
        let slot = slot(mixed, self.bytes[self.pilot_place(mixed)], slots);
        let number = match slot.checked_sub(keys as usize) {
            None => slot as u64,
            Some(behind) => {
                let at = HEADER_BYTES + get_u32(self.bytes, 16) as usize + 2 * behind;
                u64::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
            }
        };
        // A page without rows has no numbers, and a row that is not of the set may be sent there.
        (first + number).saturating_sub(u64::from(keys == 0))
    }
}

/// How a page is divided.
#[derive(Clone, Copy)]
struct Division {
    slots: u32,
    buckets: u32,
}

impl Division {
    /// For so many rows, with `bucket_keys` of them in a bucket or as many as there must be.
    fn new(keys: usize, bucket_keys: f64) -> Self {
        let slots = keys + ((keys as f64 * (1.0 / LOAD - 1.0)) as usize).max(1);
        let room = CONTENTS_MAX.saturating_sub(HEADER_BYTES + 2 * (slots - keys));
        let wanted = (keys as f64 / bucket_keys) as usize + 3;
        Self { slots: slots as u32, buckets: wanted.min(room) as u32 }
    }
}

const NOBODY: u16 = u16::MAX;

/// Builds pages, one after the other.
pub(super) struct PageBuilder {
    /// The mixed hashes, those of a bucket beside each other, and where each bucket's begin.
    mixed: Vec<u64>,
    starts: Vec<u32>,
    pilots: Vec<u8>,
    /// The bucket that has a slot.
    owners: Vec<u16>,
    /// Buckets without a pilot, by their size.
    waiting: Vec<Vec<u16>>,
    recent: [u16; 16],
    state: u64,
}

impl PageBuilder {
    /// The memory that it takes.
    pub(super) const MEMORY_BYTES: u64 = (KEYS_MAX * 32) as u64;

    pub(super) fn new() -> Self {
        Self {
            mixed: Vec::new(),
            starts: Vec::new(),
            pilots: Vec::new(),
            owners: Vec::new(),
            waiting: Vec::new(),
            recent: [NOBODY; 16],
            state: 1,
        }
    }

    /// Writes the function of rows with these hashes, whose first number is `first`. How many bytes it has; none if there is no function.
    pub(super) fn build(&mut self, hashes: &[u64], first: u64, page: &mut [u8]) -> Option<usize> {
        self.state = 1;
        for seed in 0..SEEDS_MAX {
            let bucket_keys = BUCKET_KEYS / (1.0 + 0.1 * f64::from(seed / SEEDS_AT_ONCE));
            let division = Division::new(hashes.len(), bucket_keys);
            if self.try_seed(hashes, seed, division) {
                return Some(self.write(hashes.len(), first, seed, division, page));
            }
        }
        None
    }

    fn try_seed(&mut self, hashes: &[u64], seed: u32, division: Division) -> bool {
        self.fill_buckets(hashes, seed, division.buckets);
        self.pilots.clear();
        self.pilots.resize(division.buckets as usize, 0);
        self.owners.clear();
        self.owners.resize(division.slots as usize, NOBODY);
        self.recent = [NOBODY; 16];
        let mut moves_left = 20 * division.buckets + 1000;
        while let Some(bucket) = self.take_largest() {
            if moves_left == 0 || !self.place(bucket, division.slots) {
                return false;
            }
            moves_left -= 1;
        }
        true
    }

    /// Sorts the rows by their buckets, and the buckets by their sizes.
    fn fill_buckets(&mut self, hashes: &[u64], seed: u32, buckets: u32) {
        self.starts.clear();
        self.starts.resize(buckets as usize + 2, 0);
        for hash in hashes {
            self.starts[bucket(mixed(*hash, seed), buckets) + 2] += 1;
        }
        for i in 2..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        self.mixed.clear();
        self.mixed.resize(hashes.len(), 0);
        for hash in hashes {
            let mixed = mixed(*hash, seed);
            let place = &mut self.starts[bucket(mixed, buckets) + 1];
            self.mixed[*place as usize] = mixed;
            *place += 1;
        }
        self.waiting.iter_mut().for_each(Vec::clear);
        for bucket in 0..buckets as u16 {
            self.wait(bucket);
        }
    }

    fn keys_of(&self, bucket: u16) -> std::ops::Range<usize> {
        self.starts[bucket as usize] as usize..self.starts[bucket as usize + 1] as usize
    }

    fn wait(&mut self, bucket: u16) {
        let size = self.keys_of(bucket).len();
        if size > 0 {
            if self.waiting.len() <= size {
                self.waiting.resize_with(size + 1, Vec::new);
            }
            self.waiting[size].push(bucket);
        }
    }

    fn take_largest(&mut self) -> Option<u16> {
        self.waiting.iter_mut().rev().find_map(Vec::pop)
    }

    /// Gives a bucket the slots of the pilot that costs least, and lets those who had them wait; false if its own rows always meet.
    fn place(&mut self, bucket: u16, slots: u32) -> bool {
        // The first pilot is another one each time, so that buckets do not take the same slots from each other for ever.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let first = (self.state >> 56) as u8;
        let best = match self.free_pilot(bucket, first, slots) {
            Some(pilot) => Some((0, pilot)),
            None => self.cheapest_pilot(bucket, first, slots),
        };
        let Some((cost, pilot)) = best else { return false };
        let keys = self.keys_of(bucket);
        if cost > 0 {
            for key in keys.clone() {
                let owner = self.owners[slot(self.mixed[key], pilot, slots)];
                if owner != NOBODY {
                    self.take_slots(owner, slots);
                }
            }
            self.recent.rotate_right(1);
            self.recent[0] = bucket;
        }
        self.pilots[bucket as usize] = pilot;
        for key in keys {
            self.owners[slot(self.mixed[key], pilot, slots)] = bucket;
        }
        true
    }

    /// The first pilot from `first` on whose slots are all free and differ. Most pilots fail at their first slot.
    fn free_pilot(&self, bucket: u16, first: u8, slots: u32) -> Option<u8> {
        let keys = &self.mixed[self.keys_of(bucket)];
        let is_free = |pilot: u8| keys.iter().all(|mixed| self.owners[slot(*mixed, pilot, slots)] == NOBODY);
        (0..PILOTS).map(|i| first.wrapping_add(i as u8)).find(|pilot| is_free(*pilot) && !meet(keys, *pilot, slots))
    }

    /// The pilot that costs least, with its cost, if any is possible.
    fn cheapest_pilot(&self, bucket: u16, first: u8, slots: u32) -> Option<(u64, u8)> {
        let mut best: Option<(u64, u8)> = None;
        for pilot in (0..PILOTS).map(|i| first.wrapping_add(i as u8)) {
            let cost_max = best.map_or(u64::MAX, |(cost, _)| cost);
            if let Some(cost) = self.cost(bucket, pilot, slots, cost_max) {
                best = Some((cost, pilot));
            }
        }
        best
    }

    /// What a pilot would cost: the squares of the sizes of the buckets that have its slots; none if that is `cost_max` or more, or if two rows of the
    /// bucket meet.
    fn cost(&self, bucket: u16, pilot: u8, slots: u32, cost_max: u64) -> Option<u64> {
        let keys = &self.mixed[self.keys_of(bucket)];
        let mut cost = 0;
        for mixed in keys {
            let owner = self.owners[slot(*mixed, pilot, slots)];
            if owner != NOBODY {
                let size = self.keys_of(owner).len() as u64;
                cost += size * size;
                if cost >= cost_max || self.recent.contains(&owner) {
                    return None;
                }
            }
        }
        if meet(keys, pilot, slots) { None } else { Some(cost) }
    }

    /// Takes the slots of a bucket away from it.
    fn take_slots(&mut self, owner: u16, slots: u32) {
        let pilot = self.pilots[owner as usize];
        for key in self.keys_of(owner) {
            self.owners[slot(self.mixed[key], pilot, slots)] = NOBODY;
        }
        self.wait(owner);
    }

    fn write(&self, keys: usize, first: u64, seed: u32, division: Division, page: &mut [u8]) -> usize {
        let Division { slots, buckets } = division;
        put(page, 0, &first.to_le_bytes());
        for (at, number) in [(8, keys as u32), (12, slots), (16, buckets), (20, seed)] {
            put(page, at, &number.to_le_bytes());
        }
        put(page, HEADER_BYTES, &self.pilots);
        let mut at = HEADER_BYTES + self.pilots.len();
        let mut free =
            self.owners[..keys].iter().enumerate().filter(|(_, owner)| **owner == NOBODY).map(|(slot, _)| slot);
        for owner in &self.owners[keys..] {
            // Nobody asks for the number of a slot without a row; any will do.
            let number = if *owner == NOBODY { 0 } else { free.next().unwrap_or(0) };
            put(page, at, &(number as u16).to_le_bytes());
            at += 2;
        }
        at
    }
}
