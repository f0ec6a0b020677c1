//! What makes successors for a search: the compiled model, or the interpreter.
//!
//! Counterexamples are replayed by the interpreter in any case.

use crate::options::{EngineOption, SearchOptions};
use crate::output;
use lariat_exec::Interpreter;
use lariat_graph::Graph;
use lariat_jit::Compiled;

/// A model, ready to be searched.
pub struct Engine<'g> {
    interpreter: &'g Interpreter<'g>,
    compiled: Option<Compiled<'g, 'g>>,
}

impl<'g> Engine<'g> {
    /// The engine that the options ask for; where the model cannot be compiled it is interpreted, with a note.
    pub fn new(options: &SearchOptions, interpreter: &'g Interpreter<'g>) -> Self {
        let compiled = match options.engine {
            EngineOption::Interpreter => None,
            EngineOption::Jit => match Compiled::new(interpreter) {
                Ok(compiled) => Some(compiled),
                Err(why) => {
                    if !options.display.quiet {
                        output::note(&format!("the model is interpreted, because nothing compiles {why}"));
                    }
                    None
                }
            },
        };
        Self { interpreter, compiled }
    }

    /// The model as a graph.
    pub fn graph(&self) -> &dyn Graph {
        match &self.compiled {
            Some(compiled) => compiled,
            None => self.interpreter,
        }
    }
}
