//! The main loop: takes tokens, collects arguments, runs macros and writes the rest out.

use std::rc::Rc;

use crate::budget::{Budget, MOST_NESTED_CALLS};
use crate::builtins;
use crate::call::{Argument, Call, substitute};
use crate::error::shown;
use crate::input::{Input, Next, Place};
use crate::output::Output;
use crate::preamble;
use crate::symbols::{Definition, Symbols};
use crate::text::Text;
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
    /// Where the call that runs stands.
    pub(crate) place: Place,
    /// Whether `m4exit` was called.
    pub(crate) stopped: bool,
    /// What `errprint` said last: the reason of a failing `m4exit`.
    pub(crate) complaint: Vec<u8>,
    wrapped: Vec<(Text, Place)>,
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
            place: Place { outer: 1, near: 1 },
            stopped: false,
            complaint: Vec::new(),
            wrapped: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Makes the caller's definitions.
    pub(crate) fn predefine(&mut self, defines: &[Define]) {
        for define in defines {
            let value = Definition::Text(Text::nowhere(define.value.as_bytes().to_vec()));
            self.symbols.define(define.name.as_bytes(), value);
        }
    }

    /// Tells the preamble which words are values the caller gave.
    pub(crate) fn mark_given(&mut self, defines: &[Define]) {
        for define in defines {
            let mark = preamble::given_mark(&define.value);
            self.symbols.define(mark.as_bytes(), Definition::Text(Text::new()));
        }
    }

    /// Expands the caller's source to its end.
    pub(crate) fn run(&mut self, source: &str) -> Result<(), M4Error> {
        self.input.start(source, true);
        self.read_all()
    }

    /// Makes the definitions of the preamble; its text has no lines, and what it writes is dropped.
    pub(crate) fn prepare(&mut self, preamble: &str) -> Result<(), M4Error> {
        self.input.start(preamble, false);
        self.read_all()?;
        self.output = Output::default();
        Ok(())
    }

    fn read_all(&mut self) -> Result<(), M4Error> {
        while !self.stopped {
            let token =
                next_token(&mut self.input, &self.syntax).map_err(|(line, message)| M4Error { line, message })?;
            if let Token::End = token {
                if self.at_end()? {
                    break;
                }
                continue;
            }
            self.place = self.input.place();
            self.handle(token)?;
        }
        if self.stopped {
            self.output.drop_diverted();
        }
        self.output.divert(0);
        self.output.undivert_all();
        Ok(())
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
    pub(crate) fn wrap(&mut self, text: Text) -> Result<(), String> {
        self.budget.take(text.len() + KEEPING)?;
        self.wrapped.push((text, self.place));
        Ok(())
    }

    /// Puts the result of the running call before the rest of the input.
    pub(crate) fn push_result(&mut self, text: Text) -> Result<(), String> {
        self.budget.take(text.len() + KEEPING)?;
        self.input.push_text(text, self.place)
    }

    /// An error at the line of the running call.
    fn fail(&self, message: String) -> M4Error {
        M4Error { line: self.place.outer, message }
    }

    /// Goes on with the wrapped texts, the last one first; true if there are none.
    fn at_end(&mut self) -> Result<bool, M4Error> {
        if let Some(call) = self.calls.last() {
            return Err(M4Error {
                line: call.place.outer,
                message: format!("the input ends inside the arguments of {}", shown(&call.name)),
            });
        }
        let wrapped = std::mem::take(&mut self.wrapped);
        let done = wrapped.iter().all(|(text, _)| text.is_empty());
        for (text, place) in wrapped {
            let pushed = self.input.push_text(text, place);
            pushed.map_err(|message| M4Error { line: place.outer, message })?;
        }
        Ok(done)
    }

    fn handle(&mut self, token: Token) -> Result<(), M4Error> {
        let handled = match token {
            Token::Word(piece) => self.word(piece),
            Token::Text(piece) => self.budget.take(piece.text.len()).and_then(|()| self.emit(&piece)),
            Token::Simple { byte, own, place } => self.simple(byte, own, place),
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
            None => self.output.write(&piece.text, piece.place),
        }
    }

    fn simple(&mut self, byte: u8, own: u32, place: Place) -> Result<(), String> {
        let Some(call) = self.calls.last_mut() else {
            return self.output.write_from(&[byte], place.line(own));
        };
        if !call.add_simple(byte, own)? {
            return Ok(());
        }
        match self.calls.pop() {
            Some(call) => self.execute(call),
            None => Ok(()),
        }
    }

    fn word(&mut self, piece: Piece) -> Result<(), String> {
        let Some(definition) = self.symbols.get(piece.text.bytes()) else {
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
        let place = Place { near: piece.place.line(piece.text.first_line()), ..piece.place };
        let call = Call::new(piece.text.into_bytes(), definition, place);
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
        self.place = call.place;
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
