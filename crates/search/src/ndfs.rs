//! Nested depth-first search for an accepting cycle, on the fly and in memory.
//!
//! The algorithm of Courcoubetis, Vardi, Wolper and Yannakakis (1992) with the improvements of Gastin, Moro and Zeitoun (2004) and of
//! Schwoon and Esparza (2005), in the form that Gaiser and Schwoon (2009) give it. States are white until they are seen, *cyan* on
//! the stack of the first search, *blue* when that has left them, *red* when no accepting cycle can be reached from them that was not
//! looked for. The first search reports a cycle as soon as it meets a cyan state and one end of that edge is accepting.
//! When it leaves an accepting state, the second search looks from there through blue states for a cyan one.
//!
//! For **weak** automata all states of a cycle accept, or none: the first search alone finds every accepting cycle by the edge that
//! closes it.
//!
//! # Invariants
//! 1. Cyan states are exactly those on the stack of the first search; from each a path leads to the next, and to the last.
//! 2. A state becomes red only if no cyan state can be reached from it, or the cycle was reported.
//!
//! 3. All successors of a state that is not white are stored. So if memory ends, the others are closed for whoever goes on, and the
//!    white ones are open.
//!
//! # Cost
//! Every state is expanded once by the first search and at most once by the second. A state takes its row, its slots and one byte; one on a
//! stack 12 bytes and 4 for each successor that waits.

use crate::disk::Handed;
use crate::lasso::{Halt, Lasso, LassoSearch, Numbered};
use crate::ram::Successor;
use crate::{Context, SearchError};
use lariat_base::Limit;
use lariat_graph::{Graph, Rows, Strength};
use lariat_storage::{BudgetedVec, Manifest, RowId};

/// The colour of a state, and whether it is accepting, which is found out when it turns cyan.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    colour: Colour,
    accepting: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Colour {
    White,
    Cyan,
    Blue,
    Red,
}

/// A state on a stack. Its successors that wait lie at the end of `Nested::waiting`, behind those of the states below.
#[derive(Clone, Copy)]
struct Frame {
    state: RowId,
    n_waiting: u32,
    /// Whether all successors that were looked at are red.
    all_red: bool,
}

/// A search nearby is made among one of so many of the states first.
const NEARBY_STEP: u64 = 8;

struct Nested<'n> {
    states: Numbered<'n, Mark>,
    /// First the stack of the first search, then that of the second.
    stack: BudgetedVec<'n, Frame>,
    waiting: BudgetedVec<'n, RowId>,
    weak: bool,
    /// States with this number and those behind it are left out.
    end: usize,
    /// Whether one was.
    was_cut: bool,
}

/// Something else that is tried when a search has become large.
pub struct Pause<'p> {
    /// When so many states were expanded; increasing.
    pub states: &'p [u64],
    /// What is tried, by how many were; if it finds a lasso, that is the answer.
    pub attempt: &'p mut dyn FnMut(u64) -> Result<Option<Lasso>, SearchError>,
}

/// Looks for an accepting cycle; `strength` tells how much of Büchi acceptance the graph needs.
pub fn find_lasso(graph: &dyn Graph, strength: Strength, context: &Context) -> Result<LassoSearch, SearchError> {
    find_lasso_or_hand_over(graph, strength, context, None, None)
}

/// Looks for an accepting cycle among the states that are nearest to the initial ones, so many of them: first among few, which makes it
/// shorter, and then among all. If there are more states, and no cycle was found, the search is not complete.
pub fn find_lasso_nearby(
    graph: &dyn Graph,
    strength: Strength,
    n_states: u64,
    context: &Context,
) -> Result<LassoSearch, SearchError> {
    let mut search = Nested::new(graph, strength, context)?;
    let ended = search.search_nearby(n_states);
    let was_cut = search.was_cut;
    let mut found = search.states.finish(ended)?;
    found.complete &= !was_cut;
    Ok(found)
}

/// The same, but if the table is full all states are handed over, and something else may be tried on the way.
pub fn find_lasso_or_hand_over(
    graph: &dyn Graph,
    strength: Strength,
    context: &Context,
    pause: Option<Pause<'_>>,
    successor: Option<Successor<'_>>,
) -> Result<LassoSearch, SearchError> {
    let mut search = Nested::new(graph, strength, context)?;
    let ended = search.search(pause);
    let Nested { states, .. } = search;
    if let (Some(successor), Err(Halt::Limit(Limit::Memory | Limit::StateNumbers))) = (successor, &ended) {
        successor(&Ended { states: &states })?;
    }
    states.finish(ended)
}

