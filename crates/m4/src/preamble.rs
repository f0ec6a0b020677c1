//! The macros that parameterised DVE models count on, written in m4 itself.

/// The macros of [`expand_model`](crate::expand_model); the benchmark models of BEEM use them.
///
/// - `default(NAME, VALUE)` defines NAME unless it is defined. Written without quotes, a NAME the
///   caller defined arrives as its value, so nothing is done for a value the caller gave and for
///   what is no identifier.
/// - `forloop(VAR, FROM, TO, BODY)` gives BODY for each value, `myloop(VAR, FROM, TO, BODY, SEP)`
///   the same with SEP in between, and `forallx(BODY)` is the loop of `x` over 0 to N-1.
/// - `bool` is `byte`.
/// - `stack(NAME, SIZE)` and `queue(NAME, SIZE)` declare an array with a fill count, used by
///   `full`, `empty`, `push`, `pop`, `top`, `front` and `pop_front`.
/// - `buffer_channel(NAME, SIZE)`, `async_channel(NAME)`, `loosy_channel(NAME)` and
///   `bounded_loosy_channel(NAME, LOSSES)` declare the channels `NAME_in` and `NAME_out`, and put
///   a process between them that goes in front of the `system` line.
///
/// Comments start with `//` as in DVE, so that nothing inside them is expanded. Except for
/// `bool`, a name is a macro only in front of a parenthesis, for models have states called
/// `empty` or `full`.
pub const PREAMBLE: &str = r#"divert(-1)
changecom(`//')
define(`default', `ifelse($#, 0, ``$0'', `ifelse(
  regexp(`$1', `\`[A-Za-z_][A-Za-z_0-9]*\''), -1, `',
  `ifdef(`$1', `', `ifdef(`given $1', `', `define(`$1', `$2')')')')')')
define(`forloop', `ifelse($#, 0, ``$0'',
  `ifelse(eval(($2) <= ($3)), 1, `indir(`forloop start', `$1', eval($2), eval($3), `$4')')')')
define(`forloop start',
  `pushdef(`$1', `$2')indir(`forloop step', `$1', `$2', `$3', `$4')popdef(`$1')')
define(`forloop step', `define(`$1', `$2')$4`'ifelse(`$2', `$3', `',
  `indir(`$0', `$1', incr($2), `$3', `$4')')')
define(`myloop', `ifelse($#, 0, ``$0'',
  `ifelse(eval(($2) <= ($3)), 1,
    `forloop(`$1', `$2', ($3) - 1, `$4`'$5')forloop(`$1', `$3', `$3', `$4')')')')
define(`forallx', `ifelse($#, 0, ``$0'', `forloop(`x', 0, N - 1, `$1')')')

define(`bool', `byte')

define(`stack', `ifelse($#, 0, ``$0'', `byte $1[$2];
byte $1_act;define(`$1_size', `$2')')')
define(`queue', defn(`stack'))
define(`full', `ifelse($#, 0, ``$0'', `$1_act == $1_size')')
define(`empty', `ifelse($#, 0, ``$0'', `$1_act == 0')')
define(`push', `ifelse($#, 0, ``$0'', `$1[$1_act] = $2, $1_act = $1_act + 1')')
define(`pop', `ifelse($#, 0, ``$0'', `$1[$1_act-1] = 0, $1_act = $1_act - 1')')
define(`top', `ifelse($#, 0, ``$0'', `$1[$1_act-1]')')
define(`front', `ifelse($#, 0, ``$0'', `$1[0]')')
define(`pop_front', `ifelse($#, 0, ``$0'',
  `forloop(`i', 0, $1_size - 2, `$1[i] = $1[incr(i)], ')dnl
$1[eval($1_size - 1)] = 0, $1_act = $1_act - 1')')

define(`channel process', `channel $1_in, $1_out;dnl
divert(1)process channel_$1 {
$2
}
divert(0)define(`system', `undefine(`system')undivert(1)`system'')')
define(`buffer_channel', `ifelse($#, 0, ``$0'', `indir(`channel process', `$1',
`queue(items, $2)
state run;
init run;
trans
 run -> run { guard items_act < $2; sync $1_in?items[items_act]; effect items_act = items_act + 1; },
 run -> run { guard items_act > 0; sync $1_out!front(items); effect pop_front(items); };')')')
define(`cell process', `indir(`channel process', `$1', `byte held$2;
state idle, loaded;
init idle;
trans
 idle -> loaded { sync $1_in?held; },
 loaded -> idle { sync $1_out!held;$3 }$4;')')
define(`async_channel', `ifelse($#, 0, ``$0'', `indir(`cell process', `$1')')')
define(`loosy_channel', `ifelse($#, 0, ``$0'', `indir(`cell process', `$1', `', `', `,
 loaded -> idle { }')')')
define(`bounded_loosy_channel', `ifelse($#, 0, ``$0'',
  `indir(`cell process', `$1', `, losses', ` effect losses = 0;', `,
 loaded -> idle { guard losses < $2; effect losses = losses + 1; }')')')
divert(0)dnl
"#;

/// The name under which `default` finds that `value` was given by the caller; as it has a blank,
/// no source can have a macro of that name by chance.
pub(crate) fn given_mark(value: &str) -> String {
    format!("given {value}")
}
