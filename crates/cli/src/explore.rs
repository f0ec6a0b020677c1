//! `lariat explore`: the whole state space, or that of the product with one temporal property.

use crate::algorithms::{check_algorithm, check_compaction};
use crate::engine::Engine;
use crate::export::{self, Exported};
use crate::failure::{ExitStatus, Failure};
use crate::load;
use crate::options::ExploreOptions;
use crate::output;
use crate::run::{Phases, Searcher};
use crate::temporal::{self, Temporal};
use lariat_base::outcome::Outcome;
use lariat_exec::Interpreter;
use lariat_graph::{Graph, Product, RowBuffer, Watcher};

pub fn explore(options: &ExploreOptions) -> Result<ExitStatus, Failure> {
    let phases = Phases::begin();
    let loaded = load::load(&options.source, options.search.display.quiet)?;
    let temporal = temporal::asked(&options.temporal, options.search.memory, &loaded)?;
    check_compaction(&options.search, !temporal.is_empty())?;
    check_algorithm(&options.search, true, false)?;
    if let Some(file) = &options.export {
        export::check_name(file)?;
    }
    match &temporal[..] {
        [] => {
            let graph = Interpreter::new(&loaded.model, Vec::new());
            let engine = Engine::new(&options.search, &graph);
            explore_graph(options, &graph, engine.graph(), None, phases)
        }
        [property] => explore_product(options, property, &property.interpreter(&loaded)?, phases),
        _ => Err(Failure::input("explore takes one temporal property at most: each has a product of its own")),
    }
}

fn explore_product(
    options: &ExploreOptions,
    property: &Temporal,
    graph: &Interpreter,
    phases: Phases,
) -> Result<ExitStatus, Failure> {
    let watcher = property.search_watcher(&options.search, graph)?;
    let engine = Engine::new(&options.search, graph);
    let product = Product::new(engine.graph(), &*watcher, options.temporal.deadlock_runs.into());
    explore_graph(options, graph, &product, Some(&*watcher), phases)
}

/// Explores `graph`, which is the model itself or its product with a watcher.
fn explore_graph(
    options: &ExploreOptions,
    model: &Interpreter,
    graph: &dyn Graph,
    watcher: Option<&dyn Watcher>,
    mut phases: Phases,
) -> Result<ExitStatus, Failure> {
    phases.end("load");
    let searcher = Searcher::new(&options.search, &options.source.model, &phases)?;
    let (found, searched) = searcher.explore_everything(graph, &mut phases)?;
    let error_state = match found.paths.first() {
        Some(Some(path)) => Some(what_led_to_error(model, path)?),
        _ if found.error_reached => Some("`lariat check --assertions` shows how".to_owned()),
        _ => None,
    };
    phases.end("replay");
    let complete = found.complete;
    if let (Some(file), true) = (&options.export, complete) {
        export::export(&Exported { model, graph, watcher }, file)?;
        phases.end("export");
    }
    let outcome = Outcome { error_state, ..searcher.outcome("explore", model, searched, phases) };
    output::text(&if options.search.display.json {
        lariat_report::outcome_json(&outcome, env!("CARGO_PKG_VERSION"))
    } else {
        lariat_report::outcome_text(&outcome, options.search.stats)
    })?;
    Ok(if complete { ExitStatus::Fine } else { ExitStatus::NoAnswer })
}

/// The last step of the shortest path into the error state, in words.
fn what_led_to_error(model: &Interpreter, path: &RowBuffer) -> Result<String, Failure> {
    let broken = |error| Failure::machine(format!("internal error: the path to the error state is broken: {error}"));
    // In a product the watcher's part stands behind the model's row.
    let mut rows = RowBuffer::new(model.row_bytes());
    path.iter().for_each(|row| rows.push(&row[..model.row_bytes()]));
    let last = model.last_step(rows.as_rows()).map_err(broken)?;
    let last = last.ok_or_else(|| Failure::machine("internal error: the initial state is the error state"))?;
    let why = last.fault.map_or_else(|| "error".to_owned(), |fault| model.model().describe_fault(fault));
    let moves = lariat_report::moves_text(&model.trace_moves(&last));
    Ok(format!("{why}, by {moves}, after {} steps", rows.len() - 1))
}
