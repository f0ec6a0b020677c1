//! The property files of DiVinE: `#define NAME EXPRESSION` and `#property FORMULA`, one to a line, and `//` comments.
//!
//! A defined name stands for a proposition, so it is replaced by the quoted expression. Definitions may use names that were defined
//! above them. Properties may use all names of the file, as in DiVinE.

use std::collections::HashMap;

use crate::operator::unary_letters;
use crate::parse::Bare;
use crate::print::quote;
use crate::token::{begins_word, continues_word};

/// How long an expression may get when the names in it are replaced: definitions that use others twice grow quickly.
const MAX_EXPRESSION: usize = 64 * 1024;

/// A property of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LtlProperty {
    /// The formula, with quoted propositions where defined names were.
    pub formula: String,
    /// The line it is on, counted from 1.
    pub line: usize,
}

/// Why a text is not a property file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LtlFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for LtlFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for LtlFileError {}

/// The properties of a file, in its order.
pub fn read_ltl_file(text: &str) -> Result<Vec<LtlProperty>, LtlFileError> {
    let mut defines: HashMap<&str, String> = HashMap::new();
    let mut formulas: Vec<(usize, &str)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let error = |message: String| LtlFileError { line: number + 1, message };
        let line = without_comment(line).trim();
        let (directive, rest) = line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
        let rest = rest.trim();
        match directive {
            "" => {}
            "#define" => {
                let (name, expression) = definition(rest).map_err(|message| error(message.to_owned()))?;
                let expression = replace(expression, Inside::Expression, &defines);
                if expression.len() > MAX_EXPRESSION {
                    return Err(error(format!("what `{name}` stands for is longer than {MAX_EXPRESSION} bytes")));
                }
                if defines.insert(name, expression).is_some() {
                    return Err(error(format!("`{name}` is defined a second time")));
                }
            }
            "#property" if rest.is_empty() => return Err(error("a formula is missing after `#property`".to_owned())),
            "#property" => formulas.push((number + 1, rest)),
            _ => return Err(error(format!("`{directive}` is neither `#define` nor `#property`"))),
        }
    }
    let property = |(line, text)| LtlProperty { formula: replace(text, Inside::Formula, &defines), line };
    Ok(formulas.into_iter().map(property).collect())
}

/// A line up to `//`, unless that is quoted.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'/' if !quoted && line[at..].starts_with("//") => return &line[..at],
            _ => {}
        }
    }
    line
}

/// The name and the expression of a definition.
fn definition(text: &str) -> Result<(&str, &str), &'static str> {
    let end = text.bytes().take_while(|b| continues_word(*b)).count();
    if end == 0 || !text.bytes().next().is_some_and(begins_word) {
        return Err("a name is missing after `#define`");
    }
    let (name, expression) = text.split_at(end);
    match expression.trim() {
        "" => Err("an expression is missing after the name"),
        _ if expression.starts_with('(') => Err("definitions have no parameters; put a blank after the name"),
        expression => Ok((name, expression)),
    }
}

/// Where a name is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// By the expression in parentheses, unless it is part of a longer name (`P.name`, `P->name`).
    Expression,
    /// By the quoted expression. Operator letters may be run together with the name, and `->` is an implication.
    Formula,
}

/// Replaces defined names in a text. What is quoted stays as it is.
fn replace(text: &str, inside: Inside, defines: &HashMap<&str, String>) -> String {
    let bytes = text.as_bytes();
    let mut replaced = String::new();
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'"' {
            at += 1 + bytes[at + 1..].iter().take_while(|b| **b != b'"').count() + 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|b| continues_word(**b)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let word = &text[at..at + length];
        let before = &text[..at];
        let is_part = before.ends_with('.') || inside == Inside::Expression && before.ends_with("->");
        let most_letters = if inside == Inside::Formula { unary_letters(word, Bare::Words) } else { 0 };
        let letters = (0..=most_letters).find(|n| defines.contains_key(&word[*n..])).unwrap_or(0);
        if let Some(expression) = defines.get(&word[letters..]).filter(|_| !is_part) {
            replaced.push_str(&text[copied..at + letters]);
            match inside {
                Inside::Expression => replaced.push_str(&format!("({expression})")),
                Inside::Formula => replaced.push_str(&quote(expression)),
            }
            copied = at + length;
        }
        at += length;
    }
    replaced.push_str(&text[copied.min(text.len())..]);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let check = |text: &str, expect: &[(usize, &str)]| {
            let found = read_ltl_file(text).unwrap();
            let found: Vec<_> = found.iter().map(|p| (p.line, p.formula.as_str())).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("", &[]);
        check("// nothing\n\n", &[]);
        check("#define cs (P_0.CS == 1)\n#property G F cs", &[(2, "G F \"(P_0.CS == 1)\"")]);
        check(
            "#property [](a-><>b) // comment\n#define a P_0.a\r\n#define b x > 0",
            &[(1, "[](\"P_0.a\"-><>\"x > 0\")")],
        );
        check("#define p v\n#property GFp & !Xp & pp & \"p\" & q.p", &[(2, "GF\"v\" & !X\"v\" & pp & \"p\" & q.p")]);
        check("#define a x==1\n#define b P.a && !a && P->a\n#property G b", &[(3, "G \"P.a && !(x==1) && P->a\"")]);
        check("#define Foo x\n#property Foo & FFoo\n#property G Foo", &[(2, "\"x\" & F\"x\""), (3, "G \"x\"")]);
        check("#define a s == \"//\"\n#property F a", &[(2, "F \"s == \\\"//\\\"\"")]);
        check("#property \"a", &[(1, "\"a")]);
    }

    #[test]
    fn errors_name_the_line() {
        let check = |text: &str, line: usize, message: &str| {
            let expect = LtlFileError { line, message: message.to_owned() };
            assert_eq!(read_ltl_file(text), Err(expect), "{text}");
        };
        check("\nG a", 2, "`G` is neither `#define` nor `#property`");
        check("#define", 1, "a name is missing after `#define`");
        check("#define 1a b", 1, "a name is missing after `#define`");
        check("#define a", 1, "an expression is missing after the name");
        check("#define a(x) x", 1, "definitions have no parameters; put a blank after the name");
        check("#define a b\n#define a c", 2, "`a` is defined a second time");
        check("\n\n#property  ", 3, "a formula is missing after `#property`");
        let doubling: String = (1..100).map(|n| format!("#define a{n} a{} + a{}\n", n - 1, n - 1)).collect();
        let error = read_ltl_file(&format!("#define a0 x\n{doubling}")).unwrap_err();
        assert!(error.message.contains("longer than"), "{error}");
    }
}
