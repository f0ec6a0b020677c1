//! The compiled graph is the interpreter's, edge by edge in the same order, with the same labels.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::Random;
use lariat_exec::{Interpreter, Label};
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_jit::{Compiled, Unsupported};
use lariat_model::Model;
use lariat_testkit::{expected_cases, load_model, load_text, models_folder, random_model, shared_folder};
use std::collections::HashSet;

/// Explores up to `n_max` states breadth-first in batches and compares all that is asked of both graphs. Where the states go on, random
/// walks look at what lies deeper. Returns the number of states; none if the model is not compiled.
fn compare(name: &str, model: &Model, labels: Vec<Label>, n_max: usize) -> Option<usize> {
    let interpreter = Interpreter::new(model, labels);
    let compiled = match Compiled::new(&interpreter) {
        Ok(compiled) => compiled,
        Err(Unsupported::Model(_)) => return None,
        Err(other) => panic!("{name}: {other}"),
    };
    let width = interpreter.row_bytes();
    let mut seen = HashSet::new();
    let mut level = RowBuffer::new(width);
    interpreter.initial(&mut level);
    level.as_rows().iter().for_each(|row| assert!(seen.insert(row.to_vec())));
    let mut checks = Checks { name, interpreter: &interpreter, compiled: &compiled };
    while !level.is_empty() && seen.len() < n_max {
        let edges = checks.same(level.as_rows());
        let mut next = RowBuffer::new(width);
        for row in edges.targets().iter() {
            if seen.len() < n_max && seen.insert(row.to_vec()) {
                next.push(row);
            }
        }
        level = next;
    }
    if seen.len() >= n_max {
        for seed in 0..10 {
            checks.walk(&mut Random::new(seed), n_max / 20);
        }
    }
    Some(seen.len())
}

struct Checks<'c> {
    name: &'c str,
    interpreter: &'c Interpreter<'c>,
    compiled: &'c Compiled<'c, 'c>,
}

impl Checks<'_> {
    fn same(&mut self, rows: Rows<'_>) -> Edges {
        let (mut wanted, mut edges) = (Edges::new(rows.width()), Edges::new(rows.width()));
        let wanted_result = self.interpreter.expander().expand(rows, &mut wanted);
        assert_eq!(self.compiled.expander().expand(rows, &mut edges), wanted_result, "{}", self.name);
        assert_eq!(edges.n_sources(), rows.len());
        for (i, row) in rows.iter().enumerate() {
            let wanted: Vec<&[u8]> = wanted.targets_of(i).iter().collect();
            let found: Vec<&[u8]> = edges.targets_of(i).iter().collect();
            let cells = self.interpreter.layout().cells(row);
            assert_eq!(found, wanted, "{}: {cells:?}: {:?}", self.name, self.interpreter.steps(row));
            assert_eq!(self.compiled.is_error(row), self.interpreter.is_error(row));
        }
        let (mut wanted_labels, mut labels) = (Vec::new(), Vec::new());
        let wanted_result = self.interpreter.expander().labels(rows, &mut wanted_labels);
        assert_eq!(self.compiled.expander().labels(rows, &mut labels), wanted_result, "{}", self.name);
        assert_eq!(labels, wanted_labels, "{}", self.name);
        edges
    }

    fn walk(&mut self, random: &mut Random, n_steps: usize) {
        let mut row = self.interpreter.initial_row();
        for _ in 0..n_steps {
            let edges = self.same(Rows::new(&row, row.len()));
            if edges.targets().is_empty() {
                return;
            }
            row = edges.targets().row(random.below(edges.targets().len())).to_vec();
        }
    }
}

/// Every guard of the model as labels of all kinds, up to 64.
fn labels(model: &Model, propositions: bool) -> Vec<Label> {
    let mut labels = vec![Label::Error, Label::AssertionFailed];
    for guard in model.transitions.iter().filter_map(|t| t.guard.clone()).take(20) {
        labels.extend([Label::True(guard.clone()), Label::False(guard.clone())]);
        if propositions {
            labels.push(Label::Proposition { text: "guard".to_owned(), expression: guard });
        }
    }
    labels
}

