//! Runs and set algebra against sorted maps in memory, for rows of all widths, with and without values.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::{MemoryBudget, Random};
use lariat_disk::{Disk, FaultyDisk};
use lariat_storage::block_file::BlockAllowance;
use lariat_storage::stream::{Join, Merge, RowStream, SliceStream, Subtract, intersect, write_all};
use lariat_storage::{Key, Run, RunOptions, RunReader, RunWriter, Value, Wide};
use std::collections::BTreeMap;

type Map<K, V> = BTreeMap<K, V>;
/// One type for all streams, since every other one takes its time to compile.
type Stream<'a, K, V> = Box<dyn RowStream<K, V> + 'a>;

/// Rows that share much, as states do.
fn random_row(width: usize, random: &mut Random) -> Vec<u8> {
    let mut row = vec![0; width];
    for _ in 0..1 + random.below(4) {
        let bound = [2, 4, 256][random.below(3)];
        row[random.below(width)] = random.below(bound) as u8;
    }
    row
}

fn random_map<K: Key, V: Value>(width: usize, n: usize, random: &mut Random) -> Map<K, V> {
    (0..n)
        .map(|_| (K::from_row(&random_row(width, random)), V::from_word(random.next_u64() >> random.below(64))))
        .collect()
}

fn options(width: usize, value_bytes: usize, random: &mut Random) -> RunOptions {
    let group_rows = [1, 3, 20, 1000][random.below(4)];
    RunOptions {
        row_bytes: width,
        value_bytes,
        block_bytes: [4096, 8192][random.below(2)],
        group_rows,
        buffers: 1 + random.below(3),
        blocks_at_once: 1 + random.below(3),
    }
}

fn write<'b, K: Key, V: Value>(
    disk: &dyn Disk,
    name: &str,
    map: &Map<K, V>,
    options: &RunOptions,
    budget: &'b MemoryBudget,
    random: &mut Random,
) -> Run<'b, K> {
    let mut writer = RunWriter::<K, V>::new(disk, name, options, budget).unwrap();
    if random.one_in(2) {
        for (key, value) in map {
            writer.push(*key, *value).unwrap();
        }
    } else {
        let keys: Vec<K> = map.keys().copied().collect();
        let values: Vec<V> = map.values().copied().collect();
        writer.push_batch(&keys, &values).unwrap();
    }
    assert_eq!(writer.rows(), map.len() as u64);
    let run = writer.finish().unwrap();
    assert_eq!(run.rows(), map.len() as u64);
    assert_eq!(run.bounds(), map.first_key_value().map(|(k, _)| (*k, *map.last_key_value().unwrap().0)));
    if random.one_in(2) {
        let again = Run::open(disk, name, options.row_bytes, options.value_bytes, budget).unwrap();
        assert_eq!((again.rows(), again.bytes(), again.bounds()), (run.rows(), run.bytes(), run.bounds()));
        return again;
    }
    run
}

/// Takes all rows, in bites of random size.
fn collect<K: Key, V: Value>(mut stream: Stream<'_, K, V>, random: &mut Random) -> Map<K, V> {
    let (mut map, mut last) = (Map::new(), None);
    loop {
        let (keys, values) = stream.batch().unwrap();
        if keys.is_empty() {
            assert!(stream.batch().unwrap().0.is_empty(), "the end is an end");
            return map;
        }
        let n = if random.one_in(2) { keys.len() } else { 1 + random.below(keys.len()) };
        for (key, value) in keys[..n].iter().zip(values) {
            assert!(last.is_none_or(|last| last < *key), "rows increase");
            last = Some(*key);
            map.insert(*key, *value);
        }
        stream.consume(n);
    }
}

fn reader<'b, K: Key, V: Value>(run: &Run<'b, K>, budget: &'b MemoryBudget, random: &mut Random) -> Stream<'b, K, V> {
    if random.below(2) == 0 {
        // Some of its blocks stay in memory.
        run.keep_blocks(&BlockAllowance::new(random.below(64 << 10) as u64));
    }
    Box::new(RunReader::new(run, 1 + random.below(3), budget).unwrap())
}

