//! The strongly connected components of a trimmed graph that have an accepting cycle.
//!
//! One depth-first search keeps, for the components that its path goes through, the number of the first vertex; an edge to a vertex that is not finished joins all components from that
//! one's on (Couvreur's form of Tarjan's algorithm, as in `scc.rs`). Components are numbered afterwards, in the order of their nearest accepting vertices.
//!
//! # Paper
//! What `SFA` finds in Wu et al., *An I/O efficient approach for detecting all accepting cycles*, 2015. *Deviation.* The paper searches forwards and backwards from each accepting state and intersects
//! what it finds. That costs a search of everything beyond for every accepting state that is on no cycle, and there are many of those behind a cycle; one
//! depth-first search costs as much as one of them, and where vertices and edges are numbers it is no harder.
//!
//! # Invariants
//! 1. The vertices of unfinished components are on `open` in the order of their numbers; those of one component are neighbours there.
//!
//! # Cost
//! O(n + e). 12 bytes for each vertex, in memory or on disk; the stacks' lower parts are on disk.

use crate::enumerate::States;
use crate::lasso::Halt;
use crate::trimmed_graph::{NUMBER_BYTES, TrimmedGraph};
use lariat_storage::{NumberArray, RowStack, StorageError};

/// Components that are described; all are counted.
const COMPONENTS_SHOWN: u64 = 1000;
/// The fraction of a stack that goes to disk at once.
const RHO: f64 = 0.5;

/// A component in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// Its states.
    pub states: u64,
    /// Those of them that accept.
    pub accepting: u64,
    /// Edges between its states, parallel ones counted once.
    pub edges: u64,
    /// Steps from the initial states to its nearest accepting state.
    pub distance: u64,
    /// Its accepting cycles that were found.
    pub cycles: u64,
}

/// All components with an accepting cycle.
pub(crate) struct AcceptingComponents<'s> {
    /// For each vertex the place of its component plus one; 0 if that has no accepting cycle.
    of: NumberArray<'s>,
    /// How many there are.
    pub(crate) len: u64,
    /// The first of them.
    pub(crate) shown: Vec<Component>,
    /// The states of the largest one.
    pub(crate) largest: u64,
}

impl AcceptingComponents<'_> {
    /// The place of a vertex's component.
    pub(crate) fn component(&mut self, vertex: u64) -> Result<Option<u64>, StorageError> {
        Ok(self.of.get(vertex)?.checked_sub(1))
    }
}

/// Finds all components, in the order of their nearest accepting vertices.
pub(crate) fn accepting_components<'s>(
    states: &mut States<'s>,
    graph: &mut TrimmedGraph<'s>,
) -> Result<AcceptingComponents<'s>, Halt> {
    states.begin_phase("components");
    let of = states.array(graph.len, NumberArray::bits_for(graph.len), 4)?;
    let order = states.array(graph.len, NumberArray::bits_for(graph.len), 4)?;
    let accepts = states.array(graph.len + 1, 1, 8)?;
    let stack = |name, bytes| RowStack::new(states.disk, name, bytes, states.memory(8), RHO, states.context.budget);
    let (path, open) = (stack("component-path", 2 * NUMBER_BYTES), stack("component-open", NUMBER_BYTES));
    let roots = stack("component-roots", NUMBER_BYTES);
    let mut walk = Walk { graph, of, order, accepts, n_seen: 0, path, open, roots, n_components: 0, largest: 0 };
    for vertex in 0..walk.graph.len {
        if walk.order.get(vertex)? == 0 {
            walk.search(states, vertex)?;
        }
    }
    let (largest, n_components) = (walk.largest, walk.n_components);
    let (mut of, mut accepts) = walk.finish();
    for name in ["component-path", "component-open", "component-roots"] {
        states.remove_file(name)?;
    }
    let (len, shown) = number_by_distance(states, graph, &mut of, &mut accepts, n_components)?;
    Ok(AcceptingComponents { of, len, shown, largest })
}

