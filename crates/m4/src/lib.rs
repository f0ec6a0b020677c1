//! An m4 macro processor as a library, so that parameterised models work where no m4 is installed.
//!
//! [`expand`] follows GNU m4 1.4; [`expand_model`] adds the macros of [`PREAMBLE`], which
//! parameterised DVE models use. No file is read and no program is run: `include` asks the caller.

mod budget;
mod builtins;
mod call;
mod error;
mod eval;
mod format;
mod input;
mod machine;
mod output;
mod preamble;
mod regex;
mod symbols;
mod text;
mod token;

pub use error::M4Error;
pub use preamble::PREAMBLE;

use machine::Machine;

/// A macro the caller defines before the expansion starts, like `-Dname=value` of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// The macro's name.
    pub name: String,
    /// The text it stands for.
    pub value: String,
}

/// The result of an expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The expanded text.
    pub text: String,
    /// For each line of `text` the 1-based line of the source that its first character other than
    /// white space comes from; for a blank line that of its first character, be it the newline. A
    /// final newline starts no further line.
    ///
    /// A character comes from the line where it is written: text in a macro's argument or in a
    /// definition keeps its own line wherever it comes out. What is not written in the source, as
    /// the results of builtins like `eval`, included files, values the caller defines and the
    /// macros of [`PREAMBLE`], comes from the line of the nearest call that is written there.
    pub origins: Vec<u32>,
}

/// The caller's way to give the text of an included file, by the name the source asks for.
pub type Include<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Expands `source` as GNU m4 does, with `defines` made first.
pub fn expand(source: &str, defines: &[Define], include: Include<'_>) -> Result<Expansion, M4Error> {
    let mut machine = Machine::new(include);
    machine.predefine(defines);
    machine.run(source)?;
    Ok(machine.finish())
}

/// Expands `source` with the macros of [`PREAMBLE`] at hand; origins refer to `source` alone.
///
/// The preamble comes before `defines`, so that a caller may replace one of its macros.
pub fn expand_model(source: &str, defines: &[Define], include: Include<'_>) -> Result<Expansion, M4Error> {
    let mut machine = Machine::new(include);
    machine.prepare(PREAMBLE)?;
    machine.predefine(defines);
    machine.mark_given(defines);
    machine.run(source)?;
    Ok(machine.finish())
}
