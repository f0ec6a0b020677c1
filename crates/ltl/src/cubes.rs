//! Boolean functions of propositions as few cubes (Minato and Morreale's irredundant sums of products).

use crate::automaton::{Cube, Label};
use crate::bdd::{Bdd, FALSE, Function, TRUE};

impl Bdd {
    /// A sum of products for a function of propositions.
    pub(crate) fn label(&mut self, f: Function) -> Label {
        let mut cubes = Vec::new();
        self.cover(f, f, Cube::default(), &mut cubes);
        cubes.sort_unstable();
        Label { cubes }
    }

    /// Adds cubes that cover all of `lower` and nothing outside `upper`, and returns the function of what was added.
    fn cover(&mut self, lower: Function, upper: Function, cube: Cube, out: &mut Vec<Cube>) -> Function {
        if lower == FALSE {
            return FALSE;
        }
        if upper == TRUE {
            out.push(cube);
            return TRUE;
        }
        let variable = [lower, upper].iter().filter_map(|f| self.split(*f)).map(|s| s.0).min().unwrap_or(0);
        let parts = |bdd: &Self, f: Function| match bdd.split(f) {
            Some((v, low, high)) if v == variable => (low, high),
            _ => (f, f),
        };
        let (lower_low, lower_high) = parts(self, lower);
        let (upper_low, upper_high) = parts(self, upper);
        let only_low = self.without(lower_low, upper_high);
        let with_negative = Cube { negative: cube.negative | 1 << variable, ..cube };
        let covered_low = self.cover(only_low, upper_low, with_negative, out);
        let only_high = self.without(lower_high, upper_low);
        let with_positive = Cube { positive: cube.positive | 1 << variable, ..cube };
        let covered_high = self.cover(only_high, upper_high, with_positive, out);
        let rest_low = self.without(lower_low, covered_low);
        let rest_high = self.without(lower_high, covered_high);
        let rest = self.or(rest_low, rest_high);
        let both = self.and(upper_low, upper_high);
        let covered_both = self.cover(rest, both, cube, out);
        let positive = self.variable(variable);
        let low = self.without(covered_low, positive);
        let high = self.and(covered_high, positive);
        let split = self.or(low, high);
        self.or(split, covered_both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    #[test]
    fn covers_are_exact() {
        let mut random = Random::new(9);
        let mut bdd = Bdd::new();
        for _ in 0..500 {
            let mut f = FALSE;
            for _ in 0..random.below(6) {
                let mut product = TRUE;
                for variable in 0..5 {
                    let literal = bdd.variable(variable);
                    match random.below(3) {
                        0 => product = bdd.and(product, literal),
                        1 => product = bdd.without(product, literal),
                        _ => {}
                    }
                }
                f = bdd.or(f, product);
            }
            let label = bdd.label(f);
            for letter in 0..32u64 {
                let mut g = f;
                while let Some((v, low, high)) = bdd.split(g) {
                    g = if letter >> v & 1 == 1 { high } else { low };
                }
                assert_eq!(label.accepts(letter), g == TRUE);
            }
        }
    }
}
