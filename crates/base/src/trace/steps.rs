//! The steps of a trace in little memory: a counterexample may have a million of them.
//!
//! Moves and names that come again are kept once, and a step is a few bytes: which moves it has, and the values after it. Whoever looks at a step gets it as it was put in.
//!
//! # Format
//! Numbers have seven bits in a byte, low ones first, and a bit that says whether there is more. A step is the number of its moves; then 0 and the number of a text for the error state, or
//! one more than it has values, and these. A value is a number, the length of a list whose numbers follow, or the number of a location's name, times three, and 0, 1 or 2 that
//! says which. Whole numbers alternate between those from 0 up and those from -1 down.

use super::{Move, TraceState, TraceStep, TraceValue};
use std::collections::HashMap;

/// Steps between two whose places are kept.
const PLACES_APART: usize = 64;

/// The steps of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSteps {
    len: usize,
    bytes: Vec<u8>,
    /// Where every 64th step begins.
    places: Vec<usize>,
    moves: Vec<Vec<Move>>,
    moves_numbers: HashMap<Vec<Move>, usize>,
    texts: Vec<String>,
    text_numbers: HashMap<String, usize>,
}

impl TraceSteps {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a step.
    pub fn push(&mut self, step: &TraceStep) {
        if self.len.is_multiple_of(PLACES_APART) {
            self.places.push(self.bytes.len());
        }
        self.len += 1;
        let moves = self.moves_number(&step.moves);
        self.write(moves as u64);
        match &step.state {
            TraceState::Error(why) => {
                self.write(0);
                let text = self.text_number(why);
                self.write(text);
            }
            TraceState::Values(values) => {
                self.write(values.len() as u64 + 1);
                values.iter().for_each(|value| self.push_value(value));
            }
        }
    }

    fn push_value(&mut self, value: &TraceValue) {
        match value {
            TraceValue::Number(n) => self.write(3 * alternating(*n)),
            TraceValue::List(list) => {
                self.write(3 * list.len() as u64 + 1);
                list.iter().for_each(|n| self.write(alternating(*n)));
            }
            TraceValue::Location(name) => {
                let text = self.text_number(name);
                self.write(3 * text + 2);
            }
        }
    }

    fn moves_number(&mut self, moves: &[Move]) -> usize {
        if let Some(number) = self.moves_numbers.get(moves) {
            return *number;
        }
        self.moves.push(moves.to_vec());
        self.moves_numbers.insert(moves.to_vec(), self.moves.len() - 1);
        self.moves.len() - 1
    }

    fn text_number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.text_numbers.get(text) {
            return *number as u64;
        }
        self.texts.push(text.to_owned());
        self.text_numbers.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() as u64 - 1
    }

    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// The steps from the one with this number on.
    pub fn from(&self, first: usize) -> Iter<'_> {
        let place = self.places.get(first / PLACES_APART).copied().unwrap_or(self.bytes.len());
        let mut steps =
            Iter { steps: self, place, left: self.len - (first / PLACES_APART * PLACES_APART).min(self.len) };
        for _ in 0..first % PLACES_APART {
            steps.skip_step();
        }
        steps
    }

    /// All steps.
    pub fn iter(&self) -> Iter<'_> {
        self.from(0)
    }

    /// The different moves of the steps from the one with this number on.
    pub fn moves_from(&self, first: usize) -> impl Iterator<Item = &[Move]> {
        let mut is_there = vec![false; self.moves.len()];
        let mut steps = self.from(first);
        while let Some(moves) = steps.skip_step() {
            is_there[moves] = true;
        }
        self.moves.iter().zip(is_there).filter(|(_, is_there)| *is_there).map(|(moves, _)| moves.as_slice())
    }

    /// The number of the first step with moves for which `is_wanted`, which is asked once about all that are the same.
    pub fn position(&self, is_wanted: impl Fn(&[Move]) -> bool) -> Option<usize> {
        let wanted: Vec<bool> = self.moves.iter().map(|moves| is_wanted(moves)).collect();
        let mut steps = self.iter();
        (0..self.len).find(|_| steps.skip_step().is_some_and(|moves| wanted[moves]))
    }
}

impl FromIterator<TraceStep> for TraceSteps {
    fn from_iter<I: IntoIterator<Item = TraceStep>>(steps: I) -> Self {
        let mut all = Self::default();
        steps.into_iter().for_each(|step| all.push(&step));
        all
    }
}

/// Steps one after the other.
#[derive(Clone)]
pub struct Iter<'s> {
    steps: &'s TraceSteps,
    place: usize,
    left: usize,
}

