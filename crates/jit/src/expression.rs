//! Expressions as code. What they mean is in `lariat_model`'s `evaluate.rs`; an evaluation without a result goes to the fault block.

use crate::element::Elements;
use crate::function::Emitter;
use crate::state::State;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use lariat_model::{BinaryOperator, CellId, Expression, UnaryOperator};

/// Right operands of logical operators that are no larger than this are computed rather than jumped around.
const NODES_WITHOUT_JUMP: usize = 10;

impl Emitter<'_, '_> {
    /// The value, as a 32-bit integer.
    pub(crate) fn value(&mut self, expression: &Expression, state: &State) -> Value {
        match expression {
            Expression::Constant(value) => self.constant(*value),
            Expression::Cell(cell) => self.read(state, *cell),
            Expression::Element { first, length, index } => {
                let elements = Elements::array(*first, *length);
                if let Expression::Constant(index) = **index
                    && (index as u32) < *length
                {
                    return self.read(state, elements.cell(index as u32));
                }
                let at = self.value(index, state);
                self.check_index(at, *length, self.certain_bounds(index, state));
                self.read_element(state, elements, at)
            }
            Expression::TableElement { table, index } => {
                let at = self.value(index, state);
                self.check_index(at, table.len() as u32, self.certain_bounds(index, state));
                let address = self.tables.keep(table);
                let table = self.b.ins().iconst(types::I64, address);
                let at = self.b.ins().uextend(types::I64, at);
                let offset = self.b.ins().ishl_imm_u(at, 2);
                let address = self.b.ins().iadd(table, offset);
                self.b.ins().load(types::I32, MemFlagsData::trusted().with_readonly(), address, 0)
            }
            Expression::Unary(UnaryOperator::Negate, operand) => {
                let value = self.value(operand, state);
                self.b.ins().ineg(value)
            }
            Expression::Unary(UnaryOperator::Complement, operand) => {
                let value = self.value(operand, state);
                self.b.ins().bnot(value)
            }
            Expression::Binary(operator, left, right) if !is_truth(*operator) => {
                self.arithmetic(*operator, left, right, state)
            }
            Expression::Unary(UnaryOperator::Not, _) | Expression::Binary(..) => {
                let truth = self.condition(expression, state);
                self.b.ins().uextend(types::I32, truth)
            }
        }
    }

    /// Whether the value is not 0, as an 8-bit 0 or 1.
    pub(crate) fn condition(&mut self, expression: &Expression, state: &State) -> Value {
        match expression {
            Expression::Unary(UnaryOperator::Not, operand) => {
                let truth = self.condition(operand, state);
                self.b.ins().bxor_imm_u(truth, 1)
            }
            Expression::Binary(operator, left, right) => match (operator, comparison(*operator)) {
                (_, Some(code @ (IntCC::Equal | IntCC::NotEqual)))
                    if let Some((cell, value)) = cell_and_constant(left, right) =>
                {
                    self.equals(state, cell, value, code)
                }
                (_, Some(code)) => {
                    let left = self.value(left, state);
                    let right = self.value(right, state);
                    self.b.ins().icmp(code, left, right)
                }
                (BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Imply, _) => {
                    self.logic(*operator, left, right, state)
                }
                _ => self.is_not_zero(expression, state),
            },
            _ => self.is_not_zero(expression, state),
        }
    }

    fn is_not_zero(&mut self, expression: &Expression, state: &State) -> Value {
        if let Expression::Cell(cell) = expression {
            return self.equals(state, *cell, 0, IntCC::NotEqual);
        }
        let value = self.value(expression, state);
        self.b.ins().icmp_imm_u(IntCC::NotEqual, value, 0)
    }

