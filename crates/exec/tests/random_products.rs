//! Products of random models and random automata, compared with a plain construction that follows the definition.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{explore, labels, lasso};
use lariat_base::Random;
use lariat_exec::{Interpreter, Run};
use lariat_graph::{AutomatonWatcher, DeadlockRuns, Graph, Product, Strength, Watcher, components};
use lariat_ltl::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label as EdgeLabel};
use lariat_search::reference::ExplicitGraph;
use lariat_testkit::{load_text, random_model};
use std::collections::HashMap;

const STATES_MAX: usize = 3000;
const PROPOSITIONS: [&str; 6] = ["x == 1", "y < 0", "P0.s1", "P1.s2 || P0.s2", "a[0] == a[1]", "P0->i > P1->i"];

/// An automaton with up to five states; labels are mostly weak enough to let runs go on.
fn random_automaton(random: &mut Random) -> BuchiAutomaton {
    let n_states = 1 + random.below(5);
    let n_propositions = random.below(4);
    let first = random.below(PROPOSITIONS.len());
    let propositions = (0..n_propositions).map(|i| PROPOSITIONS[(first + i) % PROPOSITIONS.len()].to_owned()).collect();
    let cube = |random: &mut Random| {
        let mut cube = Cube::default();
        for proposition in 0..n_propositions {
            match random.below(5) {
                0 => cube.positive |= 1 << proposition,
                1 => cube.negative |= 1 << proposition,
                _ => {}
            }
        }
        cube
    };
    let every = 1 + random.below(4);
    let states = (0..n_states)
        .map(|_| BuchiState {
            accepting: random.one_in(every),
            edges: (0..random.below(4))
                .map(|_| BuchiEdge {
                    label: EdgeLabel { cubes: (0..random.below(3)).map(|_| cube(random)).collect() },
                    target: random.below(n_states) as u32,
                })
                .collect(),
        })
        .collect();
    let initial = (0..1 + random.below(2)).map(|_| random.below(n_states) as u32).collect();
    BuchiAutomaton { propositions, initial, states }
}

/// The product as the definition says: which pairs there are, and their edges.
struct Plain {
    pairs: Vec<(u32, u32)>,
    successors: Vec<Vec<u32>>,
}

fn plain_product(
    model: &ExplicitGraph,
    is_error: impl Fn(u32) -> bool,
    automaton: &BuchiAutomaton,
    deadlocks: DeadlockRuns,
) -> Plain {
    let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
    let mut plain = Plain { pairs: Vec::new(), successors: Vec::new() };
    let mut number = |pair: (u32, u32), pairs: &mut Vec<(u32, u32)>| {
        *numbers.entry(pair).or_insert_with(|| {
            pairs.push(pair);
            pairs.len() as u32 - 1
        })
    };
    for q in &automaton.initial {
        number((0, *q), &mut plain.pairs);
    }
    while let Some((s, q)) = plain.pairs.get(plain.successors.len()).copied() {
        let mut next = model.successors[s as usize].clone();
        if next.is_empty() && !is_error(s) && deadlocks == DeadlockRuns::Stutter {
            next.push(s);
        }
        let mut targets = Vec::new();
        for t in next {
            for edge in &automaton.states[q as usize].edges {
                if edge.label.accepts(model.labels[s as usize]) {
                    targets.push(number((t, edge.target), &mut plain.pairs));
                }
            }
        }
        plain.successors.push(targets);
    }
    plain
}

#[test]
fn products_are_as_the_definition_says() {
    let (mut n_compared, mut n_accepted, mut n_strong) = (0, 0, 0);
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let loaded = load_text(&random_model(seed % 150));
        let automaton = random_automaton(&mut random);
        let model = Interpreter::new(&loaded.model, labels(&automaton, &loaded));
        let explicit = ExplicitGraph::explore(&model, STATES_MAX).unwrap();
        if explicit.cut {
            continue;
        }
        let watcher = AutomatonWatcher::new(&automaton);
        n_strong += usize::from(watcher.strength() == Strength::Strong);
        for deadlocks in [DeadlockRuns::Stutter, DeadlockRuns::Ignore] {
            let is_error = |s: u32| model.is_error(&explicit.rows[s as usize]);
            let plain = plain_product(&explicit, is_error, &automaton, deadlocks);
            let accepting = |pair: u32| automaton.states[plain.pairs[pair as usize].1 as usize].accepting;
            let found = components(&plain.successors);
            let pairs = 0..plain.pairs.len() as u32;
            let expected = pairs.clone().any(|p| accepting(p) && found.cyclic[found.of[p as usize] as usize]);

            let product = Product::new(&model, &watcher, deadlocks);
            let all = explore(&product);
            assert_eq!(all.states, plain.pairs.len() as u64, "seed {seed}");
            let n_edges: usize = plain.successors.iter().map(Vec::len).sum();
            assert_eq!(all.transitions, n_edges as u64, "seed {seed}");
            assert_eq!(all.accepting, pairs.filter(|p| accepting(*p)).count() as u64, "seed {seed}");
            let searched = lasso(&product, watcher.strength());
            assert_eq!(searched.lasso.is_some(), expected, "seed {seed}");
            if let Some(lasso) = searched.lasso {
                let run = Run::new(product.model_rows(&lasso.prefix), product.model_rows(&lasso.cycle));
                model.run_violation(&watcher, &run).expect("an accepted run");
                let trace = model.run_trace(&run).expect("a run of the model");
                assert_eq!(model.retrace_run(&trace), Ok(run));
                n_accepted += 1;
            }
            n_compared += 1;
        }
    }
    assert!(n_compared > 500 && n_accepted > 100 && n_strong > 20, "{n_compared} {n_accepted} {n_strong}");
}