impl Iter<'_> {
    fn read(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.steps.bytes[self.place];
            self.place += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    /// Passes over a step; the number of its moves.
    fn skip_step(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let moves = self.read() as usize;
        match self.read() {
            0 => {
                self.read();
            }
            n_values => {
                for _ in 1..n_values {
                    let value = self.read();
                    let n_numbers = if value % 3 == 1 { value / 3 } else { 0 };
                    for _ in 0..n_numbers {
                        self.read();
                    }
                }
            }
        }
        Some(moves)
    }

    fn read_value(&mut self) -> TraceValue {
        let value = self.read();
        match value % 3 {
            0 => TraceValue::Number(whole(value / 3)),
            1 => TraceValue::List((0..value / 3).map(|_| whole(self.read())).collect()),
            _ => TraceValue::Location(self.steps.texts[(value / 3) as usize].clone()),
        }
    }
}

impl Iterator for Iter<'_> {
    type Item = TraceStep;

    fn next(&mut self) -> Option<TraceStep> {
        self.left = self.left.checked_sub(1)?;
        let moves = self.steps.moves[self.read() as usize].clone();
        let state = match self.read() {
            0 => TraceState::Error(self.steps.texts[self.read() as usize].clone()),
            n_values => TraceState::Values((1..n_values).map(|_| self.read_value()).collect()),
        };
        Some(TraceStep { moves, state })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// 0, -1, 1, -2, 2 and so on as 0, 1, 2, 3, 4.
fn alternating(n: i32) -> u64 {
    u64::from((n << 1 ^ n >> 31) as u32)
}

fn whole(alternating: u64) -> i32 {
    (alternating >> 1) as i32 ^ -((alternating & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn any_step(random: &mut Random) -> TraceStep {
        let names = ["P", "idle", "critical", ""];
        let name = |random: &mut Random| names[random.below(4)].to_owned();
        let number = |random: &mut Random| [0, 1, -1, 63, 64, -65, i32::MAX, i32::MIN][random.below(8)];
        let moves = (0..random.below(3)).map(|_| Move {
            process: name(random),
            from: name(random),
            to: name(random),
            line: random.below(3) as u32,
            channel: random.one_in(2).then(|| "c!".to_owned()),
        });
        let moves = moves.collect();
        if random.one_in(9) {
            return TraceStep { moves, state: TraceState::Error(name(random)) };
        }
        let values = (0..random.below(5)).map(|_| match random.below(3) {
            0 => TraceValue::Number(number(random)),
            1 => TraceValue::List((0..random.below(200)).map(|_| number(random)).collect()),
            _ => TraceValue::Location(name(random)),
        });
        TraceStep { moves, state: TraceState::Values(values.collect()) }
    }

    #[test]
    fn steps_come_back_as_they_were() {
        let mut random = Random::new(3);
        for _ in 0..100 {
            let n = random.below(300);
            let steps: Vec<TraceStep> = (0..n).map(|_| any_step(&mut random)).collect();
            let kept: TraceSteps = steps.iter().cloned().collect();
            assert_eq!((kept.len(), kept.is_empty()), (n, n == 0));
            assert_eq!(kept.iter().collect::<Vec<_>>(), steps);
            let first = random.below(n + 1);
            assert_eq!(kept.from(first).collect::<Vec<_>>(), steps[first..]);
            for moves in kept.moves_from(first) {
                assert!(steps[first..].iter().any(|step| step.moves == moves));
            }
            assert!(steps[first..].iter().all(|step| kept.moves_from(first).any(|moves| step.moves == moves)));
            if let Some(wanted) = steps.get(first) {
                let expected = steps.iter().position(|step| step.moves == wanted.moves);
                assert_eq!(kept.position(|moves| moves == wanted.moves), expected);
            }
            assert_eq!(kept, steps.into_iter().collect());
        }
    }

    #[test]
    fn a_step_takes_a_few_bytes() {
        let step = |n| TraceStep {
            moves: vec![Move {
                process: "P".to_owned(),
                from: "a".to_owned(),
                to: "b".to_owned(),
                line: 7,
                channel: None,
            }],
            state: TraceState::Values(vec![TraceValue::Number(n % 1000), TraceValue::Location("b".to_owned())]),
        };
        let kept: TraceSteps = (0..10_000).map(step).collect();
        assert!(kept.bytes.len() <= 5 * 10_000 && kept.moves.len() == 1 && kept.texts.len() == 1);
    }
}
