//! Reads formulas.
//!
//! Operators from loosest to tightest: `->` and `<->` (right associative), `xor`, `||`, `&&`, `U R W M` (right associative), then the
//! unary ones. Both spellings are known: `G F X ! && || R` and `[] <> () ~ /\ \/ V`, and the words `not and or xor imply`.
//! Everything is done with explicit stacks, and formulas deeper than [`MAX_DEPTH`](crate::MAX_DEPTH) are refused, so that whoever recurses over a
//! formula later cannot run out of stack either.

use std::ops::Range;

use crate::expression;
use crate::formula::{Formula, Formulas};
use crate::operands::{Operands, Pending};
use crate::operator::{Binary, Unary, unary_letters};
use crate::token::{Kind, Token, tokens};

/// How many parentheses may be open at once.
pub const MAX_NESTING: usize = 1000;
/// What a proposition without quotes can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// Any word. Leading letters `F`, `G`, `X` are operators unless a digit follows, as Spot has it: `GFp1` is `G F p1`, `X0` a name.
    Words,
    /// A model expression as long as it can be: `P_0.CS`, `v == 3`, `x + 1 <= y * 2`, `P_1->j < 2`. Only words that consist of nothing
    /// but the letters `F`, `G`, `X` are operators.
    Expressions,
}

/// Why a text is not a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The bytes of the text that it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
}

impl FormulaError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl std::fmt::Display for FormulaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "column {}: {}", self.span.start + 1, self.message)
    }
}

impl std::error::Error for FormulaError {}

