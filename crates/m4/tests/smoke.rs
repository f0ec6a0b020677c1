//! Expands thousands of random texts: whatever they are, there is a result or an error.

use lariat_m4::{Define, expand, expand_model};

const FRAGMENTS: &[&str] = &[
    "`",
    "'",
    "(",
    ")",
    ",",
    ",",
    "(",
    ")",
    " ",
    "\n",
    "#",
    "$1",
    "$@",
    "$#",
    "$0",
    "$*",
    "a",
    "b",
    "x",
    "1",
    "-1",
    "9",
    "define(`a',",
    "define(`b',`$1",
    "a(",
    "b(`",
    "ifelse(",
    "eval(",
    "shift(",
    "dnl",
    "divert(1)",
    "divert(-1)",
    "divert",
    "undivert",
    "len(",
    "index(",
    "substr(",
    "incr(",
    "translit(`a-z',",
    "format(`%5.3d|%-*s|%c',",
    "regexp(`aab',`",
    "patsubst(`aab',`",
    "\\(",
    "\\)",
    "\\|",
    "*",
    "+",
    "?",
    "[",
    "]",
    "^",
    "\\1",
    "\\",
    "**",
    "<<",
    "%",
    "/",
    "0x",
    "m4wrap(`",
    "changequote(",
    "changequote",
    "changecom(",
    "pushdef(`a',",
    "popdef(`a')",
    "defn(`a')",
    "defn(`len')",
    "indir(`",
    "builtin(`",
    "include(`f')",
    "undefine(`b')",
    "m4exit",
    "forloop(i,0,2,`",
    "default(a,",
    "buffer_channel(c,2)",
    "system",
    "é",
    "\u{0}",
    "$",
    "//",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        // Xorshift: good enough to mix fragments, and the same on every run.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn file(_: &str) -> Result<String, String> {
    Ok("define(`b', `included $1')x\n".to_string())
}

#[test]
fn random_texts_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let defines = [Define { name: "x".to_string(), value: "y".to_string() }];
    let mut expanded = 0;
    for _ in 0..20_000 {
        let length = random.below(40);
        let pick = |_| FRAGMENTS[random.below(FRAGMENTS.len())];
        let text: String = (0..length).map(pick).collect();
        let results = [expand(&text, &defines, &mut file), expand_model(&text, &defines, &mut file)];
        for expansion in results.into_iter().flatten() {
            expanded += 1;
            let lines = expansion.text.split_inclusive('\n').count();
            assert_eq!(expansion.origins.len(), lines, "text: {text}");
        }
    }
    assert!(expanded > 1000, "only {expanded} texts expanded");
}
