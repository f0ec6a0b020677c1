//! What an expression can evaluate to, given intervals for the cells.

use super::Local;
use crate::{BinaryOperator, CellId, Expression, Interval, UnaryOperator};

impl Local<'_> {
    /// All values that the expression can have; none if its evaluation can only fail.
    pub(super) fn value(&self, expression: &Expression) -> Option<Interval> {
        expression.interval(&|cell| self.get(cell))
    }
}

impl Expression {
    /// All values that the expression can have where cells have those that `of` tells; none if its evaluation can only fail.
    pub fn interval(&self, of: &impl Fn(CellId) -> Interval) -> Option<Interval> {
        match self {
            Expression::Constant(value) => Some(Interval::point(*value)),
            Expression::Cell(cell) => Some(of(*cell)),
            Expression::Element { first, length, index } => {
                let index = index.interval(of)?.meet(Interval::new(0, *length as i32 - 1))?;
                (index.low..=index.high).map(|i| of(CellId(first.0 + i as u32))).reduce(Interval::join)
            }
            Expression::TableElement { table, index } => {
                let index = index.interval(of)?.meet(Interval::new(0, table.len() as i32 - 1))?;
                table[index.low as usize..=index.high as usize]
                    .iter()
                    .map(|value| Interval::point(*value))
                    .reduce(Interval::join)
            }
            Expression::Unary(operator, operand) => {
                let value = operand.interval(of)?;
                Some(match operator {
                    UnaryOperator::Negate => Interval::from_wide(-i64::from(value.high), -i64::from(value.low)),
                    UnaryOperator::Complement => Interval::new(!value.high, !value.low),
                    UnaryOperator::Not => match (value.contains(0), value.as_point()) {
                        (true, Some(_)) => Interval::point(1),
                        (true, None) => Interval::BOOLEAN,
                        (false, _) => Interval::point(0),
                    },
                })
            }
            Expression::Binary(operator, left, right) => {
                let left = left.interval(of)?;
                // The right operand of a logical operator need not be evaluated: its failure does not count here.
                match operator {
                    BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Imply => Some(Interval::BOOLEAN),
                    _ => combine(*operator, left, right.interval(of)?),
                }
            }
        }
    }
}

fn combine(operator: BinaryOperator, a: Interval, b: Interval) -> Option<Interval> {
    use BinaryOperator as B;
    let (al, ah, bl, bh) = (i64::from(a.low), i64::from(a.high), i64::from(b.low), i64::from(b.high));
    Some(match operator {
        B::Add => Interval::from_wide(al + bl, ah + bh),
        B::Subtract => Interval::from_wide(al - bh, ah - bl),
        B::Multiply => hull([al * bl, al * bh, ah * bl, ah * bh]),
        B::Divide => divide(a, b)?,
        B::Remainder => remainder(a, b)?,
        B::ShiftLeft if a.low >= 0 && b.low >= 0 && b.high < 31 => hull([al << bl, al << bh, ah << bl, ah << bh]),
        B::ShiftRight if b.low >= 0 && b.high < 32 => hull([al >> bl, al >> bh, ah >> bl, ah >> bh]),
        B::ShiftLeft | B::ShiftRight => Interval::ALL,
        B::BitAnd if a.low >= 0 && b.low >= 0 => Interval::new(0, a.high.min(b.high)),
        B::BitAnd if a.low >= 0 => Interval::new(0, a.high),
        B::BitAnd if b.low >= 0 => Interval::new(0, b.high),
        B::BitOr | B::BitXor if a.low >= 0 && b.low >= 0 => Interval::new(0, all_ones(a.high | b.high)),
        B::BitAnd | B::BitOr | B::BitXor => Interval::ALL,
        B::Equal if a.meet(b).is_none() => Interval::point(0),
        B::NotEqual if a.meet(b).is_none() => Interval::point(1),
        B::Less if a.high < b.low => Interval::point(1),
        B::Less if a.low >= b.high => Interval::point(0),
        _ => Interval::BOOLEAN,
    })
}

fn hull(corners: [i64; 4]) -> Interval {
    let low = corners.iter().copied().fold(i64::MAX, i64::min);
    let high = corners.iter().copied().fold(i64::MIN, i64::max);
    Interval::from_wide(low, high)
}

/// The smallest number of the form 2^k - 1 that is not below `value`.
fn all_ones(value: i32) -> i32 {
    if value <= 0 { 0 } else { (u32::MAX >> value.leading_zeros()) as i32 }
}

fn divide(a: Interval, b: Interval) -> Option<Interval> {
    let mut divisors: Vec<i64> = Vec::new();
    for candidate in [b.low, b.high, -1, 1] {
        if candidate != 0 && b.contains(candidate) {
            divisors.push(i64::from(candidate));
        }
    }
    // Between the corners the quotient passes through 0 where the dividend changes its sign.
    let quotients: Vec<i64> = divisors.iter().flat_map(|d| [i64::from(a.low) / d, i64::from(a.high) / d, 0]).collect();
    Some(Interval::from_wide(*quotients.iter().min()?, *quotients.iter().max()?))
}

fn remainder(a: Interval, b: Interval) -> Option<Interval> {
    let largest = i64::from(b.low).abs().max(i64::from(b.high).abs());
    if largest == 0 {
        return None;
    }
    let bound = largest - 1;
    let low = if a.low >= 0 { 0 } else { (-bound).max(i64::from(a.low)) };
    let high = if a.high <= 0 { 0 } else { bound.min(i64::from(a.high)) };
    Some(Interval::from_wide(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    /// Every operator on random intervals covers every result of random members.
    #[test]
    fn intervals_cover_all_results() {
        use BinaryOperator as B;
        let operators = [
            B::BitOr,
            B::BitAnd,
            B::BitXor,
            B::Equal,
            B::NotEqual,
            B::Less,
            B::LessOrEqual,
            B::Greater,
            B::GreaterOrEqual,
            B::ShiftLeft,
            B::ShiftRight,
            B::Add,
            B::Subtract,
            B::Multiply,
            B::Divide,
            B::Remainder,
            B::And,
            B::Or,
            B::Imply,
        ];
        let mut random = Random::new(1);
        let pick = |random: &mut Random| match random.below(4) {
            0 => random.below(9) as i32 - 4,
            1 => random.below(600) as i32 - 300,
            2 => random.below(140_000) as i32 - 70_000,
            _ => random.next_u64() as i32,
        };
        for _ in 0..20_000 {
            let mut ends = [0; 4].map(|_| pick(&mut random));
            ends[..2].sort_unstable();
            ends[2..].sort_unstable();
            let ranges = [Interval::new(ends[0], ends[1]), Interval::new(ends[2], ends[3])];
            let local = Local { ranges: &ranges, known: std::collections::BTreeMap::new() };
            for operator in operators {
                let expression = Expression::Binary(
                    operator,
                    Box::new(Expression::Cell(CellId(0))),
                    Box::new(Expression::Cell(CellId(1))),
                );
                let covered = local.value(&expression);
                for _ in 0..4 {
                    let cells = ranges.map(|r| {
                        let span = (i64::from(r.high) - i64::from(r.low)) as usize + 1;
                        (i64::from(r.low) + random.below(span) as i64) as i32
                    });
                    if let Ok(value) = expression.evaluate(&cells) {
                        let covers = covered.is_some_and(|c| c.contains(value));
                        assert!(covers, "{cells:?} {} = {value}, not in {covered:?} {ranges:?}", operator.symbol());
                    }
                }
            }
        }
    }
}
