//! Checks what the library adds to m4: errors with lines, limits, includes, and line origins.

use lariat_m4::{Define, Expansion, M4Error, expand};

fn files(name: &str) -> Result<String, String> {
    match name {
        "defs.m4" => Ok("define(`N', `4')dnl\nfrom file\nN\n".to_string()),
        _ => Err(format!("cannot read {name}")),
    }
}

fn run(input: &str) -> Result<Expansion, M4Error> {
    expand(input, &[], &mut files)
}

fn error(input: &str) -> M4Error {
    match run(input) {
        Ok(expansion) => panic!("no error for {input}: {}", expansion.text),
        Err(error) => error,
    }
}

fn check_error(input: &str, line: u32, part: &str) {
    let error = error(input);
    assert_eq!(error.line, line, "{error} for {input}");
    assert!(error.message.contains(part), "{error} for {input}");
}

#[test]
fn defines_of_the_caller_are_made_first() {
    let defines = [Define { name: "N".to_string(), value: "7".to_string() }];
    let expansion = expand("eval(N + 1) ifdef(`N', yes)", &defines, &mut files);
    assert_eq!(expansion.map(|e| e.text), Ok("8 yes".to_string()));
}

#[test]
fn include_asks_the_caller() {
    let expansion = run("a\ninclude(`defs.m4')N\nsinclude(`none')z\n").unwrap();
    assert_eq!(expansion.text, "a\nfrom file\n4\n4\nz\n");
    assert_eq!(expansion.origins, [1, 2, 2, 2, 3]);
    check_error("\ninclude(`none')", 2, "cannot read none");
    let undiverted = run("x undivert(`defs.m4')").unwrap();
    assert_eq!(undiverted.text, "x define(`N', `4')dnl\nfrom file\nN\n");
}

#[test]
fn origins_are_the_lines_where_text_is_written() {
    let source = "\
define(`two', `first
second')dnl
a
two two
`quoted
over lines'
define(`f', `$1')f(x
y
z) tail
# comment
b";
    let expansion = run(source).unwrap();
    assert_eq!(expansion.text, "a\nfirst\nsecond first\nsecond\nquoted\nover lines\nx\ny\nz tail\n# comment\nb");
    assert_eq!(expansion.origins, [3, 1, 2, 2, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn diverted_and_wrapped_lines_keep_their_origins() {
    let source = "m4wrap(`w\n')divert(1)one\ntwo\ndivert(0)x\nundivert(1)y\n";
    let expansion = run(source).unwrap();
    assert_eq!(expansion.text, "x\none\ntwo\ny\nw\n");
    assert_eq!(expansion.origins, [4, 2, 3, 5, 1]);
    let appended = run("divert(1)a\nb\ndivert`'x undivert(1)").unwrap();
    assert_eq!(appended.text, "x a\nb\n");
    assert_eq!(appended.origins, [3, 2]);
    assert!(run("").unwrap().origins.is_empty());
}

#[test]
fn errors_name_the_line_of_the_call() {
    check_error("\n\neval(1 /\n0)", 3, "division by zero");
    check_error("a\nlen(`x", 2, "quoted string");
    check_error("a\nlen(x\n\n", 2, "arguments of len");
    check_error("define(`f', `eval(x)')\n\nf", 3, "bad expression");
    check_error("changecom(`/*', `*/')\n/* x", 2, "comment");
    check_error("incr(`five')", 1, "not a number");
    check_error("regexp(`a', `\\(')", 1, "unmatched");
    check_error("indir(`nothing')", 1, "no macro nothing");
    check_error("format(`%y', 1)", 1, "unknown conversion");
}

#[test]
fn a_failing_exit_tells_its_reason() {
    check_error("\nerrprint(`N must be even ')m4exit(1)", 2, "N must be even");
    check_error("m4exit(2)", 1, "m4exit(2)");
}

#[test]
fn programs_are_not_run() {
    for call in ["syscmd(`ls')", "esyscmd(`ls')", "sysval", "maketemp(x)", "mkstemp(x)"] {
        check_error(call, 1, "running programs from a model is not supported");
    }
    assert_eq!(run("syscmd x").unwrap().text, "syscmd x");
}

#[test]
fn expansions_without_end_are_errors() {
    let endless = "expansion does not end";
    check_error("\ndefine(`x', `x')x", 2, endless);
    check_error("define(`x', `x x')x", 1, endless);
    check_error("define(`x', `a`'x')x", 1, endless);
    check_error("define(`x', `pushdef(`y', `z')x')x", 1, endless);
    check_error("define(`x', `m4wrap(`x')')x", 1, endless);
    check_error("define(`d', `$1$1$1$1$1$1$1$1$1$1')d(d(d(d(d(d(d(d(d(aaaa)))))))))", 1, endless);
    check_error("eval(1, 10, 2000000000)", 1, "too wide");
    check_error("format(`%2000000000d', 1)", 1, "too wide");
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let worker = small.spawn(|| {
        check_error(&"len(".repeat(20_000), 1, "10000");
        check_error("define(`x', `len(x')x", 1, "10000");
        check_error(&format!("eval({}1)", "(".repeat(100_000)), 1, "arguments of eval");
        let parentheses = format!("eval({}1{})", "(".repeat(5000), ")".repeat(5000));
        check_error(&parentheses, 1, "nested too deeply");
        check_error(&format!("regexp(`a', `{}')", "\\(".repeat(5000)), 1, "too many groups");
        let chain = format!("indir({}`len', `abc')", "`indir', ".repeat(50_000));
        assert_eq!(run(&chain).unwrap().text, "3");
        let quotes = format!("{}x{}", "`".repeat(50_000), "'".repeat(50_000));
        assert_eq!(run(&quotes).unwrap().text.len(), 99_999);
        let stars = format!("regexp(`b', `a{}b')", "*".repeat(100_000));
        assert_eq!(run(&stars).unwrap().text, "0");
        assert_eq!(run(&format!("eval({}1)", "- ".repeat(100_000))).unwrap().text, "1");
        let powers = format!("eval(1{})", "**1".repeat(100_000));
        check_error(&powers, 1, "nested too deeply");
    });
    worker.unwrap().join().unwrap();
}

#[test]
fn a_hard_pattern_ends() {
    let text = "a".repeat(2000);
    let input = format!("regexp(`{text}', `\\(a*\\)*b')");
    assert_eq!(run(&input).unwrap().text, "-1");
    let input = format!("regexp(`{text}', `\\(a*\\)*\\1b')");
    check_error(&input, 1, "takes too long");
}

#[test]
fn a_comment_may_end_with_the_input() {
    assert_eq!(run("x # len(a)").unwrap().text, "x # len(a)");
}
