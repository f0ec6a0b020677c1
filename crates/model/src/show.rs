//! Names and expressions of the model form, written for people.

use crate::{
    BinaryOperator, CellId, Channel, ChannelKind, Communication, Expression, Fault, Model, Place, Transition,
    ValueType, Variable, VariableKind,
};
use std::fmt::Write;

impl Model {
    /// A variable as expressions write it: `x`, `P_0->j`; the name of the process for a location.
    pub fn variable_name(&self, variable: &Variable) -> String {
        match (variable.kind, variable.owner) {
            (VariableKind::Location(process), _) => self.process(process).name.clone(),
            (_, Some(owner)) => format!("{}->{}", self.process(owner).name, variable.name),
            (_, None) => variable.name.clone(),
        }
    }

    /// A cell as expressions write it: `x`, `P_0->a[2]`.
    pub fn cell_name(&self, cell: CellId) -> String {
        let variable = self.variable(self.cells[cell.index()].variable);
        let name = self.variable_name(variable);
        match variable.kind {
            VariableKind::Array(_) | VariableKind::Buffer(_) => format!("{name}[{}]", cell.0 - variable.first.0),
            _ => name,
        }
    }

    /// What went wrong, in words.
    pub fn describe_fault(&self, fault: Fault) -> String {
        match fault {
            Fault::DivisionByZero => "division by zero".to_owned(),
            Fault::IndexOutOfRange { first, index } => {
                let variable = self.variable(self.cells[first.index()].variable);
                format!(
                    "index {index} is outside {}, which has the elements 0 to {}",
                    self.variable_name(variable),
                    variable.n_cells - 1
                )
            }
            Fault::ConstantIndexOutOfRange { length, index } => {
                format!("index {index} is outside a constant array with the elements 0 to {}", length - 1)
            }
            Fault::ValueOutOfRange { cell, value } => format!(
                "{value} does not fit into {}, which holds {}",
                self.cell_name(cell),
                self.cells[cell.index()].allowed
            ),
            Fault::WriteConflict { variable } => {
                format!("two processes assign {} in the same step", self.variable_name(self.variable(variable)))
            }
        }
    }

    /// An expression with as few parentheses as its operators need.
    pub fn show_expression(&self, expression: &Expression) -> String {
        let mut out = String::new();
        self.write_expression(&mut out, expression, 0);
        out
    }

    fn write_expression(&self, out: &mut String, expression: &Expression, outer: u8) {
        match expression {
            Expression::Constant(value) => {
                let _ = write!(out, "{value}");
            }
            Expression::Cell(cell) => out.push_str(&self.cell_name(*cell)),
            Expression::Element { first, index, .. } => {
                let variable = self.variable(self.cells[first.index()].variable);
                out.push_str(&self.variable_name(variable));
                self.write_index(out, index);
            }
            Expression::TableElement { table, index } => {
                let _ = write!(out, "{{{}}}", table.iter().map(i32::to_string).collect::<Vec<_>>().join(", "));
                self.write_index(out, index);
            }
            Expression::Unary(operator, operand) => {
                out.push_str(operator.symbol());
                self.write_expression(out, operand, 9);
            }
            Expression::Binary(operator, left, right) => {
                if let Some(text) = self.location_test(*operator, left, right) {
                    out.push_str(&text);
                    return;
                }
                let own = operator.precedence();
                let parentheses = own < outer;
                out.push_str(if parentheses { "(" } else { "" });
                self.write_expression(out, left, own);
                let _ = write!(out, " {} ", operator.symbol());
                self.write_expression(out, right, own + 1);
                out.push_str(if parentheses { ")" } else { "" });
            }
        }
    }

    fn write_index(&self, out: &mut String, index: &Expression) {
        out.push('[');
        self.write_expression(out, index, 0);
        out.push(']');
    }

    /// `P.loc`, which is how a comparison of a location cell with a constant was written.
    fn location_test(&self, operator: BinaryOperator, left: &Expression, right: &Expression) -> Option<String> {
        let (BinaryOperator::Equal, Expression::Cell(cell), Expression::Constant(value)) = (operator, left, right)
        else {
            return None;
        };
        let VariableKind::Location(process) = self.variable(self.cells[cell.index()].variable).kind else {
            return None;
        };
        let process = self.process(process);
        Some(format!("{}.{}", process.name, process.locations.get(usize::try_from(*value).ok()?)?.name))
    }

    /// A place as an assignment writes it.
    pub fn show_place(&self, place: &Place) -> String {
        match place {
            Place::Cell(cell) => self.cell_name(*cell),
            Place::Element { first, index, .. } => {
                let variable = self.variable(self.cells[first.index()].variable);
                format!("{}[{}]", self.variable_name(variable), self.show_expression(index))
            }
        }
    }

    /// A transition on one line: `P_0: NCS -> wait { guard ...; sync ...; effect ...; }`.
    pub fn show_transition(&self, transition: &Transition) -> String {
        let process = self.process(transition.process);
        let mut out = format!(
            "{}: {} -> {} {{",
            process.name,
            process.locations[transition.from as usize].name,
            process.locations[transition.to as usize].name
        );
        if let Some(guard) = &transition.guard {
            let _ = write!(out, " guard {};", self.show_expression(guard));
        }
        match &transition.communication {
            Communication::None => {}
            Communication::Send { channel, values } => {
                let values: Vec<_> = values.iter().map(|v| self.show_expression(v)).collect();
                let _ = write!(out, " sync {}!{};", self.channel(*channel).name, braced(&values));
            }
            Communication::Receive { channel, targets } => {
                let targets: Vec<_> = targets.iter().map(|t| self.show_place(t)).collect();
                let _ = write!(out, " sync {}?{};", self.channel(*channel).name, braced(&targets));
            }
        }
        if !transition.assignments.is_empty() {
            let effects: Vec<_> = transition
                .assignments
                .iter()
                .map(|a| format!("{} = {}", self.show_place(&a.target), self.show_expression(&a.value)))
                .collect();
            let _ = write!(out, " effect {};", effects.join(", "));
        }
        out.push_str(" }");
        out
    }
}

impl Channel {
    /// What kind of channel it is, in words.
    pub fn description(&self) -> String {
        let types = |items: &[ValueType]| items.iter().map(|t| t.word()).collect::<Vec<_>>().join(", ");
        match &self.kind {
            ChannelKind::Rendezvous { items: None } => "rendezvous".to_owned(),
            ChannelKind::Rendezvous { items: Some(items) } => format!("rendezvous of {{{}}}", types(items)),
            ChannelKind::Buffer { items, capacity, .. } => format!("buffer for {capacity} of {{{}}}", types(items)),
        }
    }
}

fn braced(values: &[String]) -> String {
    match values {
        [] => String::new(),
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(", ")),
    }
}
