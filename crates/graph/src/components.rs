//! Strongly connected components of graphs that are given by their edges: automata and short words, not state spaces.
//!
//! Tarjan's algorithm with an explicit stack; time and space are linear in states and edges.

/// The components of a graph, numbered so that edges between components lead to smaller numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// For each state the number of its component.
    pub of: Vec<u32>,
    /// For each component whether an edge stays in it.
    pub cyclic: Vec<bool>,
}

const UNSEEN: u32 = u32::MAX;

struct Frame {
    state: u32,
    next_edge: u32,
}

struct Walk<'g> {
    successors: &'g [Vec<u32>],
    /// For each state its place in the order of discovery.
    number: Vec<u32>,
    /// For each state the smallest number known to be in its component.
    low: Vec<u32>,
    /// States whose component is not complete.
    open: Vec<u32>,
    frames: Vec<Frame>,
    n_seen: u32,
    found: Components,
}

/// The components of the graph in which `successors[i]` are the targets of the edges that leave state `i`.
pub fn components(successors: &[Vec<u32>]) -> Components {
    let n = successors.len();
    let mut walk = Walk {
        successors,
        number: vec![UNSEEN; n],
        low: vec![UNSEEN; n],
        open: Vec::new(),
        frames: Vec::new(),
        n_seen: 0,
        found: Components { of: vec![UNSEEN; n], cyclic: Vec::new() },
    };
    for state in 0..n as u32 {
        if walk.number[state as usize] == UNSEEN {
            walk.from(state);
        }
    }
    let mut found = walk.found;
    for (state, targets) in successors.iter().enumerate() {
        let own = found.of[state];
        if targets.iter().any(|target| found.of[*target as usize] == own) {
            found.cyclic[own as usize] = true;
        }
    }
    found
}

impl Walk<'_> {
    fn from(&mut self, first: u32) {
        self.enter(first);
        while let Some(frame) = self.frames.last_mut() {
            let state = frame.state as usize;
            let edge = frame.next_edge as usize;
            frame.next_edge += 1;
            match self.successors[state].get(edge) {
                Some(target) => {
                    let target = *target as usize;
                    if self.number[target] == UNSEEN {
                        self.enter(target as u32);
                    } else if self.found.of[target] == UNSEEN {
                        self.low[state] = self.low[state].min(self.number[target]);
                    }
                }
                None => {
                    self.frames.pop();
                    self.leave(state);
                    if let Some(parent) = self.frames.last() {
                        let parent = parent.state as usize;
                        self.low[parent] = self.low[parent].min(self.low[state]);
                    }
                }
            }
        }
    }

    fn enter(&mut self, state: u32) {
        self.number[state as usize] = self.n_seen;
        self.low[state as usize] = self.n_seen;
        self.n_seen += 1;
        self.open.push(state);
        self.frames.push(Frame { state, next_edge: 0 });
    }

    /// Where a component's first state is left, the component is complete.
    fn leave(&mut self, state: usize) {
        if self.low[state] != self.number[state] {
            return;
        }
        let component = self.found.cyclic.len() as u32;
        self.found.cyclic.push(false);
        while let Some(member) = self.open.pop() {
            self.found.of[member as usize] = component;
            if member as usize == state {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_and_their_order() {
        // 0 -> 1 <-> 2 -> 3, 3 -> 3, 4 -> 0
        let found = components(&[vec![1], vec![2], vec![1, 3], vec![3], vec![0]]);
        assert_eq!(found.of[1], found.of[2]);
        let order = [found.of[3], found.of[1], found.of[0], found.of[4]];
        assert!(order.is_sorted(), "{order:?}");
        let cyclic: Vec<bool> = [3, 1, 0, 4].iter().map(|s| found.cyclic[found.of[*s] as usize]).collect();
        assert_eq!(cyclic, [true, true, false, false]);
    }

    /// Two states are in one component if and only if each reaches the other.
    #[test]
    fn components_agree_with_reachability() {
        let mut random = lariat_base::Random::new(7);
        for _ in 0..500 {
            let n = 1 + random.below(12);
            let successors: Vec<Vec<u32>> =
                (0..n).map(|_| (0..random.below(4)).map(|_| random.below(n) as u32).collect()).collect();
            let mut reaches: Vec<Vec<bool>> =
                (0..n).map(|i| (0..n).map(|j| successors[i].contains(&(j as u32))).collect()).collect();
            for k in 0..n {
                let from_k = reaches[k].clone();
                for row in reaches.iter_mut().filter(|row| row[k]) {
                    row.iter_mut().zip(&from_k).for_each(|(reached, also)| *reached |= also);
                }
            }
            let found = components(&successors);
            for (i, from_i) in reaches.iter().enumerate() {
                assert_eq!(found.cyclic[found.of[i] as usize], from_i[i]);
                for (j, from_j) in reaches.iter().enumerate() {
                    let together = i == j || (from_i[j] && from_j[i]);
                    assert_eq!(found.of[i] == found.of[j], together);
                }
            }
        }
    }
}
