//! Outcomes and traces in the forms that people and programs read. Nothing here prints or opens files. Traces may be long, so they are written to
//! whatever takes them, step by step.
//!
//! | form | file |
//! |---|---|
//! | the answer as text | `text.rs` |
//! | the answer as the JSON object of the command line | `json.rs` |
//! | a trace as text | `trace_text.rs` |
//! | a trace in the Informal Trace Format, written and read | `itf.rs` |
//! | a trace as a graph for Graphviz | `dot.rs` |

mod dot;
mod itf;
mod json;
mod text;
mod trace_text;

pub use dot::{escape as escape_dot, trace_dot};
pub use itf::{read_itf, trace_itf};
pub use json::outcome_json;
pub use text::outcome_text;
pub use trace_text::{changes, moves_text, state_text, trace_text};
