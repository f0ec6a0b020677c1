//! What people are told about wrong models: message, place and advice, one case a line of a table.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::Random;
use lariat_lang::{Severity, Source, StateExpression, load};
use lariat_testkit::{load_text, random_model};

/// The messages of a model as `line:column message [label] (help)`.
fn messages(text: &str) -> Vec<String> {
    let source = Source::new("m.dve", text);
    let diagnostics = match load(&source) {
        Ok(loaded) => loaded.warnings,
        Err(diagnostics) => diagnostics,
    };
    diagnostics
        .iter()
        .map(|d| {
            let place = source.position(d.span.start);
            let severity = if d.severity == Severity::Warning { "warning: " } else { "" };
            let label = if d.label.is_empty() { String::new() } else { format!(" [{}]", d.label) };
            let help = d.help.as_ref().map_or_else(String::new, |h| format!(" ({h})"));
            format!("{}:{} {severity}{}{label}{help}", place.line, place.column, d.message)
        })
        .collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(messages(text), expected, "\n{text}");
}

/// A process around the transitions given, in line 3 from column 1 on.
fn transitions(text: &str) -> String {
    format!(
        "byte x, a[2]; const byte k = 1; channel c, d; channel {{byte}} q[1];\nprocess P {{ byte l; state s, t; init s; trans\n{text}\n}} system async;"
    )
}

#[test]
fn syntax_errors() {
    check("byte x system async;", &["1:6 expected `;`, found the word `system` [expected `;` after this]"]);
    check(
        "bite x; system async;",
        &[
            "1:1 expected a declaration (`byte`, `int`, `const`, `channel`, `process`) or `system`, found `bite` [expected a declaration (`byte`, `int`, `const`, `channel`, `process`) or `system`] (did you mean `byte`?)",
        ],
    );
    check(
        &transitions("s -> t { guard x = 1; };"),
        &["3:18 `=` assigns and belongs into an effect (to compare, write `==`)"],
    );
    check(
        &transitions("s -> t { guard !x; };"),
        &["3:16 `!` sends on a channel; it does not negate [expected an expression] (to negate, write `not`)"],
    );
    check(&transitions("s -> t { effect x == 1; };"), &["3:19 `==` compares [expected `=`] (to assign, write `=`)"]);
    check(
        &transitions("s -> t { effect 3 = x; };"),
        &[
            "3:17 expected the variable or array element that is assigned, found `3` [expected the variable or array element that is assigned]",
        ],
    );
    check(
        &transitions("s -> t { sync c; };"),
        &["3:16 expected `!` to send or `?` to receive, found `;` [expected `!` to send or `?` to receive]"],
    );
    check(
        &transitions("s -> state { };"),
        &[
            "3:6 `state` is a word of the language and cannot be a name [expected the location that the transition enters]",
        ],
    );
    check(&transitions("s -> t { guard 99999999999 > 1; };"), &["3:16 99999999999 does not fit into 32 bits"]);
    check(&transitions("s -> t { guard 12ab > 1; };"), &["3:16 `12ab` is neither a number nor a name"]);
    check(
        &transitions("s -> t { guard x # 1; };"),
        &["3:18 `#` has no meaning in DVE", "3:16 expected `;`, found `1` [expected `;` after this]"],
    );
}

#[test]
fn several_errors_in_one_reading() {
    check(
        &transitions("s -> t { guard x == ; }\ns - t { },\ns -> t { guard (x; },\ns -> t { };"),
        &[
            "3:21 expected an expression, found `;` [expected an expression]",
            "3:23 expected `,`, found `s` [expected `,` after this]",
            "4:1 expected `->`, found `-` [expected `->` after this]",
            "5:17 expected `)`, found `;` [expected `)` after this]",
        ],
    );
    check(
        "process P { state a; trans a -> a { } } process Q { sate b; init b; } system async;",
        &[
            "1:37 expected `;`, found `}` [expected `;` after this]",
            "1:53 expected `state`, `init`, `accept`, `commit`, `assert`, `trans`, a declaration or `}`, found `sate` [expected `state`, `init`, `accept`, `commit`, `assert`, `trans`, a declaration or `}`] (did you mean `state`?)",
        ],
    );
    check(
        &transitions("u -> v { guard y; sync e!; effect z = w; };"),
        &[
            "3:1 process `P` has no location `u`",
            "3:6 process `P` has no location `v`",
            "3:16 unknown name `y` [not declared]",
            "3:24 there is no channel `e` [unknown channel]",
            "3:35 unknown name `z` [not declared]",
            "3:39 unknown name `w` [not declared]",
        ],
    );
}

#[test]
fn names() {
    let model = "byte counter; process P { byte local; state here, there; init heer; trans here -> there { guard conter > 0; }; } process Q { state a; init a; trans a -> a { guard local > 0; }, a -> a { guard P.hree; }, a -> a { guard here; }, a -> a { guard R.a; }, a -> a { guard P->local; }; } system async;";
    check(
        model,
        &[
            "1:63 process `P` has no location `heer` (did you mean `here`?)",
            "1:97 unknown name `conter` [not declared] (did you mean `counter`?)",
            "1:164 unknown name `local` [not declared] (`local` is local to process `P`)",
            "1:195 process `P` has no location `hree` [unknown location] (did you mean `here`?)",
            "1:219 unknown name `here` [not declared] (for the location write `P.here`)",
            "1:243 there is no process `R` [unknown process]",
            "1:266 only properties may look at variables of a process from outside (make the variable global)",
        ],
    );
    check(
        "byte x; int x; process P { state x, x; init x; } process P { state a; init a; } system async;",
        &[
            "1:13 `x` is declared twice [it is a variable already]",
            "1:37 `x` is declared twice [it is a location already]",
            "1:58 `P` is declared twice [it is a process already]",
        ],
    );
}

