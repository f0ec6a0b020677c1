//! `lariat check`: properties of states and of infinite runs, each with its verdict and counterexample.
//!
//! One search finds the answers to all properties of states. Every temporal property has a search of its own, after that one.

use crate::algorithms::{all_algorithm, check_algorithm, check_compaction, shortest_algorithm};
use crate::all_cycles::{AllCycles, Subject};
use crate::engine::Engine;
use crate::failure::{ExitStatus, Failure};
use crate::options::{Algorithm, CheckOptions};
use crate::run::{Phases, Searched, Searcher};
use crate::temporal::{self, Temporal};
use crate::{load, output, trace_file};
use lariat_base::Verdict;
use lariat_base::outcome::{CounterexampleSummary, Outcome, PropertyKind, PropertyOutcome};
use lariat_base::trace::{Trace, TraceProperty};
use lariat_exec::{Interpreter, Label, ReplayError, Run};
use lariat_graph::{Product, Rows, Watcher};
use lariat_lang::{Loaded, StateExpression};
use lariat_search::daac::FoundCycle;
use lariat_search::{Extent, Goal, Lasso};

/// A property of states that was asked for.
struct Asked {
    kind: PropertyKind,
    expression: Option<StateExpression>,
}

impl Asked {
    fn name(&self) -> String {
        match &self.expression {
            Some(expression) => format!("{}:{}", self.kind.word(), expression.text),
            None => self.kind.word().to_owned(),
        }
    }
}

/// A check in progress.
struct Checking<'c> {
    options: &'c CheckOptions,
    loaded: &'c Loaded,
    searcher: Searcher,
    phases: Phases,
    properties: Vec<PropertyOutcome>,
    traces: Vec<Trace>,
    /// The search that the counts at the top of the outcome are of, and whether all searches were complete and within limits.
    searched: Option<Searched>,
    error_reached: bool,
}

pub fn check(options: &CheckOptions) -> Result<ExitStatus, Failure> {
    let mut phases = Phases::begin();
    let loaded = load::load(&options.source, options.search.display.quiet)?;
    let mut asked = asked(options, &loaded)?;
    let mut temporal = temporal::asked(&options.temporal, options.search.memory, &loaded)?;
    if asked.is_empty() && temporal.is_empty() {
        match temporal::carried(&loaded)? {
            Some(property) => temporal.push(property),
            None => asked = [PropertyKind::Deadlock, PropertyKind::Assertion].map(Asked::without_expression).into(),
        }
    }
    check_compaction(&options.search, !temporal.is_empty())?;
    check_algorithm(&options.search, !asked.is_empty(), !temporal.is_empty())?;
    match &options.trace {
        Some(file) if !wants_all(options) => trace_file::check_name(file)?,
        _ => {}
    }
    let (labels, goals) = labels_and_goals(&asked, &loaded)?;
    let graph = Interpreter::new(&loaded.model, labels);
    phases.end("load");
    let algorithm = algorithm(options, !asked.is_empty(), !temporal.is_empty())?;
    let searcher = Searcher::with_algorithm(algorithm, &options.search, &options.source.model, &phases)?;
    let mut checking = Checking {
        options,
        loaded: &loaded,
        searcher,
        phases,
        properties: Vec::new(),
        traces: Vec::new(),
        searched: None,
        error_reached: false,
    };
    if !asked.is_empty() {
        checking.states(&graph, &asked, &goals)?;
    }
    for (i, property) in temporal.iter().enumerate() {
        match wants_all(options) {
            true => checking.all_cycles(property, i)?,
            false => checking.temporal(property, i == 0)?,
        }
    }
    checking.finish(&graph)
}

/// Whether all counterexamples are wanted.
fn wants_all(options: &CheckOptions) -> bool {
    options.all || options.search.algorithm == Algorithm::Daac
}

/// The algorithm that the options mean.
fn algorithm(options: &CheckOptions, states: bool, temporal: bool) -> Result<Algorithm, Failure> {
    if wants_all(options) {
        return all_algorithm(&options.search, states || !temporal);
    }
    if options.limit.is_some() {
        return Err(Failure::input("--limit is for --all"));
    }
    match options.shortest {
        true => shortest_algorithm(&options.search, temporal),
        false => Ok(options.search.algorithm),
    }
}

