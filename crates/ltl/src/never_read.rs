//! Reads never claims as SPIN, ltl2ba, ltl3ba and Spot write them.
//!
//! Every statement is a state of the automaton: `if` and `do` with their options, `skip`, `false`, a condition. A `goto` of its own is
//! no state, only another name for its target. What a claim does after its end accepts everything, and so does an assertion that
//! fails. Options consist of a guard and `goto`, `break`, `assert` or nothing; `else` and nested statements are errors.

use std::collections::{HashMap, HashSet};

use crate::automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Label};
use crate::boolean::{LabelError, MAX_PROPOSITIONS, label_of};
use crate::formula::{Formula, Formulas};
use crate::never_scan::Scanner;
use crate::parse::{Bare, parse};
use crate::position::ReadError;

/// Reads a claim. Its propositions are those of the guards, read as formulas without temporal operators.
pub fn read_never(text: &str, bare: Bare) -> Result<BuchiAutomaton, ReadError> {
    let mut reader = Reader {
        scanner: Scanner::new(text)?,
        bare,
        formulas: Formulas::new(),
        statements: Vec::new(),
        labels: HashMap::new(),
        accepting: HashSet::new(),
    };
    reader.claim()?;
    reader.automaton()
}

/// Where an option leads.
#[derive(Clone, Debug)]
enum Target {
    /// To a label, with the place where it is named.
    Label(String, usize),
    /// To a statement by its number; the one after the last is the end.
    Statement(usize),
    /// To where everything is accepted.
    Violation,
}

enum Statement {
    Choice(Vec<(Label, Target)>),
    Jump(Target),
}

struct Reader {
    scanner: Scanner,
    bare: Bare,
    formulas: Formulas,
    statements: Vec<Statement>,
    labels: HashMap<String, usize>,
    /// The statements with a label that begins with `accept`.
    accepting: HashSet<usize>,
}

impl Reader {
    fn claim(&mut self) -> Result<(), ReadError> {
        if !self.scanner.take_word("never") {
            return Err(self.scanner.error("a claim begins with `never`"));
        }
        if !self.scanner.sees("{") {
            self.scanner.word("`{`")?;
        }
        self.scanner.expect("{")?;
        while !self.scanner.take("}") {
            if self.scanner.is_at_end() {
                return Err(self.scanner.error("`}` is missing at the end of the claim"));
            }
            if !self.scanner.take(";") {
                self.statement()?;
            }
        }
        if self.scanner.is_at_end() { Ok(()) } else { Err(self.scanner.error("there is something after the claim")) }
    }

    /// Reads a label or a statement.
    fn statement(&mut self) -> Result<(), ReadError> {
        let number = self.statements.len();
        if let Some(label) = self.scanner.take_label() {
            if label.starts_with("accept") {
                self.accepting.insert(number);
            }
            return match self.labels.insert(label.clone(), number) {
                Some(_) => Err(self.scanner.error(format!("the label `{label}` is given a second time"))),
                None => Ok(()),
            };
        }
        let statement = if self.scanner.take_word("if") {
            Statement::Choice(self.options("fi", number + 1, number + 1)?)
        } else if self.scanner.take_word("do") {
            Statement::Choice(self.options("od", number, number + 1)?)
        } else if self.scanner.take_word("goto") {
            let (label, at) = self.scanner.word("a label")?;
            Statement::Jump(Target::Label(label, at))
        } else if self.scanner.take_word("skip") {
            Statement::Choice(vec![(Label::truth(), Target::Statement(number + 1))])
        } else {
            let mut options = Vec::new();
            self.option(number + 1, None, &mut options)?;
            Statement::Choice(options)
        };
        self.statements.push(statement);
        Ok(())
    }

    /// The options of `if` or `do` and the word that ends it.
    fn options(&mut self, end: &str, next: usize, after: usize) -> Result<Vec<(Label, Target)>, ReadError> {
        let mut options = Vec::new();
        while self.scanner.take("::") {
            if self.scanner.take_word("atomic") || self.scanner.take_word("d_step") {
                self.scanner.expect("{")?;
                self.option(next, Some(after), &mut options)?;
                self.scanner.expect("}")?;
            } else {
                self.option(next, Some(after), &mut options)?;
            }
            while self.scanner.take(";") {}
        }
        if !self.scanner.take_word(end) {
            return Err(self.scanner.error(format!("`::` or `{end}` is missing here")));
        }
        Ok(options)
    }

    /// A guard and what is done then: goes on at `next` unless told otherwise; `break` leads to `after`.
    fn option(
        &mut self,
        next: usize,
        after: Option<usize>,
        options: &mut Vec<(Label, Target)>,
    ) -> Result<(), ReadError> {
        let (guard, at) = self.condition()?;
        while self.scanner.take("->") || self.scanner.take(";") {}
        let mut target = Target::Statement(next);
        match (self.scanner.peek_word(), after) {
            ("goto", _) => {
                self.scanner.take_word("goto");
                let (label, at) = self.scanner.word("a label")?;
                target = Target::Label(label, at);
            }
            ("break", Some(after)) => {
                self.scanner.take_word("break");
                target = Target::Statement(after);
            }
            ("assert", _) => return self.assertion(guard, at, target, options),
            _ => {}
        }
        self.push(guard, at, target, options)
    }

