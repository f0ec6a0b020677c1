//! What several tests need: random automata and damaged texts.

use lariat_base::Random;

use crate::automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label};

/// A small random automaton over up to three propositions, without edges that nothing can take.
pub(crate) fn random_automaton(random: &mut Random) -> BuchiAutomaton {
    let n_states = 1 + random.below(5);
    let names = ["a", "P_0.CS", "x == 1"];
    let n_propositions = random.below(names.len() + 1);
    let state = |random: &mut Random| {
        let edges = (0..random.below(4)).map(|_| edge(random, n_propositions, n_states)).collect();
        BuchiState { accepting: random.one_in(2), edges }
    };
    BuchiAutomaton {
        propositions: names[..n_propositions].iter().map(|name| (*name).to_owned()).collect(),
        initial: (0..random.below(3)).map(|_| random.below(n_states) as u32).collect(),
        states: (0..n_states).map(|_| state(random)).collect(),
    }
}

fn edge(random: &mut Random, n_propositions: usize, n_states: usize) -> BuchiEdge {
    let mask = (1 << n_propositions) - 1;
    let mut cubes: Vec<Cube> = Vec::new();
    for _ in 0..1 + random.below(2) {
        let positive = random.next_u64() & mask;
        let negative = random.next_u64() & mask & !positive;
        let within = |a: &Cube, b: &Cube| a.positive & !b.positive == 0 && a.negative & !b.negative == 0;
        let cube = Cube { positive, negative };
        if !cubes.iter().any(|other| within(other, &cube) || within(&cube, other)) {
            cubes.push(cube);
        }
    }
    BuchiEdge { label: Label { cubes }, target: random.below(n_states) as u32 }
}

/// A text with some characters changed, added or missing.
pub(crate) fn damage(random: &mut Random, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(5) {
        let at = random.below(characters.len());
        let other = characters.get(random.below(characters.len())).copied().unwrap_or('ä');
        let new = if random.one_in(4) { 'ä' } else { other };
        match random.below(3) {
            0 if at < characters.len() => characters[at] = new,
            1 => characters.insert(at, new),
            _ => {
                let end = (at + random.below(12)).min(characters.len());
                characters.drain(at..end);
            }
        }
    }
    characters.into_iter().collect()
}
