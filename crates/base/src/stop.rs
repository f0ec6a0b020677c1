//! The stop signal: how a time limit or Ctrl-C reaches a running search.

use crate::outcome::Limit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Asked by searches every few thousand states; set from a signal handler or by the clock.
#[derive(Debug)]
pub struct StopSignal {
    started: Instant,
    time_limit: Option<Duration>,
    interrupted: AtomicBool,
}

impl StopSignal {
    /// A signal that fires when `time_limit` has passed from now, if one is given.
    pub fn new(time_limit: Option<Duration>) -> Self {
        Self { started: Instant::now(), time_limit, interrupted: AtomicBool::new(false) }
    }

    /// Asks the search to stop; safe in a signal handler.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// The reason to stop now, if there is one.
    pub fn reason(&self) -> Option<Limit> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Limit::Interrupted);
        }
        match self.time_limit {
            Some(limit) if self.started.elapsed() >= limit => Some(Limit::Time),
            _ => None,
        }
    }

    /// Time since the signal was made, which is when the check began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fires_for_its_reason() {
        assert_eq!(StopSignal::new(None).reason(), None);
        assert_eq!(StopSignal::new(Some(Duration::ZERO)).reason(), Some(Limit::Time));
        let signal = StopSignal::new(Some(Duration::from_secs(3600)));
        assert_eq!(signal.reason(), None);
        signal.interrupt();
        assert_eq!(signal.reason(), Some(Limit::Interrupted));
    }
}