    fn logic(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression, state: &State) -> Value {
        let mut left = self.condition(left, state);
        if operator == BinaryOperator::Imply {
            left = self.b.ins().bxor_imm_u(left, 1);
        }
        let is_and = operator == BinaryOperator::And;
        if nodes(right) <= NODES_WITHOUT_JUMP && !self.can_fault(right, state) {
            let right = self.condition(right, state);
            return if is_and { self.b.ins().band(left, right) } else { self.b.ins().bor(left, right) };
        }
        let more = self.b.create_block();
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I8);
        if is_and {
            self.b.ins().brif(left, more, &[], done, &[left.into()]);
        } else {
            self.b.ins().brif(left, done, &[left.into()], more, &[]);
        }
        self.b.switch_to_block(more);
        let right = self.condition(right, state);
        self.b.ins().jump(done, &[right.into()]);
        self.b.switch_to_block(done);
        result
    }

    fn arithmetic(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression, state: &State) -> Value {
        use BinaryOperator as B;
        let a = self.value(left, state);
        let b = self.value(right, state);
        match operator {
            B::BitOr => self.b.ins().bor(a, b),
            B::BitAnd => self.b.ins().band(a, b),
            B::BitXor => self.b.ins().bxor(a, b),
            B::ShiftLeft => self.b.ins().ishl(a, b),
            B::ShiftRight => self.b.ins().sshr(a, b),
            B::Add => self.b.ins().iadd(a, b),
            B::Subtract => self.b.ins().isub(a, b),
            B::Multiply => self.b.ins().imul(a, b),
            _ => {
                let (dividend, divisor) = (self.certain_bounds(left, state), self.certain_bounds(right, state));
                if divisor.contains(0) {
                    let fault = self.fault_block();
                    let done = self.b.create_block();
                    self.b.ins().brif(b, done, &[], fault, &[]);
                    self.b.switch_to_block(done);
                }
                self.divide(operator == B::Divide, dividend.low >= 0 && divisor.low >= 0, a, b)
            }
        }
    }

    /// The quotient or the remainder; the divisor is not 0.
    fn divide(&mut self, quotient: bool, unsigned: bool, a: Value, b: Value) -> Value {
        match (unsigned, quotient) {
            (true, true) => self.b.ins().udiv(a, b),
            (true, false) => self.b.ins().urem(a, b),
            _ => {
                // With 64 bits the smallest number by -1 has a quotient, which wraps when it is cut.
                let a = self.b.ins().sextend(types::I64, a);
                let b = self.b.ins().sextend(types::I64, b);
                let wide = if quotient { self.b.ins().sdiv(a, b) } else { self.b.ins().srem(a, b) };
                self.b.ins().ireduce(types::I32, wide)
            }
        }
    }

    /// Whether the code of the expression has a way to the fault block.
    pub(crate) fn can_fault(&self, expression: &Expression, state: &State) -> bool {
        let outside = |index: &Expression, length: usize| {
            let bounds = self.certain_bounds(index, state);
            bounds.low < 0 || bounds.high >= length as i32
        };
        match expression {
            Expression::Constant(_) | Expression::Cell(_) => false,
            Expression::Element { length, index, .. } => {
                outside(index, *length as usize) || self.can_fault(index, state)
            }
            Expression::TableElement { table, index } => outside(index, table.len()) || self.can_fault(index, state),
            Expression::Unary(_, operand) => self.can_fault(operand, state),
            Expression::Binary(operator, left, right) => {
                let divides = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
                divides && self.certain_bounds(right, state).contains(0)
                    || self.can_fault(left, state)
                    || self.can_fault(right, state)
            }
        }
    }
}

fn cell_and_constant(left: &Expression, right: &Expression) -> Option<(CellId, i32)> {
    match (left, right) {
        (Expression::Cell(cell), Expression::Constant(value))
        | (Expression::Constant(value), Expression::Cell(cell)) => Some((*cell, *value)),
        _ => None,
    }
}

fn comparison(operator: BinaryOperator) -> Option<IntCC> {
    use BinaryOperator as B;
    Some(match operator {
        B::Equal => IntCC::Equal,
        B::NotEqual => IntCC::NotEqual,
        B::Less => IntCC::SignedLessThan,
        B::LessOrEqual => IntCC::SignedLessThanOrEqual,
        B::Greater => IntCC::SignedGreaterThan,
        B::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
        _ => return None,
    })
}

fn is_truth(operator: BinaryOperator) -> bool {
    matches!(operator, BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Imply)
        || comparison(operator).is_some()
}

fn nodes(expression: &Expression) -> usize {
    1 + match expression {
        Expression::Constant(_) | Expression::Cell(_) => 0,
        Expression::Element { index, .. } | Expression::TableElement { index, .. } => nodes(index),
        Expression::Unary(_, operand) => nodes(operand),
        Expression::Binary(_, left, right) => nodes(left) + nodes(right),
    }
}
