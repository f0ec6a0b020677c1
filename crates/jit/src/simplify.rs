//! Transitions with what is known put in place: cells without bits are constants, constants fold, and where a guard says `j == 3`, what is
//! computed behind it uses 3.
//!
//! Models made from templates are full of it: of `connected[i * n + j] == 1 && ...` for all `i` and `j`, hardly any can ever be true.
//! What is gone here costs no time in the code generator, which would find some of it much later, and nothing when it runs.

use lariat_exec::Field;
use lariat_model::{
    Assignment, BinaryOperator, CellId, ChannelKind, Communication, Expression, Model, Place, Transition,
    UnaryOperator, VariableKind,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Simplifies what is evaluated one after the other.
pub(crate) struct Simplifier<'f> {
    model: &'f Model,
    fields: &'f [Field],
    /// Cells whose value is known at the place that was reached.
    known: BTreeMap<CellId, i32>,
}

impl<'f> Simplifier<'f> {
    /// For states with these fields.
    pub(crate) fn new(model: &'f Model, fields: &'f [Field]) -> Self {
        Self { model, fields, known: BTreeMap::new() }
    }

    /// The same transition, simplified; none if its guard is always false.
    pub(crate) fn transition(&mut self, transition: &Transition) -> Option<Transition> {
        self.known.clear();
        self.known.insert(self.model.process(transition.process).location, transition.from as i32);
        let guard = match transition.guard.as_ref().map(|guard| self.holding(guard)) {
            Some(Expression::Constant(0)) => return None,
            Some(Expression::Constant(_)) => None,
            guard => guard,
        };
        let communication = self.communication(transition);
        self.known.insert(self.model.process(transition.process).location, transition.to as i32);
        let assignments = transition.assignments.iter().map(|a| self.assignment(a)).collect();
        let writes_global = transition.writes_global.clone();
        let Transition { process, from, to, line, .. } = *transition;
        Some(Transition { process, from, to, guard, communication, assignments, writes_global, line })
    }

