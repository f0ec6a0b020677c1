//! The limits that turn an expansion without end into an error.

/// The most bytes of output, and of any single text on the way.
pub(crate) const MOST_TEXT: usize = 64 << 20;
/// The most steps; a token is a step, and so is each byte that is put back as input.
const MOST_STEPS: u64 = 100_000_000;
/// The most macro calls whose arguments are being collected at the same time.
pub(crate) const MOST_NESTED_CALLS: usize = 10_000;
/// The most texts waiting to be read; only a macro that calls itself gets near.
pub(crate) const MOST_PENDING: usize = 200_000;

/// The message of every limit on size and steps: the cause is nearly always a recursion.
pub(crate) const ENDLESS: &str = "expansion does not end";

/// Counts the steps of one expansion.
#[derive(Default)]
pub(crate) struct Budget {
    steps: u64,
}

impl Budget {
    /// Takes `steps`, or says that there are none left.
    pub(crate) fn take(&mut self, steps: usize) -> Result<(), String> {
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps > MOST_STEPS {
            return Err(ENDLESS.to_string());
        }
        Ok(())
    }
}

/// Says whether a text may have `length` bytes.
pub(crate) fn check_length(length: usize) -> Result<(), String> {
    if length > MOST_TEXT {
        return Err(ENDLESS.to_string());
    }
    Ok(())
}
