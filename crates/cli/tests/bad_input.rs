//! Wrong input gets a clear message and exit code 2, whatever it is.

#![allow(clippy::disallowed_methods, reason = "these tests write models and read traces")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{Ran, lariat, model, scratch, write};
use lariat_base::Random;

/// Runs a check on wrong input; a clear message is one that is short and names the file or the option.
fn refused(arguments: &[&str], part: &str) -> Ran {
    let ran = lariat(arguments).expect(2);
    assert!(ran.err.contains(part), "expected `{part}` in: {}", ran.err);
    assert!(ran.err.len() < 20_000, "{} bytes of message", ran.err.len());
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert!(ran.out.is_empty(), "{}", ran.out);
    ran
}

#[test]
fn files_that_are_no_models() {
    let folder = scratch("no_models");
    let file = |name: &str, contents: &[u8]| write(&folder, name, contents);
    refused(&["check", &file("empty.dve", b"")], "empty.dve:1:1");
    refused(&["check", &file("blank.dve", b" \n\n// nothing\n")], "system async");
    refused(&["check", &file("binary.dve", &[0x7f, b'E', b'L', b'F', 0, 1, 2, 0xff])], "not a text file");
    refused(&["check", &file("noise.dve", &[0xff, 0xfe, 0x80, 0x81, b'\n', 0xc3, 0x28])], "error");
    refused(&["check", &file("open.dve", "{".repeat(10_000_000).as_bytes())], "expected a declaration");
    refused(&["check", &file("close.dve", "}".repeat(10_000_000).as_bytes())], "expected a declaration");
    refused(&["check", &file("both.dve", "{}".repeat(5_000_000).as_bytes())], "expected a declaration");
    refused(&["check", &file("lines.dve", "{\n".repeat(1_000_000).as_bytes())], "expected a declaration");
    refused(&["check", &file("comment.dve", b"byte x; /* no end")], "does not end");
    refused(&["check", "/no/such/file.dve"], "cannot read /no/such/file.dve");
    refused(&["check", &folder.display().to_string()], "names end in .dve");
    refused(&["check", &file("model.txt", b"")], ".dve");
}

#[test]
fn models_that_are_too_deep() {
    let folder = scratch("too_deep");
    let with_guard = |name: &str, guard: &str| {
        let text = format!("byte x; process P {{ state a; init a; trans a -> a {{ guard {guard}; }}; }} system async;");
        write(&folder, name, text.as_bytes())
    };
    let deep = format!("{}x{}", "(".repeat(100_000), ")".repeat(100_000));
    refused(&["check", &with_guard("parentheses.dve", &deep)], "nested");
    refused(&["check", &with_guard("not.dve", &format!("{}x", "not ".repeat(100_000)))], "nested");
    refused(
        &["check", &with_guard("index.dve", &format!("{}x{}", "x[".repeat(100_000), "]".repeat(100_000)))],
        "nested",
    );
    refused(&["check", &with_guard("chain.dve", &format!("x{}", " + x".repeat(100_000)))], "in a row");
    // What is only long is read.
    lariat(&["check", &with_guard("long.dve", &format!("x{}", " || x".repeat(3_000)))]).expect(1);
    lariat(&["check", &with_guard("nested.dve", &format!("{}x{}", "(".repeat(300), ")".repeat(300)))]).expect(1);
}

#[test]
fn a_model_with_ten_thousand_variables_is_checked() {
    let folder = scratch("many_variables");
    let mut text = String::new();
    for i in 0..10_000 {
        text.push_str(&format!("byte v{i} = {};\n", i % 256));
    }
    text.push_str("process P { state a, b; init a; trans a -> b { effect v5000 = v4999 - 1; }; } system async;\n");
    let file = write(&folder, "many.dve", text.as_bytes());
    let found = lariat(&["explore", &file, "--json"]).expect(0).json();
    assert_eq!(found["states"], 2);
    refused(&["check", &write(&folder, "typo.dve", text.replace("v4999 -", "v49990 -").as_bytes())], "did you mean");
    // All of them change.
    let text = text.replace("trans a -> b", "trans a -> a { effect v0 = v1; }, a -> b");
    lariat(&["explore", &write(&folder, "all.dve", text.as_bytes()), "--json"]).expect(0);
    let effects: Vec<String> = (0..10_000).map(|i| format!("v{i} = v{}", (i + 1) % 10_000)).collect();
    let text = text.replace("effect v0 = v1", &format!("guard v0 < 5; effect {}", effects.join(", ")));
    let found = lariat(&["explore", &write(&folder, "wide.dve", text.as_bytes()), "--json"]).expect(0).json();
    assert!(found["model"]["state_bytes"].as_u64().unwrap() >= 9_000, "{found}");
}

