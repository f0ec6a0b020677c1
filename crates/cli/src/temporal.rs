//! Temporal properties: runs are judged by a Büchi automaton that accepts the *bad* ones.
//!
//! The automaton is the negation of a formula (`--ltl`, `--ltl-file`), comes from a file (`--automaton`), or is the model's property
//! process (`--property`, or nothing at all). Its propositions are expressions over the model.

use crate::engine;
use crate::failure::Failure;
use crate::load;
use crate::options::{DeadlockRunsOption, SearchOptions, TemporalOptions};
use lariat_base::outcome::{AutomatonSummary, PropertyKind};
use lariat_base::suggest::closest;
use lariat_base::trace::TraceProperty;
use lariat_exec::{Interpreter, Label, PropertyProcess};
use lariat_graph::{AutomatonWatcher, DeadlockRuns, Watcher};
use lariat_lang::{Diagnostics, Loaded, Span, StateExpression};
use lariat_ltl::{Bare, BuchiAutomaton, Formulas, MEMORY_BYTES_MAX, TooLarge};
use std::ops::Range;

/// Propositions are bits of a word.
const PROPOSITIONS_MAX: usize = 64;

/// A temporal property that was asked for.
pub struct Temporal {
    /// With the way it was given in front: `ltl:G F p`, `automaton:FILE`, `property:NAME`.
    pub name: String,
    /// What traces say about it.
    pub property: TraceProperty,
    automaton: Source,
}

enum Source {
    /// The model's property process.
    Process,
    Automaton(BuchiAutomaton),
}

/// What an explicit automaton is made from.
pub enum Origin<'o> {
    /// An LTL formula; the automaton accepts the runs that violate it. `option` names it in messages.
    Formula { option: &'o str, text: &'o str, memory_bytes_max: usize },
    /// The text of a file with an automaton: HOA, or a never claim. `file` names it in messages.
    File { file: &'o str, text: &'o str },
}

/// The automaton of the bad runs. Whatever is wrong with the text is told with its place in it.
pub fn automaton_for(origin: &Origin) -> Result<BuchiAutomaton, Failure> {
    match origin {
        Origin::Formula { option, text, memory_bytes_max } => negation(option, text, *memory_bytes_max),
        Origin::File { file, text } => {
            let read = if is_never_claim(text) {
                lariat_ltl::read_never(text, Bare::Expressions)
            } else {
                lariat_ltl::read_hoa(text)
            };
            read.map_err(|error| {
                let line_start =
                    text.split_inclusive('\n').take(error.line.saturating_sub(1)).map(str::len).sum::<usize>();
                let start = line_start
                    + text[line_start..]
                        .chars()
                        .take(error.column.saturating_sub(1))
                        .map(char::len_utf8)
                        .sum::<usize>();
                let end = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
                render(file, text, start..end, error.message, None)
            })
        }
    }
}

/// Whether the first word behind comments is `never`.
fn is_never_claim(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some((_, behind)) = rest.strip_prefix("/*").and_then(|comment| comment.split_once("*/")) {
        rest = behind.trim_start();
    }
    rest.starts_with("never")
}

/// A message about a place in a text.
pub fn render(what: &str, text: &str, span: Range<usize>, message: String, help: Option<String>) -> Failure {
    let mut diagnostics = Diagnostics::default();
    let diagnostic = diagnostics.error(Span { start: span.start as u32, end: span.end as u32 }, message);
    if let Some(help) = help {
        diagnostic.help(help);
    }
    Failure::input(diagnostics.render(&lariat_lang::Source::new(what, text)))
}

/// The automaton of the runs that violate a formula.
fn negation(option: &str, text: &str, memory_bytes_max: usize) -> Result<BuchiAutomaton, Failure> {
    let mut formulas = Formulas::new();
    let formula = lariat_ltl::parse(text, &mut formulas, Bare::Expressions)
        .map_err(|error| render(option, text, error.span, error.message, error.help))?;
    lariat_ltl::buchi_within(&mut formulas, formula, true, memory_bytes_max).map_err(|error| too_large(option, error))
}

