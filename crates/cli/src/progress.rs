//! Progress on standard error: a live line on a terminal, a plain line every ten seconds elsewhere.

use lariat_base::size::{format_count, format_size};
use lariat_base::time::format_seconds;
use lariat_base::{Event, Observer, Progress};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const LIVE_EVERY_MS: u64 = 200;
const PLAIN_EVERY_MS: u64 = 10_000;

/// Shows how far a search has come.
pub struct ProgressLine {
    quiet: bool,
    live: bool,
    started: Instant,
    due_ms: AtomicU64,
    /// Counterexamples, in searches for more than one.
    found: AtomicU64,
    /// States and milliseconds at the last line, for the current rate.
    last: Mutex<(u64, u64)>,
}

impl ProgressLine {
    pub fn new(quiet: bool) -> Self {
        let live = std::io::stderr().is_terminal();
        let first = if live { LIVE_EVERY_MS } else { PLAIN_EVERY_MS };
        Self {
            quiet,
            live,
            started: Instant::now(),
            due_ms: AtomicU64::new(first),
            found: AtomicU64::new(0),
            last: Mutex::new((0, 0)),
        }
    }

    /// Wipes the live line, so that what follows stands alone.
    pub fn finish(&self) {
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }

    fn show(&self, progress: &Progress, now_ms: u64) {
        let rate = {
            let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (states, ms) = std::mem::replace(&mut *last, (progress.states, now_ms));
            progress.states.saturating_sub(states) * 1000 / (now_ms - ms).max(1)
        };
        let place = match (progress.level, progress.depth) {
            (Some(level), _) => format!("level {level}"),
            (None, depth) => format!("depth {}", format_count(depth.unwrap_or(0))),
        };
        let found = match self.found.load(Ordering::Relaxed) {
            0 => String::new(),
            n => format!("{} cycles, ", format_count(n)),
        };
        let line = format!(
            "{found}{} states ({}/s), {} transitions, {}, frontier {}, memory {} of {}, {}",
            format_count(progress.states),
            format_count(rate),
            format_count(progress.transitions),
            place,
            format_count(progress.frontier),
            format_size(progress.memory_used),
            format_size(progress.memory_budget),
            format_seconds(now_ms as f64 / 1000.0),
        );
        let mut out = std::io::stderr().lock();
        // Progress is a courtesy: a closed standard error does not stop the search.
        let _ = if self.live { write!(out, "\r\x1b[K{line}") } else { writeln!(out, "{line}") };
        let _ = out.flush();
    }
}

impl Observer for ProgressLine {
    fn event(&self, event: &Event) {
        if self.quiet {
            return;
        }
        let progress = match event {
            Event::Progress(progress) => progress,
            Event::Found(n) => return self.found.store(*n, Ordering::Relaxed),
            Event::Phase(_) => return,
        };
        let now_ms = self.started.elapsed().as_millis() as u64;
        let due = self.due_ms.load(Ordering::Relaxed);
        if now_ms < due {
            return;
        }
        let every = if self.live { LIVE_EVERY_MS } else { PLAIN_EVERY_MS };
        // One of the threads that come here shows the line.
        if self.due_ms.compare_exchange(due, now_ms + every, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.show(progress, now_ms);
        }
    }
}
