//! The DVE front end: source text → tokens → syntax tree → model form.
//!
//! What the language means is written down in `docs/dve.md`. Wrong models give [`Diagnostics`], as many as can be told apart in
//! one reading; no input makes this crate panic.
//!
//! | step | module |
//! |---|---|
//! | characters to tokens | [`token`] |
//! | tokens to a tree | [`parse`], [`syntax`] |
//! | names, types, initial values; the tree to the model form | [`lower`] |
//! | a single expression for a property | [`property`] |

pub mod diagnostic;
pub mod lower;
pub mod parse;
pub mod property;
pub mod source;
pub mod syntax;
pub mod token;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use property::StateExpression;
pub use source::{Source, Span};

use lariat_model::Model;

/// A model that was understood, and what the reader should know about it all the same.
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// The names in it, for expressions that are checked against it later.
    pub names: lower::Names,
    /// Warnings only.
    pub warnings: Diagnostics,
}

/// Reads a DVE model.
pub fn load(source: &Source) -> Result<Loaded, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let tokens = token::tokens(source, &mut diagnostics);
    let file = parse::file(source, &tokens, &mut diagnostics);
    // Names can be wrong in ways that only follow from a syntax error, so those are reported alone.
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    lower::model(source, &file, diagnostics)
}
