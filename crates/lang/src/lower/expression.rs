//! Expressions: names become cells.

use super::{Lowering, Names, Symbol};
use crate::diagnostic::Diagnostics;
use crate::syntax::{self, ExpressionKind, Name};
use lariat_model::{BinaryOperator, CellId, Expression, Model, Place, ProcessId, VariableKind};

/// What expressions are resolved against.
pub(crate) struct Resolver<'a> {
    pub(crate) model: &'a Model,
    pub(crate) names: &'a Names,
    pub(crate) diagnostics: &'a mut Diagnostics,
    /// The process in whose scope the expression stands.
    pub(crate) process: Option<ProcessId>,
    /// Whether `P->x` may be read here.
    pub(crate) foreign_allowed: bool,
}

impl Lowering<'_> {
    pub(super) fn resolver(&mut self, process: Option<ProcessId>) -> Resolver<'_> {
        // Properties look into processes; processes do not look into each other.
        let foreign_allowed = process.is_some() && process == self.model.property;
        let Lowering { model, names, diagnostics, .. } = self;
        Resolver { model, names, diagnostics, process, foreign_allowed }
    }

    pub(super) fn expression(
        &mut self,
        expression: &syntax::Expression,
        process: Option<ProcessId>,
    ) -> Option<Expression> {
        self.resolver(process).expression(expression)
    }
}