/// A formula with too many propositions is wrong; one with too large an automaton meets a limit.
pub fn too_large(what: &str, error: TooLarge) -> Failure {
    let message = format!("{what}: {error}");
    match error {
        TooLarge::Propositions => Failure::input(message),
        TooLarge::Automaton => Failure::limit(message),
    }
}

/// The temporal properties that the options ask for, in their order.
pub fn asked(options: &TemporalOptions, memory: Option<u64>, loaded: &Loaded) -> Result<Vec<Temporal>, Failure> {
    let memory = memory.map_or(MEMORY_BYTES_MAX, |bytes| MEMORY_BYTES_MAX.min(bytes as usize));
    let mut asked = Vec::new();
    for text in &options.ltl {
        asked.push(Temporal::formula("--ltl", text, memory)?);
    }
    for file in &options.ltl_file {
        for (place, formula) in formulas_of(file, &load::read_text(file)?)? {
            asked.push(Temporal::formula(&place, &formula, memory)?);
        }
    }
    for file in &options.automaton {
        asked.push(Temporal::file(file, load::read_text(file)?)?);
    }
    for name in &options.property {
        asked.push(Temporal::process(name, loaded)?);
    }
    Ok(asked)
}

/// The formulas of a file and their places: all of it is one formula, unless it has lines that begin with `#`: then it is a property file
/// of DiVinE, with `#define` and `#property`.
fn formulas_of(file: &str, text: &str) -> Result<Vec<(String, String)>, Failure> {
    if !text.lines().any(|line| line.trim_start().starts_with('#')) {
        return Ok(vec![(file.to_owned(), text.trim().to_owned())]);
    }
    let properties = lariat_ltl::read_ltl_file(text).map_err(|e| Failure::input(format!("{file}: {e}")))?;
    if properties.is_empty() {
        return Err(Failure::input(format!("{file}: there is no `#property`")));
    }
    Ok(properties.into_iter().map(|p| (format!("{file}, line {}", p.line), p.formula)).collect())
}

/// The property process that a model carries.
pub fn carried(loaded: &Loaded) -> Result<Option<Temporal>, Failure> {
    let name = loaded.model.property.map(|process| &loaded.model.process(process).name);
    name.map(|name| Temporal::process(name, loaded)).transpose()
}

impl Temporal {
    fn formula(option: &str, text: &str, memory_bytes_max: usize) -> Result<Self, Failure> {
        let automaton = Source::Automaton(automaton_for(&Origin::Formula { option, text, memory_bytes_max })?);
        let property = TraceProperty { kind: PropertyKind::Ltl, expression: text.to_owned(), automaton: None };
        Ok(Self { name: format!("ltl:{text}"), property, automaton })
    }

    fn file(file: &str, text: String) -> Result<Self, Failure> {
        let automaton = Source::Automaton(automaton_for(&Origin::File { file, text: &text })?);
        let property =
            TraceProperty { kind: PropertyKind::Automaton, expression: file.to_owned(), automaton: Some(text) };
        Ok(Self { name: format!("automaton:{file}"), property, automaton })
    }

    fn process(name: &str, loaded: &Loaded) -> Result<Self, Failure> {
        let carried = loaded.model.property.map(|process| loaded.model.process(process).name.as_str());
        if carried != Some(name) {
            let hint = match (closest(name, carried), carried) {
                (Some(near), _) => format!("; did you mean `{near}`?"),
                (None, Some(carried)) => format!("; its property process is `{carried}`"),
                (None, None) => "; it carries none (`system async property NAME;`)".to_owned(),
            };
            return Err(Failure::input(format!("--property {name}: the model has no such property{hint}")));
        }
        let property = TraceProperty { kind: PropertyKind::Automaton, expression: name.to_owned(), automaton: None };
        Ok(Self { name: format!("property:{name}"), property, automaton: Source::Process })
    }

    /// The property that a trace claims to be a counterexample of.
    pub fn of_trace(property: &TraceProperty, loaded: &Loaded) -> Result<Self, Failure> {
        match (property.kind, &property.automaton) {
            (PropertyKind::Ltl, None) => Self::formula("the trace's formula", &property.expression, MEMORY_BYTES_MAX),
            (PropertyKind::Automaton, Some(text)) => Self::file(&property.expression, text.clone()),
            (PropertyKind::Automaton, None) => Self::process(&property.expression, loaded),
            _ => Err(Failure::input("the trace's property is not a temporal one")),
        }
    }

