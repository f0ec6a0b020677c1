//! What makes successors for a search: the compiled model, or the interpreter.
//!
//! Counterexamples are replayed by the interpreter in any case.

use crate::options::{Engine, SearchOptions};
use crate::output;
use lariat_exec::Interpreter;
use lariat_graph::Graph;
use lariat_jit::{Compiled, Unsupported};

/// The graph that the options ask for. Where the model cannot be compiled that is the interpreter itself, with a note.
pub fn graph_for<'g>(options: &SearchOptions, interpreter: &'g Interpreter<'g>) -> Box<dyn Graph + 'g> {
    if options.engine == Engine::Jit {
        match Compiled::new(interpreter) {
            Ok(compiled) => return Box::new(compiled),
            // Nothing is slow or wrong with a synchronous system; it is only not compiled.
            Err(Unsupported::Model(_)) if options.display.quiet => {}
            Err(why) => output::note(&format!("the model is interpreted, because code cannot be made for {why}")),
        }
    }
    Box::new(Interpreted(interpreter))
}