impl Resolver<'_> {
    pub(crate) fn expression(&mut self, expression: &syntax::Expression) -> Option<Expression> {
        match &expression.kind {
            ExpressionKind::Constant(value) => Some(Expression::Constant(*value)),
            ExpressionKind::Variable(name) => {
                let symbol = self.symbol(name)?;
                self.scalar(name, symbol)
            }
            ExpressionKind::Element(name, index) => {
                let symbol = self.symbol(name);
                let index = self.expression(index);
                self.element(name, symbol?, index?)
            }
            ExpressionKind::Location(process, location) => self.location_test(process, location),
            ExpressionKind::Foreign(process, variable, index) => self.foreign(process, variable, index.as_deref()),
            ExpressionKind::Unary(operator, operand) => Some(Expression::unary(*operator, self.expression(operand)?)),
            ExpressionKind::Binary(operator, left, right) => {
                // Both sides are looked at even if one is wrong, so that one reading shows both errors.
                let left = self.expression(left);
                let right = self.expression(right);
                Some(Expression::binary(*operator, left?, right?))
            }
        }
    }

    /// The place that an assignment or a receiving transition names.
    pub(crate) fn place(&mut self, target: &syntax::Expression) -> Option<Place> {
        let (name, index) = match &target.kind {
            ExpressionKind::Variable(name) => (name, None),
            ExpressionKind::Element(name, index) => (name, Some(index)),
            ExpressionKind::Foreign(process, ..) => {
                let message = format!("variables of `{}` can only be assigned in `{}`", process.text, process.text);
                self.diagnostics.error(target.span, message);
                return None;
            }
            _ => {
                self.diagnostics
                    .error(target.span, "only a variable or an array element can receive a value")
                    .label("expected a variable");
                return None;
            }
        };
        let symbol = self.symbol(name)?;
        if matches!(symbol, Symbol::Constant(_) | Symbol::Table(_)) {
            self.diagnostics.error(name.span, format!("`{}` is a constant and cannot be assigned", name.text));
            return None;
        }
        let lowered = match index {
            None => self.scalar(name, symbol)?,
            Some(index) => {
                let index = self.expression(index)?;
                self.element(name, symbol, index)?
            }
        };
        match lowered {
            Expression::Cell(cell) => Some(Place::Cell(cell)),
            Expression::Element { first, length, index } => Some(Place::Element { first, length, index: *index }),
            _ => None,
        }
    }

    fn symbol(&mut self, name: &Name) -> Option<Symbol> {
        if let Some(symbol) = self.names.look_up(&name.text, self.process) {
            return Some(symbol.clone());
        }
        let owner = self.names.processes.iter().position(|scope| scope.contains_key(&name.text));
        let candidates = self
            .names
            .visible(self.process)
            .filter(|(_, s)| matches!(s, Symbol::Variable(_) | Symbol::Constant(_) | Symbol::Table(_)))
            .map(|(n, _)| n);
        let error = self.diagnostics.error(name.span, format!("unknown name `{}`", name.text));
        error.label("not declared").suggest(&name.text, candidates);
        if let (None, Some(owner)) = (&error.help, owner) {
            let process = &self.model.processes[owner].name;
            error.help = Some(match self.names.processes[owner].get(&name.text) {
                Some(Symbol::Location(_)) => format!("for the location write `{process}.{}`", name.text),
                _ if self.foreign_allowed => format!("for the variable write `{process}->{}`", name.text),
                _ => format!("`{}` is local to process `{process}`", name.text),
            });
        }
        None
    }

    fn scalar(&mut self, name: &Name, symbol: Symbol) -> Option<Expression> {
        match symbol {
            Symbol::Constant(value) => Some(Expression::Constant(value)),
            Symbol::Variable(id) => {
                let variable = self.model.variable(id);
                if matches!(variable.kind, VariableKind::Array(_)) {
                    self.diagnostics
                        .warning(
                            name.span,
                            format!("`{}` is an array; without an index its element 0 is meant", name.text),
                        )
                        .help(format!("write `{}[0]`", name.text));
                }
                Some(Expression::Cell(variable.first))
            }
            Symbol::Table(table) => {
                self.diagnostics
                    .warning(name.span, format!("`{}` is an array; without an index its element 0 is meant", name.text))
                    .help(format!("write `{}[0]`", name.text));
                Some(Expression::Constant(table[0]))
            }
            other => {
                let error = self.diagnostics.error(name.span, format!("`{}` is {}", name.text, other.describe()));
                error.label("expected a variable or a constant");
                match (&other, self.process) {
                    (Symbol::Location(_), Some(process)) => {
                        let process = &self.model.process(process).name;
                        error.help(format!("to ask whether the process is there, write `{process}.{}`", name.text));
                    }
                    (Symbol::Process(_), _) => {
                        error.help(format!("to ask where it is, write `{}.LOCATION`", name.text));
                    }
                    _ => {}
                }
                None
            }
        }
    }

    fn element(&mut self, name: &Name, symbol: Symbol, index: Expression) -> Option<Expression> {
        let constant = match index {
            Expression::Constant(value) => usize::try_from(value).ok(),
            _ => None,
        };
        match symbol {
            Symbol::Variable(id) if matches!(self.model.variable(id).kind, VariableKind::Array(_)) => {
                let variable = self.model.variable(id);
                let (first, length) = (variable.first, variable.n_cells);
                Some(match constant {
                    Some(i) if i < length as usize => Expression::Cell(CellId(first.0 + i as u32)),
                    _ => Expression::Element { first, length, index: Box::new(index) },
                })
            }
            Symbol::Table(table) => Some(match constant.and_then(|i| table.get(i)) {
                Some(value) => Expression::Constant(*value),
                None => Expression::TableElement { table, index: Box::new(index) },
            }),
            other => {
                self.diagnostics
                    .error(name.span, format!("`{}` is {} and has no elements", name.text, other.describe()))
                    .label("expected an array");
                None
            }
        }
    }

    fn process_named(&mut self, name: &Name) -> Option<ProcessId> {
        if let Some(Symbol::Process(process)) = self.names.globals.get(&name.text) {
            return Some(*process);
        }
        let message = match self.names.look_up(&name.text, self.process) {
            Some(other) => format!("`{}` is {}, not a process", name.text, other.describe()),
            None => format!("there is no process `{}`", name.text),
        };
        let candidates = self.model.processes.iter().map(|p| p.name.as_str());
        self.diagnostics.error(name.span, message).label("unknown process").suggest(&name.text, candidates);
        None
    }

    fn location_test(&mut self, process: &Name, location: &Name) -> Option<Expression> {
        let id = self.process_named(process)?;
        let scope = &self.names.processes[id.index()];
        if let Some(Symbol::Location(number)) = scope.get(&location.text) {
            let cell = Expression::Cell(self.model.process(id).location);
            return Some(Expression::binary(BinaryOperator::Equal, cell, Expression::Constant(*number as i32)));
        }
        let locations = self.model.process(id).locations.iter().map(|l| l.name.as_str());
        let message = format!("process `{}` has no location `{}`", process.text, location.text);
        let error = self.diagnostics.error(location.span, message);
        error.label("unknown location").suggest(&location.text, locations);
        if matches!(scope.get(&location.text), Some(Symbol::Variable(_))) {
            error.help(format!("for the variable write `{}->{}`", process.text, location.text));
        }
        None
    }

    fn foreign(&mut self, process: &Name, variable: &Name, index: Option<&syntax::Expression>) -> Option<Expression> {
        let id = self.process_named(process)?;
        if !self.foreign_allowed {
            self.diagnostics
                .error(
                    process.span.to(variable.span),
                    "only properties may look at variables of a process from outside",
                )
                .help("make the variable global");
            return None;
        }
        let scope = &self.names.processes[id.index()];
        let symbol = match scope.get(&variable.text) {
            Some(symbol @ (Symbol::Variable(_) | Symbol::Constant(_) | Symbol::Table(_))) => symbol.clone(),
            _ => {
                let candidates =
                    scope.iter().filter(|(_, s)| !matches!(s, Symbol::Location(_))).map(|(n, _)| n.as_str());
                let message = format!("process `{}` has no variable `{}`", process.text, variable.text);
                self.diagnostics
                    .error(variable.span, message)
                    .label("unknown variable")
                    .suggest(&variable.text, candidates);
                return None;
            }
        };
        match index {
            None => self.scalar(variable, symbol),
            Some(index) => {
                let index = self.expression(index)?;
                self.element(variable, symbol, index)
            }
        }
    }
}
