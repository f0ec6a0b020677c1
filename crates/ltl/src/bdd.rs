//! Binary decision diagrams: Boolean functions of propositions, of next-state obligations and of promises.
//!
//! A small package of our own: reduced, ordered, shared, without complement edges or garbage collection. Formulas of the
//! size that people write need a few thousand nodes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A Boolean function; equal functions have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Function(u32);

pub(crate) const FALSE: Function = Function(0);
pub(crate) const TRUE: Function = Function(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Branch {
    variable: u32,
    low: Function,
    high: Function,
}

/// A multiplicative hash: keys here are a few small integers, and the default hasher would be most of the work.
#[derive(Default)]
pub(crate) struct QuickHasher(u64);

impl Hasher for QuickHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517C_C1B7_2722_0A95);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

pub(crate) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

/// The shared nodes of all functions.
#[derive(Default)]
pub(crate) struct Bdd {
    nodes: Vec<Branch>,
    unique: QuickMap<Branch, Function>,
    conjunctions: QuickMap<(Function, Function), Function>,
    disjunctions: QuickMap<(Function, Function), Function>,
    negations: QuickMap<Function, Function>,
}

const NO_VARIABLE: u32 = u32::MAX;

impl Bdd {
    pub(crate) fn new() -> Self {
        let constant = |f| Branch { variable: NO_VARIABLE, low: f, high: f };
        Self { nodes: vec![constant(FALSE), constant(TRUE)], ..Self::default() }
    }

    fn branch(&mut self, variable: u32, low: Function, high: Function) -> Function {
        if low == high {
            return low;
        }
        let branch = Branch { variable, low, high };
        if let Some(function) = self.unique.get(&branch) {
            return *function;
        }
        let function = Function(self.nodes.len() as u32);
        self.nodes.push(branch);
        self.unique.insert(branch, function);
        function
    }

    pub(crate) fn variable(&mut self, variable: u32) -> Function {
        self.branch(variable, FALSE, TRUE)
    }

    /// The first variable that a function depends on, and the functions without it.
    pub(crate) fn split(&self, f: Function) -> Option<(u32, Function, Function)> {
        let branch = self.nodes[f.0 as usize];
        (branch.variable != NO_VARIABLE).then_some((branch.variable, branch.low, branch.high))
    }

    /// Both functions with the smallest of their first variables false, and true.
    fn cofactors(&self, f: Function, g: Function) -> (u32, [Function; 2], [Function; 2]) {
        let (a, b) = (self.nodes[f.0 as usize], self.nodes[g.0 as usize]);
        let variable = a.variable.min(b.variable);
        let (f_low, f_high) = if a.variable == variable { (a.low, a.high) } else { (f, f) };
        let (g_low, g_high) = if b.variable == variable { (b.low, b.high) } else { (g, g) };
        (variable, [f_low, g_low], [f_high, g_high])
    }

    pub(crate) fn and(&mut self, f: Function, g: Function) -> Function {
        match (f, g) {
            (FALSE, _) | (_, FALSE) => return FALSE,
            (TRUE, other) | (other, TRUE) => return other,
            _ if f == g => return f,
            _ => {}
        }
        let key = (f.min(g), f.max(g));
        if let Some(known) = self.conjunctions.get(&key) {
            return *known;
        }
        let (variable, low, high) = self.cofactors(f, g);
        let low = self.and(low[0], low[1]);
        let high = self.and(high[0], high[1]);
        let result = self.branch(variable, low, high);
        self.conjunctions.insert(key, result);
        result
    }

    pub(crate) fn or(&mut self, f: Function, g: Function) -> Function {
        match (f, g) {
            (TRUE, _) | (_, TRUE) => return TRUE,
            (FALSE, other) | (other, FALSE) => return other,
            _ if f == g => return f,
            _ => {}
        }
        let key = (f.min(g), f.max(g));
        if let Some(known) = self.disjunctions.get(&key) {
            return *known;
        }
        let (variable, low, high) = self.cofactors(f, g);
        let low = self.or(low[0], low[1]);
        let high = self.or(high[0], high[1]);
        let result = self.branch(variable, low, high);
        self.disjunctions.insert(key, result);
        result
    }

    pub(crate) fn not(&mut self, f: Function) -> Function {
        match f {
            FALSE => return TRUE,
            TRUE => return FALSE,
            _ => {}
        }
        if let Some(known) = self.negations.get(&f) {
            return *known;
        }
        let Branch { variable, low, high } = self.nodes[f.0 as usize];
        let low = self.not(low);
        let high = self.not(high);
        let result = self.branch(variable, low, high);
        self.negations.insert(f, result);
        result
    }

    /// `f && !g`
    pub(crate) fn without(&mut self, f: Function, g: Function) -> Function {
        if f == FALSE || g == TRUE {
            return FALSE;
        }
        let not_g = self.not(g);
        self.and(f, not_g)
    }

    /// Bytes that all of it takes, or about so: maps keep a seventh of their places free, and a byte for each place.
    pub(crate) fn memory_bytes(&self) -> usize {
        let map = |places: usize, entry: usize| places * 8 / 7 * (entry + 1);
        self.nodes.capacity() * size_of::<Branch>()
            + map(self.unique.capacity(), size_of::<(Branch, Function)>())
            + map(self.conjunctions.capacity() + self.disjunctions.capacity(), size_of::<[Function; 3]>())
            + map(self.negations.capacity(), size_of::<[Function; 2]>())
    }

    /// One assignment that satisfies a function, as a set of propositions.
    pub(crate) fn any_letter(&self, mut f: Function) -> Option<u64> {
        let mut letter = 0;
        while let Some((variable, low, high)) = self.split(f) {
            if low != FALSE {
                f = low;
            } else {
                letter |= 1 << variable;
                f = high;
            }
        }
        (f == TRUE).then_some(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    fn value(bdd: &Bdd, mut f: Function, letter: u64) -> bool {
        while let Some((variable, low, high)) = bdd.split(f) {
            f = if letter >> variable & 1 == 1 { high } else { low };
        }
        f == TRUE
    }

    #[test]
    fn operations_agree_with_truth_tables() {
        let mut random = Random::new(4);
        let mut bdd = Bdd::new();
        let mut functions: Vec<(Function, u16)> = vec![(FALSE, 0), (TRUE, 0xFFFF)];
        for variable in 0..4 {
            let table = (0..16).fold(0, |t, letter| t | ((letter >> variable & 1) << letter) as u16);
            functions.push((bdd.variable(variable), table));
        }
        for _ in 0..2000 {
            let (f, ft) = functions[random.below(functions.len())];
            let (g, gt) = functions[random.below(functions.len())];
            let new = match random.below(4) {
                0 => (bdd.and(f, g), ft & gt),
                1 => (bdd.or(f, g), ft | gt),
                2 => (bdd.not(f), !ft),
                _ => (bdd.without(f, g), ft & !gt),
            };
            assert!((0..16).all(|letter| value(&bdd, new.0, letter) == (new.1 >> letter & 1 == 1)));
            assert_eq!(bdd.any_letter(new.0).is_some(), new.1 != 0);
            assert!(bdd.any_letter(new.0).is_none_or(|letter| value(&bdd, new.0, letter)));
            functions.push(new);
        }
    }
}
