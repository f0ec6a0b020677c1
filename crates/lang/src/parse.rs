//! Tokens to the syntax tree, by recursive descent.
//!
//! A parsing function that meets an error reports it and returns `None`; the caller that reads a list or a block skips
//! to the next place where something can begin, so that one reading finds several errors.

mod expression;
mod process;

use crate::diagnostic::Diagnostics;
use crate::source::{Source, Span};
use crate::syntax::{ChannelDeclaration, Expression, File, Initializer, Item, Name, System, VariableDeclaration};
use crate::token::{Keyword, Token, TokenKind};
use lariat_model::ValueType;

/// Reads a whole file; what is wrong with it is in `diagnostics`.
pub fn file(source: &Source, tokens: &[Token], diagnostics: &mut Diagnostics) -> File {
    Parser { source, tokens, at: 0, diagnostics, nesting: 0, bang_negates: false }.file()
}

/// Reads a single expression, as a property is written: here `!` is another word for `not`.
pub fn expression(source: &Source, tokens: &[Token], diagnostics: &mut Diagnostics) -> Option<Expression> {
    let mut parser = Parser { source, tokens, at: 0, diagnostics, nesting: 0, bang_negates: true };
    if parser.peek().kind == TokenKind::End {
        parser.diagnostics.error(parser.peek().span, "the expression is empty").label("expected an expression");
        return None;
    }
    let expression = parser.expression()?;
    if parser.peek().kind != TokenKind::End {
        parser.expected("an operator or the end of the expression");
        return None;
    }
    Some(expression)
}

pub(crate) struct Parser<'a> {
    source: &'a Source,
    tokens: &'a [Token],
    at: usize,
    diagnostics: &'a mut Diagnostics,
    nesting: u32,
    bang_negates: bool,
}