fn check<K: Key, V: Value>(width: usize, random: &mut Random, combine: fn(V, V) -> V) {
    let budget = MemoryBudget::new(1 << 30);
    let disk = FaultyDisk::default();
    let value_bytes = if V::BYTES > 16 { width } else { V::BYTES };
    let maps: Vec<Map<K, V>> = (0..1 + random.below(5))
        .map(|_| {
            let n = [0, 1, 30, 2000][random.below(4)];
            random_map(width, n, random)
        })
        .collect();
    let runs: Vec<Run<K>> = maps
        .iter()
        .enumerate()
        .map(|(i, map)| {
            let options = options(width, value_bytes, random);
            write(&disk, &format!("run-{i}"), map, &options, &budget, random)
        })
        .collect();
    for (run, map) in runs.iter().zip(&maps) {
        assert_eq!(collect(reader::<K, V>(run, &budget, random), random), *map);
        check_skips(run, map, width, &budget, random);
    }

    let batch_rows = [1, 7, 500][random.below(3)];
    let mut union: Map<K, V> = Map::new();
    for (key, value) in maps.iter().flatten() {
        union.entry(*key).and_modify(|old| *old = combine(*old, *value)).or_insert(*value);
    }
    let readers: Vec<Stream<K, V>> = runs.iter().map(|run| reader(run, &budget, random)).collect();
    let mut merge: Stream<K, V> = Box::new(Merge::new(readers, combine, batch_rows, &budget).unwrap());
    let mut writer = RunWriter::new(&disk, "union", &options(width, value_bytes, random), &budget).unwrap();
    write_all(&mut merge, &mut writer).unwrap();
    let merged = writer.finish().unwrap();
    assert_eq!(collect(reader::<K, V>(&merged, &budget, random), random), union);

    let first = &maps[0];
    let without: Map<K, V> = union.iter().filter(|(k, _)| !first.contains_key(k)).map(|(k, v)| (*k, *v)).collect();
    for (a, b, expected) in [(&merged, &runs[0], without), (&runs[0], &merged, Map::new())] {
        let (a, b) = (reader::<K, V>(a, &budget, random), reader::<K, V>(b, &budget, random));
        let left = collect(Box::new(Subtract::new(a, b, batch_rows, &budget).unwrap()), random);
        assert_eq!(left, expected);
    }

    let last = &maps[maps.len() - 1];
    let both = first.iter().filter_map(|(k, v)| Some((*k, combine(*v, *last.get(k)?)))).collect();
    let (keys, values): (Vec<K>, Vec<V>) = first.iter().map(|(k, v)| (*k, *v)).unzip();
    let a: Stream<K, V> = Box::new(SliceStream::new(&keys, &values));
    let b = reader::<K, V>(&runs[runs.len() - 1], &budget, random);
    assert_eq!(collect(Box::new(intersect(a, b, combine, batch_rows, &budget).unwrap()), random), both);
    let known: Map<K, u8> = union.keys().map(|k| (*k, u8::from(last.contains_key(k)))).collect();
    let judge = |_: V, other: Option<V>| Some(u8::from(other.is_some()));
    let (a, b) = (reader::<K, V>(&merged, &budget, random), reader::<K, V>(&runs[runs.len() - 1], &budget, random));
    assert_eq!(collect(Box::new(Join::new(a, b, judge, batch_rows, &budget).unwrap()), random), known);

    drop((runs, merged, merge));
    assert_eq!(budget.used(), 0, "everything is given back");
}

/// Skipping to keys, and reading a range, give what a map gives.
fn check_skips<'b, K: Key, V: Value>(
    run: &Run<'b, K>,
    map: &Map<K, V>,
    width: usize,
    budget: &'b MemoryBudget,
    random: &mut Random,
) {
    let mut stream = reader::<K, V>(run, budget, random);
    let mut targets: Vec<K> = (0..random.below(20)).map(|_| K::from_row(&random_row(width, random))).collect();
    targets.sort();
    for target in targets {
        stream.skip_to(target).unwrap();
        let expected = map.range(target..).next().map(|(k, v)| (*k, *v));
        let (keys, values) = stream.batch().unwrap();
        assert_eq!(keys.first().map(|key| (*key, values[0])), expected);
        let n = keys.len().min(random.below(3));
        let behind = n.checked_sub(1).map(|last| keys[last]);
        stream.consume(n);
        if behind.is_some_and(|behind| behind >= target) {
            break;
        }
    }
    let mut ends = [0; 2].map(|_| K::from_row(&random_row(width, random)));
    ends.sort();
    let mut stream = RunReader::<K, V>::new(run, 1 + random.below(3), budget).unwrap();
    stream.limit_to(random.one_in(2).then_some(ends[0]), Some(ends[1])).unwrap();
    let found = collect(Box::new(stream), random);
    let from = found.first_key_value().map_or(ends[1], |(k, _)| *k);
    assert!(found.iter().eq(map.range(from.min(ends[1])..ends[1])));
    assert!(map.range(ends[0]..ends[1]).all(|(k, _)| found.contains_key(k)));
}

fn check_values<K: Key>(width: usize, random: &mut Random) {
    match random.below(3) {
        0 => check::<K, ()>(width, random, |(), ()| ()),
        1 => check::<K, u32>(width, random, u32::wrapping_add),
        _ => check::<K, K>(width, random, K::max),
    }
}

#[test]
fn runs_and_their_algebra_are_those_of_maps() {
    let mut random = Random::new(17);
    for _ in 0..8 {
        (1..=8).for_each(|width| check_values::<u64>(width, &mut random));
        (9..=16).for_each(|width| check_values::<u128>(width, &mut random));
        (17..=24).for_each(|width| check_values::<Wide<3>>(width, &mut random));
        (25..=40).for_each(|width| check_values::<Wide<5>>(width, &mut random));
    }
}

#[test]
fn very_wide_rows_are_rows_too() {
    let mut random = Random::new(4);
    [300, 1000, 1900].iter().for_each(|width| check::<Wide<256>, u32>(*width, &mut random, u32::max));
}
