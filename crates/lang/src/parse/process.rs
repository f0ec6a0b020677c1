//! Processes and their transitions.

use super::Parser;
use crate::source::Span;
use crate::syntax::{Effect, Name, ProcessDeclaration, SyncDeclaration, TransitionDeclaration};
use crate::token::{Keyword, Token, TokenKind};

const KEYWORDS_OF_SECTIONS: &[Keyword] = &[
    Keyword::Byte,
    Keyword::Int,
    Keyword::Const,
    Keyword::State,
    Keyword::Init,
    Keyword::Accept,
    Keyword::Commit,
    Keyword::Assert,
    Keyword::Trans,
];

/// Acceptance conditions that DVE knows beside Büchi's.
const OTHER_ACCEPTANCE: &[&str] = &["genbuchi", "muller", "rabin", "streett"];

impl Parser<'_> {
    pub(super) fn process(&mut self) -> Option<ProcessDeclaration> {
        self.next();
        let name = self.name("the name of a process")?;
        self.mark("{")?;
        let mut process = ProcessDeclaration {
            name,
            variables: Vec::new(),
            states: Vec::new(),
            init: None,
            accept: Vec::new(),
            other_acceptance: None,
            commit: Vec::new(),
            assertions: Vec::new(),
            transitions: Vec::new(),
        };
        while !self.at_mark("}") {
            if self.at_end() || self.at_keyword(Keyword::Process) || self.at_keyword(Keyword::System) {
                let found = self.peek().describe(self.source);
                self.diagnostics
                    .error(process.name.span, format!("process `{}` does not end: found {found}", process.name.text))
                    .label("expected `}` to close this process");
                return Some(process);
            }
            if self.diagnostics.is_full() {
                return None;
            }
            if self.section(&mut process).is_none() {
                let before = self.at;
                self.skip_to(|p| {
                    KEYWORDS_OF_SECTIONS.iter().any(|k| p.at_keyword(*k)) || p.at_keyword(Keyword::Process)
                });
                if self.at == before && !self.at_mark("}") {
                    self.next();
                }
            }
        }
        self.next();
        Some(process)
    }

    fn section(&mut self, process: &mut ProcessDeclaration) -> Option<()> {
        let TokenKind::Keyword(keyword) = self.peek().kind else {
            self.expected("`state`, `init`, `accept`, `commit`, `assert`, `trans`, a declaration or `}`");
            return None;
        };
        match keyword {
            Keyword::Byte | Keyword::Int | Keyword::Const => {
                let variables = self.variables()?;
                process.variables.extend(variables);
            }
            Keyword::State => {
                self.next();
                let names = self.names("the name of a location")?;
                process.states.extend(names);
            }
            Keyword::Init => {
                self.next();
                let name = self.name("the name of a location")?;
                self.mark(";")?;
                if process.init.is_some() {
                    self.diagnostics.error(name.span, "a process has only one `init`").label("this is another one");
                    return Some(());
                }
                process.init = Some(name);
            }
            Keyword::Accept => self.acceptance(process)?,
            Keyword::Commit => {
                self.next();
                let names = self.names("the name of a location")?;
                process.commit.extend(names);
            }
            Keyword::Assert => self.assertions(process)?,
            Keyword::Trans => self.transitions(process)?,
            Keyword::Channel => {
                let span = self.peek().span;
                self.diagnostics
                    .error(span, "channels are declared outside of processes")
                    .help("move the declaration in front of the first process");
                return None;
            }
            _ => {
                self.expected("`state`, `init`, `accept`, `commit`, `assert`, `trans`, a declaration or `}`");
                return None;
            }
        }
        Some(())
    }

    /// `accept a, b;`, `accept buchi a;`; of the other conditions only the kind is kept.
    fn acceptance(&mut self, process: &mut ProcessDeclaration) -> Option<()> {
        self.next();
        let token = self.peek();
        let word = self.source.slice(token.span).to_owned();
        let follows_name = matches!(self.peek_after().kind, TokenKind::Name | TokenKind::Mark("("));
        if token.kind == TokenKind::Name && follows_name && OTHER_ACCEPTANCE.contains(&word.as_str()) {
            process.other_acceptance = Some(Name { text: word, span: token.span });
            while !self.at_end() && !self.at_mark(";") && !self.at_mark("}") {
                self.next();
            }
            self.mark(";")?;
            return Some(());
        }
        if token.kind == TokenKind::Name && follows_name && word == "buchi" {
            self.next();
        }
        let names = self.names("the name of a location")?;
        process.accept.extend(names);
        Some(())
    }

    /// `assert a: e, b: e;`
    fn assertions(&mut self, process: &mut ProcessDeclaration) -> Option<()> {
        self.next();
        loop {
            let location = self.name("the name of a location")?;
            self.mark(":")?;
            let expression = self.expression()?;
            process.assertions.push((location, expression));
            if !self.take_mark(",") {
                break;
            }
        }
        self.mark(";")?;
        Some(())
    }

    /// `trans t, t, t;`, where `t` may leave out its source after the first.
    fn transitions(&mut self, process: &mut ProcessDeclaration) -> Option<()> {
        self.next();
        if self.take_mark(";") {
            return Some(());
        }
        loop {
            if self.at_mark("}") {
                break;
            }
            let start = self.at;
            match self.transition() {
                Some(transition) => process.transitions.push(transition),
                None => self.skip_transition(body_open(self.tokens, start, self.at)),
            }
            if self.diagnostics.is_full() {
                return None;
            }
            if self.take_mark(",") {
                continue;
            }
            if self.take_mark(";") {
                return Some(());
            }
            if self.at_end() || self.at_mark("}") {
                self.mark(";");
                break;
            }
            // Two transitions without a comma between: say so once and go on with the next one.
            self.mark(",");
            if !matches!(self.peek().kind, TokenKind::Name) && !self.at_mark("->") {
                return None;
            }
        }
        Some(())
    }

    /// Skips to the `,` or `;` behind a broken transition, in whose body the error was met or before it.
    fn skip_transition(&mut self, body_open: bool) {
        let mut depth = u32::from(body_open);
        while !self.at_end() {
            match self.peek().kind {
                TokenKind::Mark("{") => depth += 1,
                TokenKind::Mark("," | ";") if depth == 0 => return,
                TokenKind::Mark("}") => match depth {
                    0 => return,
                    1 => {
                        self.next();
                        return;
                    }
                    _ => depth -= 1,
                },
                TokenKind::Keyword(Keyword::Process | Keyword::System) => return,
                _ => {}
            }
            self.next();
        }
    }

    fn transition(&mut self) -> Option<TransitionDeclaration> {
        let start = self.peek().span;
        let from = if self.at_mark("->") { None } else { Some(self.name("a transition (`from -> to { ... }`)")?) };
        self.mark("->")?;
        let to = self.name("the location that the transition enters")?;
        let span = start.to(to.span);
        let mut transition = TransitionDeclaration { from, to, guard: None, sync: None, effects: Vec::new(), span };
        self.mark("{")?;
        if self.take_keyword(Keyword::Guard) {
            transition.guard = Some(self.expression()?);
            self.end_of_part()?;
        }
        if self.take_keyword(Keyword::Sync) {
            transition.sync = Some(self.sync()?);
            self.mark(";")?;
        }
        if self.take_keyword(Keyword::Effect) {
            transition.effects = self.effects()?;
            self.mark(";")?;
        }
        if !self.at_mark("}") {
            let order =
                matches!(self.peek().kind, TokenKind::Keyword(Keyword::Guard | Keyword::Sync | Keyword::Effect));
            self.expected(if order {
                "`}` (the parts of a transition come once each, in the order guard, sync, effect)"
            } else {
                "`guard`, `sync`, `effect` or `}`"
            });
            return None;
        }
        self.next();
        Some(transition)
    }

    /// The `;` behind a guard, with advice for the usual slip.
    fn end_of_part(&mut self) -> Option<Span> {
        if self.at_mark("=") {
            let span = self.peek().span;
            self.diagnostics.error(span, "`=` assigns and belongs into an effect").help("to compare, write `==`");
            return None;
        }
        if self.at_mark(",") {
            let span = self.peek().span;
            self.diagnostics.error(span, "a guard is one expression").help("join conditions with `&&`");
            return None;
        }
        self.mark(";")
    }

    fn sync(&mut self) -> Option<SyncDeclaration> {
        let channel = self.name("the name of a channel")?;
        let sends = if self.take_mark("!") {
            true
        } else if self.take_mark("?") {
            false
        } else {
            self.expected("`!` to send or `?` to receive");
            return None;
        };
        let mut values = Vec::new();
        if self.take_mark("{") {
            while !self.at_mark("}") {
                values.push(self.expression()?);
                if !self.take_mark(",") {
                    break;
                }
            }
            self.mark("}")?;
        } else if !self.at_mark(";") {
            values.push(self.expression()?);
        }
        Some(SyncDeclaration { channel, sends, values })
    }

    fn effects(&mut self) -> Option<Vec<Effect>> {
        let mut effects = Vec::new();
        if self.at_mark(";") {
            return Some(effects);
        }
        loop {
            if self.peek().kind != TokenKind::Name {
                self.expected("the variable or array element that is assigned");
                return None;
            }
            let target = self.reference()?;
            if self.at_mark("==") {
                let span = self.peek().span;
                self.diagnostics.error(span, "`==` compares").label("expected `=`").help("to assign, write `=`");
                return None;
            }
            self.mark("=")?;
            let value = self.expression()?;
            effects.push(Effect { target, value });
            if !self.take_mark(",") {
                return Some(effects);
            }
        }
    }
}

/// Whether the tokens from `start` to `at` leave a brace open: that of a transition's body.
fn body_open(tokens: &[Token], start: usize, at: usize) -> bool {
    let marks = |mark| tokens[start..at].iter().filter(|t| t.kind == TokenKind::Mark(mark)).count();
    marks("{") > marks("}")
}
