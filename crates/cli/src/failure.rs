//! How a command ends.

/// The exit codes, as promised in `docs/interface.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Every property holds; the exploration is complete.
    Fine = 0,
    /// A property is violated, and its counterexample was replayed.
    Violated = 1,
    /// The command line, the model or a formula is wrong.
    WrongInput = 2,
    /// A limit was reached, or it was interrupted.
    NoAnswer = 3,
    /// The machine failed.
    MachineFailed = 4,
}

/// A command that ended without a result.
#[derive(Debug)]
pub struct Failure {
    pub status: ExitStatus,
    pub message: String,
}

impl Failure {
    /// Something is wrong with what the user gave.
    pub fn input(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::WrongInput, message: message.into() }
    }

    /// A limit was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::NoAnswer, message: message.into() }
    }

    /// The machine, or Lariat itself, failed.
    pub fn machine(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::MachineFailed, message: message.into() }
    }
}