/// Reads a formula.
pub fn parse(text: &str, formulas: &mut Formulas, bare: Bare) -> Result<Formula, FormulaError> {
    let tokens = tokens(text, bare)?;
    if tokens.is_empty() {
        return Err(FormulaError::new(0..text.len(), "there is no formula"));
    }
    let mut parser =
        Parser { text, bare, tokens, at: 0, formulas, operands: Operands::default(), pending: Vec::new(), open: 0 };
    loop {
        parser.operand()?;
        if !parser.operator()? {
            return parser.finish();
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    bare: Bare,
    tokens: Vec<Token>,
    at: usize,
    formulas: &'a mut Formulas,
    operands: Operands,
    pending: Vec<Pending>,
    open: usize,
}

impl Parser<'_> {
    fn word(&self, at: usize) -> &str {
        &self.text[self.tokens[at].span.clone()]
    }

    /// Reads one operand and what stands before it.
    fn operand(&mut self) -> Result<(), FormulaError> {
        loop {
            let at = self.at;
            let Some(token) = self.tokens.get(at) else { return Err(self.missing()) };
            let (kind, span) = (token.kind.clone(), token.span.clone());
            if self.bare == Bare::Expressions && self.begins_expression(at) {
                return self.expression();
            }
            self.at += 1;
            match kind {
                Kind::Open => self.open_parenthesis(span)?,
                Kind::Not | Kind::Tilde => self.pending.push(Pending::Unary(Unary::Not, span)),
                Kind::Always => self.pending.push(Pending::Unary(Unary::Always, span)),
                Kind::Eventually => self.pending.push(Pending::Unary(Unary::Eventually, span)),
                Kind::Next => self.pending.push(Pending::Unary(Unary::Next, span)),
                Kind::Quoted(text) => {
                    let proposition = self.formulas.proposition(&text);
                    return self.operands.push(self.formulas, proposition, span);
                }
                Kind::Word => {
                    if self.word_operand(at, span)? {
                        return Ok(());
                    }
                }
                Kind::Number => {
                    let constant = self.constant(at).ok_or_else(|| {
                        let message = format!("`{}` is not a proposition", self.word(at));
                        FormulaError::new(span.clone(), message).help("the constants are `0` and `1`")
                    })?;
                    return self.operands.push(self.formulas, constant, span);
                }
                _ => {
                    self.at = at;
                    return Err(self.missing());
                }
            }
        }
    }

    fn open_parenthesis(&mut self, span: Range<usize>) -> Result<(), FormulaError> {
        self.open += 1;
        if self.open > MAX_NESTING {
            return Err(FormulaError::new(span, format!("nested too deeply: more than {MAX_NESTING} parentheses")));
        }
        self.pending.push(Pending::Open);
        Ok(())
    }

    /// A word where an operand is due: operators, then perhaps a proposition. Says whether there was one.
    fn word_operand(&mut self, at: usize, span: Range<usize>) -> Result<bool, FormulaError> {
        let word = &self.text[span.clone()];
        let letters = unary_letters(word, self.bare);
        for (place, letter) in word.bytes().take(letters).enumerate() {
            if let Some(unary) = Unary::of_letter(letter) {
                let start = span.start + place;
                self.pending.push(Pending::Unary(unary, start..start + 1));
            }
        }
        let (name, span) = (&word[letters..], span.start + letters..span.end);
        if name == "not" {
            self.pending.push(Pending::Unary(Unary::Not, span));
            return Ok(false);
        }
        if name.is_empty() {
            return Ok(false);
        }
        if Binary::of_word(name).is_some() {
            self.at = at;
            return Err(self.missing());
        }
        let formula = match name {
            _ if name.eq_ignore_ascii_case("true") => self.formulas.truth(),
            _ if name.eq_ignore_ascii_case("false") => self.formulas.falsity(),
            _ => self.formulas.proposition(name),
        };
        self.operands.push(self.formulas, formula, span)?;
        Ok(true)
    }

    /// Whether a model expression begins here. Words that are operators elsewhere are names where what follows leaves no choice.
    fn begins_expression(&self, at: usize) -> bool {
        if self.tokens[at].kind == Kind::Word {
            let word = self.word(at);
            let reserved =
                word == "not" || Binary::of_word(word).is_some() || unary_letters(word, self.bare) == word.len();
            if reserved {
                return expression::is_name(self.text, &self.tokens, at);
            }
        }
        expression::begins(&self.tokens, at)
    }

    /// Reads a model expression; one that is nothing but a constant is that constant.
    fn expression(&mut self) -> Result<(), FormulaError> {
        let start = self.at;
        self.at = expression::end(self.text, &self.tokens, start)?;
        let span = self.tokens[start].span.start..self.tokens[self.at - 1].span.end;
        let constant = if self.at == start + 1 { self.constant(start) } else { None };
        let formula = match constant {
            Some(formula) => formula,
            None => self.formulas.proposition(&self.text[span.clone()]),
        };
        self.operands.push(self.formulas, formula, span)
    }

    fn constant(&mut self, at: usize) -> Option<Formula> {
        match self.word(at) {
            "1" | "true" => Some(self.formulas.truth()),
            "0" | "false" => Some(self.formulas.falsity()),
            _ => None,
        }
    }

    /// Reads closing parentheses and the operator after an operand; false at the end of the text.
    fn operator(&mut self) -> Result<bool, FormulaError> {
        while let Some(token) = self.tokens.get(self.at) {
            if token.kind == Kind::Close {
                self.at += 1;
                self.close()?;
                continue;
            }
            let span = token.span.clone();
            let Some(binary) = Binary::of_token(&token.kind, self.word(self.at)) else {
                return Err(self.no_operator());
            };
            self.at += 1;
            self.reduce_tighter(binary)?;
            self.pending.push(Pending::Binary(binary, span));
            return Ok(true);
        }
        Ok(false)
    }

    /// Applies what binds at least as tightly as an operator that follows.
    fn reduce_tighter(&mut self, binary: Binary) -> Result<(), FormulaError> {
        while let Some(top) = self.pending.pop_if(|top| match top {
            Pending::Open => false,
            Pending::Unary(..) => true,
            Pending::Binary(before, _) => {
                before.tightness() > binary.tightness()
                    || before.tightness() == binary.tightness() && !binary.is_right_associative()
            }
        }) {
            self.operands.apply(self.formulas, top)?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), FormulaError> {
        while let Some(top) = self.pending.pop() {
            if matches!(top, Pending::Open) {
                break;
            }
            self.operands.apply(self.formulas, top)?;
        }
        self.open = self.open.saturating_sub(1);
        let inner = self.operands.pop(self.formulas);
        let span = self.tokens[self.at - 1].span.clone();
        self.operands.push(self.formulas, inner, span)
    }

    fn finish(mut self) -> Result<Formula, FormulaError> {
        while let Some(top) = self.pending.pop() {
            self.operands.apply(self.formulas, top)?;
        }
        Ok(self.operands.pop(self.formulas))
    }

    /// An operand is missing at the token that is next.
    fn missing(&self) -> FormulaError {
        let before = self.at.checked_sub(1).map(|at| self.tokens[at].span.clone());
        match (self.tokens.get(self.at), before) {
            (Some(token), _) => {
                let text = &self.text[token.span.clone()];
                let error = FormulaError::new(token.span.clone(), format!("a formula is missing before `{text}`"));
                match Binary::of_word(text) {
                    Some(_) => error.help(format!("a proposition of this name must be quoted: `\"{text}\"`")),
                    None => error,
                }
            }
            (None, Some(span)) => {
                let message = format!("a formula is missing after `{}`", &self.text[span.clone()]);
                FormulaError::new(span, message)
            }
            (None, None) => FormulaError::new(0..self.text.len(), "there is no formula"),
        }
    }

    /// There is something else where an operator is due.
    fn no_operator(&self) -> FormulaError {
        let token = &self.tokens[self.at];
        let text = &self.text[token.span.clone()];
        let error = FormulaError::new(token.span.clone(), format!("an operator is missing before `{text}`"));
        match token.kind {
            Kind::Arithmetic | Kind::Comparison | Kind::Minus | Kind::Dot => {
                FormulaError::new(token.span.clone(), format!("`{text}` cannot stand between formulas"))
                    .help("a proposition that is not a single word must be quoted: `\"x == 1\"`")
            }
            _ => error,
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
