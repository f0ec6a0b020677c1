//! Büchi automata as the product reads them: acceptance on states, labels as sets of cubes.

/// A conjunction of propositions and negated propositions, as sets of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cube {
    /// Propositions that must hold.
    pub positive: u64,
    /// Propositions that must not hold.
    pub negative: u64,
}

impl Cube {
    /// Whether a state with these propositions satisfies the cube.
    #[inline(always)]
    pub fn accepts(self, propositions: u64) -> bool {
        propositions & self.positive == self.positive && propositions & self.negative == 0
    }
}

/// A Boolean function of the propositions: the disjunction of its cubes. No cube means false; an empty cube true.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Label {
    /// The cubes.
    pub cubes: Vec<Cube>,
}

impl Label {
    /// The label that holds everywhere.
    pub fn truth() -> Self {
        Self { cubes: vec![Cube::default()] }
    }

    /// Whether a state with these propositions satisfies the label.
    #[inline(always)]
    pub fn accepts(&self, propositions: u64) -> bool {
        self.cubes.iter().any(|cube| cube.accepts(propositions))
    }
}

/// An edge of a Büchi automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuchiEdge {
    /// When it can be taken, judged by the state that is left.
    pub label: Label,
    /// The state it leads to.
    pub target: u32,
}

/// A state of a Büchi automaton.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BuchiState {
    /// Whether runs that come here again and again are accepted.
    pub accepting: bool,
    /// The edges that leave it.
    pub edges: Vec<BuchiEdge>,
}

/// How much of Büchi acceptance an automaton needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Accepting components accept everything: reaching one decides. The negation of a safety property.
    Terminal,
    /// Every component accepts all of its cycles or none.
    Weak,
    /// Anything.
    Strong,
}

/// A Büchi automaton with acceptance on states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuchiAutomaton {
    /// The texts of the propositions; bit `i` of a cube stands for the `i`-th. At most 64.
    pub propositions: Vec<String>,
    /// The initial states.
    pub initial: Vec<u32>,
    /// The states.
    pub states: Vec<BuchiState>,
}

impl BuchiAutomaton {
    /// How many edges there are.
    pub fn n_edges(&self) -> usize {
        self.states.iter().map(|s| s.edges.len()).sum()
    }
}
