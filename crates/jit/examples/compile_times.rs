//! How long models take to compile: `cargo run --release --example compile_times -- FILES`.

#![allow(clippy::print_stdout, reason = "a developer's program")]

use lariat_exec::Interpreter;
use lariat_jit::Compiled;
use std::path::Path;
use std::time::Instant;

fn main() {
    let mut times = Vec::new();
    for file in std::env::args().skip(1) {
        let loaded = lariat_testkit::load_model(Path::new(&file), &[]);
        let interpreter = Interpreter::new(&loaded.model, Vec::new());
        let started = Instant::now();
        let result = Compiled::new(&interpreter).err().map_or_else(String::new, |why| format!(": {why}"));
        times.push((started.elapsed().as_secs_f64() * 1e3, loaded.model.transitions.len(), format!("{file}{result}")));
    }
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (milliseconds, transitions, file) in times {
        println!("{milliseconds:8.2} ms {transitions:6} transitions  {file}");
    }
}
