//! Expressions over cells. What they mean is in `evaluate.rs`.

use crate::CellId;
use std::sync::Arc;

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-x`
    Negate,
    /// `~x`
    Complement,
    /// `not x`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOperator {
    Imply,
    Or,
    And,
    BitOr,
    BitAnd,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// An expression; all arithmetic is in signed 32 bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Constant(i32),
    /// The value of a cell.
    Cell(CellId),
    /// An array element.
    Element {
        /// The cell of element 0.
        first: CellId,
        /// The number of elements.
        length: u32,
        /// Which element.
        index: Box<Expression>,
    },
    /// An element of a constant array.
    TableElement {
        /// The array.
        table: Arc<[i32]>,
        /// Which element.
        index: Box<Expression>,
    },
    /// An operator and its operand.
    Unary(UnaryOperator, Box<Expression>),
    /// An operator and its operands.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
}

/// Something that can be assigned.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A cell.
    Cell(CellId),
    /// An array element.
    Element {
        /// The cell of element 0.
        first: CellId,
        /// The number of elements.
        length: u32,
        /// Which element.
        index: Expression,
    },
}

impl Place {
    /// The first cell of the variable that the place belongs to, or the cell itself.
    pub fn first_cell(&self) -> CellId {
        match self {
            Place::Cell(cell) => *cell,
            Place::Element { first, .. } => *first,
        }
    }
}

impl UnaryOperator {
    /// The symbol in the source.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Complement => "~",
            UnaryOperator::Not => "not ",
        }
    }
}

impl BinaryOperator {
    /// The symbol in the source.
    pub fn symbol(self) -> &'static str {
        use BinaryOperator as B;
        match self {
            B::Imply => "imply",
            B::Or => "||",
            B::And => "&&",
            B::BitOr => "|",
            B::BitAnd => "&",
            B::BitXor => "^",
            B::Equal => "==",
            B::NotEqual => "!=",
            B::Less => "<",
            B::LessOrEqual => "<=",
            B::Greater => ">",
            B::GreaterOrEqual => ">=",
            B::ShiftLeft => "<<",
            B::ShiftRight => ">>",
            B::Add => "+",
            B::Subtract => "-",
            B::Multiply => "*",
            B::Divide => "/",
            B::Remainder => "%",
        }
    }

    /// How tightly it binds; `&&` and `||` bind alike, as do `&`, `|` and `^`.
    pub fn precedence(self) -> u8 {
        use BinaryOperator as B;
        match self {
            B::Imply => 1,
            B::Or | B::And => 2,
            B::BitOr | B::BitAnd | B::BitXor => 3,
            B::Equal | B::NotEqual => 4,
            B::Less | B::LessOrEqual | B::Greater | B::GreaterOrEqual => 5,
            B::ShiftLeft | B::ShiftRight => 6,
            B::Add | B::Subtract => 7,
            B::Multiply | B::Divide | B::Remainder => 8,
        }
    }
}

impl Expression {
    /// `left op right`, computed at once where both are constants and the result is defined.
    pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
        let constant = matches!((&left, &right), (Expression::Constant(_), Expression::Constant(_)));
        let expression = Expression::Binary(operator, Box::new(left), Box::new(right));
        if constant { expression.folded() } else { expression }
    }

    /// `op operand`, computed at once where the operand is a constant.
    pub fn unary(operator: UnaryOperator, operand: Expression) -> Expression {
        let constant = matches!(operand, Expression::Constant(_));
        let expression = Expression::Unary(operator, Box::new(operand));
        if constant { expression.folded() } else { expression }
    }

    /// The logical negation.
    pub fn negated(self) -> Expression {
        Expression::unary(UnaryOperator::Not, self)
    }

    fn folded(self) -> Expression {
        match self.evaluate(&[]) {
            Ok(value) => Expression::Constant(value),
            Err(_) => self,
        }
    }

    /// Calls `visit` for every cell, or range of cells, that the expression can read.
    pub fn for_each_read(&self, visit: &mut impl FnMut(CellId, u32)) {
        match self {
            Expression::Constant(_) => {}
            Expression::Cell(cell) => visit(*cell, 1),
            Expression::Element { first, length, index } => {
                visit(*first, *length);
                index.for_each_read(visit);
            }
            Expression::TableElement { index, .. } => index.for_each_read(visit),
            Expression::Unary(_, operand) => operand.for_each_read(visit),
            Expression::Binary(_, left, right) => {
                left.for_each_read(visit);
                right.for_each_read(visit);
            }
        }
    }
}
