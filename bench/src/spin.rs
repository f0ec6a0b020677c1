//! SPIN: which models it is compared on, generating and compiling its verifier, running that, and reading its answer.

use crate::child::{self, Finished};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A model that both tools explore, and the sizes that SPIN's verifier has to be told.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Its name, without an ending.
    pub name: &'static str,
    /// `-m`: the longest path of the depth-first search. The verifier clears a stack for so many steps before it
    /// starts, which costs it time and memory: so each model has little more than it needs.
    pub depth: u32,
    /// `-w`: the binary logarithm of the slots of the hash table.
    pub slots: u32,
    /// When it is explored.
    pub when: When,
    /// Thousand states per CPU second of LTSmin (`dve2lts-mc`, one thread, breadth-first, tree table), where they were measured; on
    /// another machine, so only the order of magnitude says something.
    pub ltsmin: Option<u32>,
}

/// When a model is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// Not in a quick comparison.
    NotQuick,
    /// Only on request: it takes minutes and gigabytes.
    OnRequest,
}

/// The models, the smallest first.
pub const MODELS: &[Model] = &[
    Model { name: "peterson.4", depth: 80_000, slots: 21, when: When::Always, ltsmin: None },
    Model { name: "szymanski.4", depth: 80_000, slots: 22, when: When::Always, ltsmin: Some(328) },
    Model { name: "at.4", depth: 900_000, slots: 23, when: When::Always, ltsmin: Some(600) },
    Model { name: "bakery.5", depth: 400_000, slots: 23, when: When::Always, ltsmin: Some(563) },
    Model { name: "elevator2.3", depth: 900_000, slots: 23, when: When::NotQuick, ltsmin: Some(705) },
    Model { name: "fischer.6", depth: 150_000, slots: 23, when: When::NotQuick, ltsmin: None },
    Model { name: "bakery.7", depth: 1_750_000, slots: 25, when: When::NotQuick, ltsmin: None },
    Model { name: "mcs.5", depth: 16_000_000, slots: 26, when: When::OnRequest, ltsmin: None },
    Model { name: "peterson.5", depth: 14_000_000, slots: 27, when: When::OnRequest, ltsmin: None },
];

/// The verifier gives up beyond this many megabytes.
const MEMORY_LIMIT: u32 = 20_000;

/// Whether `spin` and a C compiler are there.
///
/// # Errors
/// A message that names what is missing.
pub fn check_tools() -> Result<(), String> {
    let missing = |(program, flag): &(&'static str, &str)| {
        let started =
            Command::new(program).arg(flag).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        started.is_err()
    };
    let tools = [("spin", "-V"), ("gcc", "--version")];
    let missing: Vec<&str> = tools.iter().filter(|tool| missing(tool)).map(|tool| tool.0).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "this comparison needs `{}`, which cannot be run; install SPIN 6.5 and GCC, and put them on the PATH",
        missing.join("` and `")
    ))
}

/// Generates the verifier of the Promela model `promela` in `folder`, compiles it, and says where it is.
///
/// # Errors
/// If SPIN or the compiler failed.
pub fn compile(promela: &Path, folder: &Path) -> Result<PathBuf, String> {
    if !promela.is_file() {
        return Err(format!("no model: {} is missing", promela.display()));
    }
    // Without `-o1 -o2 -o3` SPIN merges steps and leaves variables out: it would explore other states than the model has.
    let generate = ["-a", "-o1", "-o2", "-o3"].map(OsString::from);
    step("spin", generate.into_iter().chain([promela.into()]), folder)?;
    let limit = format!("-DMEMLIM={MEMORY_LIMIT}");
    let compile = ["-O3", "-DSAFETY", "-DNOREDUCE", &limit, "-o", "pan", "pan.c"].map(OsString::from);
    step("gcc", compile.into_iter(), folder)?;
    Ok(folder.join("pan"))
}

fn step(program: &str, arguments: impl Iterator<Item = OsString>, folder: &Path) -> Result<(), String> {
    let arguments: Vec<OsString> = arguments.collect();
    let finished = child::run(Path::new(program), &arguments, folder)?;
    match finished.code {
        Some(0) => Ok(()),
        _ => Err(format!("{program}: {}", finished.ending())),
    }
}

/// A temporal property, and the sizes that SPIN's verifier has to be told.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The property, in SPIN's syntax.
    pub ltl: &'static str,
    /// `-m`, as in [`Model`].
    pub depth: u32,
    /// `-w`, as in [`Model`].
    pub slots: u32,
}

/// Generates the verifier of a property of the Promela model `promela` in `folder`, compiles it, and says where it is.
///
/// # Errors
/// If SPIN or the compiler failed.
pub fn compile_claim(promela: &Path, claim: &Claim, folder: &Path) -> Result<PathBuf, String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let model = std::fs::read_to_string(promela).map_err(|error| failed(promela, error))?;
    let with_claim = folder.join("claim.pml");
    std::fs::write(&with_claim, format!("{model}\nltl claim {{ {} }}\n", claim.ltl))
        .map_err(|error| failed(&with_claim, error))?;
    let generate = ["-a", "-o1", "-o2", "-o3", "claim.pml"].map(OsString::from);
    step("spin", generate.into_iter(), folder)?;
    let limit = format!("-DMEMLIM={MEMORY_LIMIT}");
    let compile = ["-O3", "-DNOREDUCE", &limit, "-o", "pan", "pan.c"].map(OsString::from);
    step("gcc", compile.into_iter(), folder)?;
    Ok(folder.join("pan"))
}

