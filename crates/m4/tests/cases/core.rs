//! Cases for macros and their arguments: input, and what GNU m4 1.4.19 makes of it.

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
        r#"define(`last', `ifelse($#, 1, ``$1'', `last(shift($@))')')last(`a', `b, c', `d e')
"#,
        r#"d e
"#,
    ),
    (
        r#"incr(4) decr(0) incr(-1) incr(2147483647) decr(-2147483648)
"#,
        r#"5 -1 0 -2147483648 2147483647
"#,
    ),
    (
        r#"len() len(`abcdef') index(`wait, work, and done', `ork') index(`abc', `x') index(`abc', `')
"#,
        r#"0 6 7 -1 0
"#,
    ),
    (
        r#"substr(`wait, work, and done', 6) substr(`wait, works', 6, 5) substr(`abc', 9)|substr(`abc', -1)|substr(`abc', 1, -1)|substr(`abc',3)|
"#,
        r#"work, and done works ||||
"#,
    ),
    (
        r#"translit(`Red apples Sold', `A-Z') translit(`Red apples Sold', `a-z', `A-Z') translit(`Red apples Sold', `A-Z', `z-a') translit(`*+,56', `*-,5-6', `x-za-b') translit(`abcd', `aabd', `1234')
"#,
        r#"ed apples old RED APPLES SOLD ied apples hold xyzab 13c4
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
];
