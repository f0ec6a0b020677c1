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
        self.pairwise(f, kept, Self::merge_conjuncts, Formulas::and)
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
        self.pairwise(f, kept, Self::merge_disjuncts, Formulas::or)
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
            (Always(x), Always(y)) => {
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
            (Eventually(x), Eventually(y)) => {
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
