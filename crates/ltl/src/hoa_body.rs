//! The body of an automaton in the Hanoi format: states and edges.

use std::collections::HashMap;

use crate::automaton::{Cube, Label};
use crate::boolean::label_of;
use crate::formula::Formula;
use crate::hoa_degeneralise::{MarkedEdge, MarkedState};
use crate::hoa_read::{Header, Reader};
use crate::hoa_token::HoaKind;
use crate::position::ReadError;

/// Labels that are told by the order of the edges need an edge for every set of propositions: with more than this many, too many.
const MAX_IMPLICIT: usize = 16;

impl Reader<'_> {
    /// Reads all states. Those that are only mentioned have no edges.
    pub fn body(&mut self, header: &Header) -> Result<Vec<MarkedState>, ReadError> {
        let mut states: HashMap<u32, MarkedState> = HashMap::new();
        let mut labels: HashMap<Formula, Label> = HashMap::new();
        while let Some(kind) = self.advance() {
            if kind != HoaKind::Header("State".to_owned()) {
                return Err(self.error_before("`State:` is missing here"));
            }
            let label = self.label(&mut labels)?;
            let number = self.state_number()?;
            if header.n_states.is_some_and(|n| number >= n) {
                return Err(self.error_before("there are not that many states"));
            }
            if states.contains_key(&number) {
                return Err(self.error_before(format!("state {number} is given a second time")));
            }
            if matches!(self.peek(), Some(HoaKind::Text(_))) {
                self.advance();
            }
            let marks = self.marks(header)?;
            let edges = self.edges(header, label, &mut labels)?;
            states.insert(number, MarkedState { marks, edges });
        }
        let targets = states.values().flat_map(|s| s.edges.iter().map(|e| e.target));
        let mentioned = targets.chain(header.initial.iter().copied()).chain(states.keys().copied()).max();
        let n_states = match (mentioned, header.n_states) {
            (Some(most), Some(n)) if most >= n => {
                return Err(self.error_before(format!("state {most} is used, but there are only {n} states")));
            }
            (mentioned, given) => given.unwrap_or(0).max(mentioned.map_or(0, |most| most + 1)),
        };
        Ok((0..n_states).map(|number| states.remove(&number).unwrap_or_default()).collect())
    }

    /// The edges of a state, with its label if it has one.
    fn edges(
        &mut self,
        header: &Header,
        state_label: Option<Label>,
        labels: &mut HashMap<Formula, Label>,
    ) -> Result<Vec<MarkedEdge>, ReadError> {
        let mut edges = Vec::new();
        let mut n_implicit = 0;
        while matches!(self.peek(), Some(HoaKind::Integer(_) | HoaKind::Symbol('['))) {
            let own = self.label(labels)?;
            let label = match (own, &state_label) {
                (Some(_), Some(_)) => {
                    return Err(self.error_before("the state has a label, so its edges cannot have one"));
                }
                (Some(label), None) => label,
                (None, Some(label)) => label.clone(),
                (None, None) => {
                    let label = implicit(n_implicit, header.propositions.len()).ok_or_else(|| {
                        self.error("the labels are implied by the order, but there are too many edges")
                    })?;
                    n_implicit += 1;
                    label
                }
            };
            let target = self.state_number()?;
            let marks = self.marks(header)?;
            edges.push(MarkedEdge { label, target, marks });
        }
        if n_implicit > 0 && (n_implicit != edges.len() || n_implicit != 1 << header.propositions.len()) {
            return Err(self.error_before(
                "either all edges of a state have labels, or there is one for each set of propositions",
            ));
        }
        edges.retain(|edge| !edge.label.cubes.is_empty());
        Ok(edges)
    }

    /// A label in brackets, if there is one.
    fn label(&mut self, labels: &mut HashMap<Formula, Label>) -> Result<Option<Label>, ReadError> {
        if !self.take('[') {
            return Ok(None);
        }
        let (formula, _) = self.label_expression(0)?;
        self.expect(']')?;
        if let Some(label) = labels.get(&formula) {
            return Ok(Some(label.clone()));
        }
        let label = label_of(&self.formulas, formula).map_err(|error| self.error_before(error.to_string()))?;
        labels.insert(formula, label.clone());
        Ok(Some(label))
    }

    /// The acceptance sets of a state or an edge, as bits in the order in which the acceptance condition names them.
    fn marks(&mut self, header: &Header) -> Result<u64, ReadError> {
        let mut marks = 0;
        if !self.take('{') {
            return Ok(marks);
        }
        while !self.take('}') {
            let set = self.integer("the number of an acceptance set or `}`")?;
            if set >= header.n_sets {
                return Err(self.error_before("there is no such acceptance set"));
            }
            let sets = header.infinitely_often.as_deref().unwrap_or(&[]);
            if let Some(bit) = sets.iter().position(|known| *known == set) {
                marks |= 1 << bit;
            }
        }
        Ok(marks)
    }
}

/// The label of the edge at a place, where labels are told by the order: bit `i` of the place says whether proposition `i` holds.
fn implicit(place: usize, n_propositions: usize) -> Option<Label> {
    if n_propositions > MAX_IMPLICIT || place >= 1 << n_propositions {
        return None;
    }
    let (positive, all) = (place as u64, (1 << n_propositions) - 1);
    Some(Label { cubes: vec![Cube { positive, negative: all & !positive }] })
}