const KEYWORDS_OF_ITEMS: &[Keyword] =
    &[Keyword::Byte, Keyword::Int, Keyword::Const, Keyword::Channel, Keyword::Process, Keyword::System];

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    fn peek_after(&self) -> Token {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn at_mark(&self, mark: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Mark(m) if m == mark)
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.peek().kind == TokenKind::Keyword(keyword)
    }

    fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.at_mark(mark);
        if found {
            self.next();
        }
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.next();
        }
        found
    }

    /// Reports that something else was expected at the next token.
    fn expected(&mut self, what: &str) {
        let token = self.peek();
        let found = token.describe(self.source);
        let word = self.source.slice(token.span);
        let error = self.diagnostics.error(token.span, format!("expected {what}, found {found}"));
        error.label(format!("expected {what}"));
        if token.kind == TokenKind::Name {
            error.suggest(word, Keyword::WORDS.iter().copied());
        }
    }

    fn mark(&mut self, mark: &str) -> Option<Span> {
        if self.at_mark(mark) {
            return Some(self.next().span);
        }
        // The missing mark belongs behind what was read last, not in front of what comes next.
        let found = self.peek().describe(self.source);
        let place = self.previous_span();
        let span = Span { start: place.end.saturating_sub(1).max(place.start), end: place.end };
        self.diagnostics
            .error(span, format!("expected `{mark}`, found {found}"))
            .label(format!("expected `{mark}` after this"));
        None
    }

    fn name(&mut self, what: &str) -> Option<Name> {
        let token = self.peek();
        match token.kind {
            TokenKind::Name => {
                self.next();
                Some(Name { text: self.source.slice(token.span).to_owned(), span: token.span })
            }
            TokenKind::Keyword(keyword) => {
                let message = format!("`{}` is a word of the language and cannot be a name", keyword.word());
                self.diagnostics.error(token.span, message).label(format!("expected {what}"));
                None
            }
            _ => {
                self.expected(what);
                None
            }
        }
    }

    /// One or more names with commas between, closed by `;`.
    fn names(&mut self, what: &str) -> Option<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.take_mark(",") {
            names.push(self.name(what)?);
        }
        self.mark(";")?;
        Some(names)
    }

    /// Skips to the next token at which `begins` holds, or past the next `;`, staying inside the current braces.
    fn skip_to(&mut self, begins: impl Fn(&Self) -> bool) {
        let mut depth = 0u32;
        while !self.at_end() {
            if depth == 0 && begins(self) {
                return;
            }
            match self.peek().kind {
                TokenKind::Mark("{") => depth += 1,
                TokenKind::Mark("}") if depth == 0 => return,
                TokenKind::Mark("}") => depth -= 1,
                TokenKind::Mark(";") if depth == 0 => {
                    self.next();
                    return;
                }
                _ => {}
            }
            self.next();
        }
    }

    fn at_item(&self) -> bool {
        KEYWORDS_OF_ITEMS.iter().any(|keyword| self.at_keyword(*keyword))
    }

    fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at_end() && !self.diagnostics.is_full() {
            let before = self.at;
            if self.item(&mut file).is_none() {
                self.skip_to(Self::at_item);
                if self.at == before || self.at_mark("}") {
                    self.next();
                }
            }
        }
        if file.system.is_none() && !self.diagnostics.has_errors() {
            self.diagnostics
                .error(self.peek().span, "the file ends without `system async;` or `system sync;`")
                .label("expected `system async;` here");
        }
        file
    }

    fn item(&mut self, file: &mut File) -> Option<()> {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Byte | Keyword::Int | Keyword::Const) => {
                let variables = self.variables()?;
                file.items.extend(variables.into_iter().map(Item::Variable));
            }
            TokenKind::Keyword(Keyword::Channel) => {
                let channels = self.channels()?;
                file.items.extend(channels.into_iter().map(Item::Channel));
            }
            TokenKind::Keyword(Keyword::Process) => {
                let process = self.process()?;
                file.items.push(Item::Process(process));
            }
            TokenKind::Keyword(Keyword::System) => self.system(file)?,
            TokenKind::Mark(";") => {
                self.next();
            }
            _ => {
                self.expected("a declaration (`byte`, `int`, `const`, `channel`, `process`) or `system`");
                return None;
            }
        }
        Some(())
    }

    fn value_type(&mut self) -> Option<ValueType> {
        let value_type = match self.peek().kind {
            TokenKind::Keyword(Keyword::Byte) => ValueType::Byte,
            TokenKind::Keyword(Keyword::Int) => ValueType::Int,
            _ => {
                self.expected("a type (`byte` or `int`)");
                return None;
            }
        };
        self.next();
        Some(value_type)
    }

    /// `[const] byte x = 1, a[3] = {1, 2};`
    fn variables(&mut self) -> Option<Vec<VariableDeclaration>> {
        let constant = self.take_keyword(Keyword::Const);
        let value_type = self.value_type()?;
        let mut variables = Vec::new();
        loop {
            let name = self.name("the name of a variable")?;
            let length = self.bracketed()?;
            let initial = if self.take_mark("=") { Some(self.initializer()?) } else { None };
            variables.push(VariableDeclaration { constant, value_type, name, length, initial });
            if !self.take_mark(",") {
                break;
            }
        }
        self.mark(";")?;
        Some(variables)
    }

    /// `[e]`, if it is there.
    fn bracketed(&mut self) -> Option<Option<Expression>> {
        if !self.take_mark("[") {
            return Some(None);
        }
        let expression = self.expression()?;
        self.mark("]")?;
        Some(Some(expression))
    }

    fn initializer(&mut self) -> Option<Initializer> {
        let start = self.peek().span;
        if !self.take_mark("{") {
            return Some(Initializer::One(self.expression()?));
        }
        let mut list = Vec::new();
        while !self.at_mark("}") {
            list.push(self.expression()?);
            if !self.take_mark(",") {
                break;
            }
        }
        let end = self.mark("}")?;
        Some(Initializer::List(list, start.to(end)))
    }

    /// `channel c, d;` or `channel {byte, int} c[3], d[0];`
    fn channels(&mut self) -> Option<Vec<ChannelDeclaration>> {
        self.next();
        let mut items = None;
        if self.take_mark("{") {
            let mut types = vec![self.value_type()?];
            while self.take_mark(",") {
                types.push(self.value_type()?);
            }
            self.mark("}")?;
            items = Some(types);
        }
        let mut channels = Vec::new();
        loop {
            let name = self.name("the name of a channel")?;
            let capacity = self.bracketed()?;
            channels.push(ChannelDeclaration { name, items: items.clone(), capacity });
            if !self.take_mark(",") {
                break;
            }
        }
        self.mark(";")?;
        Some(channels)
    }

    /// `system async|sync [property NAME];`
    fn system(&mut self, file: &mut File) -> Option<()> {
        let start = self.next().span;
        let synchronous = match self.peek().kind {
            TokenKind::Keyword(Keyword::Async) => false,
            TokenKind::Keyword(Keyword::Sync) => true,
            _ => {
                self.expected("`async` or `sync`");
                return None;
            }
        };
        self.next();
        let property = if self.take_keyword(Keyword::Property) {
            Some(self.name("the name of the property process")?)
        } else {
            None
        };
        self.mark(";")?;
        if file.system.is_some() {
            self.diagnostics.error(start, "`system` was declared before").label("only one is allowed");
            return None;
        }
        file.system = Some(System { synchronous, property });
        Some(())
    }
}
