//! Any text as a formula, a property file, an automaton in HOA or a never claim: there is an answer, and what is read can be written.

#![no_main]

use lariat_ltl::{Bare, Formulas, Strength, parse, print, read_hoa, read_ltl_file, read_never, write_hoa};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for bare in [Bare::Words, Bare::Expressions] {
        let mut formulas = Formulas::new();
        if let Ok(formula) = parse(&text, &mut formulas, bare) {
            // Shared parts are written out, so the text of some formulas is exponentially longer.
            if formulas.len() < 60 {
                let printed = print(&formulas, formula);
                assert_eq!(parse(&printed, &mut formulas, Bare::Words).ok(), Some(formula), "{printed}");
            }
        }
        drop(read_never(&text, bare));
    }
    drop(read_ltl_file(&text));
    if let Ok(automaton) = read_hoa(&text) {
        assert!(read_hoa(&write_hoa(&automaton, None, Strength::Strong)).is_ok());
    }
});
