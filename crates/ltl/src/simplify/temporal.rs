//! Rules for formulas whose first operator is temporal. Operands are simplified already.

use super::Simplifier;
use crate::formula::{Formula, Formulas, Node};

impl Simplifier {
    /// The formula after one rule, or the same if none applies.
    pub(super) fn temporal(&mut self, f: &mut Formulas, formula: Formula) -> Formula {
        match *f.node(formula) {
            // X q = q
            Node::Next(a) if self.is_suspendable(f, a) => a,
            Node::Eventually(a) => self.eventually(f, formula, a),
            Node::Always(a) => self.always(f, formula, a),
            Node::Until(a, b) => self.until(f, formula, a, b),
            Node::Release(a, b) => self.release(f, formula, a, b),
            Node::WeakUntil(a, b) => self.weak_until(f, formula, a, b),
            Node::StrongRelease(a, b) => self.strong_release(f, formula, a, b),
            _ => formula,
        }
    }

    fn eventually(&mut self, f: &mut Formulas, formula: Formula, a: Formula) -> Formula {
        if self.shape(f, a).eventual {
            return a; // F e = e
        }
        match f.node(a).clone() {
            // F X b = X F b
            Node::Next(b) => {
                let inner = f.eventually(b);
                f.next(inner)
            }
            Node::Until(_, c) => f.eventually(c), // F(b U c) = F c
            // F(b M c) = F(b && c)
            Node::StrongRelease(b, c) => {
                let both = f.and([b, c]);
                f.eventually(both)
            }
            Node::Always(b) => self.finally_always(f, b),
            // F(b || u) = F b || F u, where `F u` is simpler alone
            Node::Or(list) if !self.gather && list.iter().any(|x| self.shape(f, *x).universal) => {
                let (u, rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|x| self.shape(f, *x).universal);
                let rest = f.or(rest);
                let mut parts = vec![f.eventually(rest)];
                parts.extend(u.into_iter().map(|x| f.eventually(x)));
                f.or(parts)
            }
            // F(b || F c) = F(b || c), and alike
            Node::Or(list) => {
                let stripped: Vec<Formula> = list.iter().map(|x| strip_eventual(f, *x)).collect();
                let inner = f.or(stripped);
                f.eventually(inner)
            }
            // F(b && q) = F b && q
            Node::And(list) if !self.gather => {
                let (q, rest) = self.split_suspendable(f, list);
                if q.is_empty() {
                    return formula;
                }
                let rest = f.and(rest);
                let inner = f.eventually(rest);
                f.and(q.into_iter().chain([inner]))
            }
            _ => formula,
        }
    }

    fn always(&mut self, f: &mut Formulas, formula: Formula, a: Formula) -> Formula {
        if self.shape(f, a).universal {
            return a; // G u = u
        }
        match f.node(a).clone() {
            // G X b = X G b
            Node::Next(b) => {
                let inner = f.always(b);
                f.next(inner)
            }
            Node::Release(_, c) => f.always(c), // G(b R c) = G c
            // G(b W c) = G(b || c)
            Node::WeakUntil(b, c) => {
                let either = f.or([b, c]);
                f.always(either)
            }
            Node::Eventually(b) => self.again_and_again(f, b),
            // G(b && e) = G b && G e, where `G e` is simpler alone
            Node::And(list) if list.iter().any(|x| self.shape(f, *x).eventual) => {
                let (e, rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|x| self.shape(f, *x).eventual);
                let rest = f.and(rest);
                let mut parts = vec![f.always(rest)];
                parts.extend(e.into_iter().map(|x| f.always(x)));
                f.and(parts)
            }
            // G(b && G c) = G(b && c), and alike
            Node::And(list) => {
                let stripped: Vec<Formula> = list.iter().map(|x| strip_universal(f, *x)).collect();
                let inner = f.and(stripped);
                f.always(inner)
            }
            // G(b || q) = G b || q
            Node::Or(list) if !self.gather => {
                let (q, rest) = self.split_suspendable(f, list);
                if q.is_empty() {
                    return formula;
                }
                let rest = f.or(rest);
                let inner = f.always(rest);
                f.or(q.into_iter().chain([inner]))
            }
            _ => formula,
        }
    }

