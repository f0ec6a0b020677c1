//! Checks the lines that expanded text is said to come from.

#![allow(clippy::disallowed_methods, reason = "these tests read the models")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use lariat_m4::{Define, Expansion, expand_model};

fn files(name: &str) -> Result<String, String> {
    match name {
        "lib.m4" => Ok("\n\n\ndefine(`helper', `helped\nby $1')dnl\nincluded\n".to_string()),
        _ => Err(format!("no file {name}")),
    }
}

fn run(source: &str) -> Expansion {
    match expand_model(source, &[], &mut files) {
        Ok(expansion) => expansion,
        Err(error) => panic!("{error}\nsource: {source}"),
    }
}

/// The lines that are not blank, each with its origin in front.
fn numbered(expansion: &Expansion) -> Vec<String> {
    let lines = expansion.text.lines().zip(&expansion.origins);
    let shown = lines.filter(|(line, _)| !line.trim().is_empty());
    shown.map(|(line, origin)| format!("{origin} {}", line.trim())).collect()
}

#[test]
fn text_in_loops_and_definitions_keeps_its_line() {
    let source = "\
default(`N', 2)dnl
define(`enter', `
    idle -> busy { guard $1 == 0; },
    $2
')dnl
forloop(`i', 0, eval(N-1), `
process P_`'i {
  bool seen;
  forloop(`j', 0, 1, `
    byte b_`'i`'_`'j;
    eval(i + j)
    i j
  ')
  trans
ifelse(i, 0, `
    first -> idle { },
', `
    other -> idle { },
')
    enter(lock, `busy -> idle { };')
}
')
system async;
";
    let expansion = run(source);
    let process = |index: usize, start: &str| {
        let mut lines = vec![format!("7 process P_{index} {{"), "8 byte seen;".to_string()];
        for inner in 0..2 {
            lines.push(format!("10 byte b_{index}_{inner};"));
            lines.push(format!("11 {}", index + inner));
            lines.push(format!("12 {index} {inner}"));
        }
        lines.extend(["14 trans", start].map(str::to_string));
        lines.extend(["3 idle -> busy { guard lock == 0; },", "20 busy -> idle { };", "21 }"].map(str::to_string));
        lines
    };
    let mut expected = process(0, "16 first -> idle { },");
    expected.extend(process(1, "18 other -> idle { },"));
    expected.push("23 system async;".to_string());
    assert_eq!(numbered(&expansion), expected);
}

#[test]
fn what_the_source_does_not_have_comes_from_its_call() {
    let source = "\ninclude(`lib.m4')\nhelper(`me')\ndefine(`both', `\nstack(s, 2)\nhelper(you)')\nboth format(`%d\n%d', 1, 2)\n";
    let expected =
        ["2 included", "3 helped", "3 by me", "5 byte s[2];", "5 byte s_act;", "6 helped", "6 by you 1", "7 2"];
    assert_eq!(numbered(&run(source)), expected);
    let defines = [Define { name: "given".to_string(), value: "a\nb".to_string() }];
    let expansion = expand_model("\n\ngiven\n", &defines, &mut files).unwrap();
    assert_eq!(expansion.origins, [1, 2, 3, 3]);
}

#[test]
fn the_first_character_that_is_not_blank_counts() {
    let source =
        "define(`blank', ` ')dnl\nblank`'define(`x', `y')x\nblank\nblank`'divert(1) moved\ndivert`'undivert(1)z\n";
    let expansion = run(source);
    assert_eq!(expansion.text, " y\n \n  moved\nz\n");
    assert_eq!(expansion.origins, [2, 1, 4, 5]);
    // A blank line has the origin of its first character.
    assert_eq!(run("define(`f', `$1')f(`\n\n')x").origins, [1, 2, 3]);
}

#[test]
fn text_keeps_its_line_on_other_ways() {
    assert_eq!(numbered(&run("define(`a', `\none\ntwo')\ndefine(`b', defn(`a'))b\n")), ["2 one", "3 two"]);
    assert_eq!(numbered(&run("m4wrap(`\none\n',\n`two')\n")), ["2 one", "4 two"]);
    assert_eq!(numbered(&run("define(`f', `shift($@)')f(x,\n`one\ntwo')\n")), ["2 one", "3 two"]);
    assert_eq!(numbered(&run("define(`f', `$*')f(\none,\n\n`\ntwo')\n")), ["2 one,", "5 two"]);
    assert_eq!(numbered(&run("indir(`ifdef', `len',\n`one\ntwo')\n")), ["2 one", "3 two"]);
    assert_eq!(numbered(&run("myloop(i, 0, 1, `\n`x'i',\n`;')\n")), ["2 x0;", "2 x1"]);
}

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        panic!("cannot read {}", folder.display());
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "mdve")).collect()
}

/// Lines that come out as they are written must be found again in the file.
#[test]
fn lines_of_the_models_are_found_again() {
    let paths = models();
    assert!(!paths.is_empty());
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for line in &lines {
            *counts.entry(line).or_default() += 1;
        }
        let expansion = run(&source);
        let mut checked = 0;
        for (line, &origin) in expansion.text.lines().zip(&expansion.origins) {
            let line = line.trim();
            if !line.is_empty() && counts.get(line) == Some(&1) {
                assert_eq!(lines[origin as usize - 1], line, "{} line {origin}", path.display());
                checked += 1;
            }
        }
        assert!(checked > 10, "only {checked} lines of {} checked", path.display());
    }
}

#[test]
fn transitions_of_a_loop_are_told_apart() {
    let path = models().into_iter().find(|path| path.ends_with("peterson.mdve")).unwrap();
    let source = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = source.lines().collect();
    let expansion = run(&source);
    let mut checked = 0;
    for (line, &origin) in expansion.text.lines().zip(&expansion.origins) {
        if let Some((from, _)) = line.split_once(" -> ") {
            let written = lines[origin as usize - 1];
            assert!(written.starts_with(from) && written.contains(" -> "), "line {origin} of {line}");
            checked += 1;
        }
    }
    assert_eq!(checked, 3 * 7);
}