impl Checking<'_> {
    fn states(&mut self, graph: &Interpreter, asked: &[Asked], goals: &[Goal]) -> Result<(), Failure> {
        let engine = Engine::new(&self.options.search, graph);
        self.searcher.begin_property("states");
        let extent = if self.options.shortest { Extent::UntilNearest } else { Extent::UntilGoals };
        let (mut found, searched) = self.searcher.explore(engine.graph(), goals, extent, &mut self.phases)?;
        for (property, path) in asked.iter().zip(std::mem::take(&mut found.paths)) {
            let trace = path.map(|path| counterexample(graph, property, path.as_rows())).transpose()?;
            let outcome = PropertyOutcome {
                name: property.name(),
                kind: property.kind,
                verdict: verdict(trace.is_some(), searched.complete),
                automaton: None,
                product: None,
                counterexample: self.show(trace)?,
                cycles: None,
            };
            self.properties.push(outcome);
        }
        self.phases.end("replay");
        self.note(searched, true);
        Ok(())
    }

    fn temporal(&mut self, property: &Temporal, first: bool) -> Result<(), Failure> {
        let graph = property.interpreter(self.loaded)?;
        let watcher = property.search_watcher(&self.options.search, &graph)?;
        let engine = Engine::new(&self.options.search, &graph);
        let product = Product::new(engine.graph(), &*watcher, self.options.temporal.deadlock_runs.into());
        self.searcher.begin_property(&property.name);
        let (found, searched) = self.searcher.find_lasso(&product, watcher.strength(), &mut self.phases)?;
        self.error_reached |= found.error_reached && found.lasso.is_none();
        let counterexample = match found.lasso {
            Some(lasso) => {
                Some(Counterexample::replay(&graph, &product, &*property.watcher(&graph)?, property, lasso)?)
            }
            None => None,
        };
        let outcome = PropertyOutcome {
            name: property.name.clone(),
            kind: property.property.kind,
            verdict: verdict(counterexample.is_some(), searched.complete),
            automaton: property.summary(self.loaded),
            product: Some(searched.counts),
            counterexample: match counterexample {
                Some(found) => {
                    let product = Some(found.product);
                    self.show(Some(found.trace))?.map(|summary| CounterexampleSummary { product, ..summary })
                }
                None => None,
            },
            cycles: None,
        };
        self.properties.push(outcome);
        self.phases.end("replay");
        self.note(searched, first);
        Ok(())
    }

    /// All counterexamples to a property.
    fn all_cycles(&mut self, property: &Temporal, place: usize) -> Result<(), Failure> {
        let graph = property.interpreter(self.loaded)?;
        let watcher = property.search_watcher(&self.options.search, &graph)?;
        let engine = Engine::new(&self.options.search, &graph);
        let deadlock_runs = self.options.temporal.deadlock_runs.into();
        let product = Product::new(engine.graph(), &*watcher, deadlock_runs);
        self.searcher.begin_property(&property.name);
        let judge = property.watcher(&graph)?;
        let subject = Subject { graph: &graph, product: &product, watcher: &*judge, property, deadlock_runs };
        let mut all = AllCycles::new(subject, self.options.trace.as_deref(), self.options.limit, place)?;
        let mut each = |cycle: &mut FoundCycle<'_, '_>| all.take(cycle);
        let (found, searched) = self.searcher.find_cycles(&product, self.options.rho, &mut each, &mut self.phases)?;
        self.error_reached |= found.search.error_reached && found.cycles == 0;
        let (cycles, shortest) = all.finish(&found)?;
        let counterexample = shortest.as_ref().map(|shortest| CounterexampleSummary {
            product: Some(shortest.product),
            ..summary_of(&shortest.trace, None)
        });
        self.traces.extend(shortest.map(|shortest| shortest.trace));
        self.properties.push(PropertyOutcome {
            name: property.name.clone(),
            kind: property.property.kind,
            verdict: verdict(counterexample.is_some(), searched.complete),
            automaton: property.summary(self.loaded),
            product: Some(searched.counts),
            counterexample,
            cycles: Some(cycles),
        });
        self.phases.end("replay");
        self.note(searched, place == 0);
        Ok(())
    }

    /// Takes note of a search; `shown` is whether the outcome shows its counts.
    fn note(&mut self, searched: Searched, shown: bool) {
        let (complete, limit) = self.searched.as_ref().map_or((true, None), |s| (s.complete, s.limit));
        let (complete, limit) = (complete && searched.complete, limit.or(searched.limit));
        let shown = if shown { searched } else { self.searched.take().unwrap_or(searched) };
        self.searched = Some(Searched { complete, limit, ..shown });
    }

    /// Writes a counterexample to its file, or keeps it for printing.
    fn show(&mut self, trace: Option<Trace>) -> Result<Option<CounterexampleSummary>, Failure> {
        let Some(trace) = trace else { return Ok(None) };
        let file = match &self.options.trace {
            Some(file) => Some(trace_file::write_numbered(file, self.traces.len(), &trace)?),
            None => None,
        };
        let summary = summary_of(&trace, file);
        self.traces.push(trace);
        Ok(Some(summary))
    }

    fn finish(self, graph: &Interpreter) -> Result<ExitStatus, Failure> {
        let Some(searched) = self.searched else { return Err(Failure::machine("internal error: nothing was checked")) };
        let outcome = Outcome {
            properties: self.properties,
            error_state: self.error_reached.then(|| {
                "runs that end in it are not judged by temporal properties; --assertions shows the way".to_owned()
            }),
            ..self.searcher.outcome("check", graph, searched, self.phases)
        };
        print(self.options, &outcome, &self.traces)?;
        Ok(match outcome.verdict() {
            Verdict::Holds => ExitStatus::Fine,
            Verdict::Violated => ExitStatus::Violated,
            Verdict::Unknown => ExitStatus::NoAnswer,
        })
    }
}

