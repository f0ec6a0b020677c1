//! Regular expressions as m4 has them: the syntax of GNU Emacs, the longest match wins.

mod parse;
mod search;

use parse::Node;

/// A step of the matcher.
enum Step {
    Byte(u8),
    Any,
    Set(Box<[bool; 256]>),
    At(Place),
    /// Go on at the first; if that fails, at the second.
    Split(usize, usize),
    Jump(usize),
    /// Keep the place in a slot: the borders of groups, then the starts of loops.
    Save(usize),
    /// Fail unless the place moved since it was kept: an empty round of a loop never ends.
    Moved(usize),
    /// The text that a group matched.
    Again(usize),
    Done,
}

/// A condition on a place between characters.
#[derive(Clone, Copy)]
enum Place {
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    WordStart,
    WordEnd,
    WordBorder,
    NoWordBorder,
}

/// A regular expression ready to match.
pub(crate) struct Regex {
    steps: Vec<Step>,
    slots: usize,
    refers_back: bool,
}

/// Where a regular expression matches.
pub(crate) struct Match {
    slots: Vec<Option<usize>>,
    groups: usize,
}

impl Match {
    /// Where it starts.
    pub(crate) fn start(&self) -> usize {
        self.slots.first().copied().flatten().unwrap_or(0)
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> usize {
        self.slots.get(1).copied().flatten().unwrap_or(0)
    }

    /// The text of a group, 0 for the whole match; empty for a group that took no part.
    pub(crate) fn group<'t>(&self, text: &'t [u8], number: usize) -> &'t [u8] {
        if number > self.groups {
            return b"";
        }
        match (self.slots.get(2 * number), self.slots.get(2 * number + 1)) {
            (Some(&Some(start)), Some(&Some(end))) => text.get(start..end).unwrap_or_default(),
            _ => b"",
        }
    }
}

impl Regex {
    /// Reads a pattern.
    pub(crate) fn new(pattern: &[u8]) -> Result<Regex, String> {
        let parsed = parse::parse(pattern)?;
        let mut regex = Regex { steps: Vec::new(), slots: 2 * (parsed.groups + 1), refers_back: parsed.refers_back };
        regex.compile(parsed.node);
        regex.steps.push(Step::Save(1));
        regex.steps.push(Step::Done);
        Ok(regex)
    }

    fn compile(&mut self, node: Node) {
        match node {
            Node::Byte(byte) => self.steps.push(Step::Byte(byte)),
            Node::Any => self.steps.push(Step::Any),
            Node::Set(set) => self.steps.push(Step::Set(set)),
            Node::At(place) => self.steps.push(Step::At(place)),
            Node::Again(group) => self.steps.push(Step::Again(group)),
            Node::All(parts) => {
                for part in parts {
                    self.compile(part);
                }
            }
            Node::Either(parts) => self.either(parts),
            Node::Group(number, inner) => {
                self.steps.push(Step::Save(2 * number));
                self.compile(*inner);
                self.steps.push(Step::Save(2 * number + 1));
            }
            Node::Repeat { inner, none, many } => self.repeat(*inner, none, many),
        }
    }

    fn either(&mut self, parts: Vec<Node>) {
        let mut jumps = Vec::new();
        let mut parts = parts.into_iter().peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                self.compile(part);
                break;
            }
            let split = self.steps.len();
            self.steps.push(Step::Split(split + 1, split + 1));
            self.compile(part);
            jumps.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            self.steps[split] = Step::Split(split + 1, self.steps.len());
        }
        for jump in jumps {
            self.steps[jump] = Step::Jump(self.steps.len());
        }
    }

    fn repeat(&mut self, inner: Node, none: bool, many: bool) {
        let start = self.steps.len();
        if none {
            self.steps.push(Step::Split(start + 1, start + 1));
        }
        if !many {
            self.compile(inner);
        } else {
            let slot = self.slots;
            self.slots += 1;
            let round = self.steps.len();
            self.steps.push(Step::Save(slot));
            self.compile(inner);
            let split = self.steps.len();
            self.steps.push(Step::Split(split + 1, split + 3));
            self.steps.push(Step::Moved(slot));
            self.steps.push(Step::Jump(round));
        }
        if none {
            self.steps[start] = Step::Split(start + 1, self.steps.len());
        }
    }
}
