//! Explores products whose sizes were published and compares them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]
#![allow(clippy::disallowed_methods, reason = "programs for developers read files and the environment")]

use clap::Parser;
use lariat_base::size::format_count;
use lariat_bench::table::{Column, Table};
use lariat_bench::temporary::TemporaryFolder;
use lariat_bench::{child, data, lariat};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Explore products of models and automata whose sizes were published, and compare states, transitions and levels.
///
/// Exit codes: 0 all are the same, 1 something differs or failed, 2 nothing could be compared.
#[derive(Parser)]
#[command(name = "products")]
struct Options {
    /// Add those that take minutes and gigabytes
    #[arg(long)]
    all: bool,

    /// The lariat executable [default: built from this repository]
    #[arg(long, value_name = "PATH")]
    lariat: Option<PathBuf>,
}

/// A published product.
struct Published {
    name: &'static str,
    model: &'static str,
    automaton: Automaton,
    states: u64,
    transitions: u64,
    /// Where it was measured.
    levels: Option<u64>,
    large: bool,
}

/// The automata of the bad runs, with as many states and edges as the publications' tools gave them.
enum Automaton {
    /// The negation of `G F p`.
    NotAgainAndAgain(&'static str),
    /// The negation of `G (a -> F b)`.
    NoResponse(&'static str, &'static str),
    /// The negation of `(!m) U b`.
    TooEarly(&'static str, &'static str),
}

const PUBLISHED: &[Published] = &[
    Published {
        name: "Lamport(3),P4",
        model: "lamport.1",
        automaton: Automaton::NotAgainAndAgain("P_0.CS || P_1.CS || P_2.CS"),
        states: 56_377,
        transitions: 204_081,
        levels: Some(57),
        large: false,
    },
    Published {
        name: "Anderson(4),P2",
        model: "anderson.4",
        automaton: Automaton::NotAgainAndAgain("P_0.CS || P_1.CS || P_2.CS || P_3.CS"),
        states: 58_205,
        transitions: 243_904,
        levels: Some(81),
        large: false,
    },
    Published {
        name: "Peterson(4),P4",
        model: "peterson.4",
        automaton: Automaton::NotAgainAndAgain("P_0.CS || P_1.CS || P_2.CS || P_3.CS"),
        states: 2_239_039,
        transitions: 11_449_204,
        levels: Some(104),
        large: false,
    },
    Published {
        name: "Szymanski, 110 layers",
        model: "szymanski.3",
        automaton: Automaton::NotAgainAndAgain("P_0.CS"),
        states: 2_256_741,
        transitions: 12_610_605,
        levels: Some(111),
        large: false,
    },
    Published {
        name: "Szymanski(4),P2",
        model: "szymanski.4",
        automaton: Automaton::NoResponse("P_0.p2", "P_0.CS"),
        states: 4_555_287,
        transitions: 17_729_530,
        levels: Some(130),
        large: false,
    },
    Published {
        name: "Lifts(7),P4",
        model: "lifts.7",
        automaton: Automaton::TooEarly("Wheels.moving_up", "Environment.pressed_up_0"),
        states: 7_496_336,
        transitions: 20_080_828,
        levels: Some(263),
        large: false,
    },
    Published {
        name: "MCS(5),P4",
        model: "mcs.5",
        automaton: Automaton::NotAgainAndAgain("P_0.CS || P_1.CS || P_2.CS || P_3.CS || P_4.CS"),
        states: 119_663_657,
        transitions: 693_157_106,
        levels: None,
        large: true,
    },
];

impl Automaton {
    fn hoa(&self) -> String {
        let (propositions, body) = match self {
            Self::NotAgainAndAgain(p) => (vec![*p], "State: 0\n[t] 0\n[!0] 1\nState: 1 {0}\n[!0] 1\n"),
            Self::NoResponse(a, b) => (vec![*a, *b], "State: 0\n[t] 0\n[0&!1] 1\nState: 1 {0}\n[!1] 1\n"),
            Self::TooEarly(m, b) => (vec![*m, *b], "State: 0 {0}\n[!1] 0\n[0&!1] 1\nState: 1 {0}\n[t] 1\n"),
        };
        let names: Vec<String> = propositions.iter().map(|p| format!("\"{p}\"")).collect();
        format!(
            "HOA: v1\nStates: 2\nStart: 0\nAP: {} {}\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\n{body}--END--\n",
            names.len(),
            names.join(" ")
        )
    }
}

fn main() -> ExitCode {
    if let Some(code) = child::measure_if_asked() {
        return code;
    }
    match compare(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("products: {message}");
            ExitCode::from(2)
        }
    }
}

/// How many differ.
fn compare(options: &Options) -> Result<usize, String> {
    let shared = data::shared_folder()?;
    let lariat = lariat::find(options.lariat.as_deref())?;
    let folder = TemporaryFolder::new("products")?;
    let columns = [("product", 22), ("states", 13), ("result", 10), ("seconds", 9), ("states/s", 12)];
    let table = Table::start(&columns.map(|(title, width)| Column { title, width }));
    let mut n_different = 0;
    for product in PUBLISHED.iter().filter(|p| options.all || !p.large) {
        let (found, seconds) = explore(&lariat, &data::dve_file(&shared, product.model), product, folder.path())?;
        let same = found.0 == product.states
            && found.1 == product.transitions
            && product.levels.is_none_or(|levels| levels == found.2);
        n_different += usize::from(!same);
        table.row(&[
            product.name.to_owned(),
            format_count(found.0),
            if same { "ok" } else { "DIFFERENT" }.to_owned(),
            format!("{seconds:.2}"),
            format_count((found.0 as f64 / seconds.max(1e-9)) as u64),
        ]);
        if !same {
            let (states, transitions, levels) = (product.states, product.transitions, product.levels);
            table.remark(&format!("found {found:?}, published {states}, {transitions}, {levels:?}"));
        }
    }
    Ok(n_different)
}

/// States, transitions and levels; and seconds.
fn explore(lariat: &Path, model: &Path, product: &Published, folder: &Path) -> Result<((u64, u64, u64), f64), String> {
    let automaton = folder.join("automaton.hoa");
    std::fs::write(&automaton, product.automaton.hoa()).map_err(|e| format!("{}: {e}", automaton.display()))?;
    let words = ["explore", "--json", "--quiet", "--memory", "20GiB", "--automaton"];
    let mut arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    arguments.extend([automaton.into_os_string(), model.as_os_str().to_owned()]);
    let finished = child::run(lariat, &arguments, folder)?;
    let found: serde_json::Value =
        serde_json::from_str(&finished.stdout).map_err(|e| format!("{}: {e} ({})", product.name, finished.ending()))?;
    let number = |key: &str| found[key].as_u64().ok_or_else(|| format!("{}: no {key}", product.name));
    let seconds = found["seconds"].as_f64().unwrap_or(0.0);
    Ok(((number("states")?, number("transitions")?, number("levels")?), seconds))
}
