//! Progress on standard error: a live line on a terminal, a plain line every ten seconds elsewhere.

use crate::program_memory::{ProgramMemory, is_due};
use lariat_base::outcome::PhaseSummary;
use lariat_base::size::{format_count, format_size};
use lariat_base::time::format_seconds;
use lariat_base::{Event, Observer, Progress};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

const LIVE_EVERY_MS: u64 = 200;
const PLAIN_EVERY_MS: u64 = 10_000;

/// Shows how far a search has come.
pub struct ProgressLine {
    quiet: bool,
    live: bool,
    started: Instant,
    due_ms: AtomicU64,
    program_memory: ProgramMemory,
    /// Counterexamples, in searches for more than one.
    found: AtomicU64,
    /// States and milliseconds at the last line, for the current rate.
    last: Mutex<(u64, u64)>,
    clock: Mutex<PhaseClock>,
}

/// The phases of a search so far, and the one that goes on.
#[derive(Default)]
struct PhaseClock {
    ended: Vec<PhaseSummary>,
    now: Option<(&'static str, Instant)>,
}

impl PhaseClock {
    fn begin(&mut self, next: Option<&'static str>) {
        let now = Instant::now();
        if let Some((name, start)) = std::mem::replace(&mut self.now, next.map(|name| (name, now))) {
            let seconds = (now - start).as_secs_f64();
            match self.ended.iter_mut().find(|phase| phase.name == name) {
                Some(phase) => {
                    phase.seconds += seconds;
                    phase.times += 1;
                }
                None => self.ended.push(PhaseSummary { name, seconds, times: 1 }),
            }
        }
    }
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
            program_memory: ProgramMemory::default(),
            found: AtomicU64::new(0),
            last: Mutex::new((0, 0)),
            clock: Mutex::default(),
        }
    }

    /// The phases of the search that has ended.
    pub fn take_phases(&self) -> Vec<PhaseSummary> {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        clock.begin(None);
        std::mem::take(&mut clock.ended)
    }

    /// Wipes the live line, so that what follows stands alone.
    pub fn finish(&self) {
        if self.live && !self.quiet {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }

    fn show(&self, progress: &Progress, now_ms: u64) {
        let rate = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
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
        if let Event::Phase(name) = event {
            self.clock.lock().unwrap_or_else(PoisonError::into_inner).begin(Some(name));
        }
        let progress = match event {
            Event::Progress(progress) => progress,
            Event::Found(n) => return self.found.store(*n, Ordering::Relaxed),
            _ => return,
        };
        let now_ms = self.started.elapsed().as_millis() as u64;
        self.program_memory.release_if_due(now_ms);
        let every = if self.live { LIVE_EVERY_MS } else { PLAIN_EVERY_MS };
        if !self.quiet && is_due(&self.due_ms, now_ms, now_ms + every) {
            self.show(progress, now_ms);
        }
    }
}
