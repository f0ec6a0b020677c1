//! Cases for regular expressions: input, and what GNU m4 1.4.19 makes of it.

/// The cases.
#[rustfmt::skip]
pub const CASES: &[(&str, &str)] = &[
    (
        r#"regexp(`Red apples Sold', `\<[a-z]\w+') regexp(`Red apples Sold', `\<Q\w*') regexp(`Red apples Sold', `\w\(\w+\)$', `[\&|\1]')
"#,
        r#"4 -1 [Sold|old]
"#,
    ),
    (
        r#"patsubst(`Red apples Sold', `^', `> ') patsubst(`Red apples Sold', `\<', `> ') patsubst(`Red apples Sold', `\w*', `(\&)') patsubst(`Red apples Sold', `\w+', `(\&)') patsubst(`Red apples Sold', `[A-Z][a-z]+')
"#,
        r#"> Red apples Sold > Red > apples > Sold (Red)() (apples)() (Sold)() (Red) (apples) (Sold)  apples 
"#,
    ),
    (
        r#"patsubst(`abc', `a\|ab', `<\&>') patsubst(`abcd', `\(a\|ab\)\(c\|bcd\)', `<\1,\2>') patsubst(`aab', `\(a*\)\(ab\)*', `<\&>')
"#,
        r#"<ab>c <a,bcd> <aab><>
"#,
    ),
    (
        r#"regexp(`a+b', `a\+b') regexp(`aab', `a\+b') regexp(`aab', `a+b') regexp(`a?b', `a\?b') regexp(`a{2}', `a\{2\}') regexp(`aa', `a\{2\}') regexp(`x:]', `[[:digit:]]')
"#,
        r#"0 -1 0 0 0 -1 1
"#,
    ),
    (
        r#"patsubst(`abc', `', `-') patsubst(`abc', `x*', `-') patsubst(`baaac', `a*', `-') patsubst(`aXbX', `X') patsubst(`', `', `x') patsubst(`abc', `$', `<')
"#,
        r#"-a-b-c- -a-b-c- -b--c- ab x abc<
"#,
    ),
    (
        r#"patsubst(`a
b', `^', `>') patsubst(`a
b', `$', `<') regexp(`a
b', `a.b') regexp(`a
b', `a[^x]b')
"#,
        r#">a
>b a<
b< -1 0
"#,
    ),
    (
        r#"regexp(`abc', `b', `\\') regexp(`abc', `b', `\q') regexp(`abc', `b', `&') regexp(`abc', `x', `y')| regexp(`abab', `\(ab\)\1') regexp(`aba', `\(ab\)\1') regexp(`aXa', `\(a\)X\1', `\&')
"#,
        r#"\ q & | 0 -1 aXa
"#,
    ),
    (
        r#"regexp(`a^b', `a^b') regexp(`a$b', `a$b') regexp(`*a', `*a') regexp(`a*', `a\*') regexp(`ab', `\(*b\)') regexp(`+', `+') regexp(`ab', `a**b') regexp(`b', `a?+b') regexp(`aaa', `a*?', `\&')
"#,
        r#"0 0 0 0 -1 0 0 0 aaa
"#,
    ),
    (
        r#"regexp(`]a', `[]a]*', `\&') patsubst(`x-y', `[^-x]', `_') regexp(`a', `[z-a]') regexp(`a-c', `[a-]*', `\&') regexp(`a\b', `[\]') patsubst(`AbC', `[a-z]', `x')
"#,
        r#"]a x-_ -1 a- 1 AxC
"#,
    ),
    (
        r#"regexp(`a b', `\s') regexp(`a b', `\S+ ', `[\&]') regexp(`ab cd', `\bcd\b') regexp(`abcd', `b\Bc') regexp(`foo.bar', `\.') regexp(`x_1 y', `\W') patsubst(`ab ab', `b\>', `X')
"#,
        r#"1 [a ] 3 1 3 3 aX aX
"#,
    ),
    (
        r#"changequote([,])regexp([ab],[\`a]) regexp([ab],[\`b]) regexp([ab],[b\']) regexp([ba],[b\']) regexp([ab],[a\|*b]) regexp([ab],[\|b]) regexp([ab],[a\>]) regexp([a-b],[a\>]) regexp([ab],[^*ab]) regexp([*ab],[^*ab])
"#,
        r#"0 -1 1 -1 0 0 -1 0 -1 0
"#,
    ),
    (
        r#"patsubst(`abab', `\(a\)\(b\)', `\2\1') patsubst(`aaa', `\(a\)*', `<\1>') patsubst(`foobar', `o+\|b', `_') patsubst(`xay', `\(a\|b\)?', `[\1]') patsubst(`ab', `\(a\)\|\(b\)', `<\1>')
"#,
        r#"baba <a><> f__ar []x[a][]y[] <a><>
"#,
    ),
    (
        r#"regexp(`^a', `\^a') regexp(`a', `x\|^a') regexp(`ba', `\(^a\)') regexp(`ab', `\(a$\)') regexp(`a|b', `a|b') regexp(`a(b', `a(b') regexp(`ac', `a\(\)c') regexp(`b$', `b$\|c') regexp(`a$', `a$$') regexp(`^', `^^')
"#,
        r#"0 0 -1 -1 0 0 0 -1 0 0
"#,
    ),
    (
        r#"regexp(`aab', `\(a\|ab\)*b', `\1') regexp(`abcabc', `\(abc\|ab\)\(c\|abc\)', `\1,\2') regexp(`ab', `\(a\)\(b\)?', `\2') regexp(`xyx', `\(x\|y\)*', `\1') regexp(`ab', `\(\(a\)b\)', `\1\2')
"#,
        r#"a abc,abc b x aba
"#,
    ),
    (
        r#"define(`both', `patsubst($@) regexp($@)')both(`tick tack Tick', `[tT]i\|ack', `<\&>')
"#,
        r#"<ti>ck t<ack> <Ti>ck <ti>
"#,
    ),
    (
        r#"define(`up', `translit(`$1', `a-z', `A-Z')')regexp(`state idle', `^\(\w\)\(\w*\)', `up(`\1')`\2'')
"#,
        r#"State
"#,
    ),
];
