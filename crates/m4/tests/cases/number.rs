//! Cases for arithmetic and formatted numbers: input, and what GNU m4 1.4.19 makes of it.

/// The cases.
#[rustfmt::skip]
pub const CASES: &[(&str, &str)] = &[
    (
        r#"eval(1 + 2 * 3) eval((1 + 2) * 3) eval(-3 * 5) eval(7 / 2) eval(-7 / 2) eval(-7 % 3) eval(7 % -3)
"#,
        r#"7 9 -15 3 -3 -1 1
"#,
    ),
    (
        r#"eval(2 ** 10) eval(2 ** 3 ** 2) eval(-2 ** 2) eval(2 * 3 ** 2) eval((-2) ** 3) eval(2**31) eval(2**32) eval(5**0)
"#,
        r#"1024 512 4 18 -8 -2147483648 0 1
"#,
    ),
    (
        r#"eval(1 < 2) eval(2 <= 2) eval(1 > 2) eval(2 >= 3) eval(1 == 1) eval(1 != 1) eval(3 > 2 > 1) eval(1 < 2 < 3) eval(1 == 1 != 0)
"#,
        r#"1 1 0 0 1 0 0 1 1
"#,
    ),
    (
        r#"eval(1 && 0) eval(1 || 0) eval(5 && 7) eval(5 || 0) eval(0 && 1 / 0) eval(1 || 1 / 0) eval(!0) eval(!5) eval(! ! 3) eval(!2 == 0)
"#,
        r#"0 1 1 1 0 1 1 0 1 1
"#,
    ),
    (
        r#"eval(6 & 3) eval(6 | 3) eval(6 ^ 3) eval(~0) eval(~5 & 15) eval(1 & 3 ^ 2 | 8) eval(1 | 2 == 2) eval(1 << 4) eval(-16 >> 2) eval(1 << 33) eval(1 << -1) eval(7 >> 1 << 2)
"#,
        r#"2 7 5 -1 10 11 1 16 -4 2 -2147483648 12
"#,
    ),
    (
        r#"eval(0x1F) eval(0XfF) eval(017) eval(0b101) eval(0B11) eval(0r36:z) eval(0r3:12) eval(0r1:111) eval(0xffffffff) eval(4294967297) eval(0x)
"#,
        r#"31 255 15 5 3 35 5 3 -1 1 0
"#,
    ),
    (
        r#"eval(- - 3) eval(+ + 3) eval(-(-3)) eval(1 - -1) eval(-0) eval(- 2147483648) eval(-2147483648 / -1) eval(-2147483648 % -1) eval(2147483647 + 1)
"#,
        r#"3 3 3 2 0 -2147483648 -2147483648 0 -2147483648
"#,
    ),
    (
        r#"eval(10, 2) eval(-10, 16) eval(255, 16, 4) eval(-5, 2, 8) eval(7, 1) eval(-7, 1, 9) eval(0, 1) eval(35, 36) eval(5, `', 3) eval(12, 10, 0) eval(-2147483648, 16) eval(0,1,0)| eval(0,2,0)
"#,
        r#"1010 -a 00ff -00000101 1111111 -001111111 0 z 005 12 -80000000 | 0
"#,
    ),
    (
        r#"define(`twice_itself', `eval(($1) ** 2)')twice_itself(9) twice_itself(twice_itself(2)`'+1)
"#,
        r#"81 25
"#,
    ),
    (
        r#"eval( 1
	+ 2 ) eval((((((((1)))))))) eval(1+1-1*2/2%3) eval(8/2/2) eval(8-2-2)
"#,
        r#"3 1 1 2 4
"#,
    ),
    (
        r#"format(`%d|%5d|%-5d|%05d|%+d|% d|%i', 42, 42, 42, 42, 42, 42, 42)
"#,
        r#"42|   42|42   |00042|+42| 42|42
"#,
    ),
    (
        r#"format(`%x|%X|%#x|%#X|%o|%#o|%u|%x', 255, 255, 255, 255, 8, 8, -1, -1)
"#,
        r#"ff|FF|0xff|0XFF|10|010|4294967295|ffffffff
"#,
    ),
    (
        r#"format(`%s|%10s|%-10s|%.2s|%c%c|%%|%5c', ab, ab, ab, abc, 65, 66, 67)
"#,
        r#"ab|        ab|ab        |ab|AB|%|    C
"#,
    ),
    (
        r#"format(`%*d|%-*d|%.*d|%5.3d|%05.3d|%.0d|%+.3d|%*d|', 5, 1, 5, 2, 3, 4, 6, 7, 0, 5, -5, 3)
"#,
        r#"    1|2    |004|  006|  007||+005|3    |
"#,
    ),
    (
        r#"format(`no conversions') format(`') format(`%s and %s', one) format(`%d') format(`%s', 1, 2) format(`%ld %hd %hhd', 70000, 70000, 300) format(`%08x %.3x', 10, 10)
"#,
        r#"no conversions  one and  0 1 70000 4464 44 0000000a 00a
"#,
    ),
    (
        r#"define(`name', `channel_in')format(`%s has %d letters', name, len(name))
"#,
        r#"channel_in has 10 letters
"#,
    ),
    (
        r#"format(`%03d_%s', incr(6), `x,y')
"#,
        r#"007_x,y
"#,
    ),
];
