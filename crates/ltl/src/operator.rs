//! The operators of formulas: how they are spelt, how tightly they bind, what they build.

use crate::formula::{Formula, Formulas};
use crate::parse::Bare;
use crate::token::Kind;

/// Operators before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Next,
    Eventually,
    Always,
}

impl Unary {
    /// `F`, `G` and `X`.
    pub fn of_letter(letter: u8) -> Option<Self> {
        match letter {
            b'X' => Some(Self::Next),
            b'F' => Some(Self::Eventually),
            b'G' => Some(Self::Always),
            _ => None,
        }
    }

    /// The formula that it makes.
    pub fn build(self, formulas: &mut Formulas, f: Formula) -> Formula {
        match self {
            Self::Not => formulas.not(f),
            Self::Next => formulas.next(f),
            Self::Eventually => formulas.eventually(f),
            Self::Always => formulas.always(f),
        }
    }
}

/// How many letters at the start of a word are operators. A letter before a digit is not, as in Spot; in front of model expressions
/// the whole word must consist of operators, because processes may be called `GFoo`.
pub(crate) fn unary_letters(word: &str, bare: Bare) -> usize {
    let bytes = word.as_bytes();
    let mut letters = bytes.iter().take_while(|b| Unary::of_letter(**b).is_some()).count();
    if letters > 0 && bytes.get(letters).is_some_and(|b| b.is_ascii_digit()) {
        letters -= 1;
    }
    if bare == Bare::Expressions && letters < bytes.len() { 0 } else { letters }
}

/// Operators between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    And,
    Or,
    Implies,
    Equivalent,
    Xor,
    Until,
    Release,
    WeakUntil,
    StrongRelease,
}

impl Binary {
    /// The operator that is spelt with letters.
    pub fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "U" => Self::Until,
            "R" | "V" => Self::Release,
            "W" => Self::WeakUntil,
            "M" => Self::StrongRelease,
            "and" => Self::And,
            "or" => Self::Or,
            "xor" => Self::Xor,
            "imply" => Self::Implies,
            _ => return None,
        })
    }

    /// The operator that a token is.
    pub fn of_token(kind: &Kind, word: &str) -> Option<Self> {
        match kind {
            Kind::Word => Self::of_word(word),
            Kind::And => Some(Self::And),
            Kind::Or => Some(Self::Or),
            Kind::Xor => Some(Self::Xor),
            Kind::Arrow | Kind::Implies => Some(Self::Implies),
            Kind::Equivalent => Some(Self::Equivalent),
            _ => None,
        }
    }

    /// The greater, the tighter it binds.
    pub fn tightness(self) -> u8 {
        match self {
            Self::Implies | Self::Equivalent => 0,
            Self::Xor => 1,
            Self::Or => 2,
            Self::And => 3,
            Self::Until | Self::Release | Self::WeakUntil | Self::StrongRelease => 4,
        }
    }

    /// Whether `a * b * c` is `a * (b * c)`.
    pub fn is_right_associative(self) -> bool {
        !matches!(self, Self::Xor | Self::Or | Self::And)
    }

    /// The formula that it makes.
    pub fn build(self, formulas: &mut Formulas, f: Formula, g: Formula) -> Formula {
        match self {
            Self::And => formulas.and([f, g]),
            Self::Or => formulas.or([f, g]),
            Self::Implies => formulas.implies(f, g),
            Self::Equivalent => formulas.equivalent(f, g),
            Self::Xor => formulas.xor(f, g),
            Self::Until => formulas.until(f, g),
            Self::Release => formulas.release(f, g),
            Self::WeakUntil => formulas.weak_until(f, g),
            Self::StrongRelease => formulas.strong_release(f, g),
        }
    }
}
