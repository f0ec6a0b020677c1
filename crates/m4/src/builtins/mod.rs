//! The builtin macros: their names, and which function runs which.

mod defining;
mod pattern;
mod streams;
mod strings;

use crate::call::Argument;
use crate::machine::Machine;
use crate::text::Text;

pub(crate) use strings::number;

macro_rules! builtins {
    ($($variant:ident $name:literal $needs:literal;)*) => {
        /// A macro that m4 brings along.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Builtin { $($variant),* }

        const TABLE: &[(Builtin, &str, bool)] = &[$((Builtin::$variant, $name, $needs)),*];
    };
}

// The last column: whether the name is a macro only in front of a parenthesis.
builtins! {
    ByName "builtin" true;
    ChangeCom "changecom" false;
    ChangeQuote "changequote" false;
    DebugFile "debugfile" false;
    DebugMode "debugmode" false;
    Decr "decr" true;
    Define "define" true;
    Defn "defn" true;
    Divert "divert" false;
    DivNum "divnum" false;
    Dnl "dnl" false;
    DumpDef "dumpdef" false;
    ErrPrint "errprint" true;
    EsysCmd "esyscmd" true;
    Eval "eval" true;
    File "__file__" false;
    Format "format" true;
    IfDef "ifdef" true;
    IfElse "ifelse" true;
    Include "include" true;
    Incr "incr" true;
    Index "index" true;
    Indir "indir" true;
    Len "len" true;
    Line "__line__" false;
    M4Exit "m4exit" false;
    M4Wrap "m4wrap" true;
    MakeTemp "maketemp" true;
    MksTemp "mkstemp" true;
    PatSubst "patsubst" true;
    PopDef "popdef" true;
    Program "__program__" false;
    PushDef "pushdef" true;
    RegExp "regexp" true;
    Shift "shift" true;
    SInclude "sinclude" true;
    SubStr "substr" true;
    SysCmd "syscmd" true;
    SysVal "sysval" false;
    TraceOff "traceoff" false;
    TraceOn "traceon" false;
    Translit "translit" true;
    Undefine "undefine" true;
    Undivert "undivert" false;
}

impl Builtin {
    /// Every builtin.
    pub(crate) fn all() -> impl Iterator<Item = Builtin> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> (&'static str, bool) {
        let row = TABLE.iter().find(|row| row.0 == self);
        row.map_or(("", false), |row| (row.1, row.2))
    }

    /// Its original name.
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// Whether it is a macro only in front of a parenthesis.
    pub(crate) fn needs_arguments(self) -> bool {
        self.row().1
    }

    fn by_name(name: &[u8]) -> Option<Builtin> {
        let row = TABLE.iter().find(|row| row.1.as_bytes() == name);
        row.map(|row| row.0)
    }
}

/// The arguments of a call, with the name it was called by.
pub(crate) struct Args<'a> {
    name: &'a [u8],
    values: &'a [Argument],
}

impl<'a> Args<'a> {
    fn count(&self) -> usize {
        self.values.len()
    }

    fn get(&self, number: usize) -> Option<&'a Argument> {
        self.values.get(number.checked_sub(1)?)
    }

    /// The text of argument `number`, counted from 1; nothing if it is missing.
    fn text(&self, number: usize) -> &'a [u8] {
        self.get(number).map_or(b"", Argument::bytes)
    }

    /// The number in argument `number`; like m4, nothing counts as 0.
    fn number(&self, number: usize) -> Result<i32, String> {
        strings::number(self.text(number), self.name)
    }
}

/// Runs a builtin.
pub(crate) fn run(machine: &mut Machine<'_>, builtin: Builtin, name: &[u8], values: &[Argument]) -> Result<(), String> {
    use Builtin as B;
    let args = Args { name, values };
    let text = match builtin {
        B::ByName | B::Indir | B::Define | B::PushDef | B::PopDef | B::Undefine | B::Defn => {
            return defining::run(machine, builtin, &args);
        }
        B::IfDef | B::IfElse | B::Shift => return defining::choose(machine, builtin, &args),
        B::Decr => strings::step(&args, -1),
        B::Incr => strings::step(&args, 1),
        B::Eval => strings::eval(&args),
        B::Format => crate::format::format(args.values),
        B::Index => strings::index(&args),
        B::Len => strings::len(&args),
        B::SubStr => strings::substr(&args),
        B::Translit => strings::translit(&args),
        B::RegExp => pattern::regexp(&args),
        B::PatSubst => pattern::patsubst(&args),
        B::Line => Ok(machine.place.outer.to_string().into_bytes()),
        B::File => Ok(b"stdin".to_vec()),
        B::Program => Ok(b"m4".to_vec()),
        B::DebugFile | B::DebugMode | B::DumpDef | B::TraceOff | B::TraceOn => Ok(Vec::new()),
        B::EsysCmd | B::MakeTemp | B::MksTemp | B::SysCmd | B::SysVal => {
            Err(format!("{}: running programs from a model is not supported", builtin.name()))
        }
        B::ChangeCom | B::ChangeQuote | B::Divert | B::DivNum | B::Dnl | B::ErrPrint => {
            streams::run(machine, builtin, &args)
        }
        B::Include | B::SInclude | B::M4Exit | B::M4Wrap | B::Undivert => streams::run(machine, builtin, &args),
    }?;
    machine.push_result(Text::nowhere(text))
}
