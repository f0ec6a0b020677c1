//! Boolean formulas as labels of automata, and labels as text.
//!
//! A label is a set of cubes, so a formula is brought into disjunctive form; that can be exponentially longer, hence the limit.

use std::collections::HashMap;

use crate::automaton::{Cube, Label};
use crate::formula::{Formula, Formulas, Node};

/// How many cubes a label may have.
pub const MAX_CUBES: usize = 1024;
/// How many propositions an automaton may have.
pub const MAX_PROPOSITIONS: usize = 64;

/// Why a formula is not a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelError {
    /// It has a temporal operator.
    Temporal,
    /// It has too many cubes.
    TooLong,
    /// It has too many propositions.
    Propositions,
}

impl std::fmt::Display for LabelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Temporal => f.write_str("temporal operators cannot stand here"),
            Self::TooLong => write!(f, "written as alternatives this has more than {MAX_CUBES} of them"),
            Self::Propositions => write!(f, "there are more than {MAX_PROPOSITIONS} propositions"),
        }
    }
}

impl std::error::Error for LabelError {}

/// The label that means the same as a Boolean formula. Bit `i` is the `i`-th proposition of the collection.
/// Recurses as deep as the formula is, which the parsers bound.
pub fn label_of(formulas: &Formulas, formula: Formula) -> Result<Label, LabelError> {
    let mut finder = Finder { formulas, known: HashMap::new() };
    Ok(Label { cubes: finder.cubes(formula, true)? })
}

struct Finder<'a> {
    formulas: &'a Formulas,
    /// Equivalences look at their parts twice; without this a chain of them would take exponential time.
    known: HashMap<(Formula, bool), Vec<Cube>>,
}

impl Finder<'_> {
    /// The cubes of a formula, or of its negation.
    fn cubes(&mut self, formula: Formula, positive: bool) -> Result<Vec<Cube>, LabelError> {
        if let Some(known) = self.known.get(&(formula, positive)) {
            return Ok(known.clone());
        }
        let found = self.find(formula, positive)?;
        self.known.insert((formula, positive), found.clone());
        Ok(found)
    }

    fn find(&mut self, formula: Formula, positive: bool) -> Result<Vec<Cube>, LabelError> {
        let formulas = self.formulas;
        let node = formulas.node(formula);
        match node {
            Node::True | Node::False if (*node == Node::True) == positive => Ok(vec![Cube::default()]),
            Node::True | Node::False => Ok(Vec::new()),
            Node::Proposition(number) if *number as usize >= MAX_PROPOSITIONS => Err(LabelError::Propositions),
            Node::Proposition(number) if positive => Ok(vec![Cube { positive: 1 << number, negative: 0 }]),
            Node::Proposition(number) => Ok(vec![Cube { positive: 0, negative: 1 << number }]),
            Node::Not(f) => self.cubes(*f, !positive),
            Node::And(all) if positive => self.all(all, true),
            Node::Or(all) if !positive => self.all(all, false),
            Node::And(all) | Node::Or(all) => {
                let mut result = Vec::new();
                for f in all {
                    result.extend(self.cubes(*f, positive)?);
                }
                limited(result)
            }
            Node::Implies(f, g) if positive => limited([self.cubes(*f, false)?, self.cubes(*g, true)?].concat()),
            Node::Implies(f, g) => both(&self.cubes(*f, true)?, &self.cubes(*g, false)?),
            Node::Equivalent(f, g) | Node::Xor(f, g) => {
                let same = matches!(node, Node::Equivalent(..)) == positive;
                let holds = both(&self.cubes(*f, true)?, &self.cubes(*g, same)?)?;
                let fails = both(&self.cubes(*f, false)?, &self.cubes(*g, !same)?)?;
                limited([holds, fails].concat())
            }
            _ => Err(LabelError::Temporal),
        }
    }

    fn all(&mut self, formulas: &[Formula], positive: bool) -> Result<Vec<Cube>, LabelError> {
        let mut result = vec![Cube::default()];
        for f in formulas {
            result = both(&result, &self.cubes(*f, positive)?)?;
        }
        Ok(result)
    }
}

fn both(left: &[Cube], right: &[Cube]) -> Result<Vec<Cube>, LabelError> {
    if left.len() * right.len() > 64 * MAX_CUBES {
        return Err(LabelError::TooLong);
    }
    let mut result = Vec::new();
    for a in left {
        for b in right {
            let cube = Cube { positive: a.positive | b.positive, negative: a.negative | b.negative };
            if cube.positive & cube.negative == 0 {
                result.push(cube);
            }
        }
        if result.len() > 2 * MAX_CUBES {
            result = limited(result)?;
        }
    }
    limited(result)
}

