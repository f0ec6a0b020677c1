//! Bare model expressions inside of formulas: where one begins and where it ends.
//!
//! An expression is as long as it can be: operands joined by arithmetic and comparisons. So `!x == 3` negates the comparison.
//! An operand is a number, a name with what belongs to it (`P.CS`, `P->v`, `a[i+1]`), or something in parentheses.
//!
//! `->` is a reference to a variable of a process where no white space is on either side, a letter or underscore follows, and the
//! token before is a plain name that itself follows neither a dot nor another reference; everywhere else it is an implication. So
//! `P_1->j < 2` speaks of a variable and `p -> q`, `P_0.CS->q` and `(p)->q` are implications.

use std::ops::Range;

use crate::parse::FormulaError;
use crate::token::{Kind, Token, begins_word};

/// Whether `->` refers to a variable of a process.
pub(crate) fn is_reference(text: &str, tokens: &[Token], arrow: usize) -> bool {
    let Some(name) = arrow.checked_sub(1) else { return false };
    if tokens[arrow].kind != Kind::Arrow || tokens[name].kind != Kind::Word {
        return false;
    }
    let belongs = match name.checked_sub(1).map(|before| &tokens[before]) {
        Some(before) if before.kind == Kind::Dot => true,
        Some(before) => before.kind == Kind::Arrow && before.span.end == tokens[name].span.start,
        None => false,
    };
    let follows = text.as_bytes().get(tokens[arrow].span.end).is_some_and(|b| begins_word(*b));
    !belongs && follows && tokens[name].span.end == tokens[arrow].span.start
}

/// Whether the word, which could be an operator, must be a name because of what follows: `X.cs`, `G[1]`, `U == 3`.
pub(crate) fn is_name(text: &str, tokens: &[Token], word: usize) -> bool {
    let Some(next) = tokens.get(word + 1) else { return false };
    match next.kind {
        Kind::Dot | Kind::OpenBracket => next.span.start == tokens[word].span.end,
        Kind::Arrow => is_reference(text, tokens, word + 1),
        Kind::Comparison | Kind::Arithmetic => true,
        _ => false,
    }
}

/// Whether an expression begins at a token: with a number, a minus, a name, or a parenthesis that arithmetic or a comparison follows.
pub(crate) fn begins(tokens: &[Token], at: usize) -> bool {
    match tokens[at].kind {
        Kind::Word | Kind::Number | Kind::Minus => true,
        Kind::Open => tokens.get(tokens[at].partner + 1).is_some_and(joins),
        _ => false,
    }
}

fn joins(token: &Token) -> bool {
    matches!(token.kind, Kind::Arithmetic | Kind::Comparison | Kind::Minus)
}

/// The expression that begins at a token: the number of the token after it.
pub(crate) fn end(text: &str, tokens: &[Token], start: usize) -> Result<usize, FormulaError> {
    let mut at = start;
    loop {
        while tokens.get(at).is_some_and(|t| is_sign(t) && (at > start || t.kind == Kind::Minus)) {
            at += 1;
        }
        let after = operand_end(text, tokens, at)?;
        match tokens.get(after) {
            Some(token) if joins(token) => at = after + 1,
            _ => return Ok(after),
        }
    }
}

/// Signs may follow other signs and operators; at the start only a minus, because `!` negates the whole comparison there.
fn is_sign(token: &Token) -> bool {
    matches!(token.kind, Kind::Minus | Kind::Tilde | Kind::Not)
}

/// The operand that begins at a token: the number of the token after it.
fn operand_end(text: &str, tokens: &[Token], at: usize) -> Result<usize, FormulaError> {
    match tokens.get(at).map(|t| &t.kind) {
        Some(Kind::Number) => Ok(at + 1),
        Some(Kind::Word) => name_end(text, tokens, at),
        Some(Kind::Open) => {
            check_inside(text, tokens, at)?;
            Ok(tokens[at].partner + 1)
        }
        _ => {
            let before: Range<usize> = tokens[at - 1].span.clone();
            Err(FormulaError::new(before, "something is missing after this operator of an expression"))
        }
    }
}

/// A name and what belongs to it.
fn name_end(text: &str, tokens: &[Token], start: usize) -> Result<usize, FormulaError> {
    let mut at = start + 1;
    while let Some(token) = tokens.get(at) {
        at = match token.kind {
            Kind::OpenBracket => {
                check_inside(text, tokens, at)?;
                token.partner + 1
            }
            Kind::Dot => match tokens.get(at + 1).map(|t| &t.kind) {
                Some(Kind::Word) => at + 2,
                _ => return Err(FormulaError::new(token.span.clone(), "a name is missing after the dot")),
            },
            Kind::Arrow if is_reference(text, tokens, at) => at + 2,
            _ => return Ok(at),
        }
    }
    Ok(at)
}

/// Inside of an expression's parentheses or brackets the model's language rules; only quotes and temporal operators cannot be meant.
/// A word is one of those where an operand follows it, as no name can be followed by one.
fn check_inside(text: &str, tokens: &[Token], open: usize) -> Result<(), FormulaError> {
    let is_operator = |at: usize| match tokens[at].kind {
        Kind::Quoted(_) | Kind::Always | Kind::Eventually | Kind::Next => true,
        Kind::Word => {
            is_temporal(&text[tokens[at].span.clone()])
                && matches!(tokens[at + 1].kind, Kind::Word | Kind::Number | Kind::Open | Kind::Not | Kind::Tilde)
        }
        _ => false,
    };
    match (open + 1..tokens[open].partner).find(|at| is_operator(*at)) {
        Some(at) => {
            let message = "this cannot stand inside of an arithmetic expression";
            Err(FormulaError::new(tokens[at].span.clone(), message))
        }
        None => Ok(()),
    }
}

fn is_temporal(word: &str) -> bool {
    matches!(word, "U" | "R" | "V" | "W" | "M") || word.bytes().all(|b| matches!(b, b'F' | b'G' | b'X'))
}
