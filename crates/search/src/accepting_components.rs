//! The strongly connected components of a trimmed graph that have an accepting cycle.
//!
//! One depth-first search keeps, for the components that its path goes through, the number of the first vertex; an edge to a vertex that is not finished joins all components from that
//! one's on (Couvreur's form of Tarjan's algorithm, as in `scc.rs`). Components are numbered afterwards, in the order of their nearest accepting vertices, and published.
//!
//! # Paper
//! What `SFA` finds in Wu et al., *An I/O efficient approach for detecting all accepting cycles*, 2015. *Deviation.* The paper searches forwards and backwards from each accepting state and intersects
//! what it finds. That costs a search of everything beyond for every accepting state that is on no cycle, and there are many of those behind a cycle; one
//! depth-first search costs as much as one of them, and where vertices and edges are numbers it is no harder.
//!
//! # Invariants
//! 1. A vertex's mark is 0 before it is seen, then its place in the order of discovery, from 1 to n, until its component is finished; then n + 1 if that has no accepting cycle, else
//!    n + 1 and the number of the component, from 1 on.
//! 2. The vertices of unfinished components are on `open` in the order of their numbers; those of one component are neighbours there.
//!
//! # Cost
//! O(n + e). 4 bytes for each vertex, or 8 if there are many, in memory or on disk, beside the edges forwards; the stacks' lower parts are on disk.

use crate::enumerate::States;
use crate::lasso::Halt;
use crate::trimmed_graph::{Adjacency, NUMBER_BYTES, SavedGraph, write_inner};
use lariat_storage::{NumberArray, RowStack, SavedArray, StorageError};

/// Components that are described; all are counted.
const COMPONENTS_SHOWN: u64 = 1000;
/// Files: the component of each vertex, and what is known of the first components. Keys of the manifest.
const OF: &str = "component-of";
const SHOWN: &str = "components-shown";
const N_COMPONENTS: &str = "components";
const LARGEST: &str = "largest-component";
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
    /// For each vertex inside of them the place of its component plus one.
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
    pub(crate) fn component(&mut self, vertex: u64) -> Result<u64, StorageError> {
        Ok(self.of.get(vertex)?.saturating_sub(1))
    }
}

/// All components, in the order of their nearest accepting vertices: those that an interrupted search has published, or else found now, and published.
pub(crate) fn accepting_components<'s>(
    states: &mut States<'s>,
    graph: &mut SavedGraph,
) -> Result<AcceptingComponents<'s>, Halt> {
    if graph.manifest.number(N_COMPONENTS).is_err() {
        states.begin_phase("components");
        find(states, graph)?;
        graph.manifest.publish(states.disk, states.context.budget)?;
    }
    let of = graph.array(states, OF, 6)?;
    let mut shown = Vec::new();
    let mut numbers = graph.array(states, SHOWN, 4)?;
    for first in (0..numbers.len()).step_by(4) {
        let mut number = |i| numbers.get(first + i);
        let (states, accepting, edges, distance) = (number(0)?, number(1)?, number(2)?, number(3)?);
        shown.push(Component { states, accepting, edges, distance, cycles: 0 });
    }
    let (len, largest) = (graph.manifest.number(N_COMPONENTS)?, graph.manifest.number(LARGEST)?);
    Ok(AcceptingComponents { of, len, shown, largest })
}

/// Finds all components, and notes them.
fn find<'s>(states: &mut States<'s>, graph: &mut SavedGraph) -> Result<(), Halt> {
    let marks = states.array(graph.len, NumberArray::bits_for(2 * graph.len + 1), 2)?;
    let accepting = graph.accepting(states)?;
    let forward = graph.forward(states, 3)?;
    let stack = |name, bytes| RowStack::new(states.disk, name, bytes, states.memory(8), RHO, states.context.budget);
    let (path, open) = (stack("component-path", FRAME_BYTES), stack("component-open", NUMBER_BYTES));
    let roots = stack("component-roots", ROOT_BYTES);
    let len = graph.len;
    let mut walk = Walk { len, forward, accepting, marks, n_seen: 0, path, open, roots, n_components: 0, largest: 0 };
    for vertex in 0..len {
        if walk.marks.get(vertex)? == 0 {
            walk.search(states, vertex)?;
        }
    }
    for name in ["component-path", "component-open", "component-roots"] {
        states.remove_file(name)?;
    }
    let mut found = walk.finish();
    graph.manifest.set_number(LARGEST, found.largest);
    let (shown, places) = number_by_distance(states, graph, &mut found)?;
    write(states, graph, found, shown, places)
}

