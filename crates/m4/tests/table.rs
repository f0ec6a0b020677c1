//! Checks the expansion against a table, and the table against the program m4 where there is one.

mod cases;
mod program;

use lariat_m4::expand;

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("no file {name}"))
}

fn check(input: &str, expected: &str) {
    match expand(input, &[], &mut no_files) {
        Ok(expansion) => {
            assert_eq!(expansion.text, expected, "input: {input}");
            let lines = expansion.text.lines().count();
            assert_eq!(expansion.origins.len(), lines, "input: {input}");
            let last = input.lines().count() as u32;
            let inside = |line: &u32| (1..=last).contains(line);
            assert!(expansion.origins.iter().all(inside), "input: {input}");
        }
        Err(error) => panic!("{error}\ninput: {input}"),
    }
}

#[test]
fn the_table_holds() {
    let mut count = 0;
    for (input, expected) in cases::all() {
        check(input, expected);
        count += 1;
    }
    assert!(count > 100);
}

#[test]
fn the_program_agrees_with_the_table() {
    if !program::is_gnu() {
        return;
    }
    for (input, expected) in cases::all() {
        assert_eq!(program::run(input).as_deref(), Some(expected), "input: {input}");
    }
}
