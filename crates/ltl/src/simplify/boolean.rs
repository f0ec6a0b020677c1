//! Rules for `&&` and `||` of simplified operands. The two are dual, so each rule stands once and is read both ways.

use super::Simplifier;
use crate::formula::{Formula, Formulas, Node};

impl Simplifier {
    /// A conjunction after the rules.
    pub(super) fn conjunction(&mut self, f: &mut Formulas, list: Vec<Formula>) -> Formula {
        for (i, a) in list.iter().enumerate() {
            for b in &list[i + 1..] {
                if self.excludes(f, *a, *b) {
                    return f.falsity();
                }
            }
        }
        let kept = self.without_weaker(f, list, |s, f, a, b| s.implies(f, a, b));
        let kept = if self.gather { self.gathered_under_finally(f, kept) } else { kept };
        let (apart, together): (Vec<_>, Vec<_>) = kept.into_iter().partition(|x| self.is_suspendable(f, *x));
        let merged = self.pairwise(f, together, Self::merge_conjuncts, Formulas::and);
        let apart = self.pairwise(f, apart, Self::merge_conjuncts, Formulas::and);
        f.and([merged, apart])
    }

    /// A disjunction after the rules.
    pub(super) fn disjunction(&mut self, f: &mut Formulas, list: Vec<Formula>) -> Formula {
        for (i, a) in list.iter().enumerate() {
            for b in &list[i + 1..] {
                if self.covers(f, *a, *b) {
                    return f.truth();
                }
            }
        }
        let kept = self.without_weaker(f, list, |s, f, a, b| s.implies(f, b, a));
        let kept = if self.gather { self.gathered_under_either(f, kept) } else { kept };
        let (apart, together): (Vec<_>, Vec<_>) = kept.into_iter().partition(|x| self.is_suspendable(f, *x));
        let merged = self.pairwise(f, together, Self::merge_disjuncts, Formulas::or);
        let apart = self.pairwise(f, apart, Self::merge_disjuncts, Formulas::or);
        f.or([merged, apart])
    }