#[test]
fn random_models() {
    let (mut n_states, mut n_compiled) = (0, 0);
    for seed in 0..2000 {
        let text = random_model(seed);
        let loaded = load_text(&text);
        let labels = labels(&loaded.model, seed % 2 == 0);
        if let Some(n) = compare(&format!("seed {seed}\n{text}"), &loaded.model, labels, 2000) {
            n_states += n;
            n_compiled += 1;
        }
    }
    assert!(n_compiled > 1500 && n_states > 50_000, "{n_compiled} models, {n_states} states");
}

#[test]
fn our_models() {
    for case in expected_cases() {
        let loaded = load_model(&models_folder().join(&case.model), &case.parameters);
        compare(&case.model, &loaded.model, labels(&loaded.model, false), 20_000);
    }
}

#[test]
fn beem_models() {
    let Some(folder) = shared_folder() else { return };
    let mut paths: Vec<_> = std::fs::read_dir(folder.join("beem")).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "dve"));
    paths.sort();
    for path in paths {
        let loaded = load_model(&path, &[]);
        let name = path.display().to_string();
        compare(&name, &loaded.model, labels(&loaded.model, false), 10_000);
    }
}

/// Arrays and buffers that are larger than a word, with elements alike and not, read and written at any index after other writes.
#[test]
fn large_arrays_and_buffers() {
    let text = "
byte a[40]; int b[12] = {5, -300, 7}; byte i; byte j; int s;
channel {byte, int} q[9];
process P { state s0, s1, s2; init s0; trans
  s0 -> s1 { guard a[i] < 3; effect a[i] = a[i] + 1, a[39 - i] = a[i] * 20, s = a[39 - i] + a[j]; },
  s1 -> s0 { guard b[i % 12] < 200; effect b[j] = b[i % 12] * 7 - 100, s = b[j] + b[(i + 1) % 12], b[0] = s; },
  s1 -> s2 { sync q!{i, b[j]}; effect i = (i * 7 + 3) % 41; },
  s2 -> s0 { effect j = (j + 5) % 13, i = (i + 1) % 40; },
  s2 -> s1 { guard a[i] > 1 and b[j] > -200; effect s = 0, a[i] = 0; }; }
process Q { byte x; int y; state t0, t1; init t0; trans
  t0 -> t1 { sync q?{a[j], y}; effect x = a[j], a[x % 40] = 2; },
  t0 -> t1 { sync q?{x, b[i]}; },
  t1 -> t0 { effect x = 0, y = 0; }; }
system async;
";
    let loaded = load_text(text);
    let n = compare("large arrays", &loaded.model, labels(&loaded.model, false), 50_000);
    assert!(n.is_some_and(|n| n >= 50_000), "{n:?}");
}

/// Where an inferred range were wrong, both say so, in the same words.
#[test]
fn broken_ranges_are_told() {
    let texts = [
        "byte x; process P { state a; init a; trans a -> a { guard x < 9; effect x = x + 1; }; } system async;",
        "byte x[3] = {1, 2}; process P { byte i; state a; init a; trans a -> a { guard x[i] < 9; effect x[i] = x[i] + 1, \
         i = (i + 1) % 3; }; } system async;",
    ];
    for text in texts {
        let mut model = load_text(text).model;
        model.cells[0].range.high = 4;
        let interpreter = Interpreter::new(&model, Vec::new());
        let compiled = Compiled::new(&interpreter).unwrap();
        let mut row = interpreter.initial_row();
        let mut n_steps = 0;
        let error = loop {
            let (mut wanted, mut edges) = (Edges::new(row.len()), Edges::new(row.len()));
            let wanted_result = interpreter.expander().expand(Rows::new(&row, row.len()), &mut wanted);
            let result = compiled.expander().expand(Rows::new(&row, row.len()), &mut edges);
            assert_eq!(result, wanted_result);
            match result {
                Ok(()) => row = edges.targets().row(0).to_vec(),
                Err(error) => break error,
            }
            n_steps += 1;
        };
        assert!(n_steps > 2 && error.to_string().contains("became 5"), "{n_steps}: {error}");
    }
}
