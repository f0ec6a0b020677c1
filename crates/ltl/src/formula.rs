//! Formulas as shared nodes: equal formulas have equal numbers, so comparing and looking up is cheap.
//!
//! Constructors apply the laws of constants, idempotence and double negation, flatten `&&` and `||`, and sort their operands. Everything
//! beyond that is in `simplify.rs`.

use std::collections::HashMap;

/// A formula of a [`Formulas`] collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Formula(u32);

/// What a formula is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// `true`
    True,
    /// `false`
    False,
    /// An atomic proposition, by its place in [`Formulas::propositions`].
    Proposition(u32),
    /// `!f`
    Not(Formula),
    /// `f && g && ...`: two or more, sorted, none of them an `And`.
    And(Vec<Formula>),
    /// `f || g || ...`: two or more, sorted, none of them an `Or`.
    Or(Vec<Formula>),
    /// `f -> g`
    Implies(Formula, Formula),
    /// `f <-> g`
    Equivalent(Formula, Formula),
    /// `f xor g`
    Xor(Formula, Formula),
    /// `X f`: in the next state.
    Next(Formula),
    /// `F f`: some time.
    Eventually(Formula),
    /// `G f`: always.
    Always(Formula),
    /// `f U g`: g some time, and f until then.
    Until(Formula, Formula),
    /// `f R g`: g until and including the moment when f holds, or for ever.
    Release(Formula, Formula),
    /// `f W g`: f until g, or for ever.
    WeakUntil(Formula, Formula),
    /// `f M g`: g until and including the moment when f holds, which comes.
    StrongRelease(Formula, Formula),
}

/// A collection of formulas and of the propositions in them.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    nodes: Vec<Node>,
    numbers: HashMap<Node, Formula>,
    propositions: Vec<String>,
}

impl Formulas {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a formula is made of.
    pub fn node(&self, formula: Formula) -> &Node {
        &self.nodes[formula.0 as usize]
    }

    /// The texts of the propositions.
    pub fn propositions(&self) -> &[String] {
        &self.propositions
    }

    /// How many different formulas there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn intern(&mut self, node: Node) -> Formula {
        if let Some(formula) = self.numbers.get(&node) {
            return *formula;
        }
        let formula = Formula(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.numbers.insert(node, formula);
        formula
    }

    /// `true`
    pub fn truth(&mut self) -> Formula {
        self.intern(Node::True)
    }

    /// `false`
    pub fn falsity(&mut self) -> Formula {
        self.intern(Node::False)
    }

    /// The proposition with this text.
    pub fn proposition(&mut self, text: &str) -> Formula {
        let number = match self.propositions.iter().position(|p| p == text) {
            Some(number) => number,
            None => {
                self.propositions.push(text.to_owned());
                self.propositions.len() - 1
            }
        };
        self.intern(Node::Proposition(number as u32))
    }

    /// Whether it is `true`.
    pub fn is_true(&self, formula: Formula) -> bool {
        *self.node(formula) == Node::True
    }

    /// Whether it is `false`.
    pub fn is_false(&self, formula: Formula) -> bool {
        *self.node(formula) == Node::False
    }

    /// `!f`
    pub fn not(&mut self, f: Formula) -> Formula {
        match self.node(f) {
            Node::True => self.falsity(),
            Node::False => self.truth(),
            Node::Not(inner) => *inner,
            _ => self.intern(Node::Not(f)),
        }
    }

