//! Search for an accepting cycle by strongly connected components, on the fly and in memory: the reference for other searches.
//!
//! Couvreur's algorithm (1999): a depth-first search keeps, for the components that its stack goes through, the number of the first state
//! and whether an accepting state is inside. An edge to a state that is not finished joins all components from that state's on. As
//! soon as an accepting state is in a component that has an edge inside, there is an accepting cycle. No use is made of the
//! strength of the automaton.
//!
//! # Invariants
//! 1. The states of unfinished components are on `open` in the order of their numbers; those of one component are neighbours there.
//! 2. From the first state of a component every state of it can be reached, and the other way round.
//!
//! # Cost
//! Every state is expanded once; those of the component that is reported up to three times. A state takes its row, its slots and 4
//! bytes; one on the stack up to 20 bytes more, and 4 for each successor that waits. The way through the component is looked for
//! breadth-first, outside of the budget.

use crate::lasso::{Halt, Lasso, LassoSearch, Numbered};
use crate::{Context, SearchError};
use lariat_graph::Graph;
use lariat_storage::{BudgetedVec, RowId};
use std::collections::HashMap;

/// The value of states that were not visited.
const WHITE: u32 = 0;
/// The value of states whose component is finished: none of its cycles accepts.
const FINISHED: u32 = u32::MAX;

/// A component on the way of the depth-first search.
#[derive(Clone, Copy)]
struct Component {
    /// The number of its first state.
    first: u32,
    /// An accepting state in it.
    accepting: Option<RowId>,
}

#[derive(Clone, Copy)]
struct Frame {
    state: RowId,
    n_waiting: u32,
}

struct Components<'n> {
    /// The value of a state is its number, from 1 in the order of discovery.
    states: Numbered<'n, u32>,
    stack: BudgetedVec<'n, Frame>,
    waiting: BudgetedVec<'n, RowId>,
    components: BudgetedVec<'n, Component>,
    open: BudgetedVec<'n, RowId>,
    n_visited: u32,
}

/// Looks for an accepting cycle.
pub fn find_lasso(graph: &dyn Graph, context: &Context) -> Result<LassoSearch, SearchError> {
    let mut search = Components {
        states: Numbered::new(graph, context, WHITE)?,
        stack: BudgetedVec::new(context.budget),
        waiting: BudgetedVec::new(context.budget),
        components: BudgetedVec::new(context.budget),
        open: BudgetedVec::new(context.budget),
        n_visited: 0,
    };
    let ended = search.search();
    let Components { states, .. } = search;
    states.finish(ended)
}

impl Components<'_> {
    fn search(&mut self) -> Result<Option<Lasso>, Halt> {
        for initial in self.states.initial()? {
            if self.states.value(initial) != WHITE {
                continue;
            }
            self.enter(initial)?;
            while let Some(frame) = self.stack.last_mut() {
                if frame.n_waiting == 0 {
                    self.leave();
                    continue;
                }
                frame.n_waiting -= 1;
                let Some(target) = self.waiting.pop() else { break };
                match self.states.value(target) {
                    WHITE => self.enter(target)?,
                    FINISHED => {}
                    number => {
                        if let Some(component) = self.join(number)? {
                            return Ok(Some(self.lasso(component)?));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn enter(&mut self, state: RowId) -> Result<(), Halt> {
        self.n_visited += 1;
        self.states.set_value(state, self.n_visited);
        let accepting = self.states.graph.is_accepting(self.states.row(state));
        self.components.push(Component { first: self.n_visited, accepting: accepting.then_some(state) })?;
        self.open.push(state)?;
        let depth = self.stack.len();
        let targets = self.states.visit(state, accepting, depth)?;
        let n_waiting = targets.len() as u32;
        for target in targets.iter().rev() {
            self.waiting.push(*target)?;
        }
        self.stack.push(Frame { state, n_waiting })?;
        Ok(())
    }

    /// An edge leads back to the unfinished state with this number. The component that it closes, if that accepts.
    fn join(&mut self, number: u32) -> Result<Option<Component>, Halt> {
        let mut accepting = None;
        while let Some(component) = self.components.pop() {
            accepting = accepting.or(component.accepting);
            if component.first <= number {
                let joined = Component { accepting, ..component };
                self.components.push(joined)?;
                return Ok(accepting.map(|_| joined));
            }
        }
        Ok(None)
    }

    /// Takes the last state from the stack; its component is finished if it is the first state of it.
    fn leave(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        let number = self.states.value(frame.state);
        if self.components.last_mut().is_none_or(|component| component.first != number) {
            return;
        }
        self.components.pop();
        while let Some(state) = self.open.pop() {
            self.states.set_value(state, FINISHED);
            if state == frame.state {
                return;
            }
        }
    }

    /// The stack up to the component, then through the component to its accepting state, and from there back to it.
    fn lasso(&mut self, component: Component) -> Result<Lasso, Halt> {
        let in_order: Vec<RowId> = self.stack.iter().map(|frame| frame.state).collect();
        let first = in_order.iter().position(|state| self.states.value(*state) == component.first);
        let lost = || Halt::Error(SearchError::PathLost);
        let first = first.ok_or_else(lost)?;
        let accepting = component.accepting.ok_or_else(lost)?;
        let mut prefix = in_order[..first].to_vec();
        if in_order[first] != accepting {
            prefix.extend(self.way(component, in_order[first], accepting)?);
        }
        let cycle = self.way(component, accepting, accepting)?;
        Ok(Lasso { prefix: self.states.rows(&prefix), cycle: self.states.rows(&cycle) })
    }

    /// A shortest way inside the component with at least one edge, `from` included and `to` left out.
    fn way(&mut self, component: Component, from: RowId, to: RowId) -> Result<Vec<RowId>, Halt> {
        let mut came_from: HashMap<usize, RowId> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(source) = queue.pop_front() {
            let targets = self.states.successors(source)?.to_vec();
            for target in targets {
                let number = self.states.value(target);
                let inside = number >= component.first && number != FINISHED;
                if !inside || came_from.contains_key(&target.index()) {
                    continue;
                }
                came_from.insert(target.index(), source);
                if target == to {
                    return Ok(trace_back(&came_from, from, to));
                }
                queue.push_back(target);
            }
        }
        Err(Halt::Error(SearchError::PathLost))
    }
}

fn trace_back(came_from: &HashMap<usize, RowId>, from: RowId, to: RowId) -> Vec<RowId> {
    let mut way = Vec::new();
    let mut state = to;
    while let Some(before) = came_from.get(&state.index()) {
        way.push(*before);
        state = *before;
        if state == from {
            break;
        }
    }
    way.reverse();
    way
}
