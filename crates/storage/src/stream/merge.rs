//! The union of streams: a tree of two-way merges, each with a batch of output.
//!
//! A two-way step takes the smaller of two rows and moves on in one stream or in both, without a branch that depends on which: a processor
//! cannot guess that, and a wrong guess costs more than several steps. Where one batch lies before the other it is copied as a whole, and
//! where only one stream is left its batches are handed through.
//!
//! # Cost
//! For `k` streams, `k - 1` batches of memory and about log2(k) steps a row.

use super::RowStream;
use crate::key::{Key, Value};
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;

/// Any number of streams as one. Where a row is in several, their values are combined: the earlier stream's comes first.
pub struct Merge<'b, K: Key, V: Value, S, F> {
    root: Node<'b, K, V, S, F>,
}

impl<'b, K: Key, V: Value, S: RowStream<K, V>, F: Fn(V, V) -> V + Copy> Merge<'b, K, V, S, F> {
    /// Merges streams, in batches of `batch_rows` rows.
    pub fn new(
        streams: impl IntoIterator<Item = S>,
        combine: F,
        batch_rows: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let mut nodes: Vec<Node<'b, K, V, S, F>> = streams.into_iter().map(Node::Leaf).collect();
        while nodes.len() > 1 {
            let mut pairs = Vec::with_capacity(nodes.len().div_ceil(2));
            let mut rest = nodes.into_iter();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => Node::Pair(Box::new(Pair::new(left, right, combine, batch_rows, budget)?)),
                    None => left,
                });
            }
            nodes = pairs;
        }
        Ok(Self { root: nodes.pop().unwrap_or(Node::Nothing) })
    }
}

impl<K: Key, V: Value, S: RowStream<K, V>, F: Fn(V, V) -> V + Copy> RowStream<K, V> for Merge<'_, K, V, S, F> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        self.root.batch()
    }

    fn consume(&mut self, n: usize) {
        self.root.consume(n);
    }

    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        self.root.skip_to(key)
    }
}

enum Node<'b, K: Key, V: Value, S, F> {
    Nothing,
    Leaf(S),
    Pair(Box<Pair<'b, K, V, S, F>>),
}

impl<K: Key, V: Value, S: RowStream<K, V>, F: Fn(V, V) -> V + Copy> RowStream<K, V> for Node<'_, K, V, S, F> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        match self {
            Node::Nothing => Ok((&[], &[])),
            Node::Leaf(stream) => stream.batch(),
            Node::Pair(pair) => pair.batch(),
        }
    }

    fn consume(&mut self, n: usize) {
        match self {
            Node::Nothing => {}
            Node::Leaf(stream) => stream.consume(n),
            Node::Pair(pair) => pair.consume(n),
        }
    }

    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        match self {
            Node::Nothing => Ok(()),
            Node::Leaf(stream) => stream.skip_to(key),
            Node::Pair(pair) => pair.skip_to(key),
        }
    }
}

/// Where the rows of a batch come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Output,
    Left,
    Right,
}

struct Pair<'b, K: Key, V: Value, S, F> {
    left: Node<'b, K, V, S, F>,
    right: Node<'b, K, V, S, F>,
    combine: F,
    /// Merged rows: those from `from` to `to` are still to come.
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, V>,
    from: usize,
    to: usize,
    /// Once one side is at its end, the other's batches are handed through.
    source: Source,
}

impl<'b, K: Key, V: Value, S: RowStream<K, V>, F: Fn(V, V) -> V + Copy> Pair<'b, K, V, S, F> {
    fn new(
        left: Node<'b, K, V, S, F>,
        right: Node<'b, K, V, S, F>,
        combine: F,
        batch_rows: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let (mut keys, mut values) = (ReservedVec::new(budget), ReservedVec::new(budget));
        keys.resize(batch_rows.max(1), K::default())?;
        values.resize(batch_rows.max(1), V::default())?;
        Ok(Self { left, right, combine, keys, values, from: 0, to: 0, source: Source::Output })
    }

    fn fill(&mut self) -> Result<(), StorageError> {
        (self.from, self.to) = (0, 0);
        while self.to < self.keys.len() {
            let (left, left_values) = self.left.batch()?;
            let (right, right_values) = self.right.batch()?;
            let (Some(first_right), Some(last_left)) = (right.first(), left.last()) else {
                if self.to == 0 {
                    self.source = if right.is_empty() { Source::Left } else { Source::Right };
                }
                break;
            };
            let (out, out_values) = (&mut self.keys[self.to..], &mut self.values[self.to..]);
            let (n_left, n_right, n) = if last_left < first_right {
                let n = copy((left, left_values), (out, out_values));
                (n, 0, n)
            } else if right[right.len() - 1] < left[0] {
                let n = copy((right, right_values), (out, out_values));
                (0, n, n)
            } else {
                merge((left, left_values), (right, right_values), (out, out_values), self.combine)
            };
            self.left.consume(n_left);
            self.right.consume(n_right);
            self.to += n;
        }
        Ok(())
    }
}

impl<K: Key, V: Value, S: RowStream<K, V>, F: Fn(V, V) -> V + Copy> RowStream<K, V> for Pair<'_, K, V, S, F> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        if self.source == Source::Output && self.from == self.to {
            self.fill()?;
        }
        match self.source {
            Source::Output => Ok((&self.keys[self.from..self.to], &self.values[self.from..self.to])),
            Source::Left => self.left.batch(),
            Source::Right => self.right.batch(),
        }
    }

    fn consume(&mut self, n: usize) {
        match self.source {
            Source::Output => self.from += n,
            Source::Left => self.left.consume(n),
            Source::Right => self.right.consume(n),
        }
    }

    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        if self.from < self.to {
            self.from = super::first_not_below(&self.keys[..self.to], self.from, key);
            if self.from < self.to {
                return Ok(());
            }
        }
        self.left.skip_to(key)?;
        self.right.skip_to(key)
    }
}

fn copy<K: Key, V: Value>(from: (&[K], &[V]), to: (&mut [K], &mut [V])) -> usize {
    let n = from.0.len().min(to.0.len());
    to.0[..n].copy_from_slice(&from.0[..n]);
    to.1[..n].copy_from_slice(&from.1[..n]);
    n
}

/// Merges until one of the three is at its end: how many were taken from the left, from the right, and given.
#[inline]
fn merge<K: Key, V: Value>(
    left: (&[K], &[V]),
    right: (&[K], &[V]),
    out: (&mut [K], &mut [V]),
    combine: impl Fn(V, V) -> V,
) -> (usize, usize, usize) {
    let (mut i, mut j, mut n) = (0, 0, 0);
    loop {
        // So many steps cannot pass any end.
        let steps = (left.0.len() - i).min(right.0.len() - j).min(out.0.len() - n);
        if steps == 0 {
            return (i, j, n);
        }
        for _ in 0..steps {
            let (a, b) = (left.0[i], right.0[j]);
            let (takes_left, takes_right) = (a <= b, b <= a);
            out.0[n] = if takes_left { a } else { b };
            if V::BYTES > 0 {
                out.1[n] = match (takes_left, takes_right) {
                    (true, true) => combine(left.1[i], right.1[j]),
                    (true, false) => left.1[i],
                    _ => right.1[j],
                };
            }
            i += usize::from(takes_left);
            j += usize::from(takes_right);
            n += 1;
        }
    }
}