/// What SPIN's verifier says about a property, and what that took.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// Whether there is an acceptance cycle: the property does not hold.
    pub found: bool,
    /// Stored states.
    pub states: u64,
    /// The process that looked.
    pub process: Finished,
}

/// Runs the verifier `pan` of a property, for some minutes at most.
///
/// # Errors
/// If it could not be run, failed, or came to no answer.
pub fn find_cycle(pan: &Path, claim: &Claim, minutes: u64, folder: &Path) -> Result<Cycle, String> {
    let sizes = [format!("-m{}", claim.depth), format!("-w{}", claim.slots), format!("-Q{minutes}")];
    let arguments: Vec<OsString> = ["-a", "-A", "-n", "-c1"].into_iter().map(OsString::from).collect();
    let arguments: Vec<OsString> = arguments.into_iter().chain(sizes.map(OsString::from)).collect();
    let process = child::run(pan, &arguments, folder)?;
    let found = process.stdout.contains("acceptance cycle (at depth");
    let states = if found { read_stored(&process.stdout) } else { stored(&process.stdout) };
    let states = states.map_err(|why| format!("pan: {why}"))?;
    Ok(Cycle { found, states, process })
}

/// What SPIN's verifier counted, and what that took.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Stored states; from a hundred million on, only eight digits of the number are known.
    pub states: u64,
    /// The process that counted them.
    pub process: Finished,
}

impl Verified {
    /// Whether it counted `states`, as far as its digits tell.
    pub fn counted(&self, states: u64) -> bool {
        let digits = |n: u64| format!("{:.7e}", n as f64);
        digits(self.states) == digits(states)
    }
}

/// Runs the verifier `pan` of `model`.
///
/// # Errors
/// If it could not be run, failed, or did not explore everything.
pub fn explore(pan: &Path, model: &Model, folder: &Path) -> Result<Verified, String> {
    let (depth, slots) = (format!("-m{}", model.depth), format!("-w{}", model.slots));
    let arguments = ["-E", "-A", "-n", "-c0", &depth, &slots].map(OsString::from);
    let process = child::run(pan, &arguments, folder)?;
    if process.code != Some(0) {
        return Err(format!("pan: {}", process.ending()));
    }
    let states = stored(&process.stdout).map_err(|why| format!("pan: {why}"))?;
    Ok(Verified { states, process })
}

/// The number of stored states in what a verifier printed, if it explored everything.
fn stored(output: &str) -> Result<u64, String> {
    for (sign, why) in [
        ("max search depth too small", "the search was cut at the depth limit"),
        ("Search not completed", "the search was not completed"),
        ("out of memory", "out of memory"),
        ("reached -DMEMLIM bound", "out of memory"),
    ] {
        if output.contains(sign) {
            return Err(why.to_owned());
        }
    }
    read_stored(output)
}

fn read_stored(output: &str) -> Result<u64, String> {
    output
        .lines()
        // Behind it may be how often states were visited.
        .find_map(|line| line.split_once("states, stored")?.0.trim().parse().ok())
        // Eight digits are printed, and an exponent where these are too few.
        .map(|states: f64| states.round() as u64)
        .ok_or_else(|| "it does not say how many states it stored".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_states_are_read() {
        let output =
            "State-vector 48 byte, depth reached 76394, errors: 0\n  1119560 states, stored\n  7 states, matched\n";
        assert_eq!(stored(output), Ok(1_119_560));
        assert_eq!(stored("1.3106475e+08 states, stored\n"), Ok(131_064_750));
        assert_eq!(stored("  2239039 states, stored (3.35852e+06 visited)\n"), Ok(2_239_039));
        assert!(stored("").is_err());
        assert!(stored(&format!("error: max search depth too small\n{output}")).is_err());
        assert!(stored(&format!("Warning: Search not completed\n{output}")).is_err());
    }

    #[test]
    fn counts_are_compared_as_far_as_their_digits_tell() {
        let process = Finished {
            code: Some(0),
            signal: None,
            stdout: String::new(),
            stderr: String::new(),
            wall: 1.0,
            cpu: 1.0,
            peak: 1,
        };
        let mut verified = Verified { states: 131_064_750, process };
        assert!(verified.counted(131_064_752) && !verified.counted(131_064_770));
        verified.states = 60_556_521;
        assert!(verified.counted(60_556_521) && !verified.counted(60_556_520));
    }

    #[test]
    fn models_come_in_the_order_of_their_tables() {
        assert!(MODELS.is_sorted_by_key(|model| model.slots));
    }
}
