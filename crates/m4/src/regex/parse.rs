//! Reads the text of a regular expression.

use super::Place;
use crate::error::shown;

/// The deepest nesting of groups; each costs machine stack.
const DEEPEST: usize = 100;

/// A regular expression as a tree.
pub(super) enum Node {
    Byte(u8),
    Any,
    Set(Box<[bool; 256]>),
    At(Place),
    Again(usize),
    All(Vec<Node>),
    Either(Vec<Node>),
    Group(usize, Box<Node>),
    /// `none` and `many`: whether no round, and more than one, are allowed.
    Repeat {
        inner: Box<Node>,
        none: bool,
        many: bool,
    },
}

/// The tree with what matching must know about it.
pub(super) struct Parsed {
    pub(super) node: Node,
    pub(super) groups: usize,
    pub(super) refers_back: bool,
}

struct Parser<'a> {
    pattern: &'a [u8],
    at: usize,
    groups: usize,
    /// The groups that are complete, which a later part may refer to.
    closed: Vec<usize>,
    depth: usize,
    refers_back: bool,
}

/// Reads a pattern.
pub(super) fn parse(pattern: &[u8]) -> Result<Parsed, String> {
    let mut parser = Parser { pattern, at: 0, groups: 0, closed: Vec::new(), depth: 0, refers_back: false };
    let wrong = |message: &str| format!("bad regular expression {}: {message}", shown(pattern));
    let node = parser.either().map_err(wrong)?;
    if parser.at < pattern.len() {
        return Err(wrong("unmatched \\)"));
    }
    Ok(Parsed { node, groups: parser.groups, refers_back: parser.refers_back })
}

impl Parser<'_> {
    fn rest(&self) -> &[u8] {
        &self.pattern[self.at..]
    }

    fn take_if(&mut self, wanted: &[u8]) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn either(&mut self) -> Result<Node, &'static str> {
        let mut parts = vec![self.all()?];
        while self.take_if(b"\\|") {
            parts.push(self.all()?);
        }
        Ok(Node::Either(parts))
    }

    fn all(&mut self) -> Result<Node, &'static str> {
        let mut parts = Vec::new();
        if self.take_if(b"^") {
            parts.push(Node::At(Place::LineStart));
        }
        // At the start and after a place there is nothing to repeat: a star stands for itself.
        let mut literal = true;
        while !self.rest().is_empty() && !self.rest().starts_with(b"\\|") && !self.rest().starts_with(b"\\)") {
            let atom = if literal && matches!(self.rest().first(), Some(b'*' | b'+' | b'?')) {
                self.byte()
            } else {
                self.atom()?
            };
            literal = matches!(atom, Node::At(_));
            let part = if literal { atom } else { self.repeated(atom) };
            parts.push(part);
        }
        Ok(Node::All(parts))
    }

    fn byte(&mut self) -> Node {
        let byte = self.rest().first().copied().unwrap_or(0);
        self.at += 1;
        Node::Byte(byte)
    }

    /// Reads all repetitions after an atom as one, so that a long row of them stays flat.
    fn repeated(&mut self, atom: Node) -> Node {
        let (mut none, mut many) = (false, false);
        while let Some(&operator) = self.rest().first() {
            match operator {
                b'*' => (none, many) = (true, true),
                b'+' => many = true,
                b'?' => none = true,
                _ => break,
            }
            self.at += 1;
        }
        if !none && !many {
            return atom;
        }
        Node::Repeat { inner: Box::new(atom), none, many }
    }

    fn atom(&mut self) -> Result<Node, &'static str> {
        match self.rest() {
            [b'.', ..] => {
                self.at += 1;
                Ok(Node::Any)
            }
            [b'[', ..] => self.set(),
            [b'\\', ..] => self.escape(),
            [b'$'] | [b'$', b'\\', b'|' | b')', ..] => {
                self.at += 1;
                Ok(Node::At(Place::LineEnd))
            }
            _ => Ok(self.byte()),
        }
    }

    fn escape(&mut self) -> Result<Node, &'static str> {
        let Some(&byte) = self.rest().get(1) else {
            return Err("trailing backslash");
        };
        self.at += 2;
        Ok(match byte {
            b'(' => return self.group(),
            b'w' => class(in_word),
            b'W' => class(|byte| !in_word(byte)),
            b's' => class(is_space),
            b'S' => class(|byte| !is_space(byte)),
            b'<' => Node::At(Place::WordStart),
            b'>' => Node::At(Place::WordEnd),
            b'b' => Node::At(Place::WordBorder),
            b'B' => Node::At(Place::NoWordBorder),
            b'`' => Node::At(Place::TextStart),
            b'\'' => Node::At(Place::TextEnd),
            b'1'..=b'9' => {
                let group = usize::from(byte - b'0');
                if !self.closed.contains(&group) {
                    return Err("invalid back reference");
                }
                self.refers_back = true;
                Node::Again(group)
            }
            _ => Node::Byte(byte),
        })
    }

    fn group(&mut self) -> Result<Node, &'static str> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too many groups inside each other");
        }
        self.groups += 1;
        let number = self.groups;
        let inner = self.either()?;
        if !self.take_if(b"\\)") {
            return Err("unmatched \\(");
        }
        self.depth -= 1;
        self.closed.push(number);
        Ok(Node::Group(number, Box::new(inner)))
    }

    fn set(&mut self) -> Result<Node, &'static str> {
        self.at += 1;
        let negated = self.take_if(b"^");
        let mut set = Box::new([false; 256]);
        let mut first = true;
        loop {
            match *self.rest() {
                [] => return Err("unmatched ["),
                [b']', ..] if !first => break,
                [low, b'-', high, ..] if high != b']' => {
                    set.iter_mut().take(usize::from(high) + 1).skip(low.into()).for_each(|member| *member = true);
                    self.at += 3;
                }
                [byte, ..] => {
                    set[usize::from(byte)] = true;
                    self.at += 1;
                }
            }
            first = false;
        }
        self.at += 1;
        if negated {
            set.iter_mut().for_each(|member| *member = !*member);
        }
        Ok(Node::Set(set))
    }
}

fn class(member: impl Fn(u8) -> bool) -> Node {
    let mut set = Box::new([false; 256]);
    for byte in 0..=u8::MAX {
        set[usize::from(byte)] = member(byte);
    }
    Node::Set(set)
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Whether a byte is part of a word, for `\w` and the borders of words.
pub(super) fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
