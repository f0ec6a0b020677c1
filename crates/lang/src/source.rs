//! Source text, and places in it.

/// A stretch of the text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Where it begins.
    pub start: u32,
    /// Where it has ended.
    pub end: u32,
}

impl Span {
    /// From the beginning of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }
}

/// The text of a model or an expression, with its name.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    /// For text that came out of the macro processor: for each line, the line it came from.
    origins: Option<Vec<u32>>,
}

/// A place for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1, in the text.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

impl Source {
    /// Text with the name that messages give it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i as u32 + 1)).collect();
        Self { name: name.into(), text, line_starts, origins: None }
    }

    /// Text that macros made: line `i` (from 0) of it came from line `origins[i]` (from 1) of the file.
    pub fn expanded(name: impl Into<String>, text: impl Into<String>, origins: Vec<u32>) -> Self {
        Self { origins: Some(origins), ..Self::new(name, text) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of a byte.
    pub fn position(&self, byte: u32) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= byte);
        let start = self.line_starts[line - 1];
        let column = self.slice(Span { start, end: byte }).chars().count() as u32 + 1;
        Position { line: line as u32, column }
    }

    /// The line of the file that a byte came from: that of the text, or what macros were called on.
    pub fn file_line(&self, byte: u32) -> u32 {
        let line = self.position(byte).line;
        match &self.origins {
            Some(origins) => origins.get(line as usize - 1).or(origins.last()).copied().unwrap_or(1),
            None => line,
        }
    }

    /// Whether the text came out of the macro processor.
    pub fn is_expanded(&self) -> bool {
        self.origins.is_some()
    }

    /// The text of a line, from 1, without its end.
    pub fn line(&self, line: u32) -> &str {
        let start = self.line_starts[line as usize - 1];
        let end = self.line_starts.get(line as usize).copied().unwrap_or(self.text.len() as u32);
        self.slice(Span { start, end }).trim_end_matches(['\n', '\r'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let source = Source::new("x", "ab\nčd\n");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(3), Position { line: 2, column: 1 });
        assert_eq!(source.position(5), Position { line: 2, column: 2 });
        assert_eq!(source.position(7), Position { line: 3, column: 1 });
        assert_eq!(source.line(2), "čd");
        assert_eq!(source.line(3), "");
    }
}
