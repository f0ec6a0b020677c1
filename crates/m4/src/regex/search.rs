//! Finds where a regular expression matches, by trying all ways and keeping the longest.

use std::collections::HashSet;

use super::parse::in_word;
use super::{Match, Place, Regex, Step};

/// The most steps of one search; only back references on long texts get near.
const MOST_STEPS: usize = 5_000_000;

/// What is left to do when the current way fails.
enum Todo {
    Try(usize, usize),
    /// Give a slot back the value it had.
    Restore(usize, Option<usize>),
}

struct Search<'a> {
    regex: &'a Regex,
    text: &'a [u8],
    slots: Vec<Option<usize>>,
    todo: Vec<Todo>,
    /// The branchings that were tried, by place: without back references, what follows from
    /// there does not depend on the way that led to it.
    tried: HashSet<(usize, usize)>,
    best: Option<Vec<Option<usize>>>,
    steps: usize,
}

impl Regex {
    /// The first match in `text` that starts at `from` or later, the longest one there.
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Result<Option<Match>, String> {
        let mut search = Search {
            regex: self,
            text,
            slots: vec![None; self.slots],
            todo: Vec::new(),
            tried: HashSet::new(),
            best: None,
            steps: 0,
        };
        for start in from..=text.len() {
            search.from(start)?;
            if let Some(slots) = search.best.take() {
                let groups = self.slots / 2;
                return Ok(Some(Match { slots, groups }));
            }
        }
        Ok(None)
    }
}

impl Search<'_> {
    fn from(&mut self, start: usize) -> Result<(), String> {
        self.slots.fill(None);
        self.save(0, start);
        self.todo.clear();
        self.todo.push(Todo::Try(0, start));
        while let Some(todo) = self.todo.pop() {
            match todo {
                Todo::Restore(slot, old) => self.slots[slot] = old,
                Todo::Try(step, at) => {
                    self.follow(step, at)?;
                    if self.best_end() == Some(self.text.len()) {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn best_end(&self) -> Option<usize> {
        self.best.as_ref().and_then(|slots| slots[1])
    }

    fn save(&mut self, slot: usize, at: usize) {
        let old = self.slots[slot].replace(at);
        self.todo.push(Todo::Restore(slot, old));
    }

    /// Goes on from a step until the way fails or ends.
    fn follow(&mut self, step: usize, at: usize) -> Result<(), String> {
        let (mut step, mut at) = (step, at);
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err("matching the regular expression takes too long".to_string());
            }
            let here = self.text.get(at).copied();
            let fits = match &self.regex.steps[step] {
                Step::Byte(byte) => here == Some(*byte),
                Step::Any => here.is_some_and(|byte| byte != b'\n'),
                Step::Set(set) => here.is_some_and(|byte| set[usize::from(byte)]),
                Step::Done => {
                    if self.best_end().is_none_or(|end| at > end) {
                        self.best = Some(self.slots.clone());
                    }
                    return Ok(());
                }
                _ => {
                    match self.stay(step, at) {
                        Some((next, there)) => (step, at) = (next, there),
                        None => return Ok(()),
                    }
                    continue;
                }
            };
            if !fits {
                return Ok(());
            }
            step += 1;
            at += 1;
        }
    }

    /// Takes a step that reads no single character; where to go on, if it succeeds.
    fn stay(&mut self, step: usize, at: usize) -> Option<(usize, usize)> {
        match self.regex.steps[step] {
            Step::Split(first, second) => {
                if !self.regex.refers_back && !self.tried.insert((step, at)) {
                    return None;
                }
                self.todo.push(Todo::Try(second, at));
                Some((first, at))
            }
            Step::Jump(target) => Some((target, at)),
            Step::Save(slot) => {
                self.save(slot, at);
                Some((step + 1, at))
            }
            Step::Moved(slot) => (self.slots[slot] != Some(at)).then_some((step + 1, at)),
            Step::At(place) => holds(place, self.text, at).then_some((step + 1, at)),
            Step::Again(group) => {
                let (start, end) = (self.slots[2 * group]?, self.slots[2 * group + 1]?);
                let wanted = self.text.get(start..end)?;
                let found = self.text.get(at..)?.starts_with(wanted);
                found.then_some((step + 1, at + wanted.len()))
            }
            _ => None,
        }
    }
}

fn holds(place: Place, text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
    let after = text.get(at).copied();
    let word_before = before.is_some_and(in_word);
    let word_after = after.is_some_and(in_word);
    match place {
        Place::LineStart => before.is_none_or(|byte| byte == b'\n'),
        Place::LineEnd => after.is_none_or(|byte| byte == b'\n'),
        Place::TextStart => before.is_none(),
        Place::TextEnd => after.is_none(),
        Place::WordStart => !word_before && word_after,
        Place::WordEnd => word_before && !word_after,
        Place::WordBorder => word_before != word_after,
        Place::NoWordBorder => word_before == word_after,
    }
}