    /// `FG b`: what happens before does not count, and `FG(x || u) = FG x || F u`.
    fn finally_always(&mut self, f: &mut Formulas, b: Formula) -> Formula {
        let stripped = self.strip_for_always(f, b);
        if let Node::Or(list) = f.node(stripped).clone() {
            let (u, rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|x| self.shape(f, *x).universal);
            if !u.is_empty() {
                let rest = f.or(rest);
                let always = f.always(rest);
                let mut parts = vec![f.eventually(always)];
                parts.extend(u.into_iter().map(|x| f.eventually(x)));
                return f.or(parts);
            }
        }
        let inner = f.always(stripped);
        f.eventually(inner)
    }

    /// `GF b`: what happens before does not count, and `GF(x && e) = GF x && G e`.
    fn again_and_again(&mut self, f: &mut Formulas, b: Formula) -> Formula {
        let stripped = self.strip_for_eventually(f, b);
        if let Node::And(list) = f.node(stripped).clone() {
            let (e, rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|x| self.shape(f, *x).eventual);
            if !e.is_empty() {
                let rest = f.and(rest);
                let eventually = f.eventually(rest);
                let mut parts = vec![f.always(eventually)];
                parts.extend(e.into_iter().map(|x| f.always(x)));
                return f.and(parts);
            }
        }
        let inner = f.eventually(stripped);
        f.always(inner)
    }

    /// `g` such that `FG b = FG g`.
    fn strip_for_always(&mut self, f: &mut Formulas, b: Formula) -> Formula {
        match f.node(b).clone() {
            Node::Next(x) | Node::Always(x) => self.strip_for_always(f, x),
            Node::Release(_, y) => self.strip_for_always(f, y),
            Node::And(list) => {
                let list: Vec<Formula> = list.into_iter().map(|x| self.strip_for_always(f, x)).collect();
                f.and(list)
            }
            _ => b,
        }
    }

    /// `g` such that `GF b = GF g`.
    fn strip_for_eventually(&mut self, f: &mut Formulas, b: Formula) -> Formula {
        match f.node(b).clone() {
            Node::Next(x) | Node::Eventually(x) => self.strip_for_eventually(f, x),
            Node::Until(_, y) => self.strip_for_eventually(f, y),
            Node::Or(list) => {
                let list: Vec<Formula> = list.into_iter().map(|x| self.strip_for_eventually(f, x)).collect();
                f.or(list)
            }
            _ => b,
        }
    }

    fn split_suspendable(&mut self, f: &Formulas, list: Vec<Formula>) -> (Vec<Formula>, Vec<Formula>) {
        list.into_iter().partition(|x| self.is_suspendable(f, *x))
    }

