//! Whether a watcher accepts an infinite path: a second opinion on what a search found, from the path alone, and not from the moves that the watcher made along it.
//!
//! The path may be very long. So the watcher's parts are followed position by position, and what is kept is where a round of the loop leads: from which part at its beginning to which, and
//! whether it may come through an accepting part on the way. The path is accepted if parts lead round to each other, with a round among these that comes through an accepting one.
//!
//! # Cost
//! A round costs the parts that are possible at each position, and there are as many rounds as it takes until no new part is possible at the beginning of the loop. In memory the parts of one
//! position, each with two bits for every part that its round began with.

use crate::components::components;
use crate::{GraphError, Mover, RowBuffer, Rows, Watcher};
use std::collections::{BTreeMap, HashMap};

/// A path as the watcher sees it.
#[derive(Clone, Copy)]
struct Path<'p> {
    rows: Rows<'p>,
    labels: &'p [u64],
}

/// For a part that is possible now, the parts that its round may have begun with: without and with an accepting part behind that.
#[derive(Clone, Default)]
struct Begun {
    any: Vec<u64>,
    accepting: Vec<u64>,
}

type Parts = BTreeMap<Vec<u8>, Begun>;

/// Whether the watcher accepts the path that goes through `rows` and then from `rows[loop_to]` on again and again. `labels` are
/// the rows' labels, if the watcher reads them.
pub fn accepts(watcher: &dyn Watcher, rows: Rows<'_>, labels: &[u64], loop_to: usize) -> Result<bool, GraphError> {
    let (path, mut mover) = (Path { rows, labels }, watcher.mover());
    let mut initial = RowBuffer::new(watcher.part_bytes());
    watcher.initial(&mut initial);
    let mut parts: Parts = initial.iter().map(|part| (part.to_vec(), Begun::default())).collect();
    for position in 0..loop_to {
        parts = step(watcher, &mut *mover, path, position, &parts)?;
    }
    let mut new: Vec<Vec<u8>> = parts.into_keys().collect();
    let mut numbers: HashMap<Vec<u8>, u32> = new.iter().cloned().zip(0..).collect();
    let mut successors: Vec<Vec<u32>> = vec![Vec::new(); new.len()];
    let mut accepting_rounds = Vec::new();
    while !new.is_empty() {
        let begun_with: Vec<u32> = new.iter().map(|part| numbers[part]).collect();
        let mut parts: Parts = begin_round(&new);
        for position in loop_to..rows.len() {
            parts = step(watcher, &mut *mover, path, position, &parts)?;
        }
        new.clear();
        for (part, begun) in parts {
            let number = *numbers.entry(part).or_insert_with_key(|part| {
                new.push(part.clone());
                successors.push(Vec::new());
                successors.len() as u32 - 1
            });
            for from in bits(&begun.any) {
                successors[begun_with[from] as usize].push(number);
            }
            accepting_rounds.extend(bits(&begun.accepting).map(|from| (begun_with[from], number)));
        }
    }
    let of = components(&successors).of;
    Ok(accepting_rounds.iter().any(|(from, to)| of[*from as usize] == of[*to as usize]))
}

/// The parts that a round begins with, each begun with itself.
fn begin_round(parts: &[Vec<u8>]) -> Parts {
    let n_words = parts.len().div_ceil(64);
    let begun = |i: usize| {
        let mut any = vec![0; n_words];
        any[i / 64] = 1 << (i % 64);
        Begun { any, accepting: vec![0; n_words] }
    };
    parts.iter().enumerate().map(|(i, part)| (part.clone(), begun(i))).collect()
}

/// The parts behind a position, from those at it.
fn step(
    watcher: &dyn Watcher,
    mover: &mut dyn Mover,
    path: Path<'_>,
    position: usize,
    parts: &Parts,
) -> Result<Parts, GraphError> {
    mover.look(path.rows.row(position), path.labels.get(position).copied().unwrap_or(0));
    let (mut next, mut targets) = (Parts::new(), RowBuffer::new(watcher.part_bytes()));
    for (part, begun) in parts {
        targets.clear();
        mover.moves(part, &mut targets)?;
        for target in targets.iter() {
            let accepting = if watcher.is_accepting(target) { &begun.any } else { &begun.accepting };
            match next.get_mut(target) {
                Some(known) => {
                    add(&mut known.any, &begun.any);
                    add(&mut known.accepting, accepting);
                }
                None => {
                    next.insert(target.to_vec(), Begun { any: begun.any.clone(), accepting: accepting.clone() });
                }
            }
        }
    }
    Ok(next)
}

fn add(to: &mut [u64], more: &[u64]) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
}

/// The places of bits that are set.
fn bits(words: &[u64]) -> impl Iterator<Item = usize> {
    words
        .iter()
        .enumerate()
        .flat_map(|(i, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * i + bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AutomatonWatcher;
    use lariat_base::Random;
    use lariat_ltl::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label, word};

    fn any_automaton(random: &mut Random) -> BuchiAutomaton {
        let n_max = if random.one_in(20) { 150 } else { 6 };
        let n = 1 + random.below(n_max);
        let mut edge = || BuchiEdge {
            label: Label { cubes: vec![Cube { positive: random.below(4) as u64, negative: random.below(4) as u64 }] },
            target: random.below(n) as u32,
        };
        let edges: Vec<Vec<BuchiEdge>> = (0..n).map(|_| (0..4).map(|_| edge()).collect()).collect();
        let states = edges.into_iter().map(|edges| BuchiState { accepting: random.one_in(4), edges }).collect();
        let propositions = vec!["p".to_owned(), "q".to_owned()];
        BuchiAutomaton { propositions, initial: vec![0, n as u32 - 1], states }
    }

    #[test]
    fn words_are_judged_as_by_definition() {
        let mut random = Random::new(11);
        let mut n_accepted = 0;
        for _ in 0..5000 {
            let automaton = any_automaton(&mut random);
            let word = word::random_lasso(&mut random, 2, 6);
            let labels: Vec<u64> = word.prefix.iter().chain(&word.cycle).copied().collect();
            let rows = vec![0; labels.len()];
            let watcher = AutomatonWatcher::new(&automaton);
            let found = accepts(&watcher, Rows::new(&rows, 1), &labels, word.prefix.len()).unwrap();
            assert_eq!(found, word::accepts(&automaton, &word), "{automaton:?} on {word:?}");
            n_accepted += u64::from(found);
        }
        assert!((500..4500).contains(&n_accepted), "{n_accepted}");
    }
}