    /// The model with the automaton's propositions as labels.
    pub fn interpreter<'m>(&self, loaded: &'m Loaded) -> Result<Interpreter<'m>, Failure> {
        let propositions = match &self.automaton {
            Source::Process => &[][..],
            Source::Automaton(automaton) => &automaton.propositions,
        };
        if propositions.len() > PROPOSITIONS_MAX {
            let message = format!("{}: an automaton can have at most {PROPOSITIONS_MAX} propositions", self.name);
            return Err(Failure::input(message));
        }
        let mut labels = Vec::new();
        for text in propositions {
            let expression = self.proposition(text, loaded)?.expression;
            labels.push(Label::Proposition { text: text.clone(), expression });
        }
        Ok(Interpreter::new(&loaded.model, labels))
    }

    /// A proposition as an expression over the model; what is wrong with it is shown where it stands in the formula.
    fn proposition(&self, text: &str, loaded: &Loaded) -> Result<StateExpression, Failure> {
        let what = format!("proposition of {}", self.name);
        StateExpression::parse(&what, text, &loaded.model, &loaded.names).map_err(|(source, diagnostics)| {
            let formula = &self.property.expression;
            let place = match self.property.kind {
                PropertyKind::Ltl => place_of(text, formula),
                _ => None,
            };
            Failure::input(match place {
                Some(offset) => {
                    let source = lariat_lang::Source::new("the formula", formula.as_str());
                    diagnostics.shifted(offset as u32).render(&source)
                }
                None => diagnostics.render(&source),
            })
        })
    }

    /// The automaton, ready to judge runs of the model.
    pub fn watcher<'w>(&'w self, graph: &'w Interpreter<'w>) -> Result<Box<dyn Watcher + 'w>, Failure> {
        Ok(match &self.automaton {
            Source::Automaton(automaton) => Box::new(AutomatonWatcher::new(automaton)),
            Source::Process => Box::new(property_process(graph)?),
        })
    }

    /// The same automaton, as fast as the options allow, for a search.
    pub fn search_watcher<'w>(
        &'w self,
        options: &SearchOptions,
        graph: &'w Interpreter<'w>,
    ) -> Result<Box<dyn Watcher + 'w>, Failure> {
        match &self.automaton {
            Source::Automaton(_) => self.watcher(graph),
            Source::Process => engine::property_watcher(options, || property_process(graph)),
        }
    }

    /// The automaton in brief.
    pub fn summary(&self, loaded: &Loaded) -> Option<AutomatonSummary> {
        Some(match &self.automaton {
            Source::Automaton(automaton) => {
                AutomatonSummary { states: automaton.states.len() as u64, edges: automaton.n_edges() as u64 }
            }
            Source::Process => {
                let process = loaded.model.process(loaded.model.property?);
                AutomatonSummary { states: process.locations.len() as u64, edges: process.transitions.len() as u64 }
            }
        })
    }
}

fn property_process<'w>(graph: &'w Interpreter<'w>) -> Result<PropertyProcess<'w>, Failure> {
    PropertyProcess::new(graph).map_err(|error| Failure::input(format!("{}: {error}", graph.model().file)))
}

/// Where a proposition stands in a formula, as a whole: not as a part of other names.
fn place_of(proposition: &str, formula: &str) -> Option<usize> {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    formula.match_indices(proposition).map(|(place, _)| place).find(|place| {
        let before = formula[..*place].chars().next_back();
        let after = formula[place + proposition.len()..].chars().next();
        !before.is_some_and(in_name) && !after.is_some_and(in_name)
    })
}

impl From<DeadlockRunsOption> for DeadlockRuns {
    fn from(option: DeadlockRunsOption) -> Self {
        match option {
            DeadlockRunsOption::Stutter => DeadlockRuns::Stutter,
            DeadlockRunsOption::Ignore => DeadlockRuns::Ignore,
        }
    }
}