    fn until(&mut self, f: &mut Formulas, formula: Formula, a: Formula, b: Formula) -> Formula {
        if self.shape(f, b).eventual || self.implies(f, a, b) {
            return b;
        }
        if self.covers(f, a, b) {
            return f.eventually(b); // !a => b
        }
        if let Some(weak) = self.until_or_for_ever(f, a, b) {
            return weak;
        }
        match (f.node(a).clone(), f.node(b).clone()) {
            // X x U X y = X(x U y)
            (Node::Next(x), Node::Next(y)) => {
                let inner = f.until(x, y);
                f.next(inner)
            }
            (_, Node::Until(x, _)) if self.implies(f, a, x) => b,
            (_, Node::Until(x, y)) if self.implies(f, x, a) => f.until(a, y),
            (Node::Until(x, y), _) if y == b => f.until(x, b),
            (Node::Or(list), _) if list.iter().any(|x| self.implies(f, *x, b)) => {
                let rest: Vec<Formula> = list.into_iter().filter(|x| !self.implies(f, *x, b)).collect();
                let rest = f.or(rest);
                f.until(rest, b)
            }
            // a U (a && y) = y M a
            (_, Node::And(list)) if list.contains(&a) => {
                let rest = f.and(list.into_iter().filter(|x| *x != a).collect::<Vec<_>>());
                f.strong_release(rest, a)
            }
            (_, Node::And(list)) if list.iter().any(|x| self.is_suspendable(f, *x)) => {
                let (q, rest) = self.split_suspendable(f, list);
                let rest = f.and(rest);
                let inner = f.until(a, rest);
                f.and(q.into_iter().chain([inner]))
            }
            // a U (y || e) = (a U y) || e
            (_, Node::Or(list)) if list.iter().any(|x| self.shape(f, *x).eventual) => {
                let (e, rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|x| self.shape(f, *x).eventual);
                let rest = f.or(rest);
                let inner = f.until(a, rest);
                f.or(e.into_iter().chain([inner]))
            }
            _ => formula,
        }
    }

    /// `a U (y || G a) = a W y`
    fn until_or_for_ever(&mut self, f: &mut Formulas, a: Formula, b: Formula) -> Option<Formula> {
        let Node::Or(list) = f.node(b).clone() else { return None };
        let for_ever = f.always(a);
        let for_ever = self.simplify(f, for_ever);
        let place = list.iter().position(|x| *x == for_ever)?;
        let rest = f.or(list.iter().enumerate().filter(|(i, _)| *i != place).map(|(_, x)| *x).collect::<Vec<_>>());
        Some(f.weak_until(a, rest))
    }

    /// `a R (y && F a) = a M y`
    fn release_that_comes(&mut self, f: &mut Formulas, a: Formula, b: Formula) -> Option<Formula> {
        let Node::And(list) = f.node(b).clone() else { return None };
        let comes = f.eventually(a);
        let comes = self.simplify(f, comes);
        let place = list.iter().position(|x| *x == comes)?;
        let rest = f.and(list.iter().enumerate().filter(|(i, _)| *i != place).map(|(_, x)| *x).collect::<Vec<_>>());
        Some(f.strong_release(a, rest))
    }

