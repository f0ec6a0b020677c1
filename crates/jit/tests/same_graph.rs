//! The compiled graph is the interpreter's, edge by edge in the same order, with the same labels; so is the product with a property process.
//!
//! Every message begins with the seed; `LARIAT_SEED` sets another one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests read models, and the seed from the environment")]

mod compare;

use compare::{compare, labels, seed};
use lariat_exec::Interpreter;
use lariat_graph::{Edges, Graph, Rows};
use lariat_jit::Compiled;
use lariat_model::Composition;
use lariat_testkit::{
    expected_cases, load_model, load_text, models_folder, random_model, random_model_with_property, shared_folder,
};

/// States of each model of files.
const STATES: usize = 10_000;

/// Random models, as they are, with a property process, and with rows too wide for registers.
#[test]
fn random_models() {
    let (mut n_states, mut n_synchronous, mut n_properties) = (0, 0, 0);
    for i in 0..1500 {
        let seed = seed().wrapping_mul(1500).wrapping_add(i);
        let text = match i % 3 {
            0 => random_model(seed),
            1 => random_model_with_property(seed),
            _ => widened(&random_model_with_property(seed)),
        };
        let loaded = load_text(&text);
        n_synchronous += usize::from(loaded.model.composition == Composition::Synchronous);
        n_properties += usize::from(loaded.model.property.is_some());
        let labels = labels(&loaded.model, i % 2 == 0);
        n_states += compare(&text, &loaded.model, labels, 1000, seed);
    }
    assert!(n_states > 100_000, "{n_states} states");
    assert!(n_synchronous > 150 && n_properties > 900, "{n_synchronous} synchronous, {n_properties} with properties");
}

/// The model with a process that changes a large array, which comes first in the row.
fn widened(text: &str) -> String {
    let process = "process Wide { byte k; state w; init w; trans
  w -> w { effect wide[k] = (wide[(k + 7) % 170] + k) % 3, k = (k + 31) % 170; }; }";
    format!("byte wide[170];\n{}", text.replacen("process P0", &format!("{process}\nprocess P0"), 1))
}

#[test]
fn our_models() {
    for case in expected_cases() {
        let loaded = load_model(&models_folder().join(&case.model), &case.parameters);
        compare(&case.model, &loaded.model, labels(&loaded.model, false), STATES, seed());
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
        compare(&name, &loaded.model, labels(&loaded.model, false), STATES, seed());
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
    let n = compare("large arrays", &loaded.model, labels(&loaded.model, false), 50_000, seed());
    assert!(n >= 50_000, "{n}");
}

/// So many moves that those of a process, and even of a location, are divided into several functions.
#[test]
fn many_moves() {
    let mut moves = Vec::new();
    for i in 0..500 {
        let (from, to) = (i % 4 * i % 3, (i * 7 + 1) % 4);
        let sync = match i % 5 {
            0 => " sync c!x;",
            1 => " sync d?x;",
            _ => "",
        };
        moves.push(format!("s{from} -> s{to} {{ guard (x + {i}) % 11 < 4;{sync} effect x = (x * 3 + {i}) % 13; }}"));
    }
    let process = |name: &str, commit: &str, moves: &[String]| {
        format!("process {name} {{ byte x; state s0, s1, s2, s3; init s0;{commit} trans {}; }}\n", moves.join(",\n"))
    };
    let other = ["s0 -> s1 { sync c?x; }", "s1 -> s2 { sync d!x; effect x = 0; }", "s2 -> s0 { guard x < 9; }"]
        .map(str::to_owned);
    for commit in ["", " commit s3;"] {
        let text = format!(
            "channel c, d;\n{}{}{}{}system async;\n",
            process("A", "", &moves[..20]),
            process("B", commit, &moves),
            process("C", "", &other),
            process("D", "", &moves[20..60]),
        );
        let loaded = load_text(&text);
        let n = compare(&text, &loaded.model, labels(&loaded.model, false), 2000, seed());
        assert!(n >= 2000, "{n}");
    }
}

/// What a sender's guard says about a shared variable does not outlive the receiver's assignments, which come first; and what a guard says
/// about an array does not outlive a write to an element that is not known.
#[test]
fn what_guards_say_ends_with_the_next_write() {
    let text = "
byte g = 1; byte h; byte a[3] = {1, 1, 1}; byte i; channel c;
process P { byte x; state p; init p; trans
  p -> p { guard g == 1 && x < 3; sync c!g; effect x = x + g; },
  p -> p { guard a[1] == 1 && a[2] == 1; effect a[i] = 2, h = a[1] + a[2], i = (i + 1) % 3; },
  p -> p { guard x == 3 && h > 1; effect x = 0, h = x, g = 1; }; }
process Q { byte y; state q; init q; trans
  q -> q { guard g == 1 && y < 250; sync c?y; effect g = y + 4, y = g + y; },
  q -> q { guard y == 6; sync c?y; effect y = y - 1; },
  q -> q { guard g > 1; effect g = 1, a[0] = 1, a[1] = 1, a[2] = g; }; }
system async;
";
    let loaded = load_text(text);
    let n = compare("guards", &loaded.model, labels(&loaded.model, false), STATES, seed());
    assert!(n > 10, "{n}");
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
