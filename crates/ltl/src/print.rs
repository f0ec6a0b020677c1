//! Formulas as text that reads back as the same formula.
//!
//! Operators between operands get parentheses inside of each other, even where their order of binding would do: nobody knows that by
//! heart. Works with an explicit stack, so any depth can be printed.

use crate::formula::{Formula, Formulas, Node};
use crate::operator::{Binary, unary_letters};
use crate::parse::Bare;

enum Piece {
    Text(&'static str),
    Formula(Formula),
}

/// The text of a formula.
pub fn print(formulas: &Formulas, formula: Formula) -> String {
    let mut text = String::new();
    let mut stack = vec![Piece::Formula(formula)];
    while let Some(piece) = stack.pop() {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Formula(formula) => expand(formulas, formula, &mut text, &mut stack),
        }
    }
    text
}

/// Prints what a formula begins with and leaves the rest on the stack, the last piece first.
fn expand(formulas: &Formulas, formula: Formula, text: &mut String, stack: &mut Vec<Piece>) {
    let mut join = |operands: &[Formula], operator: &'static str| {
        for (place, operand) in operands.iter().enumerate().rev() {
            push_wrapped(formulas, *operand, stack);
            if place > 0 {
                stack.push(Piece::Text(operator));
            }
        }
    };
    match formulas.node(formula) {
        Node::True => text.push_str("true"),
        Node::False => text.push_str("false"),
        Node::Proposition(number) => text.push_str(&proposition(&formulas.propositions()[*number as usize])),
        Node::And(operands) => join(operands, " && "),
        Node::Or(operands) => join(operands, " || "),
        Node::Implies(f, g) => join(&[*f, *g], " -> "),
        Node::Equivalent(f, g) => join(&[*f, *g], " <-> "),
        Node::Xor(f, g) => join(&[*f, *g], " xor "),
        Node::Until(f, g) => join(&[*f, *g], " U "),
        Node::Release(f, g) => join(&[*f, *g], " R "),
        Node::WeakUntil(f, g) => join(&[*f, *g], " W "),
        Node::StrongRelease(f, g) => join(&[*f, *g], " M "),
        Node::Not(f) => {
            text.push('!');
            push_wrapped(formulas, *f, stack);
        }
        Node::Next(f) => letter('X', formulas, *f, text, stack),
        Node::Eventually(f) => letter('F', formulas, *f, text, stack),
        Node::Always(f) => letter('G', formulas, *f, text, stack),
    }
}

fn letter(letter: char, formulas: &Formulas, f: Formula, text: &mut String, stack: &mut Vec<Piece>) {
    text.push(letter);
    if !is_binary(formulas, f) {
        text.push(' ');
    }
    push_wrapped(formulas, f, stack);
}

fn push_wrapped(formulas: &Formulas, f: Formula, stack: &mut Vec<Piece>) {
    if is_binary(formulas, f) {
        stack.extend([Piece::Text(")"), Piece::Formula(f), Piece::Text("(")]);
    } else {
        stack.push(Piece::Formula(f));
    }
}

fn is_binary(formulas: &Formulas, f: Formula) -> bool {
    !matches!(
        formulas.node(f),
        Node::True
            | Node::False
            | Node::Proposition(_)
            | Node::Not(_)
            | Node::Next(_)
            | Node::Eventually(_)
            | Node::Always(_)
    )
}

/// A proposition as it can stand in a formula: bare where it is a word that nothing else can be meant by, else quoted.
pub fn proposition(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quote(text) }
}

/// Whether both ways of reading bare propositions take the text as one proposition.
fn is_plain(text: &str) -> bool {
    let is_word = |part: &str| {
        part.bytes().next().is_some_and(crate::token::begins_word) && part.bytes().all(crate::token::continues_word)
    };
    let is_constant = text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false");
    let is_operator = text == "not" || Binary::of_word(text).is_some() || unary_letters(text, Bare::Words) > 0;
    text.split('.').all(is_word) && !is_constant && !is_operator
}

/// Text in double quotes.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use lariat_base::Random;

    use super::*;
    use crate::parse::parse;
    use crate::word::random_formula;

    #[test]
    fn style() {
        let check = |text: &str, expect: &str| {
            let mut formulas = Formulas::new();
            let formula = parse(text, &mut formulas, Bare::Words).unwrap();
            assert_eq!(print(&formulas, formula), expect);
        };
        check("[](a-><>b)", "G(a -> F b)");
        check("GFp1 & XXq", "G F p1 && X X q");
        check("!a U !(b & c)", "!a U !(b && c)");
        check("a U b U c | d R e", "(a U (b U c)) || (d R e)");
        check(
            "\"x == 1\" & \"F\" | \"True\" | \"a\\\"b\" | true U a",
            "\"True\" || (\"x == 1\" && \"F\") || \"a\\\"b\" || F a",
        );
        check("a xor b <-> c", "(a xor b) <-> c");
    }

    #[test]
    fn text_reads_back_as_the_same() {
        let mut random = Random::new(1);
        let mut formulas = Formulas::new();
        for name in
            ["p0", "X0", "GFoo", "P_0.CS", "a.U", "U", "v == 3", "q\"\\", "true", "F.x", "not", "FG", "G1", "p[1]"]
        {
            formulas.proposition(name);
        }
        let names = formulas.propositions().to_vec();
        for round in 0..5000 {
            let formula = random_formula(&mut random, &mut formulas, 4, 1 + round % 30);
            let text = print(&formulas, formula);
            // The names of the first propositions are replaced, so that awkward ones are tried too.
            let mut text = format!(" {text} ");
            for n in 0..4 {
                let name = proposition(&names[random.below(names.len())]);
                text = text.replace(&format!("p{n}"), &name);
            }
            for bare in [Bare::Words, Bare::Expressions] {
                let first = parse(&text, &mut formulas, bare).unwrap_or_else(|e| panic!("{text}: {e}"));
                let printed = print(&formulas, first);
                assert_eq!(parse(&printed, &mut formulas, bare), Ok(first), "{text} printed as {printed}");
            }
        }
    }
}
