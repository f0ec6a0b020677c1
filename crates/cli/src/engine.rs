//! What makes successors for a search: the compiled model, or the interpreter.
//!
//! Counterexamples are replayed by the interpreter in any case.

use crate::failure::Failure;
use crate::options::{EngineOption, SearchOptions};
use crate::output;
use lariat_exec::{Interpreter, PropertyProcess};
use lariat_graph::{Graph, Watcher};
use lariat_jit::{Compiled, CompiledProperty, Unsupported};

/// What was compiled; if nothing could be, a note says why.
fn compiled_or_note<C>(options: &SearchOptions, what: &str, compiled: Result<C, Unsupported>) -> Option<C> {
    compiled
        .map_err(|why| {
            if !options.display.quiet {
                output::note(&format!("{what} is interpreted, because nothing compiles {why}"));
            }
        })
        .ok()
}

/// A property process, ready to watch a search; interpreted where it is not compiled.
pub fn property_watcher<'w>(
    options: &SearchOptions,
    process: impl Fn() -> Result<PropertyProcess<'w>, Failure>,
) -> Result<Box<dyn Watcher + 'w>, Failure> {
    if options.engine == EngineOption::Jit
        && let Some(compiled) = compiled_or_note(options, "the property process", CompiledProperty::new(process()?))
    {
        return Ok(Box::new(compiled));
    }
    Ok(Box::new(process()?))
}

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
            EngineOption::Jit => compiled_or_note(options, "the model", Compiled::new(interpreter)),
        };
        // The compiler has done its work. Its code goes when a search takes longer; see `program_memory.rs`.
        lariat_disk::program_pages::release_freed();
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
