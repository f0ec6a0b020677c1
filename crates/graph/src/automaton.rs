//! An explicit Büchi automaton as a watcher. Its propositions are the first labels of the graph, in the same order.
//!
//! A part is the number of the automaton's state in little-endian order, in 1, 2 or 4 bytes by the number of states.

use crate::components::{Components, components};
use crate::watcher::{Mover, Watcher};
use crate::{GraphError, RowBuffer};
use lariat_ltl::{BuchiAutomaton, Cube, Strength};

/// Tests of cubes that are spent on finding out whether an automaton is terminal.
const COVER_TESTS_MAX: usize = 10_000;

/// A Büchi automaton that watches a graph.
pub struct AutomatonWatcher<'a> {
    automaton: &'a BuchiAutomaton,
    part_bytes: usize,
    strength: Strength,
}

impl<'a> AutomatonWatcher<'a> {
    /// The watcher of an automaton.
    pub fn new(automaton: &'a BuchiAutomaton) -> Self {
        let part_bytes = match automaton.states.len() {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        Self { automaton, part_bytes, strength: strength_of_automaton(automaton) }
    }

    fn push(&self, state: u32, out: &mut RowBuffer) {
        out.push(&state.to_le_bytes()[..self.part_bytes]);
    }
}

fn state_of(part: &[u8]) -> usize {
    part.iter().rev().fold(0, |state, byte| state << 8 | usize::from(*byte))
}

impl Watcher for AutomatonWatcher<'_> {
    fn part_bytes(&self) -> usize {
        self.part_bytes
    }

    fn initial(&self, out: &mut RowBuffer) {
        for (i, state) in self.automaton.initial.iter().enumerate() {
            if !self.automaton.initial[..i].contains(state) {
                self.push(*state, out);
            }
        }
    }

    fn is_accepting(&self, part: &[u8]) -> bool {
        self.automaton.states[state_of(part)].accepting
    }

    fn reads_labels(&self) -> bool {
        !self.automaton.propositions.is_empty()
    }

    fn strength(&self) -> Strength {
        self.strength
    }

    fn describe(&self, part: &[u8]) -> String {
        format!("automaton at {}", state_of(part))
    }

    fn mover(&self) -> Box<dyn Mover + '_> {
        Box::new(Reading { watcher: self, labels: 0 })
    }
}

struct Reading<'w> {
    watcher: &'w AutomatonWatcher<'w>,
    labels: u64,
}

impl Mover for Reading<'_> {
    fn look(&mut self, _row: &[u8], labels: u64) {
        self.labels = labels;
    }

    fn moves(&mut self, part: &[u8], out: &mut RowBuffer) -> Result<(), GraphError> {
        for edge in &self.watcher.automaton.states[state_of(part)].edges {
            if edge.label.accepts(self.labels) {
                self.watcher.push(edge.target, out);
            }
        }
        Ok(())
    }
}

/// How strong a watcher must be whose moves are among these edges: `Weak` where every component that has a cycle consists of accepting
/// states only, or of others only.
pub fn strength_of(successors: &[Vec<u32>], accepting: &[bool]) -> Strength {
    if is_weak(&components(successors), accepting) { Strength::Weak } else { Strength::Strong }
}

fn is_weak(found: &Components, accepting: &[bool]) -> bool {
    let mut kind: Vec<Option<bool>> = vec![None; found.cyclic.len()];
    found.of.iter().zip(accepting).all(|(component, accepting)| {
        let component = *component as usize;
        !found.cyclic[component] || *kind[component].get_or_insert(*accepting) == *accepting
    })
}