#[test]
fn declarations() {
    check(
        "byte x = 256; int y = -40000; byte a[0]; byte b[2] = 3; byte c = {1}; const byte k; byte d[x]; process P { state s; init s; } system async;",
        &[
            "1:10 the initial value 256 does not fit: the type holds 0..255",
            "1:23 the initial value -40000 does not fit: the type holds -32768..32767",
            "1:38 an array has from 1 to 1048576 elements, not 0",
            "1:54 an array is initialised by a list [expected `{VALUE, ...}`]",
            "1:66 a list initialises an array, and this is a single variable",
            "1:82 the constant `k` has no value [expected `= VALUE` after this]",
            "1:92 the length of an array must not depend on variables [expected a constant]",
        ],
    );
    check(
        "byte x = 1 / 0; channel {byte} c; channel d[2]; process P { init s; state s; } process Q { state s; } system async;",
        &[
            "1:10 this has no value: division by zero",
            "1:32 a typed channel needs a capacity [expected `[CAPACITY]` after this] (a capacity of 0 makes sender and receiver move together)",
            "1:45 only a typed channel has a capacity (write `channel {byte} d[...]`)",
            "1:88 process `Q` has no `init` (say where it begins: `init LOCATION;`)",
        ],
    );
    check("byte x; system async;", &["1:22 the model has no process"]);
    check(
        "process P { state s; init s; }",
        &["1:31 the file ends without `system async;` or `system sync;` [expected `system async;` here]"],
    );
    check("process P { state s; init s; } system async property Q;", &["1:54 there is no process `Q`"]);
}

#[test]
fn uses_of_channels_constants_and_arrays() {
    check(
        &transitions("s -> t { sync c!1; }, t -> s { sync c?; }, s -> s { sync q!{1, 2}; }, s -> s { sync x!; };"),
        &[
            "3:37 `c` carries 0 values here [expected 1 value, as it does in line 3]",
            "3:58 `q` carries 2 values here [expected 1 value, as its declaration says]",
            "3:85 `x` is a variable, not a channel [unknown channel]",
        ],
    );
    check(
        &transitions(
            "s -> t { effect k = 1; }, s -> t { sync d?k; }, s -> t { effect x[1] = 2; }, s -> t { guard c; };",
        ),
        &[
            "3:17 `k` is a constant and cannot be assigned",
            "3:43 `k` is a constant and cannot be assigned",
            "3:65 `x` is a variable and has no elements [expected an array]",
            "3:93 `c` is a channel [expected a variable or a constant]",
        ],
    );
    check(
        &transitions("s -> t { effect a = 1; };"),
        &["3:17 warning: `a` is an array; without an index its element 0 is meant (write `a[0]`)"],
    );
}

#[test]
fn the_rendering_shows_line_place_and_advice() {
    let source = Source::new(
        "m.dve",
        "byte counter;\nprocess P { state s; init s; trans\n\ts -> s { guard conter > 0; };\n}\nsystem async;\n",
    );
    let rendered = load(&source).err().expect("an error").render(&source);
    assert_eq!(
        rendered,
        "error: unknown name `conter`
  --> m.dve:3:17
  |
3 |  s -> s { guard conter > 0; };
  |                 ^^^^^^ not declared
  = help: did you mean `counter`?

"
    );
}

#[test]
fn expressions_beside_a_model() {
    let loaded = load_text("byte x; process P { int y; state s; init s; } system async;");
    let check = |text: &str, expected: Option<&str>| match (
        StateExpression::parse("--invariant", text, &loaded.model, &loaded.names),
        expected,
    ) {
        (Ok(_), None) => {}
        (Err((_, diagnostics)), Some(message)) => {
            assert_eq!(diagnostics.iter().next().unwrap().message, message);
        }
        (result, _) => panic!("{text}: {:?}", result.map(|e| e.expression)),
    };
    check("x == 1 && !(P.s imply P->y < 0)", None);
    check("P.t", Some("process `P` has no location `t`"));
    check("P->z", Some("process `P` has no variable `z`"));
    check("Q.s", Some("there is no process `Q`"));
    check("x = 1", Some("expected an operator or the end of the expression, found `=`"));
    check("  ", Some("the expression is empty"));
    check("x == 1 )", Some("expected an operator or the end of the expression, found `)`"));
}

/// Whatever is done to a model, reading it gives an answer; and every error has a place in the text.
#[test]
fn broken_models_give_diagnostics() {
    let pieces = [
        "{", "}", "(", ")", ";", ",", "->", "process", "trans", "guard", "x", "[", "]", "=", "1", "!", "?", "state",
        "é", "\\", "/*", "not",
    ];
    let mut random = Random::new(3);
    let mut n_wrong = 0;
    for seed in 0..4000 {
        let mut text = random_model(seed % 300);
        for _ in 0..1 + random.below(4) {
            let mut at = random.below(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let end = (at + random.below(6)).min(text.len());
            if random.one_in(2) && text.is_char_boundary(end) {
                text.replace_range(at..end, "");
            } else {
                text.insert_str(at, pieces[random.below(pieces.len())]);
            }
        }
        let source = Source::new("m.dve", text.as_str());
        if let Err(diagnostics) = load(&source) {
            n_wrong += 1;
            assert!(diagnostics.has_errors());
            assert!(diagnostics.iter().all(|d| d.span.end as usize <= text.len()));
            assert!(!diagnostics.render(&source).is_empty());
        }
    }
    assert!(n_wrong > 2000);
}
