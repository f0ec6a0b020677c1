//! From a formula to the smallest Büchi automaton that we can find.
//!
//! Simplify, translate, reduce by simulation, degeneralise, reduce again; several choices on the way lead to automata of
//! different sizes, so several are tried and the smallest is taken. Where the language is an obligation, the smallest
//! deterministic weak automaton competes too.

use crate::automaton::{BuchiAutomaton, BuchiEdge, BuchiState};
use crate::bdd::Bdd;
use crate::boolean::MAX_PROPOSITIONS;
use crate::degeneralise::{Choices, degeneralised};
use crate::formula::{Formula, Formulas};
use crate::obligation;
use crate::simplify::Simplifier;
use crate::simulation::{Marks, cost, reduced, with_irrelevant_marks};
use crate::tgba::Tgba;
use crate::translate::{Limits, STATES_MAX, TooLarge, translate};

/// Orders of marks that are tried, at most.
const ORDERS_MAX: usize = 24;
/// What may be spent on trying out choices, in compared pairs of edges.
const COST_MAX: usize = 40_000_000;

/// What [`buchi`] may use of memory, in bytes. Formulas that people write need a small part of it.
pub const MEMORY_BYTES_MAX: usize = 1 << 30;

/// A formula (negated, if asked for) as a Büchi automaton with acceptance on states.
pub fn buchi(formulas: &mut Formulas, formula: Formula, negated: bool) -> Result<BuchiAutomaton, TooLarge> {
    buchi_within(formulas, formula, negated, MEMORY_BYTES_MAX)
}

/// The same within a given number of bytes.
pub fn buchi_within(
    formulas: &mut Formulas,
    formula: Formula,
    negated: bool,
    memory_bytes_max: usize,
) -> Result<BuchiAutomaton, TooLarge> {
    if formulas.propositions().len() > MAX_PROPOSITIONS {
        return Err(TooLarge::Propositions);
    }
    let mut bdd = Bdd::new();
    let variants = variants_of(formulas, formula, negated);
    let mut generalised: Vec<Tgba> = Vec::new();
    for variant in variants {
        // Other variants are worth a look as long as they are not much larger.
        let states_max = generalised.first().map_or(STATES_MAX, |first| 2 * first.states.len() + 50);
        if generalised.iter().map(cost).sum::<usize>() > COST_MAX {
            break;
        }
        match translate(formulas, variant, Limits { states_max, memory_bytes_max }, &mut bdd) {
            Ok(tgba) => generalised.push(reduced(&tgba, Marks::OnEdges, &mut bdd)),
            Err(too_large) if generalised.is_empty() => return Err(too_large),
            Err(_) => {}
        }
    }
    generalised.sort_by_key(size);
    let mut candidates: Vec<Tgba> = Vec::new();
    let mut spent = 0;
    for tgba in &generalised {
        candidates.extend(smallest_degeneralised(tgba, &mut spent, &mut bdd));
    }
    let opposite = variants_of(formulas, formula, !negated)[0];
    let limits = Limits { states_max: 2 * generalised[0].states.len() + 50, memory_bytes_max };
    candidates.extend(smallest_deterministic(formulas, opposite, &generalised[0], limits, &mut bdd));
    candidates.sort_by_key(size);
    Ok(finished(&candidates[0], formulas.propositions(), &mut bdd))
}

/// Formulas with the same meaning, in negation normal form.
fn variants_of(formulas: &mut Formulas, formula: Formula, negated: bool) -> Vec<Formula> {
    let mut variants = Vec::new();
    for gather in [false, true] {
        let mut simplifier = Simplifier::new(gather);
        let normal = simplifier.normal_form(formulas, formula, negated);
        variants.push(simplifier.simplify(formulas, normal));
        if gather {
            variants.push(normal);
        }
    }
    let mut unique = Vec::new();
    variants.retain(|v| {
        let new = !unique.contains(v);
        unique.push(*v);
        new
    });
    variants
}

/// The smallest deterministic weak automaton, if there is one. `opposite` is the negation of the formula.
fn smallest_deterministic(
    formulas: &mut Formulas,
    opposite: Formula,
    tgba: &Tgba,
    limits: Limits,
    bdd: &mut Bdd,
) -> Option<Tgba> {
    let negation = translate(formulas, opposite, limits, bdd).ok()?;
    let negation = reduced(&negation, Marks::OnEdges, bdd);
    let minimal = obligation::minimised(tgba, &negation, bdd)?;
    Some(reduced(&minimal, Marks::OnStates, bdd))
}

fn size(tgba: &Tgba) -> (usize, usize) {
    (tgba.states.len(), tgba.n_edges())
}

/// The smallest automaton over several choices, as many as can be afforded: none if all was spent before.
fn smallest_degeneralised(tgba: &Tgba, spent: &mut usize, bdd: &mut Bdd) -> Option<Tgba> {
    let mut best: Option<Tgba> = None;
    let all = orders(tgba.n_marks, ORDERS_MAX);
    // First every component with its own order, then all with the same one: simulation can make up for more copies.
    for orders in std::iter::once(&all[..]).chain(all.chunks(1)) {
        for enter_accepting in [false, true] {
            if *spent > COST_MAX {
                return best;
            }
            let candidate = degeneralised(tgba, Choices { orders, enter_accepting }, bdd);
            let candidate = with_irrelevant_marks(&candidate.trimmed(bdd), Marks::OnStates, false);
            *spent += cost(&candidate);
            let candidate = reduced(&candidate, Marks::OnStates, bdd);
            if best.as_ref().is_none_or(|b| size(&candidate) < size(b)) {
                best = Some(candidate);
            }
        }
    }
    best
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
