//! All counterexamples to a property: each is replayed and written when it is found, and what they have in common is told at the end.
//!
//! Different cycles of the product may be the same run of the model, with the automaton in other states; they are counted as what they are, cycles.

use crate::check::Counterexample;
use crate::failure::Failure;
use crate::temporal::Temporal;
use crate::{good_runs, output};
use lariat_base::outcome::{ComponentSummary, CycleGroup, CyclesSummary};
use lariat_base::trace::{Move, Trace};
use lariat_exec::Interpreter;
use lariat_graph::{DeadlockRuns, Product, Watcher};
use lariat_search::SearchError;
use lariat_search::daac::{CycleSearch, FoundCycle};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Cycles that are replayed if nobody wants files: more would not tell more.
const REPLAYED_MAX: u64 = 10_000;
/// Groups that are told apart, and those that are shown.
const GROUPS_MAX: usize = 1000;
const GROUPS_SHOWN: usize = 10;
/// Components that are shown.
const COMPONENTS_SHOWN: usize = 10;

/// What counterexamples are counterexamples of.
pub struct Subject<'s> {
    pub graph: &'s Interpreter<'s>,
    pub product: &'s Product<'s>,
    /// The automaton, to judge runs anew.
    pub watcher: &'s dyn Watcher,
    pub property: &'s Temporal,
    pub deadlock_runs: DeadlockRuns,
}

/// Where counterexamples are written to.
enum Target {
    Nowhere,
    /// A file for each.
    Directory(String),
    /// A line for each.
    Lines(String, BufWriter<File>),
}

/// Counterexamples so far.
pub struct AllCycles<'s> {
    subject: Subject<'s>,
    target: Target,
    limit: Option<u64>,
    found: u64,
    replayed: u64,
    shortest: Option<Counterexample>,
    groups: BTreeMap<Vec<String>, CycleGroup>,
    /// Transitions of all loops, and of all runs.
    in_loops: Option<BTreeSet<String>>,
    in_runs: Option<BTreeSet<String>>,
    failure: Option<Failure>,
}

impl<'s> AllCycles<'s> {
    /// Counterexamples go to a directory, or to a file whose name ends in `.jsonl`; `place` is that of the property among several.
    pub fn new(subject: Subject<'s>, trace: Option<&str>, limit: Option<u64>, place: usize) -> Result<Self, Failure> {
        let failed = |what: &str, error: std::io::Error| Failure::machine(format!("cannot make {what}: {error}"));
        let target = match trace {
            None => Target::Nowhere,
            Some(file) if file.ends_with(".jsonl") => {
                let name = match place {
                    0 => file.to_owned(),
                    n => format!("{}.{}.jsonl", file.trim_end_matches(".jsonl"), n + 1),
                };
                let lines = File::create(&name).map_err(|error| failed(&name, error))?;
                Target::Lines(name, BufWriter::new(lines))
            }
            Some(directory) => {
                let name = match place {
                    0 => directory.to_owned(),
                    n => format!("{}/property-{}", directory.trim_end_matches('/'), n + 1),
                };
                std::fs::create_dir_all(&name).map_err(|error| failed(&name, error))?;
                Target::Directory(name)
            }
        };
        Ok(Self {
            subject,
            target,
            limit,
            found: 0,
            replayed: 0,
            shortest: None,
            groups: BTreeMap::new(),
            in_loops: None,
            in_runs: None,
            failure: None,
        })
    }

    /// Takes a cycle; false if no more are wanted.
    pub fn take(&mut self, cycle: &mut FoundCycle<'_, '_>) -> Result<bool, SearchError> {
        self.found += 1;
        if self.found <= REPLAYED_MAX || !matches!(self.target, Target::Nowhere) {
            let lasso = cycle.lasso()?;
            let Subject { graph, product, watcher, property, .. } = &self.subject;
            let noted = Counterexample::replay(graph, product, *watcher, property, lasso)
                .and_then(|found| self.note(found, cycle.component));
            if let Err(failure) = noted {
                self.failure = Some(failure);
                return Ok(false);
            }
        }
        Ok(self.limit.is_none_or(|limit| self.found < limit))
    }