struct Walk<'w, 's> {
    graph: &'w mut TrimmedGraph<'s>,
    /// For each vertex the number of its component, from 1 on in the order in which they are finished; 0 if that is not yet finished.
    of: NumberArray<'s>,
    /// For each vertex its number in the order of discovery, from 1 on.
    order: NumberArray<'s>,
    /// For each component whether it has an accepting cycle.
    accepts: NumberArray<'s>,
    n_seen: u64,
    /// Vertices, each with the place of its next edge.
    path: RowStack<'s>,
    open: RowStack<'s>,
    /// The number of the first vertex of each component on the path.
    roots: RowStack<'s>,
    n_components: u64,
    largest: u64,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl<'s> Walk<'_, 's> {
    fn search(&mut self, states: &mut States<'s>, from: u64) -> Result<(), Halt> {
        self.enter(from)?;
        while let Some(top) = self.path.top_mut() {
            let (vertex, place) = (number(top, 0), number(top, NUMBER_BYTES));
            top[NUMBER_BYTES..].copy_from_slice(&(place + 1).to_le_bytes());
            if place == self.graph.forward.range(vertex)?.end {
                self.path.pop()?;
                self.leave(vertex)?;
                continue;
            }
            let end = self.graph.forward.end(place)?;
            let order = self.order.get(end)?;
            if order == 0 {
                states.attend(self.graph.len - self.n_seen, Some(self.path.len()))?;
                self.enter(end)?;
            } else if self.of.get(end)? == 0 {
                self.join(order)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, vertex: u64) -> Result<(), Halt> {
        self.n_seen += 1;
        self.order.set(vertex, self.n_seen)?;
        let mut frame = [0; 2 * NUMBER_BYTES];
        frame[..NUMBER_BYTES].copy_from_slice(&vertex.to_le_bytes());
        frame[NUMBER_BYTES..].copy_from_slice(&self.graph.forward.range(vertex)?.start.to_le_bytes());
        self.path.push(&frame)?;
        self.open.push(&vertex.to_le_bytes())?;
        Ok(self.roots.push(&self.n_seen.to_le_bytes())?)
    }

    /// An edge leads to an unfinished vertex: all components behind that one's are joined to it.
    fn join(&mut self, order: u64) -> Result<(), Halt> {
        while self.roots.top().is_some_and(|root| number(root, 0) > order) {
            self.roots.pop()?;
        }
        Ok(())
    }

    /// A vertex has no more edges; its component is finished if it is the first of it.
    fn leave(&mut self, vertex: u64) -> Result<(), Halt> {
        let first = self.order.get(vertex)?;
        if self.roots.top().is_none_or(|root| number(root, 0) != first) {
            return Ok(());
        }
        self.roots.pop()?;
        self.n_components += 1;
        let (mut n_states, mut is_accepting) = (0, false);
        while let Some(top) = self.open.top() {
            let member = number(top, 0);
            self.open.pop()?;
            n_states += 1;
            is_accepting |= self.graph.accepting.get(member)? == 1;
            self.of.set(member, self.n_components)?;
            if member == vertex {
                break;
            }
        }
        if is_accepting && (n_states > 1 || self.has_loop(vertex)?) {
            self.accepts.set(self.n_components, 1)?;
            self.largest = self.largest.max(n_states);
        }
        Ok(())
    }

    /// What is left when everything was searched; the memory of the rest is free.
    fn finish(self) -> (NumberArray<'s>, NumberArray<'s>) {
        (self.of, self.accepts)
    }

    fn has_loop(&mut self, vertex: u64) -> Result<bool, Halt> {
        let mut ends = Vec::new();
        self.graph.forward.of(vertex, &mut ends)?;
        Ok(ends.contains(&vertex))
    }
}

/// Gives components with accepting cycles their places, by the distance of their nearest accepting vertices; how many there are, and a description of the first.
fn number_by_distance<'s>(
    states: &mut States<'s>,
    graph: &mut TrimmedGraph<'s>,
    of: &mut NumberArray<'s>,
    accepts: &mut NumberArray<'s>,
    n_components: u64,
) -> Result<(u64, Vec<Component>), Halt> {
    let mut places = states.array(n_components + 1, NumberArray::bits_for(n_components), 4)?;
    let mut shown = Vec::new();
    let mut n_placed = 0;
    let n_accepting = graph.accepting_by_distance.len();
    let mut reader = graph.accepting_by_distance.reader(0..n_accepting, 2)?;
    loop {
        let rows = reader.next_rows()?;
        if rows.is_empty() {
            break;
        }
        for row in rows.iter() {
            let vertex = number(row, 0);
            let component = of.get(vertex)?;
            if accepts.get(component)? == 1 && places.get(component)? == 0 {
                n_placed += 1;
                places.set(component, n_placed)?;
                if n_placed <= COMPONENTS_SHOWN {
                    shown.push(Component { distance: graph.depth(vertex)?, ..Component::default() });
                }
            }
        }
    }
    for vertex in 0..graph.len {
        let component = of.get(vertex)?;
        of.set(vertex, places.get(component)?)?;
    }
    describe(states, graph, of, &mut shown)?;
    Ok((n_placed, shown))
}

/// Counts what is in the first components.
fn describe<'s>(
    states: &mut States<'s>,
    graph: &mut TrimmedGraph<'s>,
    of: &mut NumberArray<'s>,
    shown: &mut [Component],
) -> Result<(), Halt> {
    let mut ends = Vec::new();
    for vertex in 0..graph.len {
        let place = of.get(vertex)?;
        let Some(component) = shown.get_mut((place as usize).wrapping_sub(1)) else { continue };
        component.states += 1;
        component.accepting += graph.accepting.get(vertex)?;
        graph.forward.of(vertex, &mut ends)?;
        for end in &ends {
            component.edges += u64::from(of.get(*end)? == place);
        }
        states.attend(graph.len - vertex, None)?;
    }
    Ok(())
}
