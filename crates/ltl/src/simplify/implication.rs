//! Which formulas imply which, as far as their shape tells. False means "not known".

use super::Simplifier;
use crate::formula::{Formula, Formulas, Node};

impl Simplifier {
    /// Whether every word that satisfies `a` satisfies `b`, by the rules below.
    pub(super) fn implies(&mut self, f: &Formulas, a: Formula, b: Formula) -> bool {
        if a == b || f.is_false(a) || f.is_true(b) {
            return true;
        }
        if let Some(known) = self.implied.get(&(a, b)) {
            return *known;
        }
        let result =
            self.by_boolean(f, a, b) || self.by_right(f, a, b) || self.by_left(f, a, b) || self.by_both(f, a, b);
        self.implied.insert((a, b), result);
        result
    }

    /// Whether `a` and `b` cannot hold together.
    pub(super) fn excludes(&mut self, f: &mut Formulas, a: Formula, b: Formula) -> bool {
        let not_b = self.normal_form(f, b, true);
        self.implies(f, a, not_b)
    }

    /// Whether `a` or `b` holds on every word.
    pub(super) fn covers(&mut self, f: &mut Formulas, a: Formula, b: Formula) -> bool {
        let not_a = self.normal_form(f, a, true);
        self.implies(f, not_a, b)
    }

    fn by_boolean(&mut self, f: &Formulas, a: Formula, b: Formula) -> bool {
        match f.node(a) {
            Node::And(list) if list.iter().any(|x| self.implies(f, *x, b)) => return true,
            Node::Or(list) if list.iter().all(|x| self.implies(f, *x, b)) => return true,
            _ => {}
        }
        match f.node(b) {
            Node::And(list) => list.iter().all(|x| self.implies(f, a, *x)),
            Node::Or(list) => list.iter().any(|x| self.implies(f, a, *x)),
            _ => false,
        }
    }

    /// What makes `b` true now.
    fn by_right(&mut self, f: &Formulas, a: Formula, b: Formula) -> bool {
        match *f.node(b) {
            Node::Eventually(x) => self.implies(f, a, x),
            Node::Until(_, y) | Node::WeakUntil(_, y) => self.implies(f, a, y),
            Node::Release(x, y) | Node::StrongRelease(x, y) => self.implies(f, a, x) && self.implies(f, a, y),
            _ => false,
        }
    }

    /// What `a` says about now.
    fn by_left(&mut self, f: &Formulas, a: Formula, b: Formula) -> bool {
        match *f.node(a) {
            Node::Always(x) => self.implies(f, x, b),
            Node::Until(x, y) | Node::WeakUntil(x, y) => self.implies(f, x, b) && self.implies(f, y, b),
            Node::Release(_, y) | Node::StrongRelease(_, y) => self.implies(f, y, b),
            _ => false,
        }
    }

    fn by_both(&mut self, f: &Formulas, a: Formula, b: Formula) -> bool {
        use Node::{Always, Eventually, Next, Release, StrongRelease, Until, WeakUntil};
        match (f.node(a).clone(), f.node(b).clone()) {
            (Next(x), Next(y)) => self.implies(f, x, y),
            // What comes some time makes an eventual formula true now.
            (Eventually(x), _) if self.shape(f, b).eventual => self.implies(f, x, b),
            (Until(_, y), _) if self.shape(f, b).eventual && self.implies(f, y, b) => true,
            (StrongRelease(x, y), _)
                if self.shape(f, b).eventual && (self.implies(f, x, b) || self.implies(f, y, b)) =>
            {
                true
            }
            // What goes on to hold makes `G` of all that it implies.
            (_, Always(y)) if self.shape(f, a).universal => self.implies(f, a, y),
            (_, Release(_, y)) if self.shape(f, a).universal && self.implies(f, a, y) => true,
            (_, WeakUntil(x, _)) if self.shape(f, a).universal && self.implies(f, a, x) => true,
            (Until(x, y), Until(v, w) | WeakUntil(v, w)) | (WeakUntil(x, y), WeakUntil(v, w)) => {
                self.implies(f, x, v) && self.implies(f, y, w)
            }
            (Release(x, y), Release(v, w)) | (StrongRelease(x, y), Release(v, w) | StrongRelease(v, w)) => {
                self.implies(f, x, v) && self.implies(f, y, w)
            }
            (Always(x), WeakUntil(v, _)) | (Always(x), Release(_, v)) => self.implies(f, x, v),
            (Release(x, y), WeakUntil(v, w)) | (StrongRelease(x, y), Until(v, w) | WeakUntil(v, w)) => {
                self.implies(f, y, v) && self.implies(f, x, w)
            }
            _ => false,
        }
    }
}