#[test]
fn expressions_that_do_not_fit_the_model() {
    let peterson = model("peterson.mdve");
    let check = |expression: &str, part: &str| {
        refused(&["check", &peterson, "--invariant", expression], part);
        refused(&["check", &peterson, "--reach", expression], part);
    };
    check("P_9.critical", "there is no process `P_9`");
    check("P_0.critcal", "did you mean `critical`?");
    check("P_0->stag == 1", "did you mean `stage`?");
    check("stage_off[0] == 1", "did you mean `stage_of`?");
    check("", "the expression is empty");
    check("1 +", "expected an expression");
    check("(1", "expected `)`");
    check("stage == 1", "unknown name `stage`");
    check("1 2", "expected an operator");
    check("99999999999", "does not fit into 32 bits");
    check("x @ y", "has no meaning");
    check(&"(".repeat(10_000), "nested");
}

#[test]
fn options_that_do_not_exist_or_make_no_sense() {
    let peterson = model("peterson.mdve");
    refused(&["check", &peterson, "--invarint", "true"], "--invariant");
    refused(&["chekc", &peterson], "check");
    refused(&["check"], "MODEL");
    refused(&["check", &peterson, "--memory", "lots"], "not a size");
    refused(&["check", &peterson, "--memory", "1MiB"], "smallest budget");
    refused(&["check", &peterson, "--time-limit", "soon"], "not a time");
    refused(&["check", &peterson, "--threads", "0"], "--threads");
    refused(&["check", &peterson, "--algorithm", "magic"], "ram");
    refused(&["check", &peterson, "-D", "=3"], "NAME=VALUE");
    refused(&["check", &model("river.dve"), "-D", "N=3"], "only .mdve models have parameters");
    refused(&["replay", &peterson, "/no/such/trace.itf.json"], "cannot read");
    refused(&["replay", &peterson, &peterson], "not a trace");
}

#[test]
fn macro_errors_name_their_line() {
    let folder = scratch("macros");
    let file = write(&folder, "m.mdve", b"byte x;\ndefine(`a', `b\nprocess P {");
    refused(&["check", &file], "m.mdve:");
    // An error in the expanded text points to the line that it came from.
    let text = b"default(N, 2)\nbyte x;\nforloop(i, 1, N, `\nprocess P_`'i { state a; init a; trans a -> a { guard y == i; }; }\n')\nsystem async;\n";
    let file = write(&folder, "n.mdve", text);
    refused(&["check", &file], "n.mdve:4:");
}

/// Models with pieces cut out, doubled and swapped: whatever comes out, there is an answer and no crash.
#[test]
fn broken_models_never_crash() {
    let folder = scratch("broken");
    let mut random = Random::new(11);
    for seed in 0..150 {
        let mut text = lariat_testkit::random_model(seed).into_bytes();
        for _ in 0..1 + random.below(3) {
            let (from, length) = (random.below(text.len()), random.below(12));
            let piece: Vec<u8> = text[from..(from + length).min(text.len())].to_vec();
            let to = random.below(text.len());
            if random.one_in(2) {
                text.drain(from..(from + length).min(text.len()));
            }
            let to = to.min(text.len());
            text.splice(to..to, piece);
        }
        let file = write(&folder, "broken.dve", &text);
        let ran = lariat(&["model", &file, "--quiet"]);
        assert!(ran.code == 0 || ran.code == 2, "{}\n{}", ran.err, String::from_utf8_lossy(&text));
    }
}
