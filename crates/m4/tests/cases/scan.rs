//! Cases for definitions, words, lines and quotes: input, and what GNU m4 1.4.19 makes of it.

/// The cases.
#[rustfmt::skip]
pub const CASES: &[(&str, &str)] = &[
    (
        r#"define(`f', `$1')define(`g', defn(`f'))g(7) defn(`f') defn(`nothing') defn(`f', `g')
"#,
        r#"7 $1  $1$1
"#,
    ),
    (
        r#"define(`a b', `spaced')indir(`a b') indir(`len', `abc') builtin(`len', `abcd') indir(`indir', `indir', `len', `ab')
"#,
        r#"spaced 3 4 2
"#,
    ),
    (
        r#"define(`define', `redefined $1')define(x) builtin(`define', `y', `z')y
"#,
        r#"redefined x z
"#,
    ),
    (
        r#"undefine(`len')len(`abc') ifdef(`len', 1, 0)
"#,
        r#"len(abc) 0
"#,
    ),
    (
        r#"define(`f', `before')f(define(`f', `after')) f
"#,
        r#"before after
"#,
    ),
    (
        r#"define(`x', `$')x1 define(`d', `$1$')d(a)
"#,
        r#"x1 a$
"#,
    ),
    (
        r#"define(`empty')empty|define()|define(`q', `a
b')q
"#,
        r#"||a
b
"#,
    ),
    (
        r#"one dnl two
three dnl(a, b) four
five`'dnl six
"#,
        r#"one three five"#,
    ),
    (
        r#"define(`f', `[$1|$2]')f(
   a
 , b
)f(
	`  q')
"#,
        r#"[a
 |b
][  q|]
"#,
    ),
    (
        r#"__line__
__line__ define(`l', `__line__')l
l(
x) __line__
"#,
        r#"1
2 2
3 4
"#,
    ),
    (
        r#"define(`f', `($1)')f((a, b), c) f(`)') f(() ()) f(a(b)c(d))
"#,
        r#"((a, b)) ()) (() ()) (a(b)c(d))
"#,
    ),
    (
        r#"define(`x', `y')x_ _x x1 1x x-x x.x "x" x
"#,
        r#"x_ _x x1 1y y-y y.y "y" y
"#,
    ),
    (
        r#"ifdef(`__gnu__', gnu)ifdef(`__unix__', unix) __gnu__|
"#,
        r#"gnuifdef(__unix__, unix) |
"#,
    ),
    (
        r#"define(`f', ``$1'')f(`x') define(`g', `$@')g(`a', `b') define(`h', `$*')h(`len(a)')
"#,
        r#"x a,b 1
"#,
    ),
    (
        r#"errprint(`')dumpdef(`len')x
"#,
        r#"x
"#,
    ),
    (
        r#"define(`f', `a')`'f`'f`'f
"#,
        r#"aaa
"#,
    ),
    (
        r#"define(`a', `b')define(`b', `c')define(`c', `d')a b c d
"#,
        r#"d d d d
"#,
    ),
    (
        r#"define(`f', `$1
')f(x)f(y)z
"#,
        r#"x
y
z
"#,
    ),
    (
        r#"len(`é') substr(`héllo', 0, 1) `žluťoučký' kůň
"#,
        r#"2 h žluťoučký kůň
"#,
    ),
    (
        r#"define(`N', 3)byte a[N]; // N processes' things
eval(N*2)
"#,
        r#"byte a[3]; // 3 processes' things
6
"#,
    ),
    (
        r#"len(# not here)
) len(a#b
c)
"#,
        r#"12 5
"#,
    ),
    (
        r#"define(`x', `#')x len(abc)
len(abc)
"#,
        r#"# len(abc)
3
"#,
    ),
    (
        r#"len((,)) len(`,') len((`)')) len(
  (
 ))
"#,
        r#"3 1 3 4
"#,
    ),
    (
        r#"builtin(`eval', 1 + 2) builtin(`ifelse', a, a, `yes') indir(`define', `k', `v')k indir(`define', `len2', defn(`len'))len2(abc)
"#,
        r#"3 yes v 3
"#,
    ),
    (
        r#"define(`f',`x')f
f f
  f  f
"#,
        r#"x
x x
  x  x
"#,
    ),
];
