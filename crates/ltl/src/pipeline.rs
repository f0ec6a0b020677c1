//! From a formula to the smallest Büchi automaton that we can find.
//!
//! Simplify, translate, reduce by simulation, degeneralise, reduce again; several choices on the way lead to automata of
//! different sizes, so several are tried and the smallest is taken. Where the language is an obligation, the smallest
//! deterministic weak automaton competes too.

use crate::automaton::{BuchiAutomaton, BuchiEdge, BuchiState};
use crate::bdd::Bdd;
use crate::degeneralise::{Choices, degeneralised};
use crate::formula::{Formula, Formulas};
use crate::obligation;
use crate::simplify::Simplifier;
use crate::simulation::{Marks, reduced, with_irrelevant_marks};
use crate::tgba::Tgba;
use crate::translate::{TooLarge, translate};

/// Orders of marks that are tried, at most.
const ORDERS_MAX: usize = 24;
/// Larger automata (states times edges) get one try instead of many.
const WORK_FOR_MANY_TRIES: usize = 20_000;

/// A formula (negated, if asked for) as a Büchi automaton with acceptance on states.
pub fn buchi(formulas: &mut Formulas, formula: Formula, negated: bool) -> Result<BuchiAutomaton, TooLarge> {
    let mut bdd = Bdd::new();
    let mut simplifier = Simplifier::default();
    let [wanted, opposite] = [negated, !negated].map(|n| {
        let normal = simplifier.normal_form(formulas, formula, n);
        (normal, simplifier.simplify(formulas, normal))
    });
    let generalised = generalised(formulas, wanted, &mut bdd)?;
    let mut best = smallest_degeneralised(&generalised, &mut bdd);
    if let Ok(negation) = translate(formulas, opposite.1, &mut bdd) {
        let negation = reduced(&negation, Marks::OnEdges, &mut bdd);
        if let Some(minimal) = obligation::minimised(&generalised, &negation, &mut bdd) {
            let minimal = reduced(&minimal, Marks::OnStates, &mut bdd);
            if size(&minimal) < size(&best) {
                best = minimal;
            }
        }
    }
    Ok(finished(&best, formulas.propositions(), &mut bdd))
}

fn size(tgba: &Tgba) -> (usize, usize) {
    (tgba.states.len(), tgba.n_edges())
}

/// The smaller of the automata of a formula as it was and simplified.
fn generalised(formulas: &mut Formulas, (normal, simple): (Formula, Formula), bdd: &mut Bdd) -> Result<Tgba, TooLarge> {
    let simplified = translate(formulas, simple, bdd)?;
    let simplified = reduced(&simplified, Marks::OnEdges, bdd);
    if normal == simple || simplified.states.len() * simplified.n_edges() > WORK_FOR_MANY_TRIES {
        return Ok(simplified);
    }
    match translate(formulas, normal, bdd) {
        Ok(plain) if plain.states.len() * plain.n_edges() <= WORK_FOR_MANY_TRIES => {
            let plain = reduced(&plain, Marks::OnEdges, bdd);
            Ok(if size(&plain) < size(&simplified) { plain } else { simplified })
        }
        _ => Ok(simplified),
    }
}

fn smallest_degeneralised(tgba: &Tgba, bdd: &mut Bdd) -> Tgba {
    let many = tgba.states.len() * tgba.n_edges() <= WORK_FOR_MANY_TRIES;
    let orders = orders(tgba.n_marks, if many { ORDERS_MAX } else { 1 });
    let mut best: Option<Tgba> = None;
    for order in orders {
        for enter_accepting in [false, true] {
            let choices = Choices { order: order.clone(), enter_accepting };
            let candidate = degeneralised(tgba, &choices, bdd);
            let candidate = with_irrelevant_marks(&candidate.trimmed(bdd), Marks::OnStates, false);
            let candidate = reduced(&candidate, Marks::OnStates, bdd);
            if best.as_ref().is_none_or(|b| size(&candidate) < size(b)) {
                best = Some(candidate);
            }
        }
    }
    best.unwrap_or_else(|| tgba.clone())
}

/// Permutations of the marks, at most `n_max` of them, the plain order first.
fn orders(n_marks: u32, n_max: usize) -> Vec<Vec<u32>> {
    let mut orders: Vec<Vec<u32>> = vec![(0..n_marks).collect()];
    let mut i = 0;
    while i < orders.len() && orders.len() < n_max {
        for a in 0..n_marks as usize {
            for b in a + 1..n_marks as usize {
                let mut swapped = orders[i].clone();
                swapped.swap(a, b);
                if !orders.contains(&swapped) && orders.len() < n_max {
                    orders.push(swapped);
                }
            }
        }
        i += 1;
    }
    orders
}

/// The automaton as others read it.
fn finished(tgba: &Tgba, propositions: &[String], bdd: &mut Bdd) -> BuchiAutomaton {
    let components = tgba.components();
    let states = (0..tgba.states.len())
        .map(|state| {
            let own = components.of[state];
            let accepting =
                components.accepting[own] && tgba.states[state].iter().any(|e| e.marks != 0 || tgba.n_marks == 0);
            let edges = tgba.states[state]
                .iter()
                .map(|e| BuchiEdge { label: bdd.label(e.label), target: e.target as u32 })
                .collect();
            BuchiState { accepting, edges }
        })
        .collect();
    BuchiAutomaton { propositions: propositions.to_vec(), initial: vec![tgba.initial as u32], states }
}