    /// The conjunction of all.
    pub fn and(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for operand in operands {
            match self.node(operand) {
                Node::True => {}
                Node::False => return operand,
                Node::And(inner) => flat.extend_from_slice(inner),
                _ => flat.push(operand),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if self.has_complements(&flat) {
            return self.falsity();
        }
        match flat.as_slice() {
            [] => self.truth(),
            [one] => *one,
            _ => self.intern(Node::And(flat)),
        }
    }

    /// The disjunction of all.
    pub fn or(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for operand in operands {
            match self.node(operand) {
                Node::False => {}
                Node::True => return operand,
                Node::Or(inner) => flat.extend_from_slice(inner),
                _ => flat.push(operand),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if self.has_complements(&flat) {
            return self.truth();
        }
        match flat.as_slice() {
            [] => self.falsity(),
            [one] => *one,
            _ => self.intern(Node::Or(flat)),
        }
    }

    /// Whether a sorted list holds some `f` together with `!f`.
    fn has_complements(&self, sorted: &[Formula]) -> bool {
        sorted.iter().any(|f| matches!(self.node(*f), Node::Not(inner) if sorted.binary_search(inner).is_ok()))
    }

    /// `f -> g`
    pub fn implies(&mut self, f: Formula, g: Formula) -> Formula {
        match (self.node(f), self.node(g)) {
            (Node::True, _) => g,
            (Node::False, _) | (_, Node::True) => self.truth(),
            (_, Node::False) => self.not(f),
            _ if f == g => self.truth(),
            _ => self.intern(Node::Implies(f, g)),
        }
    }

    /// `f <-> g`
    pub fn equivalent(&mut self, f: Formula, g: Formula) -> Formula {
        match (self.node(f), self.node(g)) {
            (Node::True, _) => g,
            (_, Node::True) => f,
            (Node::False, _) => self.not(g),
            (_, Node::False) => self.not(f),
            _ if f == g => self.truth(),
            _ => self.intern(Node::Equivalent(f.min(g), f.max(g))),
        }
    }

    /// `f xor g`
    pub fn xor(&mut self, f: Formula, g: Formula) -> Formula {
        match (self.node(f), self.node(g)) {
            (Node::False, _) => g,
            (_, Node::False) => f,
            (Node::True, _) => self.not(g),
            (_, Node::True) => self.not(f),
            _ if f == g => self.falsity(),
            _ => self.intern(Node::Xor(f.min(g), f.max(g))),
        }
    }

    /// `X f`
    pub fn next(&mut self, f: Formula) -> Formula {
        match self.node(f) {
            Node::True | Node::False => f,
            _ => self.intern(Node::Next(f)),
        }
    }

    /// `F f`
    pub fn eventually(&mut self, f: Formula) -> Formula {
        match self.node(f) {
            Node::True | Node::False | Node::Eventually(_) => f,
            _ => self.intern(Node::Eventually(f)),
        }
    }

    /// `G f`
    pub fn always(&mut self, f: Formula) -> Formula {
        match self.node(f) {
            Node::True | Node::False | Node::Always(_) => f,
            _ => self.intern(Node::Always(f)),
        }
    }

    /// `f U g`
    pub fn until(&mut self, f: Formula, g: Formula) -> Formula {
        match (self.node(f), self.node(g)) {
            (_, Node::True | Node::False) | (Node::False, _) => g,
            (Node::True, _) => self.eventually(g),
            _ if f == g => g,
            _ => self.intern(Node::Until(f, g)),
        }
    }

    /// `f R g`
    pub fn release(&mut self, f: Formula, g: Formula) -> Formula {
        match (self.node(f), self.node(g)) {
            (_, Node::True | Node::False) | (Node::True, _) => g,
            (Node::False, _) => self.always(g),
            _ if f == g => g,
            _ => self.intern(Node::Release(f, g)),
        }
    }

    /// `f W g`
    pub fn weak_until(&mut self, f: Formula, g: Formula) -> Formula {
        match (self.node(f), self.node(g)) {
            (Node::True, _) | (_, Node::True) => self.truth(),
            (Node::False, _) => g,
            (_, Node::False) => self.always(f),
            _ if f == g => f,
            _ => self.intern(Node::WeakUntil(f, g)),
        }
    }

    /// `f M g`
    pub fn strong_release(&mut self, f: Formula, g: Formula) -> Formula {
        match (self.node(f), self.node(g)) {
            (Node::False, _) | (_, Node::False) => self.falsity(),
            (Node::True, _) => g,
            (_, Node::True) => self.eventually(f),
            _ if f == g => g,
            _ => self.intern(Node::StrongRelease(f, g)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_formulas_are_one() {
        let mut f = Formulas::new();
        let (a, b, c) = (f.proposition("a"), f.proposition("b"), f.proposition("c"));
        let ab = f.and([a, b]);
        let left = f.and([ab, c]);
        let right = f.and([c, b, a, b]);
        assert_eq!(left, right);
        let not_a = f.not(a);
        assert_eq!(f.and([b, not_a, a]), f.falsity());
        assert_eq!(f.or([b, not_a, a]), f.truth());
        assert_eq!(f.not(not_a), a);
    }
}
