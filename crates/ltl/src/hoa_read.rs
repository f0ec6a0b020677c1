//! Reads automata in the Hanoi omega-automata format (HOA, version 1).
//!
//! Büchi, generalised Büchi, `t` and `f` acceptance, on states or on edges, become Büchi acceptance on states; any other acceptance
//! and alternation are errors. A file may hold one automaton; aborted ones before it are skipped. What is in `hoa_body.rs` is the part
//! after `--BODY--`.

use std::collections::{HashMap, HashSet};

use crate::automaton::BuchiAutomaton;
use crate::boolean::MAX_PROPOSITIONS;
use crate::formula::{Formula, Formulas};
use crate::hoa_degeneralise::{Acceptance, MarkedAutomaton, degeneralise};
use crate::hoa_token::{HoaKind, HoaToken, automaton_tokens};
use crate::position::ReadError;

/// How many states an automaton may have.
pub const MAX_STATES: u32 = 1_000_000;
/// How deep a label may be, aliases resolved.
const MAX_LABEL_DEPTH: u32 = 200;

/// Reads an automaton.
pub fn read_hoa(text: &str) -> Result<BuchiAutomaton, ReadError> {
    let tokens = automaton_tokens(text)?;
    let mut reader =
        Reader { text, tokens, at: 0, formulas: Formulas::new(), aliases: HashMap::new(), propositions: 0 };
    let header = reader.header()?;
    let states = reader.body(&header)?;
    let acceptance = match header.infinitely_often {
        None => Acceptance::Nothing,
        Some(sets) => Acceptance::AllOf(sets.len() as u32),
    };
    Ok(degeneralise(MarkedAutomaton { propositions: header.propositions, initial: header.initial, states, acceptance }))
}

/// What stands before the body.
#[derive(Default)]
pub(crate) struct Header {
    pub n_states: Option<u32>,
    pub initial: Vec<u32>,
    pub propositions: Vec<String>,
    /// How many acceptance sets there are.
    pub n_sets: u32,
    /// Those that must be seen again and again; `None` if nothing is accepted.
    pub infinitely_often: Option<Vec<u32>>,
}

/// A place in the tokens of an automaton.
pub(crate) struct Reader<'a> {
    pub text: &'a str,
    tokens: Vec<HoaToken>,
    at: usize,
    /// Labels; the propositions are called by their numbers.
    pub formulas: Formulas,
    aliases: HashMap<String, (Formula, u32)>,
    propositions: u32,
}

