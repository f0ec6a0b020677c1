//! Cases for macros, arguments and quotes: input, and what GNU m4 1.4.19 makes of it.

/// The cases.
#[rustfmt::skip]
pub const CASES: &[(&str, &str)] = &[
    (
        r#"plain text, no macros (here)
"#,
        r#"plain text, no macros (here)
"#,
    ),
    (
        r#"`quoted' ``nested `deep' quotes'' `len(abc)'
"#,
        r#"quoted `nested `deep' quotes' len(abc)
"#,
    ),
    (
        r#"# a comment with len(`abc') and `quotes
len(`abc') # len(`abc')
"#,
        r#"# a comment with len(`abc') and `quotes
3 # len(`abc')
"#,
    ),
    (
        r#"define(`f', `[$1]')f(a)f(a, b)f( a b )f()f
"#,
        r#"[a][a][a b ][][]
"#,
    ),
    (
        r#"define(`f', `$#:$*:$@')f(1,`2',3)f f() f(a, (b, c), `d,e')
"#,
        r#"3:1,2,3:1,2,30:: 1:: 3:a,(b, c),d,e:a,(b, c),d,e
"#,
    ),
    (
        r#"define(`f',`$1-$2-$10-$11-$0x-$$-$')f(1,2,3,4,5,6,7,8,9,ten)
"#,
        r#"1-2-ten--fx-$$-$
"#,
    ),
    (
        r#"define(`greet', `Hello $1')greet(`world') greet (`world') greeting
"#,
        r#"Hello world Hello  (world) greeting
"#,
    ),
    (
        r#"define(`x', `1')define(`y', `x')y `y' ``y'' defn(`y')
"#,
        r#"1 y `y' x
"#,
    ),
    (
        r#"define len index(no) eval ifelse substr dnl gone
kept
"#,
        r#"define len 0 eval ifelse substr kept
"#,
    ),
    (
        r#"define(`a', `first')pushdef(`a', `second')a popdef(`a')a popdef(`a')a
"#,
        r#"second first a
"#,
    ),
    (
        r#"define(`a', `1')define(`a', `2')pushdef(`a',`3')undefine(`a')a ifdef(`a', yes, no)
"#,
        r#"a no
"#,
    ),
    (
        r#"define(`foo', `bar')define(`foo', `baz')foo ifdef(`foo', `foo is defined', no)ifdef(`nofoo', yes)
"#,
        r#"baz baz is definedifdef(nofoo, yes)
"#,
    ),
    (
        r#"ifelse(a, a, yes, no) ifelse(a, b, yes, no) ifelse(a, b, 1, c, c, 2, 3) ifelse(a,b,1,c,d,2,3) ifelse(a,b,1,c,d,2)
"#,
        r#"yes no 2 3 
"#,
    ),
    (
        r#"ifelse(a)ifelse(,,empty)ifelse( a,a,trimmed)ifelse(`a ',a,x,y)
"#,
        r#"emptyifelse( a,a,trimmed)y
"#,
    ),
    (
        r#"shift(1, 2, 3) shift(`a') shift(`len(x)', `len(xy)', ``len(xyz)'')
"#,
        r#"2,3  len(xy),`len(xyz)'
"#,
    ),
    (
        r#"define(`reverse', `ifelse($#, 0, , $#, 1, ``$1'', `reverse(shift($@)), `$1'')')reverse(`foo', `bar', `gnats', `and gnus')
"#,
        r#"and gnus, gnats, bar, foo
"#,
    ),
    (
        r#"incr(4) decr(0) incr(-1) incr(2147483647) decr(-2147483648)
"#,
        r#"5 -1 0 -2147483648 2147483647
"#,
    ),
    (
        r#"len() len(`abcdef') index(`gnus, gnats, and armadillos', `nat') index(`abc', `x') index(`abc', `')
"#,
        r#"0 6 7 -1 0
"#,
    ),
    (
        r#"substr(`gnus, gnats, and armadillos', 6) substr(`gnus, gnats', 6, 5) substr(`abc', 9)|substr(`abc', -1)|substr(`abc', 1, -1)|substr(`abc',3)|
"#,
        r#"gnats, and armadillos gnats ||||
"#,
    ),
    (
        r#"translit(`GNUs not Unix', `A-Z') translit(`GNUs not Unix', `a-z', `A-Z') translit(`GNUs not Unix', `A-Z', `z-a') translit(`+,-12345', `+--1-5', `<;>a-c-a') translit(`abcdef', `aabdef', `bcged')
"#,
        r#"s not nix GNUS NOT UNIX tmfs not fnix <;>abcba bgced
"#,
    ),
    (
        r#"translit(`abc-z', `a-c-', `A-C_') translit(`abc', `c-a', `123') translit(`a-b',`-',`_') translit(`abc',`',`x')
"#,
        r#"ABC_z 321 a_b abc
"#,
    ),
    (
        r#"define(`tail', `recursion')define(`loop', `ifelse(`$1', 0, done, `loop(decr($1))')')loop(500)
"#,
        r#"done
"#,
    ),
    (
        r#"define(`cond', `ifelse($1, 1, `one', $1, 2, `two', `many')')cond(1) cond(2) cond(3)
"#,
        r#"one two many
"#,
    ),
    (
        r#"define(`b', `foo')define(`foobar', `pasted')b()bar b`'bar
"#,
        r#"pasted foobar
"#,
    ),
    (
        r#"define(`lp', `(')len`'lp()abc)
"#,
        r#"len(abc)
"#,
    ),
    (
        r#"define(`e', `$1')e(e(e(e(`deep')))) e(`e(e)') e(``e(e)'')
"#,
        r#"deep  e(e)
"#,
    ),
    (
        r#"define(`swap', `$2, $1')define(`two', `<$1|$2>')two(swap(a, b)) two(`swap(a, b)')
"#,
        r#"<b|a> <b, a|>
"#,
    ),
    (
        r#"define(`m', defn(`len'))m(`xyz') m define(`n', defn(`len')x)n(`xyz') define(`o', x`'defn(`len'))o
"#,
        r#"3 m 3 x
"#,
    ),
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