    /// The communication. What is known behind it is what the assignments may rely on.
    fn communication(&mut self, transition: &Transition) -> Communication {
        match &transition.communication {
            Communication::None => Communication::None,
            Communication::Send { channel, values } => {
                let values = values.iter().map(|value| self.expression(value)).collect();
                if let ChannelKind::Rendezvous { .. } = self.model.channel(*channel).kind {
                    // The receiver's assignments come before the sender's.
                    let model = self.model;
                    self.known.retain(|cell, _| {
                        let variable = model.variable(model.cells[cell.index()].variable);
                        variable.owner == Some(transition.process)
                            || variable.kind == VariableKind::Location(transition.process)
                    });
                }
                Communication::Send { channel: *channel, values }
            }
            Communication::Receive { channel, targets } => {
                let targets: Vec<Place> = targets.iter().map(|target| self.place(target)).collect();
                targets.iter().for_each(|target| self.forget(target));
                Communication::Receive { channel: *channel, targets }
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) -> Assignment {
        let target = self.place(&assignment.target);
        let value = self.expression(&assignment.value);
        self.forget(&target);
        if let (Place::Cell(cell), Expression::Constant(value)) = (&target, &value) {
            self.known.insert(*cell, *value);
        }
        Assignment { target, value }
    }

    fn forget(&mut self, place: &Place) {
        match place {
            Place::Cell(cell) => {
                self.known.remove(cell);
            }
            Place::Element { first, length, .. } => {
                self.known.retain(|cell, _| cell.0 < first.0 || cell.0 >= first.0 + length);
            }
        }
    }

    fn constant(&self, cell: CellId) -> Option<i32> {
        let field = self.fields[cell.index()];
        if field.bits == 0 { Some(field.low) } else { self.known.get(&cell).copied() }
    }

    fn place(&mut self, place: &Place) -> Place {
        match place {
            Place::Cell(cell) => Place::Cell(*cell),
            Place::Element { first, length, index } => match self.expression(index) {
                Expression::Constant(index) if (index as u32) < *length => Place::Cell(CellId(first.0 + index as u32)),
                index => Place::Element { first: *first, length: *length, index },
            },
        }
    }

    /// The same expression, simplified: with the same value, and without one in the same states.
    pub(crate) fn expression(&mut self, expression: &Expression) -> Expression {
        match expression {
            Expression::Constant(_) => expression.clone(),
            Expression::Cell(cell) => self.cell(*cell),
            Expression::Element { first, length, index } => {
                let index = self.expression(index);
                self.element(*first, *length, index)
            }
            Expression::TableElement { table, index } => table_element(table.clone(), self.expression(index)),
            Expression::Unary(operator, operand) => Expression::unary(*operator, self.expression(operand)),
            Expression::Binary(BinaryOperator::And, ..) => {
                let before = self.known.clone();
                let simplified = self.holding(expression);
                self.known = before;
                simplified
            }
            Expression::Binary(operator, left, right) => {
                let left = self.expression(left);
                let right = if let Some(value) = decided(*operator, &left) {
                    return Expression::Constant(value);
                } else {
                    self.expression(right)
                };
                binary(*operator, left, right)
            }
        }
    }

    /// A condition, simplified. Behind it is known what its being true tells.
    fn holding(&mut self, condition: &Expression) -> Expression {
        let simplified = match condition {
            Expression::Binary(BinaryOperator::And, left, right) => {
                let left = self.holding(left);
                match decided(BinaryOperator::And, &left) {
                    Some(value) => return Expression::Constant(value),
                    None => return binary(BinaryOperator::And, left, self.holding(right)),
                }
            }
            other => self.expression(other),
        };
        match &simplified {
            Expression::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
                (Expression::Cell(cell), Expression::Constant(value))
                | (Expression::Constant(value), Expression::Cell(cell)) => {
                    self.known.insert(*cell, *value);
                }
                _ => {}
            },
            // Of two values, one of them 0, it is the other.
            Expression::Cell(cell) if self.is_zero_or_one(*cell) => {
                self.known.insert(*cell, 1);
            }
            Expression::Unary(UnaryOperator::Not, operand) => {
                if let Expression::Cell(cell) = **operand {
                    self.known.insert(cell, 0);
                }
            }
            _ => {}
        }
        simplified
    }

    fn is_zero_or_one(&self, cell: CellId) -> bool {
        let field = self.fields[cell.index()];
        field.bits == 1 && field.low == 0
    }

    fn cell(&self, cell: CellId) -> Expression {
        self.constant(cell).map_or(Expression::Cell(cell), Expression::Constant)
    }

    fn element(&self, first: CellId, length: u32, index: Expression) -> Expression {
        if let Expression::Constant(index) = index
            && (index as u32) < length
        {
            return self.cell(CellId(first.0 + index as u32));
        }
        let constants: Option<Arc<[i32]>> = (0..length).map(|i| self.constant(CellId(first.0 + i))).collect();
        match constants {
            Some(table) => table_element(table, index),
            None => Expression::Element { first, length, index: Box::new(index) },
        }
    }
}

/// The value where the left operand alone decides it.
fn decided(operator: BinaryOperator, left: &Expression) -> Option<i32> {
    let Expression::Constant(left) = left else { return None };
    match (operator, *left != 0) {
        (BinaryOperator::And, false) => Some(0),
        (BinaryOperator::Or, true) | (BinaryOperator::Imply, false) => Some(1),
        _ => None,
    }
}

/// `left operator right`, where both are simplified and the left one alone does not decide.
fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    use BinaryOperator as B;
    let logical = matches!(operator, B::And | B::Or | B::Imply);
    match (&left, &right) {
        (Expression::Constant(_), _) if logical => truth(right),
        (_, Expression::Constant(0)) if operator == B::And && always_has_value(&left) => Expression::Constant(0),
        (_, Expression::Constant(0)) if operator == B::Or => truth(left),
        (_, Expression::Constant(value)) if *value != 0 && operator == B::And => truth(left),
        (_, Expression::Constant(value)) if *value != 0 && logical && always_has_value(&left) => {
            Expression::Constant(1)
        }
        _ => Expression::binary(operator, left, right),
    }
}

fn table_element(table: Arc<[i32]>, index: Expression) -> Expression {
    match index {
        Expression::Constant(at) if (at as u32 as usize) < table.len() => Expression::Constant(table[at as usize]),
        index => Expression::TableElement { table, index: Box::new(index) },
    }
}

/// 1 where the value is not 0.
fn truth(expression: Expression) -> Expression {
    use BinaryOperator as B;
    let is_truth = match &expression {
        Expression::Binary(operator, ..) => !matches!(
            operator,
            B::BitOr
                | B::BitAnd
                | B::BitXor
                | B::ShiftLeft
                | B::ShiftRight
                | B::Add
                | B::Subtract
                | B::Multiply
                | B::Divide
                | B::Remainder
        ),
        Expression::Unary(operator, _) => *operator == UnaryOperator::Not,
        _ => false,
    };
    if is_truth { expression } else { Expression::binary(B::NotEqual, expression, Expression::Constant(0)) }
}

/// Whether no evaluation can fail, as far as a short look tells.
fn always_has_value(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(_) | Expression::Cell(_) => true,
        Expression::Element { .. } | Expression::TableElement { .. } => false,
        Expression::Unary(_, operand) => always_has_value(operand),
        Expression::Binary(BinaryOperator::Divide | BinaryOperator::Remainder, ..) => false,
        Expression::Binary(_, left, right) => always_has_value(left) && always_has_value(right),
    }
}
