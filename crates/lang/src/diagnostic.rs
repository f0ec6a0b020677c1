//! Messages about a model: what is wrong, where, what was expected, and what may have been meant.

use crate::source::{Source, Span};
use std::fmt::Write;

/// More errors than this are not told apart: a reader mends the first ones and tries again.
pub const ERRORS_MAX: usize = 20;
const SHOWN_WIDTH: usize = 100;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used, and may not mean what was meant.
    Warning,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// A word at the place itself, such as what was expected there.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// The messages of one reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds an error and gives it back for a label or help.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.push(Severity::Error, span, message.into())
    }

    /// Adds a warning and gives it back for a label or help.
    pub fn warning(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.push(Severity::Warning, span, message.into())
    }

    fn push(&mut self, severity: Severity, span: Span, message: String) -> &mut Diagnostic {
        self.list.push(Diagnostic { severity, message, span, label: String::new(), help: None });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// Whether there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.n_errors() > 0
    }

    /// How many errors there are.
    pub fn n_errors(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// Whether so many errors are there that reading on helps nobody.
    pub fn is_full(&self) -> bool {
        self.list.len() >= ERRORS_MAX && self.n_errors() >= ERRORS_MAX
    }

    /// The messages.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The same messages for a text in which what they are about begins at `offset`.
    pub fn shifted(mut self, offset: u32) -> Self {
        for diagnostic in &mut self.list {
            diagnostic.span = Span { start: diagnostic.span.start + offset, end: diagnostic.span.end + offset };
        }
        self
    }

    /// All messages with their places in the source, for a terminal.
    pub fn render(&self, source: &Source) -> String {
        let mut sorted: Vec<&Diagnostic> = self.list.iter().collect();
        sorted.sort_by_key(|d| d.span.start);
        let mut out = String::new();
        for diagnostic in sorted.iter().take(ERRORS_MAX) {
            diagnostic.render(source, &mut out);
        }
        match self.n_errors() {
            0 | 1 => {}
            n if n >= ERRORS_MAX => {
                let _ = writeln!(out, "{n} errors; there may be more");
            }
            n => {
                let _ = writeln!(out, "{n} errors");
            }
        }
        out
    }
}

impl Diagnostic {
    /// Sets what is said at the place itself.
    pub fn label(&mut self, label: impl Into<String>) -> &mut Self {
        self.label = label.into();
        self
    }

    /// Sets the advice.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the advice to the name that was probably meant, if there is one.
    pub fn suggest<'a>(&mut self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> &mut Self {
        if let Some(meant) = lariat_base::suggest::closest(name, candidates) {
            self.help = Some(format!("did you mean `{meant}`?"));
        }
        self
    }

    fn render(&self, source: &Source, out: &mut String) {
        let start = source.position(self.span.start);
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(out, "{severity}: {}", self.message);
        let file_line = source.file_line(self.span.start);
        if source.is_expanded() {
            let name = source.name();
            let _ =
                writeln!(out, "  --> {name}:{file_line}:{} (the text after macro expansion is shown)", start.column);
        } else {
            let _ = writeln!(out, "  --> {}:{}:{}", source.name(), start.line, start.column);
        }
        let margin = file_line.to_string().len();
        let (text, column) = window(source.line(start.line), start.column as usize - 1);
        let width = source.slice(self.span).lines().next().unwrap_or("").chars().count();
        let room = text.chars().count().saturating_sub(column).max(1);
        let marks = "^".repeat(width.clamp(1, room));
        let _ = writeln!(out, "{:margin$} |", "");
        let _ = writeln!(out, "{file_line} | {text}");
        let _ = writeln!(out, "{}", format!("{:margin$} | {:column$}{marks} {}", "", "", self.label).trim_end());
        if let Some(help) = &self.help {
            let _ = writeln!(out, "{:margin$} = help: {help}", "");
        }
        out.push('\n');
    }
}

/// The part of a line around a column that fits a terminal, and the column in that part. Control characters and tabs
/// become spaces, so that the marks below stand where they should.
fn window(line: &str, column: usize) -> (String, usize) {
    let skip = if column + 20 > SHOWN_WIDTH { column - SHOWN_WIDTH / 2 } else { 0 };
    let mut characters = line.chars().skip(skip);
    let mut text = String::new();
    if skip > 0 {
        text.push_str("... ");
    }
    let offset = text.len();
    text.extend(characters.by_ref().take(SHOWN_WIDTH).map(|c| if c.is_control() { ' ' } else { c }));
    if characters.next().is_some() {
        text.push_str(" ...");
    }
    (text, column - skip + offset)
}
