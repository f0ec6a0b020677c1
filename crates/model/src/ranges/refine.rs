//! What a guard that held tells about the cells.

use super::Local;
use crate::{BinaryOperator, CellId, Expression, Interval, UnaryOperator};

impl Local<'_> {
    /// Narrows the intervals to states in which the expression is true (or false, as `wanted` says), or fails.
    /// Returns false if there is no such state.
    ///
    /// A guard that cannot be evaluated leads to the error state, so only states in which it can matter here.
    pub(super) fn refine(&mut self, expression: &Expression, wanted: bool) -> bool {
        match expression {
            Expression::Unary(UnaryOperator::Not, operand) => self.refine(operand, !wanted),
            Expression::Binary(operator, left, right) => match (operator, wanted) {
                (BinaryOperator::And, true) => self.refine(left, true) && self.refine(right, true),
                (BinaryOperator::Or, false) => self.refine(left, false) && self.refine(right, false),
                (BinaryOperator::Imply, false) => self.refine(left, true) && self.refine(right, false),
                (BinaryOperator::And, false) => self.refine_either(left, false, right, false),
                (BinaryOperator::Or, true) => self.refine_either(left, true, right, true),
                (BinaryOperator::Imply, true) => self.refine_either(left, false, right, true),
                _ => self.compare(*operator, left, right, wanted),
            },
            _ => match self.value(expression) {
                None => false,
                Some(value) if wanted => value != Interval::point(0),
                Some(value) => value.contains(0) && self.limit(expression, Interval::point(0)),
            },
        }
    }

    /// One of two conditions holds: what both leave possible is joined.
    fn refine_either(&mut self, left: &Expression, left_wanted: bool, right: &Expression, right_wanted: bool) -> bool {
        let mut second = Local { ranges: self.ranges, known: self.known.clone() };
        let before = self.known.clone();
        match (self.refine(left, left_wanted), second.refine(right, right_wanted)) {
            (false, false) => false,
            (true, false) => true,
            (false, true) => {
                self.known = second.known;
                true
            }
            (true, true) => {
                let first = Local { ranges: self.ranges, known: std::mem::replace(&mut self.known, before) };
                for cell in first.known.keys().copied() {
                    let joined = first.get(cell).join(second.get(cell));
                    self.set(cell, joined);
                }
                true
            }
        }
    }

    fn compare(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression, wanted: bool) -> bool {
        use BinaryOperator as B;
        let operator = match (operator, wanted) {
            (operator, true) => operator,
            (B::Equal, false) => B::NotEqual,
            (B::NotEqual, false) => B::Equal,
            (B::Less, false) => B::GreaterOrEqual,
            (B::LessOrEqual, false) => B::Greater,
            (B::Greater, false) => B::LessOrEqual,
            (B::GreaterOrEqual, false) => B::Less,
            _ => return true,
        };
        let (Some(a), Some(b)) = (self.value(left), self.value(right)) else { return false };
        let (for_left, for_right) = match operator {
            B::Equal => (Some(b), Some(a)),
            B::NotEqual => (without(a, b), without(b, a)),
            B::Less => (at_most(b.high.checked_sub(1)), at_least(a.low.checked_add(1))),
            B::LessOrEqual => (at_most(Some(b.high)), at_least(Some(a.low))),
            B::Greater => (at_least(b.low.checked_add(1)), at_most(a.high.checked_sub(1))),
            B::GreaterOrEqual => (at_least(Some(b.low)), at_most(Some(a.high))),
            _ => return true,
        };
        match (for_left, for_right) {
            (Some(for_left), Some(for_right)) => self.limit(left, for_left) && self.limit(right, for_right),
            _ => false,
        }
    }

    /// The value of `expression` is in `to`.
    fn limit(&mut self, expression: &Expression, to: Interval) -> bool {
        match expression {
            Expression::Cell(cell) => self.limit_cell(*cell, to),
            Expression::Element { first, length, index } => {
                let inside = Interval::new(0, *length as i32 - 1);
                match self.value(index).and_then(|i| i.meet(inside)) {
                    None => false,
                    Some(index) => match index.as_point() {
                        Some(i) => self.limit_cell(CellId(first.0 + i as u32), to),
                        None => true,
                    },
                }
            }
            // x + c and x - c, which is how loops count
            Expression::Binary(operator, left, right) => match (operator, &**right) {
                (BinaryOperator::Add, Expression::Constant(c)) => self.limit(left, shifted(to, -i64::from(*c))),
                (BinaryOperator::Subtract, Expression::Constant(c)) => self.limit(left, shifted(to, i64::from(*c))),
                _ => true,
            },
            _ => self.value(expression).is_some_and(|value| value.meet(to).is_some()),
        }
    }

    fn limit_cell(&mut self, cell: CellId, to: Interval) -> bool {
        match self.get(cell).meet(to) {
            Some(narrowed) => {
                self.set(cell, narrowed);
                true
            }
            None => false,
        }
    }
}

/// Values of cells are far from the ends of 32 bits, so an addition of a constant does not wrap unless the constant is
/// huge; then nothing is concluded.
fn shifted(to: Interval, by: i64) -> Interval {
    if by.abs() > 1 << 24 {
        return Interval::ALL;
    }
    let clamp = |v: i32| {
        if v == i32::MIN || v == i32::MAX {
            v
        } else {
            (i64::from(v) + by).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
        }
    };
    Interval::new(clamp(to.low), clamp(to.high))
}

fn at_most(high: Option<i32>) -> Option<Interval> {
    high.map(|high| Interval { low: i32::MIN, high })
}

fn at_least(low: Option<i32>) -> Option<Interval> {
    low.map(|low| Interval { low, high: i32::MAX })
}

/// `a` without the single value of `b`, where that value is one of its ends.
fn without(a: Interval, b: Interval) -> Option<Interval> {
    match b.as_point() {
        Some(value) if a == b && a.low == value => None,
        Some(value) if value == a.low => Some(Interval::new(a.low + 1, a.high)),
        Some(value) if value == a.high => Some(Interval::new(a.low, a.high - 1)),
        _ => Some(a),
    }
}
