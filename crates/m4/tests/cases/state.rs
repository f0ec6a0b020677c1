//! Cases for changed delimiters, diversions and wrapped text: input, and what GNU m4 1.4.19 makes of it.

/// The cases.
#[rustfmt::skip]
pub const CASES: &[(&str, &str)] = &[
    (
        r#"changequote([, ])[quoted `x' [nested]] changequote`'back `x'
"#,
        r#"quoted `x' [nested] back x
"#,
    ),
    (
        r#"changequote(<<, >>)define(<<f>>, <<[$1]>>)f(<<a <<b>> c>>) $<<@>> <plain>
"#,
        r#"[a b c] $@ <plain>
"#,
    ),
    (
        r#"changequote(,)`len(abc)' changequote(`,')`x'
"#,
        r#"`3' x
"#,
    ),
    (
        r#"changequote()`len(abc)'
"#,
        r#"`3'
"#,
    ),
    (
        r#"changequote([)[x' changequote(`,')`y'
"#,
        r#"x y
"#,
    ),
    (
        r#"changequote(`"', `"')"len(abc)" len("a""b")
"#,
        r#"len(abc) 2
"#,
    ),
    (
        r#"changequote([,])define([f], [$@])define([g], [changequote(`,')$1])f([a], [b])
"#,
        r#"a,b
"#,
    ),
    (
        r#"changecom(`//')// len(`a') x
# len(`a') // len(`a')
"#,
        r#"// len(`a') x
# 1 // len(`a')
"#,
    ),
    (
        r#"changecom# len(`a')
changecom(`#')# len(`a')
"#,
        r#"# 1
# len(`a')
"#,
    ),
    (
        r#"changecom()# len(`a')
"#,
        r#"# 1
"#,
    ),
    (
        r#"changecom(`/*', `*/')/* len(`a')
len(`b') */ len(`c') # len(`d')
"#,
        r#"/* len(`a')
len(`b') */ 1 # 1
"#,
    ),
    (
        r#"changecom(`//')define(`f', `$1 // $1 len($1)
len($1)')f(abc)
"#,
        r#"abc // abc len(abc)
3
"#,
    ),
    (
        r#"changecom(`', `z')# len(`x') z
"#,
        r#"# 1 z
"#,
    ),
    (
        r#"divert(1)one
divert(2)two
divert(0)zero
"#,
        r#"zero
one
two
"#,
    ),
    (
        r#"divert(-1)define(`x', `y') lost
divert`'x
"#,
        r#"y
"#,
    ),
    (
        r#"divert(2)two
divert(1)one
divert
undivert(2)undivert(1)end
"#,
        r#"
two
one
end
"#,
    ),
    (
        r#"divert(3)three divert(-5)neg divert(1)one undivert(1) divert(2)undivert(3)two divert`'zero
undivert(2,1)
"#,
        r#"zero
three two one  
"#,
    ),
    (
        r#"divert(1)a
divert(2)b
divert(1)undivert(2)c
divert(0)d
undivert
e
"#,
        r#"d
a
b
c

e
"#,
    ),
    (
        r#"divnum divert(3)divnum divert(-1)divnum divert(0)divnum
"#,
        r#"0 0
3 "#,
    ),
    (
        r#"define(`f', `divert(1)$1
divert')f(late)early
"#,
        r#"late
divertearly
"#,
    ),
    (
        r#"define(`f', `[$1]')divert(1)x
divert`'f(a undivert(1) b)
"#,
        r#"x
[a  b]
"#,
    ),
    (
        r#"m4wrap(`one
')m4wrap(`two
')text
"#,
        r#"text
two
one
"#,
    ),
    (
        r#"m4wrap(`first m4wrap(`second
')')m4wrap(`a', `b
')
"#,
        r#"
a b
first second
"#,
    ),
    (
        r#"m4wrap(`define(`x', `y')x
')x
"#,
        r#"x
y
"#,
    ),
    (
        r#"divert(1)diverted
divert`'m4wrap(`undivert(1)wrapped
')body
"#,
        r#"body
diverted
wrapped
"#,
    ),
    (
        r#"divert(1)lost
divert`'before m4exit after
"#,
        r#"before "#,
    ),
    (
        r#"m4wrap(`lost')before m4exit(0) after
"#,
        r#"before "#,
    ),
    (
        r#"divert(`')undivert(`')x divert(0)y
"#,
        r#"x y
"#,
    ),
    (
        r#"sinclude(`no/such/file/here')x
"#,
        r#"x
"#,
    ),
    (
        r#"debugmode()traceon(`len')traceoff(`len')traceoff x
"#,
        r#" x
"#,
    ),
    (
        r#"define(`upto', `ifelse($1, $2, `$3($1)', `$3($1)upto(incr($1), $2, `$3')')')define(`item', `<$1>')upto(1, 5, `item')
"#,
        r#"<1><2><3><4><5>
"#,
    ),
    (
        r#"define(`each', `ifelse(`$2', `', `', `$1(`$2')each(`$1', shift(shift($@)))')')define(`say', `($1) ')each(`say', `x', `y', `z')
"#,
        r#"(x) (y) (z) 
"#,
    ),
    (
        r#"define(`P', `process P_$1 {
state a;
 a -> a { guard x[$1] == ifelse($1, 0, `1', `0'); };
}
')P(0)P(1)
"#,
        r#"process P_0 {
state a;
 a -> a { guard x[0] == 1; };
}
process P_1 {
state a;
 a -> a { guard x[1] == 0; };
}

"#,
    ),
];
