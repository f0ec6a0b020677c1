//! Any text: the front end answers with a model or with diagnostics, and models that come out can be expanded.

#![no_main]

use lariat_exec::Interpreter;
use lariat_lang::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let source = Source::new("fuzz.dve", text.as_ref());
    match lariat_lang::load(&source) {
        Err(diagnostics) => {
            assert!(diagnostics.has_errors());
            diagnostics.render(&source);
        }
        Ok(loaded) => {
            loaded.warnings.render(&source);
            let graph = Interpreter::new(&loaded.model, Vec::new());
            let mut row = graph.initial_row();
            for _ in 0..8 {
                let mut steps = graph.steps(&row);
                if steps.is_empty() || steps.len() > 1000 {
                    break;
                }
                row = steps.swap_remove(steps.len() / 2).target;
            }
        }
    }
});