/// A vertex, the place of its next edge, and where its edges end.
const FRAME_BYTES: usize = 3 * NUMBER_BYTES;
const NEXT: usize = NUMBER_BYTES;
const END: usize = 2 * NUMBER_BYTES;
/// The place of a component's first vertex in the order of discovery, and whether one of its vertices accepts.
const ROOT_BYTES: usize = 2 * NUMBER_BYTES;
const ACCEPTS: usize = NUMBER_BYTES;

struct Walk<'s> {
    len: u64,
    forward: Adjacency<'s>,
    accepting: NumberArray<'s>,
    marks: NumberArray<'s>,
    n_seen: u64,
    path: RowStack<'s>,
    open: RowStack<'s>,
    /// The components on the path.
    roots: RowStack<'s>,
    /// Components with an accepting cycle.
    n_components: u64,
    largest: u64,
}

/// What is left of a walk: the memory of its stacks is free.
struct Walked<'s> {
    len: u64,
    forward: Adjacency<'s>,
    accepting: NumberArray<'s>,
    marks: NumberArray<'s>,
    n_components: u64,
    largest: u64,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl<'s> Walk<'s> {
    fn search(&mut self, states: &mut States<'s>, from: u64) -> Result<(), Halt> {
        self.enter(from)?;
        while let Some(top) = self.path.top_mut() {
            let (vertex, place) = (number(top, 0), number(top, NEXT));
            if place == number(top, END) {
                self.path.pop()?;
                self.leave(vertex)?;
                continue;
            }
            top[NEXT..END].copy_from_slice(&(place + 1).to_le_bytes());
            let end = self.forward.end(place)?;
            let mark = self.marks.get(end)?;
            if mark == 0 {
                states.attend(self.len - self.n_seen, Some(self.path.len()))?;
                self.enter(end)?;
            } else if mark <= self.len {
                self.join(mark)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, vertex: u64) -> Result<(), Halt> {
        self.n_seen += 1;
        self.marks.set(vertex, self.n_seen)?;
        let edges = self.forward.range(vertex)?;
        let mut frame = [0; FRAME_BYTES];
        frame[..NEXT].copy_from_slice(&vertex.to_le_bytes());
        frame[NEXT..END].copy_from_slice(&edges.start.to_le_bytes());
        frame[END..].copy_from_slice(&edges.end.to_le_bytes());
        self.path.push(&frame)?;
        self.open.push(&vertex.to_le_bytes())?;
        let mut root = [0; ROOT_BYTES];
        root[..ACCEPTS].copy_from_slice(&self.n_seen.to_le_bytes());
        root[ACCEPTS..].copy_from_slice(&self.accepting.get(vertex)?.to_le_bytes());
        Ok(self.roots.push(&root)?)
    }

    /// An edge leads to an unfinished vertex: all components behind that one's are joined to it.
    fn join(&mut self, order: u64) -> Result<(), Halt> {
        let mut accepts = 0;
        while let Some(root) = self.roots.top_mut() {
            accepts |= number(root, ACCEPTS);
            if number(root, 0) <= order {
                root[ACCEPTS..].copy_from_slice(&accepts.to_le_bytes());
                break;
            }
            self.roots.pop()?;
        }
        Ok(())
    }

    /// A vertex has no more edges; its component is finished if it is the first of it.
    fn leave(&mut self, vertex: u64) -> Result<(), Halt> {
        let first = self.marks.get(vertex)?;
        let Some(root) = self.roots.top().filter(|root| number(root, 0) == first) else { return Ok(()) };
        let has_accepting = number(root, ACCEPTS) == 1;
        self.roots.pop()?;
        let is_alone = self.open.top().is_some_and(|top| number(top, 0) == vertex);
        let is_accepting = has_accepting && (!is_alone || self.has_loop(vertex)?);
        self.n_components += u64::from(is_accepting);
        let mark = self.len + 1 + if is_accepting { self.n_components } else { 0 };
        let mut n_states = 0;
        while let Some(top) = self.open.top() {
            let member = number(top, 0);
            self.open.pop()?;
            n_states += 1;
            self.marks.set(member, mark)?;
            if member == vertex {
                break;
            }
        }
        if is_accepting {
            self.largest = self.largest.max(n_states);
        }
        Ok(())
    }

    fn has_loop(&mut self, vertex: u64) -> Result<bool, Halt> {
        let mut ends = Vec::new();
        self.forward.of(vertex, &mut ends)?;
        Ok(ends.contains(&vertex))
    }

    fn finish(self) -> Walked<'s> {
        let Self { len, forward, accepting, marks, n_components, largest, .. } = self;
        Walked { len, forward, accepting, marks, n_components, largest }
    }
}

impl Walked<'_> {
    /// The number of a vertex's component, 0 if that has no accepting cycle.
    fn component(&mut self, vertex: u64) -> Result<u64, StorageError> {
        Ok(self.marks.get(vertex)?.saturating_sub(self.len + 1))
    }
}

