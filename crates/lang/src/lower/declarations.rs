//! Variables, constants, channels and locations.

use super::{Lowering, Symbol};
use crate::syntax::{ChannelDeclaration, Expression, Initializer, Name, ProcessDeclaration, VariableDeclaration};
use lariat_model::{Channel, ChannelId, ChannelKind, Interval, Location, ProcessId, VariableKind};

const LENGTH_MAX: i32 = 1 << 20;

impl Lowering<'_> {
    /// Declares a variable or constant, global or of a process.
    pub(super) fn variable(&mut self, declaration: &VariableDeclaration, owner: Option<ProcessId>) {
        if self.diagnostics.is_full() {
            return;
        }
        let symbol = match &declaration.length {
            Some(length) => self.array(declaration, length, owner),
            None => self.scalar(declaration, owner),
        };
        // A declaration that went wrong still declares its name, so that its uses are not errors too.
        let symbol = symbol.unwrap_or_else(|| self.stand_in(declaration, owner));
        match owner {
            Some(process) => self.declare_local(process, &declaration.name, symbol),
            None => self.declare_global(&declaration.name, symbol),
        }
    }

    fn stand_in(&mut self, declaration: &VariableDeclaration, owner: Option<ProcessId>) -> Symbol {
        let value_type = declaration.value_type;
        let kind = match (declaration.constant, &declaration.length) {
            (true, Some(_)) => return Symbol::Table([0].into()),
            (true, None) => return Symbol::Constant(0),
            (false, Some(_)) => VariableKind::Array(value_type),
            (false, None) => VariableKind::Scalar(value_type),
        };
        Symbol::Variable(self.add_variable(&declaration.name.text, owner, kind, [(value_type.range(), 0)]))
    }

    fn scalar(&mut self, declaration: &VariableDeclaration, owner: Option<ProcessId>) -> Option<Symbol> {
        let range = declaration.value_type.range();
        let value = match &declaration.initial {
            None if declaration.constant => {
                self.diagnostics
                    .error(declaration.name.span, format!("the constant `{}` has no value", declaration.name.text))
                    .label("expected `= VALUE` after this");
                return None;
            }
            None => 0,
            Some(Initializer::One(value)) => self.initial_value(value, range, owner)?,
            Some(Initializer::List(_, span)) => {
                self.diagnostics.error(*span, "a list initialises an array, and this is a single variable");
                return None;
            }
        };
        if declaration.constant {
            return Some(Symbol::Constant(value));
        }
        let kind = VariableKind::Scalar(declaration.value_type);
        if !self.check_cells(1, declaration.name.span) {
            return None;
        }
        Some(Symbol::Variable(self.add_variable(&declaration.name.text, owner, kind, [(range, value)])))
    }

    fn array(
        &mut self,
        declaration: &VariableDeclaration,
        length: &Expression,
        owner: Option<ProcessId>,
    ) -> Option<Symbol> {
        let range = declaration.value_type.range();
        let n = self.constant_value(length, owner, "the length of an array")?;
        if !(1..=LENGTH_MAX).contains(&n) {
            let message = format!("an array has from 1 to {LENGTH_MAX} elements, not {n}");
            self.diagnostics.error(length.span, message);
            return None;
        }
        let mut values = vec![0; n as usize];
        match &declaration.initial {
            None if declaration.constant => {
                self.diagnostics
                    .error(declaration.name.span, format!("the constant `{}` has no values", declaration.name.text))
                    .label("expected `= {VALUE, ...}` after this");
                return None;
            }
            None => {}
            Some(Initializer::List(list, span)) => {
                if list.len() > values.len() {
                    self.diagnostics
                        .warning(*span, format!("{} values for {n} elements: the rest is ignored", list.len()));
                }
                for (value, expression) in values.iter_mut().zip(list) {
                    *value = self.initial_value(expression, range, owner)?;
                }
            }
            Some(Initializer::One(value)) => {
                self.diagnostics
                    .error(value.span, "an array is initialised by a list")
                    .label("expected `{VALUE, ...}`");
                return None;
            }
        }
        if declaration.constant {
            return Some(Symbol::Table(values.into()));
        }
        if !self.check_cells(values.len(), declaration.name.span) {
            return None;
        }
        let kind = VariableKind::Array(declaration.value_type);
        let cells = values.into_iter().map(|value| (range, value));
        Some(Symbol::Variable(self.add_variable(&declaration.name.text, owner, kind, cells)))
    }

    /// The value of an initialiser, which may use what was declared before it.
    fn initial_value(&mut self, expression: &Expression, range: Interval, owner: Option<ProcessId>) -> Option<i32> {
        let value = self.load_time_value(expression, owner)?;
        if !range.contains(value) {
            self.diagnostics
                .error(expression.span, format!("the initial value {value} does not fit: the type holds {range}"));
            return None;
        }
        Some(value)
    }

    fn load_time_value(&mut self, expression: &Expression, owner: Option<ProcessId>) -> Option<i32> {
        let lowered = self.expression(expression, owner)?;
        match lowered.evaluate(&self.initial_cells) {
            Ok(value) => Some(value),
            Err(fault) => {
                let fault = self.model.describe_fault(fault);
                self.diagnostics.error(expression.span, format!("this has no value: {fault}"));
                None
            }
        }
    }

    /// The value of an expression that must not depend on variables.
    fn constant_value(&mut self, expression: &Expression, owner: Option<ProcessId>, what: &str) -> Option<i32> {
        let lowered = self.expression(expression, owner)?;
        let mut reads = false;
        lowered.for_each_read(&mut |_, _| reads = true);
        if reads {
            self.diagnostics
                .error(expression.span, format!("{what} must not depend on variables"))
                .label("expected a constant");
            return None;
        }
        self.load_time_value(expression, owner)
    }

    pub(super) fn channel(&mut self, declaration: &ChannelDeclaration) {
        let id = ChannelId(self.model.channels.len() as u32);
        let kind = self.channel_kind(declaration, id).unwrap_or(ChannelKind::Rendezvous { items: None });
        self.model.channels.push(Channel { name: declaration.name.text.clone(), kind });
        self.channel_uses.push(None);
        self.declare_global(&declaration.name, Symbol::Channel(id));
    }

    fn channel_kind(&mut self, declaration: &ChannelDeclaration, id: ChannelId) -> Option<ChannelKind> {
        let Some(items) = declaration.items.clone() else {
            if let Some(capacity) = &declaration.capacity {
                self.diagnostics
                    .error(capacity.span, "only a typed channel has a capacity")
                    .help(format!("write `channel {{byte}} {}[...]`", declaration.name.text));
            }
            return Some(ChannelKind::Rendezvous { items: None });
        };
        let Some(capacity) = &declaration.capacity else {
            self.diagnostics
                .error(declaration.name.span, "a typed channel needs a capacity")
                .label("expected `[CAPACITY]` after this")
                .help("a capacity of 0 makes sender and receiver move together");
            return None;
        };
        let n = self.constant_value(capacity, None, "the capacity of a channel")?;
        if !(0..=255).contains(&n) {
            self.diagnostics.error(capacity.span, format!("a channel holds from 0 to 255 items, not {n}"));
            return None;
        }
        if n == 0 {
            return Some(ChannelKind::Rendezvous { items: Some(items) });
        }
        if !self.check_cells(1 + n as usize * items.len(), capacity.span) {
            return None;
        }
        let slots = (0..n).flat_map(|_| items.iter().map(|item| (item.range(), 0)));
        let cells: Vec<_> = std::iter::once((Interval::new(0, n), 0)).chain(slots).collect();
        let variable = self.add_variable(&declaration.name.text, None, VariableKind::Buffer(id), cells);
        let length = self.model.variable(variable).first;
        Some(ChannelKind::Buffer { items, capacity: n as u32, length })
    }

    /// The locations of a process, declared in its scope.
    pub(super) fn locations(&mut self, declaration: &ProcessDeclaration, id: ProcessId) -> Vec<Location> {
        let mut locations = Vec::new();
        for name in &declaration.states {
            self.declare_local(id, name, Symbol::Location(locations.len() as u32));
            locations.push(Location { name: name.text.clone(), committed: false, accepting: false });
        }
        if locations.is_empty() {
            let message = format!("process `{}` has no locations", declaration.name.text);
            self.diagnostics.error(declaration.name.span, message).help("declare them: `state a, b;`");
        }
        for name in &declaration.commit {
            if let Some(location) = self.location(id, name, &declaration.name.text) {
                locations[location as usize].committed = true;
            }
        }
        for name in &declaration.accept {
            if let Some(location) = self.location(id, name, &declaration.name.text) {
                locations[location as usize].accepting = true;
            }
        }
        locations
    }

    /// The number of a location of a process; reports a name that is none.
    pub(super) fn location(&mut self, process: ProcessId, name: &Name, process_name: &str) -> Option<u32> {
        let scope = &self.names.processes[process.index()];
        if let Some(Symbol::Location(location)) = scope.get(&name.text) {
            return Some(*location);
        }
        let message = match scope.get(&name.text) {
            Some(other) => format!("`{}` is {}, not a location of `{process_name}`", name.text, other.describe()),
            None => format!("process `{process_name}` has no location `{}`", name.text),
        };
        let candidates = scope.iter().filter(|(_, s)| matches!(s, Symbol::Location(_))).map(|(n, _)| n.as_str());
        self.diagnostics.error(name.span, message).suggest(&name.text, candidates);
        None
    }

    /// Declares the location cell and the local variables of a process.
    pub(super) fn declare_locals(&mut self, declaration: &ProcessDeclaration, id: ProcessId) {
        let n_locations = self.model.process(id).locations.len();
        let initial = match &declaration.init {
            Some(name) => self.location(id, name, &declaration.name.text).unwrap_or(0),
            None => {
                self.diagnostics
                    .error(declaration.name.span, format!("process `{}` has no `init`", declaration.name.text))
                    .help("say where it begins: `init LOCATION;`");
                0
            }
        };
        let range = Interval::new(0, n_locations.max(1) as i32 - 1);
        let kind = VariableKind::Location(id);
        let variable = self.add_variable(&declaration.name.text, None, kind, [(range, initial as i32)]);
        self.model.processes[id.index()].location = self.model.variable(variable).first;
        for variable in &declaration.variables {
            self.variable(variable, Some(id));
        }
    }
}
