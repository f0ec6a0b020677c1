//! Expressions, by precedence climbing.
//!
//! From loose to tight: `imply`; `||` and `&&` together; `|`, `&`, `^` together; `==` `!=`; `<` `<=` `>=` `>`; `<<` `>>`;
//! `+` `-`; `*` `/` `%`; unary `-` `~` `not`. All binary operators group to the left: `a || b && c` is `(a || b) && c`.

use super::Parser;
use crate::source::Span;
use crate::syntax::{Expression, ExpressionKind, Name};
use crate::token::{Keyword, TokenKind};
use lariat_model::{BinaryOperator, UnaryOperator};

/// Parentheses, brackets and unary operators inside each other; the parser recurses on them.
const NESTING_MAX: u32 = 400;
/// Operators above each other; `a + a + a ...` is as deep as it is long, and later steps recurse on it.
const DEPTH_MAX: u32 = 4000;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Option<Expression> {
        self.binary(0)
    }

    fn binary(&mut self, weakest: u8) -> Option<Expression> {
        let mut left = self.unary()?;
        while let Some(operator) = self.peek_operator() {
            if operator.precedence() < weakest {
                break;
            }
            self.next();
            let right = self.binary(operator.precedence() + 1)?;
            let span = left.span.to(right.span);
            let depth = left.depth.max(right.depth) + 1;
            self.check_depth(depth, span)?;
            left = Expression { kind: ExpressionKind::Binary(operator, Box::new(left), Box::new(right)), span, depth };
        }
        Some(left)
    }

    fn peek_operator(&self) -> Option<BinaryOperator> {
        use BinaryOperator as B;
        Some(match self.peek().kind {
            TokenKind::Keyword(Keyword::Imply) => B::Imply,
            TokenKind::Keyword(Keyword::Or) => B::Or,
            TokenKind::Keyword(Keyword::And) => B::And,
            TokenKind::Mark(mark) => match mark {
                "||" => B::Or,
                "&&" => B::And,
                "|" => B::BitOr,
                "&" => B::BitAnd,
                "^" => B::BitXor,
                "==" => B::Equal,
                "!=" => B::NotEqual,
                "<" => B::Less,
                "<=" => B::LessOrEqual,
                ">" => B::Greater,
                ">=" => B::GreaterOrEqual,
                "<<" => B::ShiftLeft,
                ">>" => B::ShiftRight,
                "+" => B::Add,
                "-" => B::Subtract,
                "*" => B::Multiply,
                "/" => B::Divide,
                "%" => B::Remainder,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn unary(&mut self) -> Option<Expression> {
        let token = self.peek();
        let operator = match token.kind {
            TokenKind::Mark("-") => UnaryOperator::Negate,
            TokenKind::Mark("~") => UnaryOperator::Complement,
            TokenKind::Keyword(Keyword::Not) => UnaryOperator::Not,
            TokenKind::Mark("!") if self.bang_negates => UnaryOperator::Not,
            TokenKind::Mark("!") => {
                self.diagnostics
                    .error(token.span, "`!` sends on a channel; it does not negate")
                    .label("expected an expression")
                    .help("to negate, write `not`");
                return None;
            }
            _ => return self.primary(),
        };
        self.next();
        self.enter(token.span)?;
        let operand = self.unary();
        self.nesting -= 1;
        let operand = operand?;
        let span = token.span.to(operand.span);
        let depth = operand.depth + 1;
        self.check_depth(depth, span)?;
        Some(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span, depth })
    }

    fn primary(&mut self) -> Option<Expression> {
        let token = self.peek();
        let leaf = |kind, span| Some(Expression { kind, span, depth: 1 });
        match token.kind {
            TokenKind::Number => {
                self.next();
                leaf(ExpressionKind::Constant(self.number(token.span)?), token.span)
            }
            TokenKind::Keyword(Keyword::True) => {
                self.next();
                leaf(ExpressionKind::Constant(1), token.span)
            }
            TokenKind::Keyword(Keyword::False) => {
                self.next();
                leaf(ExpressionKind::Constant(0), token.span)
            }
            TokenKind::Mark("(") => {
                self.next();
                self.enter(token.span)?;
                let inner = self.expression();
                self.nesting -= 1;
                let inner = inner?;
                let end = self.mark(")")?;
                Some(Expression { span: token.span.to(end), ..inner })
            }
            TokenKind::Name => self.reference(),
            _ => {
                self.expected("an expression");
                None
            }
        }
    }

    fn number(&mut self, span: Span) -> Option<i32> {
        let text = self.source.slice(span);
        if let Ok(value) = text.parse() {
            return Some(value);
        }
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        let message = if digits {
            format!("{text} does not fit into 32 bits")
        } else {
            format!("`{text}` is neither a number nor a name")
        };
        self.diagnostics.error(span, message);
        None
    }

    /// `x`, `a[i]`, `P.loc`, `P->x`, `P->a[i]`
    pub(super) fn reference(&mut self) -> Option<Expression> {
        let token = self.next();
        let name = Name { text: self.source.slice(token.span).to_owned(), span: token.span };
        let (kind, depth) = if self.take_mark(".") {
            let location = self.name("the name of a location")?;
            (ExpressionKind::Location(name, location), 1)
        } else if self.take_mark("->") {
            let variable = self.name("the name of a variable")?;
            let (index, depth) = self.index()?;
            (ExpressionKind::Foreign(name, variable, index), depth)
        } else {
            match self.index()? {
                (Some(index), depth) => (ExpressionKind::Element(name, index), depth),
                (None, depth) => (ExpressionKind::Variable(name), depth),
            }
        };
        Some(Expression { kind, span: token.span.to(self.previous_span()), depth })
    }

    /// `[e]`, if it is there, and the depth of the element that it makes.
    fn index(&mut self) -> Option<(Option<Box<Expression>>, u32)> {
        let span = self.peek().span;
        if !self.at_mark("[") {
            return Some((None, 1));
        }
        self.enter(span)?;
        let index = self.bracketed();
        self.nesting -= 1;
        let index = index??;
        let depth = index.depth + 1;
        self.check_depth(depth, span)?;
        Some((Some(Box::new(index)), depth))
    }

    fn enter(&mut self, span: Span) -> Option<()> {
        if self.nesting >= NESTING_MAX {
            self.diagnostics.error(span, format!("the expression is nested more than {NESTING_MAX} levels deep"));
            return None;
        }
        self.nesting += 1;
        Some(())
    }

    fn check_depth(&mut self, depth: u32, span: Span) -> Option<()> {
        if depth > DEPTH_MAX {
            self.diagnostics
                .error(span, format!("the expression has more than {DEPTH_MAX} operators in a row"))
                .help("group its parts with parentheses");
            return None;
        }
        Some(())
    }
}
