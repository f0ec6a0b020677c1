//! How small sorted states become on disk, and how fast they are encoded, decoded, merged, subtracted and sorted.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]
#![allow(clippy::disallowed_methods, reason = "programs for developers read files and the environment")]

use clap::Parser;
use lariat_base::{MemoryBudget, Random};
use lariat_bench::data;
use lariat_bench::table::{Column, Table};
use lariat_bench::temporary::TemporaryFolder;
use lariat_disk::{Disk, FaultyDisk, SystemDisk, SystemDiskOptions};
use lariat_exec::Interpreter;
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_jit::Compiled;
use lariat_storage::sort::sort_rows;
use lariat_storage::stream::{Merge, RowStream, SliceStream, Subtract};
use lariat_storage::{Key, RowTable, Run, RunOptions, RunReader, RunWriter, Value, for_row_width};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Explore models, sort their states, and measure sorted runs of them: all states, the largest BFS level, and a random tenth.
///
/// Everything but the time of the disk is measured: files are in memory unless --disk is given. Rows/s are millions, for each second of one core.
#[derive(Parser)]
#[command(name = "codec")]
struct Options {
    /// The models, without their ending
    #[arg(default_values = ["peterson.4", "szymanski.4", "at.4", "bakery.5", "fischer.6", "adding.6", "lamport.6", "rether.6", "lifts.7"])]
    models: Vec<String>,

    /// The rows that are compressed together
    #[arg(long)]
    group_rows: Option<usize>,

    /// The bytes of a block
    #[arg(long, default_value_t = 128 << 10)]
    block_bytes: usize,

    /// Write to files in the temporary directory
    #[arg(long)]
    disk: bool,
}

const MEMORY: u64 = 16 << 30;

fn main() -> ExitCode {
    let options = Options::parse();
    let shared = match data::shared_folder() {
        Ok(shared) => shared,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let columns = ["rows", "width", "varint", "bytes/row", "encode", "decode", "merge", "subtract", "sort", "std sort"];
    let mut all = vec![Column { title: "states", width: 28 }];
    all.extend(columns.map(|title| Column { title, width: 9 }));
    let table = Table::start(&all);
    for model in &options.models {
        let path = shared.join(format!("beem/{model}.dve"));
        let (rows, largest_level, width) = explore(&path);
        for_row_width!(width, K => measure_model::<K>(model, &rows, &largest_level, width, &options, &table));
    }
    ExitCode::SUCCESS
}

/// All rows of a model, those of its largest level, and their width.
fn explore(path: &Path) -> (Vec<u8>, Vec<u8>, usize) {
    let loaded = lariat_testkit::load_model(path, &[]);
    let interpreter = Interpreter::new(&loaded.model, Vec::new());
    let compiled = Compiled::new(&interpreter).ok();
    let graph: &dyn Graph = compiled.as_ref().map_or(&interpreter, |compiled| compiled);
    let width = graph.row_bytes();
    let budget = MemoryBudget::new(MEMORY);
    let Ok(mut table) = RowTable::new(width, &budget) else {
        return (Vec::new(), Vec::new(), width);
    };
    let (mut rows, mut largest) = (Vec::new(), Vec::new());
    // Whether there is no room for the new ones of some rows.
    let mut is_full = |found: Rows<'_>, rows: &mut Vec<u8>| {
        let add_new = |i, _, is_new: bool| rows.extend_from_slice(if is_new { found.row(i) } else { &[] });
        table.insert_each(found, add_new).is_err()
    };
    let mut initial = RowBuffer::new(width);
    graph.initial(&mut initial);
    let mut ends = is_full(initial.as_rows(), &mut rows);
    let (mut expander, mut edges) = (graph.expander(), Edges::new(width));
    let mut start = 0;
    while start < rows.len() && !ends {
        let level = rows[start..].to_vec();
        start = rows.len();
        for batch in level.chunks(width * 512) {
            edges.clear();
            ends |= expander.expand(Rows::new(batch, width), &mut edges).is_err();
            ends |= is_full(edges.targets(), &mut rows);
        }
        if level.len() > largest.len() {
            largest = level;
        }
    }
    (rows, largest, width)
}