    /// `assert(condition)` after a guard: where the condition fails, the claim is violated.
    fn assertion(
        &mut self,
        guard: Formula,
        at: usize,
        target: Target,
        options: &mut Vec<(Label, Target)>,
    ) -> Result<(), ReadError> {
        self.scanner.take_word("assert");
        let (condition, _) = self.condition()?;
        while self.scanner.take(";") {}
        let fails = self.formulas.not(condition);
        let violated = self.formulas.and([guard, fails]);
        self.push(violated, at, Target::Violation, options)?;
        let passed = self.formulas.and([guard, condition]);
        self.push(passed, at, target, options)
    }

    /// Adds an option, unless nothing can take it.
    fn push(
        &mut self,
        guard: Formula,
        at: usize,
        target: Target,
        options: &mut Vec<(Label, Target)>,
    ) -> Result<(), ReadError> {
        let label = label_of(&self.formulas, guard).map_err(|error| self.scanner.error_at(at, error.to_string()))?;
        if !label.cubes.is_empty() {
            options.push((label, target));
        }
        Ok(())
    }

    fn condition(&mut self) -> Result<(Formula, usize), ReadError> {
        let (text, at) = self.scanner.guard()?;
        let formula = match text.as_str() {
            "skip" => self.formulas.truth(),
            "else" | "(else)" => return Err(self.scanner.error_at(at, "`else` is not supported")),
            text => parse(text, &mut self.formulas, self.bare)
                .map_err(|error| self.scanner.error_at(at + error.span.start, error.message))?,
        };
        Ok((formula, at))
    }

    /// The statement that a target is, and `None` where everything is accepted.
    fn resolve(&self, target: &Target) -> Result<Option<usize>, ReadError> {
        let mut target = target;
        for _ in 0..=self.statements.len() {
            let number = match target {
                Target::Violation => return Ok(None),
                Target::Statement(number) => *number,
                Target::Label(name, at) => match self.labels.get(name) {
                    Some(number) => *number,
                    None => return Err(self.scanner.error_at(*at, format!("there is no label `{name}`"))),
                },
            };
            match self.statements.get(number) {
                Some(Statement::Jump(next)) => target = next,
                Some(Statement::Choice(_)) => return Ok(Some(number)),
                None => return Ok(None),
            }
        }
        Err(self.scanner.error("some labels only lead to each other"))
    }

    /// The automaton of the statements, with a last state that accepts everything if it is needed.
    fn automaton(&self) -> Result<BuchiAutomaton, ReadError> {
        if self.formulas.propositions().len() > MAX_PROPOSITIONS {
            return Err(self.scanner.error_at(0, LabelError::Propositions.to_string()));
        }
        let is_state = |statement: &Statement| matches!(statement, Statement::Choice(_));
        let mut numbers = vec![0_u32; self.statements.len()];
        let mut n_states = 0;
        for (number, _) in self.statements.iter().enumerate().filter(|(_, s)| is_state(s)) {
            numbers[number] = n_states;
            n_states += 1;
        }
        let everything = n_states;
        let number_of = |target: &Target| self.resolve(target).map(|s| s.map_or(everything, |s| numbers[s]));
        let mut states = Vec::new();
        for (number, statement) in self.statements.iter().enumerate() {
            let Statement::Choice(options) = statement else { continue };
            let mut edges = Vec::new();
            for (label, target) in options {
                edges.push(BuchiEdge { label: label.clone(), target: number_of(target)? });
            }
            states.push(BuchiState { accepting: self.accepting.contains(&number), edges });
        }
        let initial = number_of(&Target::Statement(0))?;
        let is_used = initial == everything || states.iter().flat_map(|s| &s.edges).any(|e| e.target == everything);
        if is_used {
            let edges = vec![BuchiEdge { label: Label::truth(), target: everything }];
            states.push(BuchiState { accepting: true, edges });
        }
        let propositions = self.formulas.propositions().to_vec();
        Ok(merge_end(BuchiAutomaton { propositions, initial: vec![initial], states }))
    }
}

/// Where the last statement is an accepting `skip`, it is the state that accepts everything, and needs no other one after it.
fn merge_end(mut automaton: BuchiAutomaton) -> BuchiAutomaton {
    let n_states = automaton.states.len();
    let [.., last, end] = automaton.states.as_slice() else { return automaton };
    let to_end = BuchiEdge { label: Label::truth(), target: n_states as u32 - 1 };
    if !(last.accepting && end.accepting && last.edges == [to_end.clone()] && end.edges == [to_end]) {
        return automaton;
    }
    automaton.states.pop();
    let last = n_states as u32 - 2;
    for target in automaton.states.iter_mut().flat_map(|s| &mut s.edges).map(|e| &mut e.target) {
        *target = (*target).min(last);
    }
    automaton.initial.iter_mut().for_each(|state| *state = (*state).min(last));
    automaton
}

#[cfg(test)]
#[path = "never_tests.rs"]
mod tests;