    /// `F u && F v && q = F(u && v && q)` for universal `u`, `v`: one wait instead of several. Likewise `G x && q = G(x && q)`.
    fn gathered_under_finally(&mut self, f: &mut Formulas, list: Vec<Formula>) -> Vec<Formula> {
        let (mut waits, mut suspendable, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for x in list {
            match *f.node(x) {
                Node::Eventually(u) if self.shape(f, u).universal && !self.shape(f, u).eventual => waits.push(u),
                _ if self.is_suspendable(f, x) => suspendable.push(x),
                _ => rest.push(x),
            }
        }
        if waits.is_empty() {
            rest.extend(suspendable);
            return rest;
        }
        let all = f.and(waits.into_iter().chain(suspendable));
        rest.push(f.eventually(all));
        rest
    }

    /// `F x || q = F(x || q)`: the wait for `x` is one for `q` too.
    fn gathered_under_either(&mut self, f: &mut Formulas, list: Vec<Formula>) -> Vec<Formula> {
        let (mut waits, mut suspendable, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for x in list {
            match *f.node(x) {
                Node::Eventually(u) => waits.push(u),
                _ if self.is_suspendable(f, x) => suspendable.push(x),
                _ => rest.push(x),
            }
        }
        if waits.is_empty() {
            rest.extend(suspendable);
            return rest;
        }
        let any = f.or(waits.into_iter().chain(suspendable));
        rest.push(f.eventually(any));
        rest
    }

    /// Leaves out operands that another one makes superfluous; of two that do so mutually, one stays.
    fn without_weaker(
        &mut self,
        f: &mut Formulas,
        mut list: Vec<Formula>,
        mut makes_superfluous: impl FnMut(&mut Self, &Formulas, Formula, Formula) -> bool,
    ) -> Vec<Formula> {
        let mut i = 0;
        while i < list.len() {
            let superfluous = (0..list.len()).any(|j| j != i && makes_superfluous(self, f, list[j], list[i]));
            if superfluous {
                list.remove(i);
            } else {
                i += 1;
            }
        }
        list
    }

    /// Merges pairs as long as a rule applies.
    fn pairwise(
        &mut self,
        f: &mut Formulas,
        mut list: Vec<Formula>,
        merge: impl Fn(&mut Formulas, Formula, Formula) -> Option<Formula>,
        join: impl Fn(&mut Formulas, Vec<Formula>) -> Formula,
    ) -> Formula {
        'again: loop {
            for i in 0..list.len() {
                for j in 0..list.len() {
                    if i == j {
                        continue;
                    }
                    if let Some(one) = merge(f, list[i], list[j]) {
                        list.swap_remove(i.max(j));
                        list.swap_remove(i.min(j));
                        list.push(one);
                        continue 'again;
                    }
                }
            }
            return join(f, list);
        }
    }

    fn merge_conjuncts(f: &mut Formulas, a: Formula, b: Formula) -> Option<Formula> {
        use Node::{Always, Eventually, Next, Release, StrongRelease, Until, WeakUntil};
        Some(match (f.node(a).clone(), f.node(b).clone()) {
            (Next(x), Next(y)) => {
                let both = f.and([x, y]);
                f.next(both)
            }
            // GF x && GF y stay apart
            (Always(x), Always(y)) if ![x, y].iter().any(|z| matches!(f.node(*z), Eventually(_))) => {
                let both = f.and([x, y]);
                f.always(both)
            }
            (Eventually(x), Eventually(y)) => match (f.node(x).clone(), f.node(y).clone()) {
                // FG x && FG y = FG(x && y)
                (Always(x), Always(y)) => {
                    let both = f.and([x, y]);
                    let always = f.always(both);
                    f.eventually(always)
                }
                _ => return None,
            },
            (Until(x, y), Until(v, w) | WeakUntil(v, w)) if y == w => {
                let both = f.and([x, v]);
                f.until(both, y)
            }
            (WeakUntil(x, y), WeakUntil(v, w)) if y == w => {
                let both = f.and([x, v]);
                f.weak_until(both, y)
            }
            (Release(x, y), Release(v, w)) if x == v => {
                let both = f.and([y, w]);
                f.release(x, both)
            }
            (StrongRelease(x, y), StrongRelease(v, w) | Release(v, w)) if x == v => {
                let both = f.and([y, w]);
                f.strong_release(x, both)
            }
            (Eventually(x), WeakUntil(v, w)) if x == w => f.until(v, w),
            (Eventually(x), Release(v, w)) if x == v => f.strong_release(v, w),
            _ => return None,
        })
    }

    fn merge_disjuncts(f: &mut Formulas, a: Formula, b: Formula) -> Option<Formula> {
        use Node::{Always, Eventually, Next, Release, StrongRelease, Until, WeakUntil};
        Some(match (f.node(a).clone(), f.node(b).clone()) {
            (Next(x), Next(y)) => {
                let either = f.or([x, y]);
                f.next(either)
            }
            // FG x || FG y stay apart
            (Eventually(x), Eventually(y)) if ![x, y].iter().any(|z| matches!(f.node(*z), Always(_))) => {
                let either = f.or([x, y]);
                f.eventually(either)
            }
            (Always(x), Always(y)) => match (f.node(x).clone(), f.node(y).clone()) {
                // GF x || GF y = GF(x || y)
                (Eventually(x), Eventually(y)) => {
                    let either = f.or([x, y]);
                    let eventually = f.eventually(either);
                    f.always(eventually)
                }
                _ => return None,
            },
            (Release(x, y), Release(v, w) | StrongRelease(v, w)) if y == w => {
                let either = f.or([x, v]);
                f.release(either, y)
            }
            (StrongRelease(x, y), StrongRelease(v, w)) if y == w => {
                let either = f.or([x, v]);
                f.strong_release(either, y)
            }
            (Until(x, y), Until(v, w)) if x == v => {
                let either = f.or([y, w]);
                f.until(x, either)
            }
            (WeakUntil(x, y), WeakUntil(v, w) | Until(v, w)) if x == v => {
                let either = f.or([y, w]);
                f.weak_until(x, either)
            }
            (Always(x), StrongRelease(v, w)) if x == w => f.release(v, w),
            (Always(x), Until(v, w)) if x == v => f.weak_until(v, w),
            _ => return None,
        })
    }
}