/// Drops cubes that say nothing beyond another one, and keeps the order of the rest.
fn limited(cubes: Vec<Cube>) -> Result<Vec<Cube>, LabelError> {
    let implies = |a: &Cube, b: &Cube| a.positive & b.positive == b.positive && a.negative & b.negative == b.negative;
    let mut kept: Vec<Cube> = Vec::new();
    for cube in cubes {
        if !kept.iter().any(|other| implies(&cube, other)) {
            kept.retain(|other| !implies(other, &cube));
            kept.push(cube);
        }
        if kept.len() > 2 * MAX_CUBES {
            return Err(LabelError::TooLong);
        }
    }
    if kept.len() > MAX_CUBES { Err(LabelError::TooLong) } else { Ok(kept) }
}

/// How a label is written.
pub(crate) struct LabelStyle<'a> {
    pub truth: &'a str,
    pub falsity: &'a str,
    pub and: &'a str,
    pub or: &'a str,
    /// Names of the propositions.
    pub names: &'a [String],
}

/// The text of a label.
pub(crate) fn label_text(label: &Label, style: &LabelStyle) -> String {
    let cube_text = |cube: &Cube| {
        let mut literals = Vec::new();
        for (bit, name) in style.names.iter().enumerate().take(MAX_PROPOSITIONS) {
            if cube.positive >> bit & 1 == 1 {
                literals.push(name.clone());
            }
            if cube.negative >> bit & 1 == 1 {
                literals.push(format!("!{name}"));
            }
        }
        match literals.as_slice() {
            [] => style.truth.to_owned(),
            [one] => one.clone(),
            _ if label.cubes.len() > 1 && style.and.len() > 1 => format!("({})", literals.join(style.and)),
            _ => literals.join(style.and),
        }
    };
    match label.cubes.as_slice() {
        [] => style.falsity.to_owned(),
        cubes => cubes.iter().map(cube_text).collect::<Vec<_>>().join(style.or),
    }
}

#[cfg(test)]
mod tests {
    use lariat_base::Random;

    use super::*;
    use crate::parse::{Bare, parse};

    #[test]
    fn labels_mean_what_formulas_mean() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let style = LabelStyle { truth: "1", falsity: "0", and: "&", or: " | ", names: &names };
        let check = |text: &str, expect: Result<&str, LabelError>| {
            let mut formulas = Formulas::new();
            for name in &names {
                formulas.proposition(name);
            }
            let formula = parse(text, &mut formulas, Bare::Words).unwrap();
            let found = label_of(&formulas, formula).map(|label| label_text(&label, &style));
            assert_eq!(found, expect.map(str::to_owned), "{text}");
        };
        check("true", Ok("1"));
        check("false", Ok("0"));
        check("a & !b", Ok("a&!b"));
        check("!(a & b)", Ok("!a | !b"));
        check("a -> b", Ok("!a | b"));
        check("!(a -> b)", Ok("a&!b"));
        check("a <-> b", Ok("a&b | !a&!b"));
        check("a xor b", Ok("a&!b | !a&b"));
        check("(a | b) & (a | c)", Ok("a | b&c"));
        check("a U b", Err(LabelError::Temporal));
        let chain = format!("{}c{}", "!(a <-> (b xor ".repeat(490), "))".repeat(490));
        check(&chain, Ok("a&b&c | a&!b&c | !a&b&c | !a&!b&c"));
        let pairs: Vec<_> = (0..30).map(|n| format!("(p{n} | q{n})")).collect();
        check(&pairs.join("&"), Err(LabelError::TooLong));
        let many: Vec<_> = (0..70).map(|n| format!("p{n}")).collect();
        check(&many.join("&"), Err(LabelError::Propositions));
    }

    #[test]
    fn random_labels() {
        let mut random = Random::new(9);
        let mut formulas = Formulas::new();
        let propositions: Vec<_> = (0..5).map(|n| formulas.proposition(&format!("p{n}"))).collect();
        for _ in 0..500 {
            let mut stack = propositions.clone();
            for _ in 0..20 {
                let (f, g) = (stack[random.below(stack.len())], stack[random.below(stack.len())]);
                let new = match random.below(6) {
                    0 => formulas.and([f, g]),
                    1 => formulas.or([f, g]),
                    2 => formulas.not(f),
                    3 => formulas.implies(f, g),
                    4 => formulas.equivalent(f, g),
                    _ => formulas.xor(f, g),
                };
                stack.push(new);
            }
            let formula = stack[stack.len() - 1];
            let label = label_of(&formulas, formula).unwrap();
            for letter in 0..32 {
                let word = crate::Lasso { prefix: vec![], cycle: vec![letter] };
                assert_eq!(label.accepts(letter), crate::word::holds(&formulas, formula, &word));
            }
        }
    }
}
