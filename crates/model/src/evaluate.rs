//! What expressions mean: the one definition that the interpreter runs and that load-time initialisers use.
//!
//! Arithmetic is C's on signed 32 bits, wrapping where C leaves it undefined; shifts use the low five bits of the
//! count. `&&`, `||` and `imply` do not evaluate the right operand where the left one decides, and test both with `!= 0`.

use crate::{BinaryOperator, CellId, Expression, Place, UnaryOperator, VariableId};

/// Why an evaluation or an assignment has no result. In a transition it leads to the error state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `/` or `%` with a right operand of 0.
    DivisionByZero,
    /// An index outside the array that starts at this cell.
    IndexOutOfRange {
        /// Element 0 of the array.
        first: CellId,
        /// The index.
        index: i32,
    },
    /// An index outside a constant array of this length.
    ConstantIndexOutOfRange {
        /// The number of elements.
        length: u32,
        /// The index.
        index: i32,
    },
    /// A value that the variable's type does not have.
    ValueOutOfRange {
        /// The cell that was assigned.
        cell: CellId,
        /// The value.
        value: i32,
    },
    /// Two processes assigned the same global variable in one step.
    WriteConflict {
        /// The variable.
        variable: VariableId,
    },
}

impl Expression {
    /// The value in the state `cells`.
    pub fn evaluate(&self, cells: &[i32]) -> Result<i32, Fault> {
        match self {
            Expression::Constant(value) => Ok(*value),
            Expression::Cell(cell) => Ok(cells[cell.index()]),
            Expression::Element { first, length, index } => {
                let index = index.evaluate(cells)?;
                if (index as u32) < *length {
                    Ok(cells[first.index() + index as usize])
                } else {
                    Err(Fault::IndexOutOfRange { first: *first, index })
                }
            }
            Expression::TableElement { table, index } => {
                let index = index.evaluate(cells)?;
                match table.get(index as u32 as usize) {
                    Some(value) => Ok(*value),
                    None => Err(Fault::ConstantIndexOutOfRange { length: table.len() as u32, index }),
                }
            }
            Expression::Unary(operator, operand) => {
                let value = operand.evaluate(cells)?;
                Ok(match operator {
                    UnaryOperator::Negate => value.wrapping_neg(),
                    UnaryOperator::Complement => !value,
                    UnaryOperator::Not => i32::from(value == 0),
                })
            }
            Expression::Binary(operator, left, right) => {
                let left = left.evaluate(cells)?;
                match (operator, left != 0) {
                    (BinaryOperator::And, false) => Ok(0),
                    (BinaryOperator::Or, true) | (BinaryOperator::Imply, false) => Ok(1),
                    _ => apply(*operator, left, right.evaluate(cells)?),
                }
            }
        }
    }

    /// Whether the value is not 0.
    pub fn is_true(&self, cells: &[i32]) -> Result<bool, Fault> {
        Ok(self.evaluate(cells)? != 0)
    }
}

impl Place {
    /// The cell that is meant in the state `cells`.
    pub fn resolve(&self, cells: &[i32]) -> Result<CellId, Fault> {
        match self {
            Place::Cell(cell) => Ok(*cell),
            Place::Element { first, length, index } => {
                let index = index.evaluate(cells)?;
                if (index as u32) < *length {
                    Ok(CellId(first.0 + index as u32))
                } else {
                    Err(Fault::IndexOutOfRange { first: *first, index })
                }
            }
        }
    }
}

fn apply(operator: BinaryOperator, left: i32, right: i32) -> Result<i32, Fault> {
    use BinaryOperator as B;
    Ok(match operator {
        B::Imply | B::Or | B::And => i32::from(right != 0),
        B::BitOr => left | right,
        B::BitAnd => left & right,
        B::BitXor => left ^ right,
        B::Equal => i32::from(left == right),
        B::NotEqual => i32::from(left != right),
        B::Less => i32::from(left < right),
        B::LessOrEqual => i32::from(left <= right),
        B::Greater => i32::from(left > right),
        B::GreaterOrEqual => i32::from(left >= right),
        B::ShiftLeft => left.wrapping_shl(right as u32),
        B::ShiftRight => left.wrapping_shr(right as u32),
        B::Add => left.wrapping_add(right),
        B::Subtract => left.wrapping_sub(right),
        B::Multiply => left.wrapping_mul(right),
        B::Divide | B::Remainder if right == 0 => return Err(Fault::DivisionByZero),
        B::Divide => left.wrapping_div(right),
        B::Remainder => left.wrapping_rem(right),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Expression::Constant;

    fn check(operator: BinaryOperator, left: i32, right: i32, expected: Result<i32, Fault>) {
        let expression = Expression::Binary(operator, Box::new(Constant(left)), Box::new(Constant(right)));
        assert_eq!(expression.evaluate(&[]), expected, "{left} {} {right}", operator.symbol());
    }

    #[test]
    fn arithmetic_is_that_of_c() {
        use BinaryOperator as B;
        check(B::Divide, -7, 2, Ok(-3));
        check(B::Remainder, -7, 2, Ok(-1));
        check(B::Divide, 1, 0, Err(Fault::DivisionByZero));
        check(B::Remainder, 1, 0, Err(Fault::DivisionByZero));
        check(B::Divide, i32::MIN, -1, Ok(i32::MIN));
        check(B::Add, i32::MAX, 1, Ok(i32::MIN));
        check(B::ShiftLeft, 1, 4, Ok(16));
        check(B::ShiftRight, -8, 1, Ok(-4));
        check(B::BitXor, 6, 3, Ok(5));
    }

    #[test]
    fn logic_tests_both_operands_alike_and_stops_early() {
        use BinaryOperator as B;
        check(B::And, 1, -1, Ok(1));
        check(B::And, -1, 1, Ok(1));
        check(B::Or, 0, -5, Ok(1));
        check(B::Imply, 0, 0, Ok(1));
        check(B::Imply, 2, 0, Ok(0));
        let fault = || Box::new(Expression::Binary(B::Divide, Box::new(Constant(1)), Box::new(Constant(0))));
        for (operator, left, value) in [(B::And, 0, 0), (B::Or, 1, 1), (B::Imply, 0, 1)] {
            let expression = Expression::Binary(operator, Box::new(Constant(left)), fault());
            assert_eq!(expression.evaluate(&[]), Ok(value));
        }
    }

    #[test]
    fn indices_are_checked() {
        let element = |index| Expression::Element { first: CellId(1), length: 2, index: Box::new(Constant(index)) };
        let cells = [9, 10, 11, 12];
        assert_eq!(element(0).evaluate(&cells), Ok(10));
        assert_eq!(element(1).evaluate(&cells), Ok(11));
        for index in [2, -1, i32::MIN] {
            assert_eq!(element(index).evaluate(&cells), Err(Fault::IndexOutOfRange { first: CellId(1), index }));
        }
    }
}