/// The strength of an automaton. It is terminal if it is weak and no path can leave an accepting component, or be stopped in it.
pub fn strength_of_automaton(automaton: &BuchiAutomaton) -> Strength {
    let satisfiable = |cubes: &[Cube]| cubes.iter().any(|c| c.positive & c.negative == 0);
    let edges_of = |state: usize| automaton.states[state].edges.iter().filter(|e| satisfiable(&e.label.cubes));
    let successors: Vec<Vec<u32>> =
        (0..automaton.states.len()).map(|state| edges_of(state).map(|e| e.target).collect()).collect();
    let accepting: Vec<bool> = automaton.states.iter().map(|s| s.accepting).collect();
    let found = components(&successors);
    if !is_weak(&found, &accepting) {
        return Strength::Strong;
    }
    let mut tests_left = COVER_TESTS_MAX;
    let terminal = (0..automaton.states.len())
        .filter(|state| accepting[*state] && found.cyclic[found.of[*state] as usize])
        .all(|state| {
            let stays = edges_of(state).all(|edge| found.of[edge.target as usize] == found.of[state]);
            let cubes: Vec<Cube> = edges_of(state).flat_map(|edge| edge.label.cubes.iter().copied()).collect();
            stays && cover_everything(&cubes, &mut tests_left)
        });
    if terminal { Strength::Terminal } else { Strength::Weak }
}

/// Whether every letter satisfies one of the cubes; also false if that takes too long to find out.
fn cover_everything(cubes: &[Cube], tests_left: &mut usize) -> bool {
    if cubes.iter().any(|cube| *cube == Cube::default()) {
        return true;
    }
    let Some(remaining) = tests_left.checked_sub(cubes.len().max(1)) else { return false };
    *tests_left = remaining;
    let Some(first) = cubes.first() else { return false };
    let proposition = 1u64 << (first.positive | first.negative).trailing_zeros();
    [true, false].into_iter().all(|holds| {
        let rest: Vec<Cube> = cubes
            .iter()
            .filter(|cube| (if holds { cube.negative } else { cube.positive }) & proposition == 0)
            .map(|cube| Cube { positive: cube.positive & !proposition, negative: cube.negative & !proposition })
            .collect();
        cover_everything(&rest, tests_left)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_ltl::{BuchiEdge, BuchiState, Label};

    /// Whether it accepts, and its edges: what must hold, what must not, the target.
    type State<'s> = (bool, &'s [(u64, u64, u32)]);

    fn automaton(states: &[State]) -> BuchiAutomaton {
        let state = |(accepting, edges): &State| BuchiState {
            accepting: *accepting,
            edges: edges
                .iter()
                .map(|(positive, negative, target)| BuchiEdge {
                    label: Label { cubes: vec![Cube { positive: *positive, negative: *negative }] },
                    target: *target,
                })
                .collect(),
        };
        let propositions = vec!["p".to_owned(), "q".to_owned()];
        BuchiAutomaton { propositions, initial: vec![0], states: states.iter().map(state).collect() }
    }

    #[test]
    fn strengths() {
        // F p: the accepting state has no way out.
        let terminal = automaton(&[(false, &[(0, 0, 0), (1, 0, 1)]), (true, &[(1, 0, 1), (0, 1, 1)])]);
        assert_eq!(strength_of_automaton(&terminal), Strength::Terminal);
        // F G p: the accepting state may be blocked.
        let weak = automaton(&[(false, &[(0, 0, 0), (1, 0, 1)]), (true, &[(1, 0, 1)])]);
        assert_eq!(strength_of_automaton(&weak), Strength::Weak);
        // G F p
        let strong = automaton(&[(false, &[(0, 1, 0), (1, 0, 1)]), (true, &[(0, 1, 0), (1, 0, 1)])]);
        assert_eq!(strength_of_automaton(&strong), Strength::Strong);
        // An edge that no letter allows does not count.
        let weak = automaton(&[(false, &[(0, 1, 0), (1, 0, 1)]), (true, &[(1, 1, 0), (1, 0, 1)])]);
        assert_eq!(strength_of_automaton(&weak), Strength::Weak);
    }

    #[test]
    fn parts_are_as_wide_as_the_number_of_states_needs() {
        for (n, width) in [(1, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4)] {
            let states = vec![BuchiState::default(); n];
            let automaton = BuchiAutomaton { propositions: Vec::new(), initial: vec![n as u32 - 1], states };
            let watcher = AutomatonWatcher::new(&automaton);
            assert_eq!(watcher.part_bytes(), width);
            let mut parts = RowBuffer::new(width);
            watcher.initial(&mut parts);
            assert_eq!(state_of(parts.row(0)), n - 1);
        }
    }
}