/// A counterexample in brief.
fn summary_of(trace: &Trace, file: Option<String>) -> CounterexampleSummary {
    let prefix = trace.loop_to.unwrap_or(trace.steps.len());
    CounterexampleSummary {
        prefix: prefix as u64,
        cycle: (trace.steps.len() - prefix) as u64,
        product: None,
        file,
        replayed: true,
        what: trace.what.clone(),
    }
}

fn verdict(violated: bool, complete: bool) -> Verdict {
    match (violated, complete) {
        (true, _) => Verdict::Violated,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Unknown,
    }
}

impl Asked {
    fn without_expression(kind: PropertyKind) -> Self {
        Self { kind, expression: None }
    }
}

fn asked(options: &CheckOptions, loaded: &Loaded) -> Result<Vec<Asked>, Failure> {
    let mut asked = Vec::new();
    for text in &options.invariant {
        let expression = Some(load::expression("--invariant", text, loaded)?);
        asked.push(Asked { kind: PropertyKind::Invariant, expression });
    }
    for text in &options.reach {
        let expression = Some(load::expression("--reach", text, loaded)?);
        asked.push(Asked { kind: PropertyKind::Reach, expression });
    }
    if options.deadlock {
        asked.push(Asked::without_expression(PropertyKind::Deadlock));
    }
    if options.assertions {
        asked.push(Asked::without_expression(PropertyKind::Assertion));
    }
    Ok(asked)
}

fn labels_and_goals(asked: &[Asked], loaded: &Loaded) -> Result<(Vec<Label>, Vec<Goal>), Failure> {
    let mut labels = Vec::new();
    let mut goals = Vec::new();
    for property in asked {
        let label = match (property.kind, &property.expression) {
            (PropertyKind::Invariant, Some(e)) => Label::False(e.expression.clone()),
            (PropertyKind::Reach, Some(e)) => Label::True(e.expression.clone()),
            // Without assertions only the error state is left to look for, and that needs no label.
            (PropertyKind::Assertion, _) if loaded.model.assertions.is_empty() => {
                goals.push(Goal::Error);
                continue;
            }
            (PropertyKind::Assertion, _) => Label::AssertionFailed,
            _ => {
                goals.push(Goal::Deadlock);
                continue;
            }
        };
        goals.push(Goal::Label(labels.len() as u32));
        labels.push(label);
    }
    if labels.len() > 64 {
        return Err(Failure::input("at most 64 expressions can be checked at once"));
    }
    Ok((labels, goals))
}

fn broken(error: ReplayError) -> Failure {
    Failure::machine(format!("internal error: the counterexample cannot be replayed: {error}"))
}

/// Replays a path and names what is wrong at its end.
fn counterexample(graph: &Interpreter, property: &Asked, path: Rows<'_>) -> Result<Trace, Failure> {
    let last_step = graph.last_step(path).map_err(broken)?;
    let expression = property.expression.as_ref();
    let (last, last_step) = (path.row(path.len() - 1), last_step.as_ref());
    let what = graph.violation(property.kind, expression.map(|e| &e.expression), last, last_step).map_err(broken)?;
    let trace = graph.trace(path, None).map_err(broken)?;
    let expression = expression.map_or_else(String::new, |e| e.text.clone());
    Ok(Trace { property: Some(TraceProperty { kind: property.kind, expression, automaton: None }), what, ..trace })
}

/// A counterexample to a temporal property.
pub struct Counterexample {
    pub trace: Trace,
    pub run: Run,
    /// Steps of the product's lasso before its loop, and on it.
    pub product: (u64, u64),
}

impl Counterexample {
    /// Replays the run of the model that a lasso of the product shows, and has the automaton judge it again.
    pub fn replay(
        graph: &Interpreter,
        product: &Product,
        watcher: &dyn Watcher,
        property: &Temporal,
        lasso: Lasso,
    ) -> Result<Self, Failure> {
        let run = Run::new(product.model_rows(&lasso.prefix), product.model_rows(&lasso.cycle));
        let product = (lasso.prefix.len() as u64, lasso.cycle.len() as u64);
        drop(lasso);
        let trace = graph.run_trace(&run).map_err(broken)?;
        let what = graph.run_violation(watcher, &run).map_err(broken)?;
        let trace = Trace { property: Some(property.property.clone()), what, ..trace };
        Ok(Self { trace, run, product })
    }
}

fn print(options: &CheckOptions, outcome: &Outcome, traces: &[Trace]) -> Result<(), Failure> {
    if options.search.display.json {
        return output::text(&lariat_report::outcome_json(outcome, env!("CARGO_PKG_VERSION")));
    }
    // Of all counterexamples the shortest is shown, wherever they were written to.
    if options.trace.is_none() || wants_all(options) {
        for trace in traces {
            output::stream(&mut |out| {
                lariat_report::trace_text(trace, out)?;
                writeln!(out)
            })?;
        }
    }
    output::text(&lariat_report::outcome_text(outcome, options.search.stats))
}
