//! Checks the macros that parameterised models use.

mod program;

use lariat_m4::{Define, Expansion, M4Error, PREAMBLE, expand_model};

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("no file {name}"))
}

fn run(source: &str, defines: &[(&str, &str)]) -> Result<Expansion, M4Error> {
    let define = |&(name, value): &(&str, &str)| Define { name: name.to_string(), value: value.to_string() };
    let defines: Vec<Define> = defines.iter().map(define).collect();
    expand_model(source, &defines, &mut no_files)
}

fn check(source: &str, defines: &[(&str, &str)], expected: &str) {
    match run(source, defines) {
        Ok(expansion) => assert_eq!(expansion.text, expected, "source: {source}"),
        Err(error) => panic!("{error}\nsource: {source}"),
    }
    // The preamble is plain m4, so the program must do the same with it.
    if defines.is_empty() && program::is_gnu() {
        let whole = format!("{PREAMBLE}{source}");
        assert_eq!(program::run(&whole).as_deref(), Some(expected), "{source}");
    }
}

#[test]
fn default_yields_to_the_caller() {
    check("default(N, 3)N", &[], "3");
    check("default(N, 3)N", &[("N", "5")], "5");
    check("default(`N', 3)N", &[("N", "5")], "5");
    check("default(N, 3)N|", &[("N", "")], "|");
    check("default(N, 3)N", &[("N", "2 + 1")], "2 + 1");
    check("default(MODE, fast)MODE", &[("MODE", "slow")], "slow");
    check("default(MODE, fast)MODE", &[], "fast");
    check("default(N,3)default(K,eval(2*N))K default", &[("N", "4")], "8 default");
}

#[test]
fn forloop_runs_over_both_bounds() {
    check("forloop(i, 0, 3, `i,')", &[], "0,1,2,3,");
    check("forloop(i, 1, 0, `i,')|forloop(`i', 2, 2, `i')", &[], "|2");
    check("forloop(i, -1, 1, `i ')i", &[], "-1 0 1 i");
    check("default(N,3)forloop(i,0,N-1,`P(i)')", &[], "P(0)P(1)P(2)");
    check("default(N,3)forloop(i,0,decr(N),`x[i]')", &[("N", "1")], "x[0]");
    check("forloop(i, 1, 2, `forloop(j, i, 2, `(i, j)')')", &[], "(1, 1)(1, 2)(2, 2)");
    check("forloop(i, 0, 1, `q_`'i`'_x ')", &[], "q_0_x q_1_x ");
    check("define(P, `p$1;')forloop(i, 0x1, 1+1, `P(i)')", &[], "p1;p2;");
    let many = run("forloop(i, 1, 20000, `i\n')", &[]);
    assert_eq!(many.map(|e| e.text.lines().count()), Ok(20000));
}

#[test]
fn loops_with_separators() {
    check("{ myloop(i,0,2,`OFF',`,') };", &[], "{ OFF,OFF,OFF };");
    check("myloop(i, 0, 0, `t[i]', ` && ')", &[], "t[0]");
    check("myloop(i, 1, 0, `t[i]', ` && ')|", &[], "|");
    check("myloop(i, 0, 1+1, `t[i] != 0', ` && ')", &[], "t[0] != 0 && t[1] != 0 && t[2] != 0");
    check("define(N, 3)forallx(`a[x];')", &[], "a[0];a[1];a[2];");
}

#[test]
fn comments_are_those_of_dve() {
    let source = "define(N, 3)int a[N]; // don't expand N, or `this\nint b[N];\n";
    check(source, &[], "int a[3]; // don't expand N, or `this\nint b[3];\n");
}

#[test]
fn names_are_macros_only_with_arguments() {
    check("state empty, full, top, push, stack, front;", &[], "state empty, full, top, push, stack, front;");
    check("forloop default myloop async_channel", &[], "forloop default myloop async_channel");
}

#[test]
fn stacks_and_queues() {
    check("stack(s, 2) full(s) empty(s) top(s)", &[], "byte s[2];\nbyte s_act; s_act == 2 s_act == 0 s[s_act-1]");
    check("push(s, 7); pop(s)", &[], "s[s_act] = 7, s_act = s_act + 1; s[s_act-1] = 0, s_act = s_act - 1");
    check("define(q_size, 3)front(q) pop_front(q)", &[], "q[0] q[0] = q[1], q[1] = q[2], q[2] = 0, q_act = q_act - 1");
}

#[test]
fn channels_put_processes_before_the_system_line() {
    let source = "buffer_channel(c, 2)\nasync_channel(d)\nprocess P {}\nsystem async;\n";
    let expected = "\
channel c_in, c_out;
channel d_in, d_out;
process P {}
process channel_c {
byte items[2];
byte items_act;
state run;
init run;
trans
 run -> run { guard items_act < 2; sync c_in?items[items_act]; effect items_act = items_act + 1; },
 run -> run { guard items_act > 0; sync c_out!items[0]; effect items[0] = items[1], items[1] = 0, items_act = items_act - 1; };
}
process channel_d {
byte held;
state idle, loaded;
init idle;
trans
 idle -> loaded { sync d_in?held; },
 loaded -> idle { sync d_out!held; };
}
system async;
";
    check(source, &[], expected);
    let expansion = run(source, &[]).unwrap();
    assert_eq!(expansion.origins[..4], [1, 2, 3, 1]);
    assert_eq!(expansion.origins.last(), Some(&4));
    let lossy = run("loosy_channel(a)bounded_loosy_channel(b, 3)system", &[]).unwrap();
    let lost = "loaded -> idle { sync a_out!held; },\n loaded -> idle { };\n";
    assert!(lossy.text.contains(lost));
    assert!(lossy.text.contains("byte held, losses;"));
    assert!(lossy.text.contains("{ sync b_out!held; effect losses = 0; },"));
    let bounded = "{ guard losses < 3; effect losses = losses + 1; };";
    assert!(lossy.text.contains(bounded));
}

#[test]
fn a_whole_model() {
    let source = "\
// two to N clients
default(N, 2)
default(ERROR, 0)
bool busy[N];
define(client, `process C_$1 {
state idle, work;
init idle;
trans
 idle -> work { guard busy[$1] ifelse(ERROR, 1, `==', `!=') 1; },
 work -> idle { effect busy[eval(($1 + 1) % N)] = 0; };
}
')
forloop(i, 0, N - 1, `client(i)')
system async;
";
    let expansion = run(source, &[("ERROR", "1")]).unwrap();
    assert!(expansion.text.contains("byte busy[2];"));
    assert!(expansion.text.contains("guard busy[1] == 1;"));
    assert!(expansion.text.contains("busy[0] = 0"));
    let lines: Vec<&str> = expansion.text.lines().collect();
    let at = |wanted: &str| lines.iter().position(|line| *line == wanted).unwrap();
    assert_eq!(expansion.origins[at("byte busy[2];")], 4);
    assert_eq!(expansion.origins[at("process C_0 {")], 5);
    assert_eq!(expansion.origins[at(" work -> idle { effect busy[0] = 0; };")], 10);
    assert_eq!(expansion.origins[at("system async;")], 14);
}

#[test]
fn errors_count_lines_of_the_model_only() {
    let error = run("a\nforloop(i, 0, M, `x')\n", &[]).unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.message.contains("(0) <= (M)"), "{error}");
}