/// The place of each component, by the distance of its nearest accepting vertex, and a description of the first ones that has this distance.
fn number_by_distance<'s>(
    states: &mut States<'s>,
    graph: &SavedGraph,
    found: &mut Walked<'s>,
) -> Result<(Vec<Component>, NumberArray<'s>), Halt> {
    let n_components = found.n_components;
    let mut places = states.array(n_components + 1, NumberArray::bits_for(n_components), 4)?;
    let mut levels = graph.levels(states)?;
    let (mut shown, mut n_placed) = (Vec::new(), 0);
    for vertex in 0..found.len {
        if n_placed == n_components {
            break;
        }
        if found.accepting.get(vertex)? == 0 {
            continue;
        }
        let component = found.component(vertex)?;
        if component > 0 && places.get(component)? == 0 {
            n_placed += 1;
            places.set(component, n_placed)?;
            if n_placed <= COMPONENTS_SHOWN {
                shown.push(Component { distance: levels.depth(vertex)?, ..Component::default() });
            }
        }
        states.attend(found.len - vertex, None)?;
    }
    Ok((shown, places))
}

/// Writes the place of each vertex's component, counts what is in the first components, and notes both.
fn write<'s>(
    states: &mut States<'s>,
    graph: &mut SavedGraph,
    mut found: Walked<'s>,
    mut shown: Vec<Component>,
    mut places: NumberArray<'s>,
) -> Result<(), Halt> {
    let writer = |name, bits| SavedArray::new(states.disk, name, bits, states.memory(16), states.context.budget);
    let (mut of, mut numbers) = (writer(OF, NumberArray::bits_for(found.n_components)), writer(SHOWN, 64));
    let mut ends = Vec::new();
    for vertex in 0..found.len {
        let component = found.component(vertex)?;
        states.attend(found.len - vertex, None)?;
        if component == 0 {
            continue;
        }
        let place = places.get(component)?;
        of.push(place)?;
        if let Some(described) = shown.get_mut((place as usize).wrapping_sub(1)) {
            described.states += 1;
            described.accepting += found.accepting.get(vertex)?;
            found.forward.of(vertex, &mut ends)?;
            for end in &ends {
                described.edges += u64::from(found.component(*end)? == component);
            }
        }
    }
    for component in &shown {
        for number in [component.states, component.accepting, component.edges, component.distance] {
            numbers.push(number)?;
        }
    }
    of.note(&mut graph.manifest)?;
    numbers.note(&mut graph.manifest)?;
    drop((of, numbers, places));
    graph.manifest.set_number(N_COMPONENTS, found.n_components);
    let Walked { len, forward, mut accepting, mut marks, .. } = found;
    let mut component = |vertex| Ok(marks.get(vertex)?.saturating_sub(len + 1));
    write_inner(states, graph, &mut component, &mut accepting, forward)
}
