//! What names mean, and where they can be seen.
//!
//! Locations, variables and channels share the name space of their scope; names of a process hide global ones.

use super::Lowering;
use crate::source::Span;
use crate::syntax::Name;
use lariat_model::{ChannelId, ProcessId, VariableId};
use std::collections::HashMap;
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Symbol {
    /// A variable.
    Variable(VariableId),
    /// A constant.
    Constant(i32),
    /// A constant array.
    Table(Arc<[i32]>),
    /// A channel.
    Channel(ChannelId),
    /// A process.
    Process(ProcessId),
    /// A location of the process whose scope this is.
    Location(u32),
}

impl Symbol {
    /// What it is called in a message.
    pub fn describe(&self) -> &'static str {
        match self {
            Symbol::Variable(_) => "a variable",
            Symbol::Constant(_) => "a constant",
            Symbol::Table(_) => "a constant array",
            Symbol::Channel(_) => "a channel",
            Symbol::Process(_) => "a process",
            Symbol::Location(_) => "a location",
        }
    }
}

/// The names of one process.
pub type Scope = HashMap<String, Symbol>;

/// All names of a model.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Names outside of processes, those of the processes included.
    pub globals: Scope,
    /// For each process the names in it.
    pub processes: Vec<Scope>,
}

impl Names {
    /// What `name` means in a process, or outside of all.
    pub fn look_up(&self, name: &str, process: Option<ProcessId>) -> Option<&Symbol> {
        process.and_then(|p| self.processes[p.index()].get(name)).or_else(|| self.globals.get(name))
    }

    /// All names that can be seen in a process, for suggestions.
    pub fn visible(&self, process: Option<ProcessId>) -> impl Iterator<Item = (&str, &Symbol)> {
        let locals = process.map(|p| &self.processes[p.index()]);
        locals.into_iter().flatten().chain(&self.globals).map(|(name, symbol)| (name.as_str(), symbol))
    }
}

impl Lowering<'_> {
    pub(super) fn declare_global(&mut self, name: &Name, symbol: Symbol) {
        let before = self.names.globals.insert(name.text.clone(), symbol);
        self.check_new(before, name.span, &name.text);
    }

    pub(super) fn declare_local(&mut self, process: ProcessId, name: &Name, symbol: Symbol) {
        let before = self.names.processes[process.index()].insert(name.text.clone(), symbol);
        self.check_new(before, name.span, &name.text);
    }

    fn check_new(&mut self, before: Option<Symbol>, span: Span, name: &str) {
        if let Some(before) = before {
            self.diagnostics
                .error(span, format!("`{name}` is declared twice"))
                .label(format!("it is {} already", before.describe()));
        }
    }
}
