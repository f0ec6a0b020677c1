//! What tests and benchmarks share: random graphs and models, known answers, models with their expected facts.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up must fail")]
#![allow(clippy::disallowed_methods, reason = "tests read models and known answers")]

mod expected;
mod known_answers;
mod random_graph;
mod random_model;

pub use expected::{ExpectedCase, ExpectedCheck, ExpectedProduct, expected_cases, models_folder};
pub use known_answers::{BeemRow, LtlRow, LtlSizeRow, beem_rows, ltl_rows, ltl_size_rows, shared_folder};
pub use random_graph::RandomGraph;
pub use random_model::{random_model, random_model_with_property};

use lariat_lang::{Loaded, Source};
use lariat_m4::Define;
use std::path::Path;

/// Reads a model that is known to be right; macros are expanded with the parameters given.
pub fn load_model(path: &Path, parameters: &[(String, String)]) -> Loaded {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = String::from_utf8_lossy(&text).into_owned();
    let name = path.display().to_string();
    let source = if path.extension().is_some_and(|e| e == "mdve") {
        let defines: Vec<Define> =
            parameters.iter().map(|(n, v)| Define { name: n.clone(), value: v.clone() }).collect();
        let expansion = lariat_m4::expand_model(&text, &defines, &mut |file| Err(format!("no file {file}")))
            .unwrap_or_else(|error| panic!("{name}: line {}: {}", error.line, error.message));
        Source::expanded(name, expansion.text, expansion.origins)
    } else {
        Source::new(name, text)
    };
    lariat_lang::load(&source).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source)))
}

/// Reads a model from text that is known to be right.
pub fn load_text(text: &str) -> Loaded {
    let source = Source::new("test.dve", text);
    lariat_lang::load(&source).unwrap_or_else(|diagnostics| panic!("{}\n{text}", diagnostics.render(&source)))
}
