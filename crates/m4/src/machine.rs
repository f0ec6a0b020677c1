//! The main loop: takes tokens, collects arguments, runs macros and writes the rest out.

use std::rc::Rc;

use crate::budget::{Budget, MOST_NESTED_CALLS};
use crate::builtins;
use crate::call::{Argument, Call, substitute};
use crate::error::shown;
use crate::input::{Input, Next};
use crate::output::Output;
use crate::preamble;
use crate::symbols::{Definition, Symbols};
use crate::token::{Piece, Syntax, Token, at_arguments, next_token};
use crate::{Define, Expansion, Include, M4Error};

/// What is charged for keeping a text, over its length, so that memory is bounded by the steps.
const KEEPING: usize = 16;

/// All state of one expansion.
pub(crate) struct Machine<'a> {
    pub(crate) input: Input,
    pub(crate) syntax: Syntax,
    pub(crate) symbols: Symbols,
    pub(crate) output: Output,
    pub(crate) include: Include<'a>,
    pub(crate) budget: Budget,
    /// The line of the call that runs.
    pub(crate) line: u32,
    /// Whether `m4exit` was called.
    pub(crate) stopped: bool,
    /// What `errprint` said last: the reason of a failing `m4exit`.
    pub(crate) complaint: Vec<u8>,
    wrapped: Vec<(Vec<u8>, u32)>,
    calls: Vec<Call>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(include: Include<'a>) -> Self {
        Machine {
            input: Input::default(),
            syntax: Syntax::default(),
            symbols: Symbols::new(),
            output: Output::default(),
            include,
            budget: Budget::default(),
            line: 1,
            stopped: false,
            complaint: Vec::new(),
            wrapped: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Makes the caller's definitions.
    pub(crate) fn predefine(&mut self, defines: &[Define]) {
        for define in defines {
            let value = Definition::Text(define.value.as_bytes().to_vec());
            self.symbols.define(define.name.as_bytes(), value);
        }
    }

    /// Tells the preamble which words are values the caller gave.
    pub(crate) fn mark_given(&mut self, defines: &[Define]) {
        for define in defines {
            let mark = preamble::given_mark(&define.value);
            self.symbols.define(mark.as_bytes(), Definition::Text(Vec::new()));
        }
    }

    /// Expands `source` to its end.
    pub(crate) fn run(&mut self, source: &str) -> Result<(), M4Error> {
        self.input.start(source);
        while !self.stopped {
            let token =
                next_token(&mut self.input, &self.syntax).map_err(|(line, message)| M4Error { line, message })?;
            if let Token::End = token {
                if self.at_end()? {
                    break;
                }
                continue;
            }
            self.line = self.input.line();
            self.handle(token)?;
        }
        if self.stopped {
            self.output.drop_diverted();
        }
        self.output.divert(0);
        self.output.undivert_all();
        Ok(())
    }

    /// Forgets what was written so far.
    pub(crate) fn discard_output(&mut self) {
        self.output = Output::default();
    }

    /// The result.
    pub(crate) fn finish(self) -> Expansion {
        let (text, origins) = self.output.into_parts();
        // Only a macro that cuts through a character, like substr, makes this lossy.
        let text = match String::from_utf8(text) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        Expansion { text, origins }
    }

    /// Keeps `text` to be read after the source.
    pub(crate) fn wrap(&mut self, text: Vec<u8>) -> Result<(), String> {
        self.budget.take(text.len() + KEEPING)?;
        self.wrapped.push((text, self.line));
        Ok(())
    }

    /// Puts the result of the running call before the rest of the input.
    pub(crate) fn push_result(&mut self, text: Vec<u8>) -> Result<(), String> {
        self.budget.take(text.len() + KEEPING)?;
        self.input.push_text(text, self.line)
    }

    /// An error at the line of the running call.
    fn fail(&self, message: String) -> M4Error {
        M4Error { line: self.line, message }
    }

    /// Goes on with the wrapped texts, the last one first; true if there are none.
    fn at_end(&mut self) -> Result<bool, M4Error> {
        if let Some(call) = self.calls.last() {
            return Err(M4Error {
                line: call.line,
                message: format!("the input ends inside the arguments of {}", shown(&call.name)),
            });
        }
        let wrapped = std::mem::take(&mut self.wrapped);
        let done = wrapped.iter().all(|(text, _)| text.is_empty());
        for (text, line) in wrapped {
            self.input.push_text(text, line).map_err(|message| M4Error { line, message })?;
        }
        Ok(done)
    }

    fn handle(&mut self, token: Token) -> Result<(), M4Error> {
        let handled = match token {
            Token::Word(piece) => self.word(piece),
            Token::Text(piece) => self.budget.take(piece.text.len()).and_then(|()| self.emit(&piece)),
            Token::Simple(byte, line) => self.simple(byte, line),
            Token::Builtin(builtin) => {
                if let Some(call) = self.calls.last_mut() {
                    call.add_builtin(builtin);
                }
                Ok(())
            }
            Token::End => Ok(()),
        };
        handled.and_then(|()| self.budget.take(1)).map_err(|message| self.fail(message))
    }

    fn emit(&mut self, piece: &Piece) -> Result<(), String> {
        match self.calls.last_mut() {
            Some(call) => call.add(&piece.text),
            None => self.output.write(piece),
        }
    }

    fn simple(&mut self, byte: u8, line: u32) -> Result<(), String> {
        let Some(call) = self.calls.last_mut() else {
            return self.output.write_from(&[byte], line);
        };
        if !call.add_simple(byte)? {
            return Ok(());
        }
        match self.calls.pop() {
            Some(call) => self.execute(call),
            None => Ok(()),
        }
    }

    fn word(&mut self, piece: Piece) -> Result<(), String> {
        let Some(definition) = self.symbols.get(&piece.text) else {
            return self.emit(&piece);
        };
        let arguments = at_arguments(&mut self.input, &self.syntax);
        if let Definition::Builtin(builtin) = &*definition
            && builtin.needs_arguments()
            && !arguments
        {
            return self.emit(&piece);
        }
        if let Some(outer) = self.calls.last_mut() {
            outer.touch();
        }
        let call = Call::new(piece.text, definition, piece.first);
        if !arguments {
            return self.execute(call);
        }
        if self.calls.len() >= MOST_NESTED_CALLS {
            return Err(format!("more than {MOST_NESTED_CALLS} macro calls inside each other's arguments"));
        }
        self.input.take();
        self.calls.push(call);
        Ok(())
    }

    fn execute(&mut self, call: Call) -> Result<(), String> {
        self.line = call.line;
        self.invoke(&call.name, &call.definition, &call.arguments)
    }

    /// Runs a macro and puts its result before the rest of the input.
    pub(crate) fn invoke(
        &mut self,
        name: &[u8],
        definition: &Rc<Definition>,
        arguments: &[Argument],
    ) -> Result<(), String> {
        match &**definition {
            Definition::Builtin(builtin) => builtins::run(self, *builtin, name, arguments),
            Definition::Text(body) => {
                let text = substitute(body, name, arguments, &self.syntax.quote)?;
                self.push_result(text)
            }
        }
    }

    /// Drops the rest of the line, with its newline.
    pub(crate) fn skip_line(&mut self) -> Result<(), String> {
        loop {
            match self.input.take() {
                Next::End | Next::Byte(b'\n') => return Ok(()),
                Next::Byte(_) | Next::Builtin(_) => self.budget.take(1)?,
            }
        }
    }
}
