//! How fast compiled models make successors: `cargo run --release --example expand_speed -- FILES`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a developer's program")]

use lariat_exec::Interpreter;
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_jit::Compiled;
use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

fn main() {
    for file in std::env::args().skip(1) {
        let loaded = lariat_testkit::load_model(Path::new(&file), &[]);
        let interpreter = Interpreter::new(&loaded.model, Vec::new());
        let compiled = Compiled::new(&interpreter).unwrap();
        let width = compiled.row_bytes();
        let mut all = RowBuffer::new(width);
        compiled.initial(&mut all);
        let mut seen: HashSet<Vec<u8>> = all.as_rows().iter().map(<[u8]>::to_vec).collect();
        let mut expander = compiled.expander();
        let mut edges = Edges::new(width);
        let mut at = 0;
        while at < all.len() && all.len() < 50_000 {
            edges.clear();
            expander.expand(Rows::new(all.row(at), width), &mut edges).unwrap();
            for row in edges.targets().iter() {
                if seen.insert(row.to_vec()) {
                    all.push(row);
                }
            }
            at += 1;
        }
        let mut best = f64::MAX;
        let mut n = 0;
        for _ in 0..30 {
            let started = Instant::now();
            n = 0;
            for rows in all.as_rows().bytes().chunks(256 * width) {
                edges.clear();
                expander.expand(Rows::new(rows, width), &mut edges).unwrap();
                n += edges.targets().len();
            }
            best = best.min(started.elapsed().as_secs_f64());
        }
        println!(
            "{:8.2} ns a row {:8.2} ns an edge  {} bytes {file}",
            best * 1e9 / all.len() as f64,
            best * 1e9 / n as f64,
            width
        );
    }
}