fn measure_model<K: Key>(model: &str, rows: &[u8], level: &[u8], width: usize, options: &Options, table: &Table) {
    let keys = |rows: &[u8]| -> Vec<K> { rows.chunks_exact(width).map(K::from_row).collect() };
    let mut random = Random::new(1);
    let mut tenth: Vec<K> = keys(rows);
    tenth.retain(|_| random.one_in(10));
    for (what, keys) in [("", keys(rows)), (", largest level", keys(level)), (", random tenth", tenth)] {
        let cells = measure(keys, width, options).unwrap_or_else(|error| vec![error.to_string()]);
        table.row(&[vec![format!("{model}{what}")], cells].concat());
    }
}

fn measure<K: Key>(
    unsorted: Vec<K>,
    width: usize,
    options: &Options,
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let budget = MemoryBudget::new(MEMORY);
    let n = unsorted.len();
    let rate = |started: Duration| format!("{:.0}", n as f64 / (cpu_time() - started).as_secs_f64() / 1e6);
    // Shuffled, since the order in which a search finds states is nearly sorted in places.
    let mut random = Random::new(2);
    let mut unsorted = unsorted;
    for i in (1..n).rev() {
        unsorted.swap(i, random.below(i + 1));
    }
    let mut keys = unsorted.clone();
    let started = cpu_time();
    keys.sort_unstable();
    let std_sort = rate(started);
    let mut keys = unsorted;
    let started = cpu_time();
    sort_rows(&mut keys);
    let sort = rate(started);

    let folder = TemporaryFolder::new("codec")?;
    let system;
    let simulated = FaultyDisk::default();
    let disk: &dyn Disk = if options.disk {
        system = SystemDisk::open(&folder.path().join("disk"), SystemDiskOptions::default())?;
        &system
    } else {
        &simulated
    };
    let shape = RunOptions::new(width);
    let group_rows = options.group_rows.unwrap_or(shape.group_rows);
    let shape = RunOptions { group_rows, block_bytes: options.block_bytes, ..shape };
    let write = |name: &str, keys: &[K]| -> Result<Run<'_, K>, lariat_storage::StorageError> {
        let mut writer = RunWriter::new(disk, name, &shape, &budget)?;
        writer.push_batch(keys, &vec![(); keys.len()])?;
        writer.finish()
    };
    let started = cpu_time();
    let run = write("all", &keys)?;
    let encode = rate(started);
    let started = cpu_time();
    drain(RunReader::<K>::new(&run, 4, &budget)?)?;
    let decode = rate(started);

    let part = |i: usize| -> Vec<K> { keys.iter().skip(i).step_by(8).copied().collect() };
    let parts: Vec<Run<'_, K>> = (0..8).map(|i| write(&format!("part-{i}"), &part(i))).collect::<Result<_, _>>()?;
    let readers = parts.iter().map(|run| RunReader::<K>::new(run, 2, &budget)).collect::<Result<Vec<_>, _>>()?;
    let started = cpu_time();
    drain(Merge::new(readers, |(), ()| (), 2048, &budget)?)?;
    let merge = rate(started);
    let candidates: Vec<K> = keys.iter().skip(7).step_by(30).copied().collect();
    let started = cpu_time();
    drain(Subtract::new(SliceStream::of_keys(&candidates), RunReader::<K>::new(&run, 4, &budget)?, 2048, &budget)?)?;
    let subtract = rate(started);

    let mut varint = Vec::new();
    for pair in keys.windows(2) {
        varint.push(pair[1].minus(pair[0]));
    }
    let varint: usize = varint.iter().map(|difference| lariat_storage::run::Literal::varint_bytes(*difference)).sum();
    let per_row = |bytes: u64| format!("{:.3}", bytes as f64 / n.max(1) as f64);
    let sizes = [n.to_string(), width.to_string(), per_row(varint as u64), per_row(run.bytes())];
    Ok([sizes.to_vec(), vec![encode, decode, merge, subtract, sort, std_sort]].concat())
}

/// The time that this thread has computed: other programs on the machine do not count.
fn cpu_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Takes all rows.
fn drain<K: Key, V: Value>(mut stream: impl RowStream<K, V>) -> Result<u64, lariat_storage::StorageError> {
    let mut rows = 0;
    loop {
        let n = stream.batch()?.0.len();
        if n == 0 {
            return Ok(rows);
        }
        rows += n as u64;
        stream.consume(n);
    }
}
