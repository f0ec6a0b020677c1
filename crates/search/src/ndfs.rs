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

struct Nested<'n> {
    states: Numbered<'n, Mark>,
    /// First the stack of the first search, then that of the second.
    stack: BudgetedVec<'n, Frame>,
    waiting: BudgetedVec<'n, RowId>,
    weak: bool,
    bounds: Bounds,
    /// Whether a state was left out because of the bounds.
    was_cut: bool,
}

/// Something else that is tried when a search has become large.
pub struct Pause<'p> {
    /// When so many states were expanded.
    pub states: u64,
    /// What is tried; if it finds a lasso, that is the answer.
    pub attempt: &'p mut dyn FnMut() -> Result<Option<Lasso>, SearchError>,
}

/// How far a search goes at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// States on the stack of the first search.
    pub depth: usize,
    /// States that are expanded.
    pub states: u64,
}

impl Bounds {
    const NONE: Self = Self { depth: usize::MAX, states: u64::MAX };
}

/// Looks for an accepting cycle; `strength` tells how much of Büchi acceptance the graph needs.
pub fn find_lasso(graph: &dyn Graph, strength: Strength, context: &Context) -> Result<LassoSearch, SearchError> {
    find_lasso_or_hand_over(graph, strength, context, None, None)
}

/// Looks for an accepting cycle that is near: states beyond the bounds are left out, and if that happened, the search is not complete.
pub fn find_lasso_nearby(
    graph: &dyn Graph,
    strength: Strength,
    bounds: Bounds,
    context: &Context,
) -> Result<LassoSearch, SearchError> {
    let mut search = Nested::new(graph, strength, bounds, context)?;
    let ended = search.search(None);
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
    let mut search = Nested::new(graph, strength, Bounds::NONE, context)?;
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
    fn new(
        graph: &'n dyn Graph,
        strength: Strength,
        bounds: Bounds,
        context: &'n Context<'n>,
    ) -> Result<Self, SearchError> {
        Ok(Self {
            states: Numbered::new(graph, context, Mark { colour: Colour::White, accepting: false })?,
            stack: BudgetedVec::new(context.budget),
            waiting: BudgetedVec::new(context.budget),
            weak: strength != Strength::Strong,
            bounds,
            was_cut: false,
        })
    }

    fn search(&mut self, mut pause: Option<Pause<'_>>) -> Result<Option<Lasso>, Halt> {
        for state in self.states.initial()? {
            if self.colour(state) == Colour::White
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
        self.enter(initial)?;
        while let Some(frame) = self.stack.last_mut() {
            let source = frame.state;
            if frame.n_waiting == 0 {
                if let Some(lasso) = self.leave()? {
                    return Ok(Some(lasso));
                }
                continue;
            }
            frame.n_waiting -= 1;
            let Some(target) = self.waiting.pop() else { break };
            match self.colour(target) {
                Colour::White if self.is_beyond_bounds() => {
                    self.was_cut = true;
                    self.note_not_red();
                }
                Colour::White => {
                    self.enter(target)?;
                    if let Some(lasso) = self.pause_if_due(pause)? {
                        return Ok(Some(lasso));
                    }
                }
                Colour::Cyan if self.closes_accepting_cycle(source, target) => {
                    return Ok(Some(self.lasso(target)));
                }
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

    #[inline]
    fn is_beyond_bounds(&self) -> bool {
        self.stack.len() >= self.bounds.depth || self.states.n_visits() >= self.bounds.states
    }

    /// Tries something else once.
    #[inline]
    fn pause_if_due(&self, pause: &mut Option<Pause<'_>>) -> Result<Option<Lasso>, Halt> {
        let n_visits = self.states.n_visits();
        match pause.take_if(|pause| n_visits >= pause.states) {
            Some(pause) => Ok((pause.attempt)()?),
            None => Ok(None),
        }
    }

    fn note_not_red(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.all_red = false;
        }
    }

    /// Puts a white state on the stack.
    fn enter(&mut self, state: RowId) -> Result<(), Halt> {
        let accepting = self.states.graph.is_accepting(self.states.row(state));
        self.states.set_value(state, Mark { colour: Colour::Cyan, accepting });
        let depth = self.stack.len();
        let targets = match self.states.visit(state, accepting, depth) {
            Ok(targets) => targets,
            Err(halt) => {
                self.paint(state, Colour::White);
                return Err(halt);
            }
        };
        let n_waiting = targets.len() as u32;
        // The first successor is taken first, so it goes to the end.
        for target in targets.iter().rev() {
            self.waiting.push(*target)?;
        }
        self.stack.push(Frame { state, n_waiting, all_red: true })?;
        Ok(())
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