    fn release(&mut self, f: &mut Formulas, formula: Formula, a: Formula, b: Formula) -> Formula {
        if self.shape(f, b).universal || self.implies(f, b, a) {
            return b;
        }
        if self.excludes(f, a, b) {
            return f.always(b);
        }
        if let Some(strong) = self.release_that_comes(f, a, b) {
            return strong;
        }
        match (f.node(a).clone(), f.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let inner = f.release(x, y);
                f.next(inner)
            }
            (_, Node::Release(x, _)) if self.implies(f, x, a) => b,
            (_, Node::Release(x, y)) if self.implies(f, a, x) => f.release(a, y),
            (Node::Release(x, y), _) if y == b => f.release(x, b),
            (Node::And(list), _) if list.iter().any(|x| self.implies(f, b, *x)) => {
                let rest: Vec<Formula> = list.into_iter().filter(|x| !self.implies(f, b, *x)).collect();
                let rest = f.and(rest);
                f.release(rest, b)
            }
            // a R (a || y) = y W a
            (_, Node::Or(list)) if list.contains(&a) => {
                let rest = f.or(list.into_iter().filter(|x| *x != a).collect::<Vec<_>>());
                f.weak_until(rest, a)
            }
            (_, Node::Or(list)) if list.iter().any(|x| self.is_suspendable(f, *x)) => {
                let (q, rest) = self.split_suspendable(f, list);
                let rest = f.or(rest);
                let inner = f.release(a, rest);
                f.or(q.into_iter().chain([inner]))
            }
            // a R (y && u) = (a R y) && u
            (_, Node::And(list)) if list.iter().any(|x| self.shape(f, *x).universal) => {
                let (u, rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|x| self.shape(f, *x).universal);
                let rest = f.and(rest);
                let inner = f.release(a, rest);
                f.and(u.into_iter().chain([inner]))
            }
            _ => formula,
        }
    }

    fn weak_until(&mut self, f: &mut Formulas, formula: Formula, a: Formula, b: Formula) -> Formula {
        if self.implies(f, a, b) {
            return b;
        }
        if self.covers(f, a, b) {
            return f.truth();
        }
        if self.shape(f, a).universal {
            return f.or([a, b]); // u W b = u || b
        }
        if self.shape(f, b).eventual {
            let always = f.always(a); // a W e = G a || e
            return f.or([always, b]);
        }
        match (f.node(a).clone(), f.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let inner = f.weak_until(x, y);
                f.next(inner)
            }
            (_, Node::WeakUntil(x, _)) if self.implies(f, a, x) => b,
            (_, Node::WeakUntil(x, y)) if self.implies(f, x, a) => f.weak_until(a, y),
            (Node::WeakUntil(x, y), _) if y == b => f.weak_until(x, b),
            (Node::Or(list), _) if list.iter().any(|x| self.implies(f, *x, b)) => {
                let rest: Vec<Formula> = list.into_iter().filter(|x| !self.implies(f, *x, b)).collect();
                let rest = f.or(rest);
                f.weak_until(rest, b)
            }
            // a W (a && y) = y R a
            (_, Node::And(list)) if list.contains(&a) => {
                let rest = f.and(list.into_iter().filter(|x| *x != a).collect::<Vec<_>>());
                f.release(rest, a)
            }
            _ => formula,
        }
    }

    fn strong_release(&mut self, f: &mut Formulas, formula: Formula, a: Formula, b: Formula) -> Formula {
        if self.implies(f, b, a) {
            return b;
        }
        if self.excludes(f, a, b) {
            return f.falsity();
        }
        if self.shape(f, a).eventual {
            return f.and([a, b]); // e M b = e && b
        }
        if self.shape(f, b).universal {
            let eventually = f.eventually(a); // a M u = F a && u
            return f.and([eventually, b]);
        }
        match (f.node(a).clone(), f.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let inner = f.strong_release(x, y);
                f.next(inner)
            }
            (_, Node::StrongRelease(x, _)) if self.implies(f, x, a) => b,
            (_, Node::StrongRelease(x, y)) if self.implies(f, a, x) => f.strong_release(a, y),
            (Node::StrongRelease(x, y), _) if y == b => f.strong_release(x, b),
            (Node::And(list), _) if list.iter().any(|x| self.implies(f, b, *x)) => {
                let rest: Vec<Formula> = list.into_iter().filter(|x| !self.implies(f, b, *x)).collect();
                let rest = f.and(rest);
                f.strong_release(rest, b)
            }
            // a M (a || y) = y U a
            (_, Node::Or(list)) if list.contains(&a) => {
                let rest = f.or(list.into_iter().filter(|x| *x != a).collect::<Vec<_>>());
                f.until(rest, a)
            }
            _ => formula,
        }
    }
}

/// `g` such that `F(x || ...) = F(g || ...)`.
fn strip_eventual(f: &mut Formulas, x: Formula) -> Formula {
    match *f.node(x) {
        Node::Eventually(y) | Node::Until(_, y) => y,
        Node::StrongRelease(y, z) => f.and([y, z]),
        _ => x,
    }
}

/// `g` such that `G(x && ...) = G(g && ...)`.
fn strip_universal(f: &mut Formulas, x: Formula) -> Formula {
    match *f.node(x) {
        Node::Always(y) | Node::Release(_, y) => y,
        Node::WeakUntil(y, z) => f.or([y, z]),
        _ => x,
    }
}
