//! Tests of the formula parser: tables of texts and what they mean, errors with their places, limits, and damaged input.

use lariat_base::Random;

use super::*;
use crate::print::print;

/// Compares with what the other text means, which has so many quotes and parentheses that little can go wrong.
fn check_in(bare: Bare, text: &str, expect: &str) {
    let mut formulas = Formulas::new();
    let expected = parse(expect, &mut formulas, Bare::Words).unwrap();
    match parse(text, &mut formulas, bare) {
        Ok(formula) => assert_eq!(formula, expected, "{text} is {}", print(&formulas, formula)),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn words() {
    let check = |text: &str, expect: &str| check_in(Bare::Words, text, expect);
    check("a", "a");
    check("[]<>a", "G F a");
    check("GFp1 & FGp2", "G F p1 && F G p2");
    check("XXXb", "X X X b");
    check("XGc", "X G c");
    check("GX0", "G X0");
    check("X0 & F1", "X0 && F1");
    check("FOo", "F Oo");
    check("()a", "X a");
    check("XX!b", "X X !b");
    check("GF (a)", "G F a");
    check("Gtrue | Ffalse", "true");
    check("a -> b -> c", "a -> (b -> c)");
    check("a <-> b -> c", "a <-> (b -> c)");
    check("a imply b", "a -> b");
    check("a => b", "a -> b");
    check("a <=> b", "a <-> b");
    check("a xor b || c && d U e", "a xor (b || (c && (d U e)))");
    check("a ^ b ^ c", "c xor (a xor b)");
    check("a U b U c", "a U (b U c)");
    check("a W b R c", "a W (b R c)");
    check("a V b", "a R b");
    check("a M b", "a M b");
    check("F a U b", "(F a) U b");
    check("! a & b", "b && !a");
    check("not a and b or c", "c || (b && !a)");
    check("a /\\ b \\/ ~c", "!c || (a && b)");
    check("1 U p & 0 | q", "q");
    check("P_0.CS & req[2]", "P_0.CS && \"req[2]\"");
    check("\"x == 1\" U \"a\"", "\"x == 1\" U a");
    check("((a))U((b))", "a U b");
    check("aUb", "aUb");
}

#[test]
fn expressions() {
    let check = |text: &str, expect: &str| check_in(Bare::Expressions, text, expect);
    check("G F P_0.CS", "G F P_0.CS");
    check("GF (P_0.CS)", "G F P_0.CS");
    check("GFoo.x U v == 3", "\"GFoo.x\" U \"v == 3\"");
    check("G(v == 3 -> F req[2] > 0)", "G(\"v == 3\" -> F \"req[2] > 0\")");
    check("P_1->j < 2", "\"P_1->j < 2\"");
    check("p -> q", "p -> q");
    check("P_0.CS->q", "P_0.CS -> q");
    check("x==1->y", "\"x==1\" -> y");
    check("(p)->q", "p -> q");
    check("a[1]->q", "\"a[1]\" -> q");
    check("P->Q->r", "\"P->Q\" -> r");
    check("x + 1 <= y * 2 && z", "z && \"x + 1 <= y * 2\"");
    check("P_0.CS + P_1.CS == 1", "\"P_0.CS + P_1.CS == 1\"");
    check("a[i+1] != 0", "\"a[i+1] != 0\"");
    check("(x + 1) * 2 == y U b", "\"(x + 1) * 2 == y\" U b");
    check("((x + 1) * 2 == y)", "\"(x + 1) * 2 == y\"");
    check("(x & 1) == 0 && p", "\"(x & 1) == 0\" && p");
    check("!x == 3", "!\"x == 3\"");
    check("x == -1 || -1 < y", "\"x == -1\" || \"-1 < y\"");
    check("x == !y", "\"x == !y\"");
    check("G x - 1 >= 0", "G \"x - 1 >= 0\"");
    check("X.cs && G[1] == 2 && U == 3", "\"X.cs\" && \"G[1] == 2\" && \"U == 3\"");
    check("true && 1 == x", "\"1 == x\"");
    check("F[]p", "F G p");
    check("X(p) U (q)", "X p U q");
    check("x << 2 == 4", "\"x << 2 == 4\"");
    check("a<b<->c", "c <-> \"a<b\"");
    check("x<-1", "\"x<-1\"");
    check("not P.a and P.b", "P.b && !P.a");
    check("(M + 1) == x", "\"(M + 1) == x\"");
}

#[test]
fn errors_point_into_the_text() {
    let check = |text: &str, span: Range<usize>, message: &str| {
        for bare in [Bare::Words, Bare::Expressions] {
            let error = parse(text, &mut Formulas::new(), bare).unwrap_err();
            assert_eq!((error.span, error.message.as_str()), (span.clone(), message), "{text} {bare:?}");
        }
    };
    check("", 0..0, "there is no formula");
    check("  ", 0..2, "there is no formula");
    check("a &&", 2..4, "a formula is missing after `&&`");
    check("a && || b", 5..7, "a formula is missing before `||`");
    check("G", 0..1, "a formula is missing after `G`");
    check("a U U", 4..5, "a formula is missing before `U`");
    check("(a", 0..1, "this is never closed");
    check("a)", 1..2, "nothing was opened that this closes");
    check("(a]", 2..3, "nothing was opened that this closes");
    check("(a & )", 5..6, "a formula is missing before `)`");
    check("a b", 2..3, "an operator is missing before `b`");
    check("a = b", 2..3, "unknown character `=`");
    check("a ? ä", 2..3, "unknown character `?`");
    check("ä", 0..2, "unknown character `ä`");
    check("\"a", 0..2, "the quote is never closed");
    check("a & \"\"", 4..6, "a proposition without text");
    check("1a", 0..2, "a name cannot begin with a digit");
    check("a () b", 2..4, "an operator is missing before `()`");
    check("\"a\" == 1", 4..6, "`==` cannot stand between formulas");
    let check = |text: &str, span: Range<usize>, message: &str| {
        let error = parse(text, &mut Formulas::new(), Bare::Expressions).unwrap_err();
        assert_eq!((error.span, error.message.as_str()), (span, message), "{text}");
    };
    check("x + ", 2..3, "something is missing after this operator of an expression");
    check("x == && y", 2..4, "something is missing after this operator of an expression");
    check("-", 0..1, "something is missing after this operator of an expression");
    check("P. == 1", 1..2, "a name is missing after the dot");
    check("(F p) == 1", 1..2, "this cannot stand inside of an arithmetic expression");
    check("([]p) == 1", 1..3, "this cannot stand inside of an arithmetic expression");
}

/// Runs with the stack that threads of a program are given by default at most.
#[test]
fn long_and_deep_texts() {
    let deep = |text: String| {
        for bare in [Bare::Words, Bare::Expressions] {
            match parse(&text, &mut Formulas::new(), bare) {
                Ok(_) => {}
                Err(error) => assert!(error.message.starts_with("nested too deeply"), "{error}"),
            }
        }
    };
    let fits = |text: String| {
        for bare in [Bare::Words, Bare::Expressions] {
            let mut formulas = Formulas::new();
            let formula = parse(&text, &mut formulas, bare).unwrap();
            let printed = print(&formulas, formula);
            assert_eq!(parse(&printed, &mut formulas, bare), Ok(formula));
        }
    };
    fits((0..10_000).map(|n| format!("p{n}")).collect::<Vec<_>>().join(" && "));
    fits((0..10_000).map(|n| format!("!p{}", n % 500)).collect::<Vec<_>>().join(" | "));
    fits(format!("{}p", "!".repeat(100_000)));
    fits(format!("{} p", "X".repeat(1_900)));
    fits(format!("{}p{}", "(".repeat(1_000), ")".repeat(1_000)));
    deep(format!("{}p{}", "(".repeat(100_000), ")".repeat(100_000)));
    deep(format!("{} p", "X".repeat(100_000)));
    deep(format!("{} p", "X ".repeat(100_000)));
    deep(vec!["a"; 10_000].join(" U "));
    deep(vec!["b U a"; 10_000].join(" -> "));
    deep((0..10_000).map(|n| format!("p{n}")).collect::<Vec<_>>().join(" xor "));
    deep(format!("{}p{}", "X(".repeat(100_000), ")".repeat(100_000)));
    deep(format!("{}p{}", "a U (".repeat(1_000), ")".repeat(1_000)));
    let nested = format!("{}p{} == 1", "(".repeat(100_000), ")".repeat(100_000));
    assert!(parse(&nested, &mut Formulas::new(), Bare::Expressions).is_ok());
}

#[test]
fn damaged_texts_never_panic() {
    let seeds = [
        "G(a -> F b) && !(p U \"x == 1\") || X X0",
        "[]<>P_0.CS /\\ (x + 1) * 2 == a[i+1] -> P_1->j < 2 <-> ()q",
        "not a and b or c xor d imply e ^ f W g M h R i V j",
    ];
    let alphabet: Vec<char> = "GFXURVWM()[]<>!~&|^->=+*/%.\"\\ a_0ä".chars().collect();
    let mut random = Random::new(11);
    for round in 0..20_000 {
        let mut text: Vec<char> = seeds[round % seeds.len()].chars().collect();
        for _ in 0..1 + random.below(6) {
            let at = random.below(text.len());
            let new = alphabet[random.below(alphabet.len())];
            match random.below(3) {
                0 => text[at] = new,
                1 => text.insert(at, new),
                _ => drop(text.drain(at..(at + random.below(8)).min(text.len()))),
            }
            if text.is_empty() {
                text.push(new);
            }
        }
        let text: String = text.into_iter().collect();
        for bare in [Bare::Words, Bare::Expressions] {
            let mut formulas = Formulas::new();
            match parse(&text, &mut formulas, bare) {
                Ok(formula) => {
                    let printed = print(&formulas, formula);
                    assert_eq!(parse(&printed, &mut formulas, bare), Ok(formula), "{text} printed as {printed}");
                }
                Err(error) => assert!(text.get(error.span.clone()).is_some(), "{text}: {error:?}"),
            }
        }
    }
}