    fn note(&mut self, found: Counterexample, component: u64) -> Result<(), Failure> {
        self.replayed += 1;
        let trace = &found.trace;
        self.write(trace, component)?;
        let loop_to = trace.loop_to.unwrap_or(0);
        let in_run = transitions(trace, 0);
        let in_loop = transitions(trace, loop_to);
        let lengths = (loop_to as u64, (trace.steps.len() - loop_to) as u64);
        let key: Vec<String> = in_loop.iter().cloned().collect();
        if self.groups.len() < GROUPS_MAX || self.groups.contains_key(&key) {
            let group = self.groups.entry(key.clone()).or_insert_with(|| CycleGroup {
                cycles: 0,
                shortest: lengths,
                transitions: key,
            });
            group.cycles += 1;
            group.shortest = std::cmp::min_by_key(group.shortest, lengths, |(prefix, cycle)| prefix + cycle);
        }
        intersect(&mut self.in_loops, in_loop);
        intersect(&mut self.in_runs, in_run);
        if self.shortest.as_ref().is_none_or(|shortest| trace.steps.len() < shortest.trace.steps.len()) {
            self.shortest = Some(found);
        }
        Ok(())
    }

    fn write(&mut self, trace: &Trace, component: u64) -> Result<(), Failure> {
        match &mut self.target {
            Target::Nowhere => Ok(()),
            Target::Directory(name) => {
                let file = format!("{name}/cycle-{}.itf.json", self.found);
                output::file(&file, &mut |out| lariat_report::trace_itf(trace, out))
            }
            Target::Lines(name, lines) => {
                let written = write_line(trace, self.found, component + 1, lines);
                written.map_err(|error| Failure::machine(format!("cannot write {name}: {error}")))
            }
        }
    }

    /// What was found, and the shortest counterexample.
    pub fn finish(mut self, found: &CycleSearch) -> Result<(CyclesSummary, Option<Counterexample>), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let incomplete = match (found.search.complete, found.search.limit, self.limit) {
            (true, ..) => None,
            (false, Some(limit), _) => Some(limit.sentence().to_owned()),
            (false, None, limit) => Some(format!("the limit of {} was reached", limit.unwrap_or(found.cycles))),
        };
        let in_runs = self.in_runs.take().unwrap_or_default();
        let (only_bad, good_runs) = good_runs::only_bad(&self.subject, in_runs, self.shortest.as_ref());
        let n_groups = self.groups.len() as u64;
        let mut groups: Vec<CycleGroup> = self.groups.into_values().collect();
        groups.sort_by_key(|group| (group.shortest.0 + group.shortest.1, std::cmp::Reverse(group.cycles)));
        groups.truncate(GROUPS_SHOWN);
        let components = found.components.iter().take(COMPONENTS_SHOWN).map(|component| ComponentSummary {
            states: component.states,
            accepting: component.accepting,
            edges: component.edges,
            distance: component.distance,
            cycles: component.cycles,
        });
        let summary = CyclesSummary {
            found: found.cycles,
            incomplete,
            replayed: self.replayed,
            n_components: found.n_components,
            components: components.collect(),
            groups,
            n_groups,
            common: self.in_loops.unwrap_or_default().into_iter().collect(),
            only_bad,
            good_runs,
            directory: match self.target {
                Target::Nowhere => None,
                Target::Directory(name) | Target::Lines(name, _) => Some(name),
            },
        };
        Ok((summary, self.shortest))
    }
}

/// Writes a counterexample as a JSON object on one line, step by step.
fn write_line(trace: &Trace, number: u64, component: u64, out: &mut dyn Write) -> io::Result<()> {
    let prefix = trace.loop_to.unwrap_or(0);
    let cycle = trace.steps.len() - prefix;
    write!(out, r#"{{"number":{number},"component":{component},"prefix":{prefix},"cycle":{cycle},"steps":["#)?;
    for (i, step) in trace.steps.iter().enumerate() {
        let text = serde_json::Value::from(lariat_report::moves_text(&step.moves));
        write!(out, "{}{text}", if i > 0 { "," } else { "" })?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}

/// The transitions that a trace takes from a place on.
pub fn transitions(trace: &Trace, from: usize) -> BTreeSet<String> {
    trace.steps.moves_from(from).flat_map(|moves| moves.iter().map(transition)).collect()
}

pub fn transition(step: &Move) -> String {
    format!("{} {} -> {} (line {})", step.process, step.from, step.to, step.line)
}

/// Keeps what is in both; the first set is taken as it is.
fn intersect(all: &mut Option<BTreeSet<String>>, more: BTreeSet<String>) {
    match all {
        None => *all = Some(more),
        Some(all) => all.retain(|transition| more.contains(transition)),
    }
}