impl Reader<'_> {
    pub fn peek(&self) -> Option<&HoaKind> {
        self.tokens.get(self.at).map(|t| &t.kind)
    }

    pub fn advance(&mut self) -> Option<HoaKind> {
        let kind = self.peek().cloned();
        self.at += usize::from(kind.is_some());
        kind
    }

    pub fn take(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(&HoaKind::Symbol(symbol));
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, symbol: char) -> Result<(), ReadError> {
        if self.take(symbol) { Ok(()) } else { Err(self.error(format!("`{symbol}` is missing here"))) }
    }

    pub fn integer(&mut self, what: &str) -> Result<u32, ReadError> {
        match self.peek() {
            Some(HoaKind::Integer(number)) => {
                let number = *number;
                self.at += 1;
                Ok(number)
            }
            _ => Err(self.error(format!("{what} is missing here"))),
        }
    }

    /// An error at the next token.
    pub fn error(&self, message: impl Into<String>) -> ReadError {
        let end = self.text.len();
        ReadError::at(self.text, self.tokens.get(self.at).map_or(end, |t| t.start), message)
    }

    /// An error at the token before the next one.
    pub fn error_before(&self, message: impl Into<String>) -> ReadError {
        let start = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |t| t.start);
        ReadError::at(self.text, start, message)
    }

    pub fn state_number(&mut self) -> Result<u32, ReadError> {
        let number = self.integer("the number of a state")?;
        if number >= MAX_STATES {
            return Err(self.error_before(format!("there may be at most {MAX_STATES} states")));
        }
        if self.peek() == Some(&HoaKind::Symbol('&')) {
            return Err(self.error("alternation (several states joined by `&`) is not supported"));
        }
        Ok(number)
    }

    fn header(&mut self) -> Result<Header, ReadError> {
        if self.advance() != Some(HoaKind::Header("HOA".to_owned())) {
            return Err(self.error_before("an automaton begins with `HOA: v1`"));
        }
        if self.advance() != Some(HoaKind::Identifier("v1".to_owned())) {
            return Err(self.error_before("only version `v1` is known"));
        }
        let mut header = Header::default();
        let mut seen: HashSet<String> = HashSet::new();
        loop {
            let name = match self.advance() {
                Some(HoaKind::Header(name)) => name,
                Some(HoaKind::Body) => break,
                _ => return Err(self.error_before("a header line or `--BODY--` is missing here")),
            };
            let repeats = matches!(name.as_str(), "States" | "AP" | "Acceptance") && !seen.insert(name.clone());
            if repeats {
                return Err(self.error_before(format!("`{name}:` is given a second time")));
            }
            self.header_item(&name, &mut header)?;
        }
        if !seen.contains("Acceptance") {
            return Err(self.error_before("the header has no `Acceptance:`"));
        }
        Ok(header)
    }

    fn header_item(&mut self, name: &str, header: &mut Header) -> Result<(), ReadError> {
        match name {
            "States" => {
                let number = self.integer("the number of states")?;
                if number > MAX_STATES {
                    return Err(self.error_before(format!("there may be at most {MAX_STATES} states")));
                }
                header.n_states = Some(number);
            }
            "Start" => header.initial.push(self.state_number()?),
            "AP" => self.propositions(header)?,
            "Alias" => {
                let Some(HoaKind::Alias(name)) = self.advance() else {
                    return Err(self.error_before("a name with `@` is missing here"));
                };
                let label = self.label_expression(0)?;
                self.aliases.insert(name, label);
            }
            "Acceptance" => self.acceptance(header)?,
            _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                return Err(self.error_before(format!("`{name}:` is not known, and could change the meaning")));
            }
            _ => {
                while !matches!(self.peek(), None | Some(HoaKind::Header(_) | HoaKind::Body)) {
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn propositions(&mut self, header: &mut Header) -> Result<(), ReadError> {
        let number = self.integer("the number of propositions")?;
        if number as usize > MAX_PROPOSITIONS {
            return Err(self.error_before(format!("there may be at most {MAX_PROPOSITIONS} propositions")));
        }
        for place in 0..number {
            let Some(HoaKind::Text(name)) = self.advance() else {
                return Err(self.error_before("a quoted proposition is missing here"));
            };
            if header.propositions.contains(&name) {
                return Err(self.error_before("this proposition is listed twice"));
            }
            header.propositions.push(name);
            self.formulas.proposition(&place.to_string());
        }
        self.propositions = number;
        Ok(())
    }

    /// `n` and a conjunction of `Inf(set)`; parentheses change nothing in it and are only balanced.
    fn acceptance(&mut self, header: &mut Header) -> Result<(), ReadError> {
        const UNSUPPORTED: &str =
            "only Büchi and generalised Büchi acceptance are supported: `Inf(0)&Inf(1)&...`, `t` or `f`";
        header.n_sets = self.integer("the number of acceptance sets")?;
        let (mut open, mut never) = (0_usize, false);
        let mut sets: Vec<u32> = Vec::new();
        loop {
            while self.take('(') {
                open += 1;
            }
            match self.advance() {
                Some(HoaKind::Identifier(word)) if word == "t" => {}
                Some(HoaKind::Identifier(word)) if word == "f" => never = true,
                Some(HoaKind::Identifier(word)) if word == "Inf" && self.take('(') => {
                    if self.take('!') {
                        return Err(self.error_before(UNSUPPORTED));
                    }
                    let set = self.integer("the number of an acceptance set")?;
                    if set >= header.n_sets {
                        return Err(self.error_before("there is no such acceptance set"));
                    }
                    self.expect(')')?;
                    if !sets.contains(&set) {
                        sets.push(set);
                    }
                }
                _ => return Err(self.error_before(UNSUPPORTED)),
            }
            while open > 0 && self.take(')') {
                open -= 1;
            }
            match self.peek() {
                Some(HoaKind::Symbol('&')) => self.at += 1,
                Some(HoaKind::Symbol(_)) => return Err(self.error(UNSUPPORTED)),
                _ if open > 0 => return Err(self.error("`)` is missing here")),
                _ => break,
            }
        }
        if sets.len() > 64 {
            return Err(self.error_before("there may be at most 64 acceptance sets"));
        }
        header.infinitely_often = (!never).then_some(sets);
        Ok(())
    }

    /// A label without its brackets, and its depth.
    pub fn label_expression(&mut self, nesting: u32) -> Result<(Formula, u32), ReadError> {
        let mut alternatives = Vec::new();
        let mut depth = 0;
        loop {
            let mut factors = Vec::new();
            loop {
                let (factor, factor_depth) = self.label_atom(nesting)?;
                depth = depth.max(factor_depth);
                factors.push(factor);
                if !self.take('&') {
                    break;
                }
            }
            alternatives.push(self.formulas.and(factors));
            if !self.take('|') {
                break;
            }
        }
        if depth + 2 > MAX_LABEL_DEPTH {
            return Err(self.error_before("the label is nested too deeply"));
        }
        Ok((self.formulas.or(alternatives), depth + 2))
    }

    fn label_atom(&mut self, nesting: u32) -> Result<(Formula, u32), ReadError> {
        let mut negated = false;
        while self.take('!') {
            negated = !negated;
        }
        let (formula, depth) = match self.advance() {
            Some(HoaKind::Identifier(word)) if word == "t" => (self.formulas.truth(), 1),
            Some(HoaKind::Identifier(word)) if word == "f" => (self.formulas.falsity(), 1),
            Some(HoaKind::Integer(number)) if number < self.propositions => {
                (self.formulas.proposition(&number.to_string()), 1)
            }
            Some(HoaKind::Integer(_)) => return Err(self.error_before("there is no such proposition")),
            Some(HoaKind::Alias(name)) => match self.aliases.get(&name) {
                Some(known) => *known,
                None => return Err(self.error_before(format!("the alias `@{name}` is not defined"))),
            },
            Some(HoaKind::Symbol('(')) if nesting < MAX_LABEL_DEPTH => {
                let inner = self.label_expression(nesting + 1)?;
                self.expect(')')?;
                inner
            }
            Some(HoaKind::Symbol('(')) => return Err(self.error_before("the label is nested too deeply")),
            _ => return Err(self.error_before("a label is missing here")),
        };
        Ok(if negated { (self.formulas.not(formula), depth + 1) } else { (formula, depth) })
    }
}

#[cfg(test)]
#[path = "hoa_tests.rs"]
mod tests;
