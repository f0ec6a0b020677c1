//! Formulas on graphs: of a formula and its negation, exactly one holds on a single path, and never both on a graph.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::{MemoryBudget, Random, SilentObserver, StopSignal};
use lariat_graph::{
    AutomatonWatcher, DeadlockRuns, Edges, Expander, Graph, GraphError, Product, RowBuffer, Rows, Watcher,
};
use lariat_ltl::word::{holds, random_formula, random_lasso};
use lariat_ltl::{BuchiAutomaton, Formulas, Lasso, buchi, print};
use lariat_search::{Context, ndfs, scc};
use lariat_testkit::RandomGraph;

const N_PROPOSITIONS: usize = 3;

/// A graph that is a single path: the places of a word.
struct WordGraph(Lasso);

impl Graph for WordGraph {
    fn row_bytes(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut RowBuffer) {
        out.push(&[0]);
    }

    fn expander(&self) -> Box<dyn Expander + '_> {
        Box::new(Reading(&self.0))
    }
}

struct Reading<'w>(&'w Lasso);

impl Expander for Reading<'_> {
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
        let length = self.0.prefix.len() + self.0.cycle.len();
        for row in from.iter() {
            let next = row[0] as usize + 1;
            out.push(&[if next == length { self.0.prefix.len() } else { next } as u8]);
            out.end_source();
        }
        Ok(())
    }

    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        let letters = || self.0.prefix.iter().chain(&self.0.cycle);
        out.extend(rows.iter().filter_map(|row| letters().nth(row[0] as usize)));
        Ok(())
    }
}

/// Whether some path of the graph is accepted; both searches must say the same.
fn accepts_some_path(graph: &dyn Graph, automaton: &BuchiAutomaton) -> bool {
    let watcher = AutomatonWatcher::new(automaton);
    let product = Product::new(graph, &watcher, DeadlockRuns::Stutter);
    let budget = MemoryBudget::new(64 << 20);
    let stop = StopSignal::new(None);
    let context = Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads: 1, disk: None };
    let by_nesting = ndfs::find_lasso(&product, watcher.strength(), &context).unwrap();
    let by_components = scc::find_lasso(&product, &context).unwrap();
    assert!(by_nesting.limit.is_none() && by_components.limit.is_none());
    assert_eq!(by_nesting.lasso.is_some(), by_components.lasso.is_some());
    by_nesting.lasso.is_some()
}

fn formula_and_automata(random: &mut Random) -> (Formulas, lariat_ltl::Formula, [BuchiAutomaton; 2]) {
    let mut formulas = Formulas::new();
    for i in 0..N_PROPOSITIONS {
        formulas.proposition(&format!("p{i}"));
    }
    let size = 2 + random.below(8);
    let formula = random_formula(random, &mut formulas, N_PROPOSITIONS, size);
    let automata = [false, true].map(|negated| buchi(&mut formulas, formula, negated).expect("a small automaton"));
    (formulas, formula, automata)
}

#[test]
fn exactly_one_of_a_formula_and_its_negation_holds_on_a_path() {
    for seed in 0..2500 {
        let mut random = Random::new(seed);
        let (formulas, formula, automata) = formula_and_automata(&mut random);
        for _ in 0..4 {
            let word = random_lasso(&mut random, N_PROPOSITIONS, 6);
            let expected = holds(&formulas, formula, &word);
            let graph = WordGraph(word);
            let accepted = automata.each_ref().map(|automaton| accepts_some_path(&graph, automaton));
            assert_eq!(accepted, [expected, !expected], "seed {seed}: {}", print(&formulas, formula));
        }
    }
}

#[test]
fn a_graph_has_a_path_for_a_formula_or_for_its_negation() {
    let mut n_both = 0;
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let (formulas, formula, automata) = formula_and_automata(&mut random);
        let graph = RandomGraph::without_error(seed, 60);
        let accepted = automata.each_ref().map(|automaton| accepts_some_path(&graph, automaton));
        assert!(accepted[0] || accepted[1], "seed {seed}: {}", print(&formulas, formula));
        n_both += usize::from(accepted[0] && accepted[1]);
    }
    assert!(n_both > 100, "graphs with paths of both kinds: {n_both}");
}
