use super::*;
use crate::RowLogOptions;
use lariat_base::Random;
use lariat_disk::{FaultPlan, FaultyDisk};

const PLACEMENTS: [Placement; 3] =
    [Placement::Memory, Placement::Disk { cache_bytes: 0 }, Placement::Disk { cache_bytes: 100_000 }];

#[test]
fn behaves_like_a_vector() {
    let mut random = Random::new(5);
    for round in 0..60 {
        let bits = 1 << (round % 7);
        let placement = PLACEMENTS[random.below(3)];
        let len = 1 + random.below(400_000 / bits);
        let budget = MemoryBudget::new(1 << 23);
        let disk = FaultyDisk::default();
        let mut found = NumberArray::new(len as u64, bits as u32, placement, &disk, "array", &budget).unwrap();
        let mut expected = vec![0_u64; len];
        for step in 0..20_000 {
            let place = random.below(len);
            let value = random.next_u64() & found.max();
            match random.below(4) {
                0 => {
                    found.set(place as u64, value).unwrap();
                    expected[place] = value;
                }
                1 => {
                    let is_new = found.mark(place as u64).unwrap();
                    assert_eq!(is_new, expected[place] == 0);
                    expected[place] = expected[place].max(1);
                }
                2 if step % 100 == 2 => {
                    let items: Vec<u64> = (0..30).map(|_| random.below(len) as u64).collect();
                    found.fetch(&items).unwrap();
                    items.iter().for_each(|i| assert_eq!(found.get(*i).unwrap(), expected[*i as usize]));
                }
                _ => assert_eq!(found.get(place as u64).unwrap(), expected[place]),
            }
            if step == 15_000 && random.one_in(3) {
                found.clear();
                expected.fill(0);
            }
        }
        let mut log = RowLog::new(&disk, "saved", RowLogOptions::smallest(8, FileKind::Table), &budget);
        found.save(&mut log).unwrap();
        log.rest().unwrap();
        let mut loaded = NumberArray::new(len as u64, bits as u32, placement, &disk, "loaded", &budget).unwrap();
        loaded.load(&mut log).unwrap();
        assert!((0..len).all(|place| loaded.get(place as u64).unwrap() == expected[place]));
        drop((loaded, log));
        let ones: u32 = expected.iter().map(|item| item.count_ones()).sum();
        assert_eq!(found.count_ones().unwrap(), u64::from(ones));
        drop(found);
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn has_the_memory_it_was_made_with_whatever_others_take() {
    let (budget, disk) = (MemoryBudget::new(1 << 20), FaultyDisk::default());
    let (len, cache_bytes) = (1 << 20, 1 << 19);
    let mut array = NumberArray::new(len, 8, Placement::Disk { cache_bytes }, &disk, "array", &budget).unwrap();
    budget.reserve(budget.left()).unwrap();
    let items: Vec<u64> = (0..len).step_by(9_000).collect();
    for item in &items {
        array.set(*item, item % 251).unwrap();
    }
    for some in items.chunks(40) {
        array.fetch(some).unwrap();
        some.iter().for_each(|item| assert_eq!(array.get(*item).unwrap(), item % 251));
    }
}

#[test]
fn ranks_count_what_comes_before() {
    let mut random = Random::new(6);
    for placement in PLACEMENTS {
        for len in [1, 63, 64, 65, 5000, 100_000] {
            let budget = MemoryBudget::new(1 << 22);
            let disk = FaultyDisk::default();
            let mut bits = NumberArray::new(len, 1, placement, &disk, "bits", &budget).unwrap();
            let every = 1 + random.below(9);
            let set: Vec<u64> = (0..len).filter(|_| random.one_in(every)).collect();
            set.iter().for_each(|item| bits.set(*item, 1).unwrap());
            let index = RankIndex::new(&mut bits, &budget).unwrap();
            assert_eq!(index.ones(), set.len() as u64);
            for _ in 0..300 {
                let place = random.below(len as usize) as u64;
                let expected = set.partition_point(|item| *item < place) as u64;
                assert_eq!(index.rank(&mut bits, place).unwrap(), expected);
            }
        }
    }
}

#[test]
fn numbers_have_as_many_bits_as_they_need() {
    for (number, bits) in [(0, 1), (1, 1), (2, 2), (4, 4), (15, 4), (16, 8), (256, 16), (1 << 16, 32), (u64::MAX, 64)] {
        assert_eq!(NumberArray::bits_for(number), bits, "{number}");
    }
}

/// Every read and write fails once: the array says so, and never shows other items.
#[test]
fn a_disk_that_fails_is_an_error() {
    let work = |disk: &FaultyDisk| -> Result<(), StorageError> {
        let budget = MemoryBudget::new(1 << 20);
        let mut array = NumberArray::new(100_000, 16, Placement::Disk { cache_bytes: 20_000 }, disk, "array", &budget)?;
        for i in 0..600_u64 {
            array.set(i * 7919 % 100_000, i)?;
        }
        for i in 0..600_u64 {
            assert_eq!(array.get(i * 7919 % 100_000)?, i);
        }
        Ok(())
    };
    let undisturbed = FaultyDisk::default();
    work(&undisturbed).unwrap();
    let changes = undisturbed.changes();
    assert!(changes > 100);
    for change in (1..=changes).step_by(7) {
        let disk = FaultyDisk::new(FaultPlan { crash_at_change: Some(change), ..FaultPlan::default() });
        assert!(matches!(work(&disk), Err(StorageError::Disk(_))), "change {change}");
    }
}