/// A search that has no memory left.
struct Ended<'e, 'n> {
    states: &'e Numbered<'n, Mark>,
}

impl Handed for Ended<'_, '_> {
    fn row_bytes(&self) -> usize {
        self.states.graph.row_bytes()
    }

    fn visit(
        &self,
        expanded: bool,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        let wanted = self.states.all().filter(|(_, mark)| (mark.colour != Colour::White) == expanded);
        wanted.map(|(row, _)| row).try_for_each(|row| visit(Rows::new(row, row.len())))
    }

    fn note(&self, manifest: &mut Manifest) {
        self.states.note(manifest);
    }
}

impl<'n> Nested<'n> {
    fn new(graph: &'n dyn Graph, strength: Strength, context: &'n Context<'n>) -> Result<Self, SearchError> {
        Ok(Self {
            states: Numbered::new(graph, context, Mark { colour: Colour::White, accepting: false })?,
            stack: BudgetedVec::new(context.budget),
            waiting: BudgetedVec::new(context.budget),
            weak: strength != Strength::Strong,
            end: usize::MAX,
            was_cut: false,
        })
    }

    /// Numbers states breadth-first, and searches among the first ones.
    fn search_nearby(&mut self, n_states: u64) -> Result<Option<Lasso>, Halt> {
        self.states.initial()?;
        let mut n_expanded = 0;
        for bound in [n_states / NEARBY_STEP, n_states] {
            let bound = usize::try_from(bound).unwrap_or(usize::MAX).max(1);
            n_expanded = self.states.expand_in_order(n_expanded..bound)?;
            self.states.forget_visits();
            self.stack.clear();
            self.waiting.clear();
            (self.end, self.was_cut) = (n_expanded, false);
            let found = self.search(None)?;
            if found.is_some() || !self.was_cut {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn search(&mut self, mut pause: Option<Pause<'_>>) -> Result<Option<Lasso>, Halt> {
        for state in self.states.initial()? {
            if state.index() >= self.end {
                self.was_cut = true;
            } else if self.colour(state) == Colour::White
                && let Some(lasso) = self.first_search(state, &mut pause)?
            {
                return Ok(Some(lasso));
            }
        }
        Ok(None)
    }

    fn colour(&self, state: RowId) -> Colour {
        self.states.value(state).colour
    }

    fn paint(&mut self, state: RowId, colour: Colour) {
        let mark = self.states.value(state);
        self.states.set_value(state, Mark { colour, ..mark });
    }

    /// The first search, which is called the blue one.
    fn first_search(&mut self, initial: RowId, pause: &mut Option<Pause<'_>>) -> Result<Option<Lasso>, Halt> {
        if let Some(lasso) = self.enter(initial)? {
            return Ok(Some(lasso));
        }
        while let Some(frame) = self.stack.last_mut() {
            if frame.n_waiting == 0 {
                if let Some(lasso) = self.leave()? {
                    return Ok(Some(lasso));
                }
                continue;
            }
            frame.n_waiting -= 1;
            let Some(target) = self.waiting.pop() else { break };
            match self.colour(target) {
                Colour::White => {
                    if let Some(lasso) = self.enter(target)? {
                        return Ok(Some(lasso));
                    }
                    if let Some(lasso) = self.pause_if_due(pause)? {
                        return Ok(Some(lasso));
                    }
                }
                // It was white when this state was entered, and has left the stack since.
                Colour::Red => {}
                Colour::Cyan | Colour::Blue => self.note_not_red(),
            }
        }
        Ok(None)
    }

    fn closes_accepting_cycle(&self, source: RowId, cyan: RowId) -> bool {
        let accepting = |state| self.states.value(state).accepting;
        accepting(cyan) || (!self.weak && accepting(source))
    }

    /// Tries something else when it is time to.
    #[inline]
    fn pause_if_due(&self, pause: &mut Option<Pause<'_>>) -> Result<Option<Lasso>, Halt> {
        let n_visits = self.states.n_visits();
        if let Some(pause) = pause
            && let [next, later @ ..] = pause.states
            && n_visits >= *next
        {
            pause.states = later;
            return Ok((pause.attempt)(n_visits)?);
        }
        Ok(None)
    }

    fn note_not_red(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.all_red = false;
        }
    }

    /// Puts a white state on the stack. Successors that are not white are looked at now, which finds cycles before the search goes on;
    /// the others wait.
    fn enter(&mut self, state: RowId) -> Result<Option<Lasso>, Halt> {
        let accepting = self.states.graph.is_accepting(self.states.row(state));
        self.states.set_value(state, Mark { colour: Colour::Cyan, accepting });
        let depth = self.stack.len();
        let n_targets = match self.states.visit(state, accepting, depth) {
            Ok(targets) => targets.len(),
            Err(halt) => {
                self.paint(state, Colour::White);
                return Err(halt);
            }
        };
        let mut frame = Frame { state, n_waiting: 0, all_red: true };
        // The first successor is taken first, so it goes to the end.
        for i in (0..n_targets).rev() {
            let target = self.states.target(i);
            match self.colour(target) {
                Colour::White if target.index() >= self.end => {
                    self.was_cut = true;
                    frame.all_red = false;
                }
                Colour::White => {
                    self.waiting.push(target)?;
                    frame.n_waiting += 1;
                }
                Colour::Cyan if self.closes_accepting_cycle(state, target) => {
                    self.stack.push(frame)?;
                    return Ok(Some(self.lasso(target)));
                }
                Colour::Red => {}
                Colour::Cyan | Colour::Blue => frame.all_red = false,
            }
        }
        self.stack.push(frame)?;
        Ok(None)
    }

    /// Takes the last state from the stack, after the second search if that is due.
    fn leave(&mut self) -> Result<Option<Lasso>, Halt> {
        let Some(frame) = self.stack.last_mut().copied() else { return Ok(None) };
        let mut colour = Colour::Blue;
        if frame.all_red {
            colour = Colour::Red;
        } else if !self.weak && self.states.value(frame.state).accepting {
            if let Some(lasso) = self.second_search(frame.state)? {
                return Ok(Some(lasso));
            }
            colour = Colour::Red;
        }
        self.paint(frame.state, colour);
        self.stack.pop();
        if colour != Colour::Red {
            self.note_not_red();
        }
        Ok(None)
    }

    /// The second search, which is called the red one, from an accepting state that is still on the stack.
    fn second_search(&mut self, seed: RowId) -> Result<Option<Lasso>, Halt> {
        let bottom = self.stack.len();
        let mut n_expanded = 0;
        self.enter_again(seed)?;
        while self.stack.len() > bottom {
            let Some(frame) = self.stack.last_mut() else { break };
            if frame.n_waiting == 0 {
                self.stack.pop();
                continue;
            }
            frame.n_waiting -= 1;
            let Some(target) = self.waiting.pop() else { break };
            match self.colour(target) {
                Colour::Cyan => {
                    self.drop_seed_frame(bottom);
                    return Ok(Some(self.lasso(target)));
                }
                Colour::Blue => {
                    self.paint(target, Colour::Red);
                    self.enter_again(target)?;
                    n_expanded += 1;
                    self.states.attend_sometimes(n_expanded, self.stack.len())?;
                }
                Colour::White | Colour::Red => {}
            }
        }
        Ok(None)
    }

    fn enter_again(&mut self, state: RowId) -> Result<(), Halt> {
        let targets = self.states.successors(state)?;
        let n_waiting = targets.len() as u32;
        for target in targets.iter().rev() {
            self.waiting.push(*target)?;
        }
        self.stack.push(Frame { state, n_waiting, all_red: false })?;
        Ok(())
    }

    /// The seed is on the stack twice, at the end of the first search's part and at the beginning of the second's.
    fn drop_seed_frame(&mut self, bottom: usize) {
        for place in bottom + 1..self.stack.len() {
            self.stack.set(place - 1, self.stack.get(place));
        }
        self.stack.pop();
    }

    /// The path that is on the stack, and from its end back to a state on it.
    fn lasso(&self, target: RowId) -> Lasso {
        let path: Vec<RowId> = self.stack.iter().map(|frame| frame.state).collect();
        let loop_to = path.iter().position(|state| *state == target).unwrap_or(0);
        let (prefix, cycle) = path.split_at(loop_to);
        Lasso { prefix: self.states.rows(prefix), cycle: self.states.rows(cycle) }
    }
}
