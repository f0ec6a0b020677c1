//! Value ranges of cells, by interval analysis of guards and assignments.
//!
//! Rows are packed by these ranges, so they must be sound: a reachable state with a value outside its range would be
//! lost. (Executors check every assignment against the range all the same, and fail loudly.) The analysis keeps one
//! interval per cell for the whole model, starts from the initial values and replays every transition on intervals
//! until nothing grows. Inside one transition it is finer: the guard narrows the intervals that the assignments see,
//! and assignments are followed from left to right.
//!
//! A value outside a variable's type leads to the error state, which has a row of its own; so what an assignment can
//! leave in a cell is cut to the type.
//!
//! What a replay finds depends on the intervals that the transition reads alone; one that read nothing new is left out.
//!
//! # Why it ends
//! After [`GROWTH_BEFORE_WIDENING`] changes a bound of a cell jumps to the next constant of the model, at last to the bound of its type.

mod arithmetic;
mod reads;
mod refine;

use reads::News;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::{
    Assignment, CellId, ChannelId, ChannelKind, Communication, Composition, Expression, Interval, Model, Place,
    Transition, ValueType,
};

const GROWTH_BEFORE_WIDENING: u8 = 12;

/// Replaces every cell's range by what the analysis finds.
pub fn infer_ranges(model: &mut Model) {
    let thresholds = thresholds(model);
    let mut analysis = Analysis {
        ranges: model.cells.iter().map(|c| Interval::point(c.initial)).collect(),
        growth: vec![[0; 2]; model.cells.len()],
        news: News::new(model),
        thresholds,
        model,
    };
    while analysis.news.begin_round() {
        for (i, transition) in analysis.model.transitions.iter().enumerate() {
            if analysis.news.for_transition(i) {
                analysis.replay(transition);
            }
        }
    }
    let ranges = analysis.ranges;
    for (cell, range) in model.cells.iter_mut().zip(ranges) {
        cell.range = range;
    }
}

struct Analysis<'m> {
    model: &'m Model,
    ranges: Vec<Interval>,
    growth: Vec<[u8; 2]>,
    news: News,
    /// All constants of the model and their neighbours, sorted.
    thresholds: Vec<i32>,
}

/// Intervals during one transition: what is known here beyond the ranges of the whole model.
struct Local<'a> {
    ranges: &'a [Interval],
    known: BTreeMap<CellId, Interval>,
}

impl Local<'_> {
    fn get(&self, cell: CellId) -> Interval {
        self.known.get(&cell).copied().unwrap_or(self.ranges[cell.index()])
    }

    fn set(&mut self, cell: CellId, interval: Interval) {
        self.known.insert(cell, interval);
    }
}

impl Local<'_> {
    /// The cells that a place can be; none if its index can only be wrong.
    fn cells(&self, place: &Place) -> Option<RangeInclusive<u32>> {
        match place {
            Place::Cell(cell) => Some(cell.0..=cell.0),
            Place::Element { first, length, index } => {
                let index = self.value(index)?.meet(Interval::new(0, *length as i32 - 1))?;
                Some(first.0 + index.low as u32..=first.0 + index.high as u32)
            }
        }
    }
}

impl Analysis<'_> {
    fn replay(&mut self, transition: &Transition) {
        let model = self.model;
        let ranges = std::mem::take(&mut self.ranges);
        let mut grown: Vec<(CellId, Interval)> = Vec::new();
        let mut local = Local { ranges: &ranges, known: BTreeMap::new() };
        let location = model.process(transition.process).location;
        if ranges[location.index()].contains(transition.from as i32) {
            local.set(location, Interval::point(transition.from as i32));
            let enabled = transition.guard.as_ref().is_none_or(|guard| local.refine(guard, true));
            if enabled {
                // Values that are sent and places that receive are those of the old state.
                self.communicate(transition, &mut local, &mut grown);
                grown.push((location, Interval::point(transition.to as i32)));
                local.set(location, Interval::point(transition.to as i32));
                if self.partner_may_run_first(transition) {
                    self.forget_shared(transition, &mut local);
                }
                self.assign(&transition.assignments, &mut local, &mut grown);
            }
        }
        self.ranges = ranges;
        for (cell, interval) in grown {
            self.grow(cell, interval);
        }
    }

    /// Whether another process's assignments may come between this transition's guard and its assignments: those of the
    /// receiver come before the sender's. (In a synchronous system everybody moves on a copy of the old state.)
    fn partner_may_run_first(&self, transition: &Transition) -> bool {
        match &transition.communication {
            Communication::Send { channel, .. } => {
                self.model.composition == Composition::Asynchronous
                    && matches!(self.model.channel(*channel).kind, ChannelKind::Rendezvous { .. })
            }
            _ => false,
        }
    }

    /// Drops what the guard told about everything that is not this process's own.
    fn forget_shared(&self, transition: &Transition, local: &mut Local) {
        local.known.retain(|cell, _| {
            let variable = self.model.variable(self.model.cells[cell.index()].variable);
            variable.owner == Some(transition.process)
                || variable.kind == crate::VariableKind::Location(transition.process)
        });
    }

    fn communicate(&self, transition: &Transition, local: &mut Local, grown: &mut Vec<(CellId, Interval)>) {
        if self.model.composition == Composition::Synchronous {
            return;
        }
        match &transition.communication {
            Communication::None => {}
            Communication::Send { channel, values } => {
                if let ChannelKind::Buffer { items, capacity, length } = &self.model.channel(*channel).kind {
                    grown.push((*length, Interval::new(0, *capacity as i32)));
                    for (i, (value, item)) in values.iter().zip(items).enumerate() {
                        let Some(interval) = local.value(value) else { return };
                        let stored = wrapped(interval, *item).join(Interval::point(0));
                        for slot in 0..*capacity {
                            grown.push((CellId(length.0 + 1 + slot * items.len() as u32 + i as u32), stored));
                        }
                    }
                }
            }
            Communication::Receive { channel, targets } => {
                let places: Vec<_> = targets.iter().map(|target| local.cells(target)).collect();
                for (i, place) in places.into_iter().enumerate() {
                    if let (Some(place), Some(value)) = (place, self.arriving(*channel, i, local.ranges)) {
                        self.write(place, value, local, grown);
                    }
                }
            }
        }
    }

    /// What can arrive as the `i`-th value on a channel.
    fn arriving(&self, channel: ChannelId, i: usize, ranges: &[Interval]) -> Option<Interval> {
        let kind = &self.model.channel(channel).kind;
        if let ChannelKind::Buffer { length, .. } = kind {
            // Senders grow all slots alike, so the oldest one stands for every item.
            return Some(ranges[length.index() + 1 + i]);
        }
        let senders = self.news.senders(channel).map(|sender| &self.model.transitions[sender]);
        let sent = senders.filter_map(|t| match &t.communication {
            Communication::Send { values, .. } => {
                let mut local = Local { ranges, known: BTreeMap::new() };
                let enabled = t.guard.as_ref().is_none_or(|guard| local.refine(guard, true));
                if enabled { local.value(&values[i]) } else { None }
            }
            _ => None,
        });
        let all = sent.reduce(Interval::join)?;
        Some(match kind {
            ChannelKind::Rendezvous { items: Some(items) } => wrapped(all, items[i]),
            _ => all,
        })
    }

    fn assign(&self, assignments: &[Assignment], local: &mut Local, grown: &mut Vec<(CellId, Interval)>) {
        for assignment in assignments {
            let Some(place) = local.cells(&assignment.target) else { return };
            let Some(value) = local.value(&assignment.value) else { return };
            if !self.write(place, value, local, grown) {
                return;
            }
        }
    }

    /// Notes an assignment to one of these cells; false if it can only lead to the error state.
    fn write(
        &self,
        place: RangeInclusive<u32>,
        value: Interval,
        local: &mut Local,
        grown: &mut Vec<(CellId, Interval)>,
    ) -> bool {
        let Some(value) = value.meet(self.model.cells[*place.start() as usize].allowed) else { return false };
        grown.extend(place.clone().map(|cell| (CellId(cell), value)));
        if place.start() == place.end() {
            local.set(CellId(*place.start()), value);
        } else {
            // One of the cells changed: what is known about each here is widened. For the others the ranges of the whole
            // model speak, and in the last round those include the value.
            for (_, known) in local.known.range_mut(CellId(*place.start())..=CellId(*place.end())) {
                *known = known.join(value);
            }
        }
        true
    }

    fn grow(&mut self, cell: CellId, interval: Interval) {
        let old = self.ranges[cell.index()];
        if old.includes(interval) {
            return;
        }
        let allowed = self.model.cells[cell.index()].allowed;
        let mut new = old.join(interval);
        let growth = &mut self.growth[cell.index()];
        if new.low < old.low {
            growth[0] = growth[0].saturating_add(1);
            if growth[0] > GROWTH_BEFORE_WIDENING {
                let below = self.thresholds.partition_point(|t| *t <= new.low);
                new.low = if below == 0 { allowed.low } else { self.thresholds[below - 1].max(allowed.low) };
            }
        }
        if new.high > old.high {
            growth[1] = growth[1].saturating_add(1);
            if growth[1] > GROWTH_BEFORE_WIDENING {
                let above = self.thresholds.partition_point(|t| *t < new.high);
                new.high = self.thresholds.get(above).map_or(allowed.high, |t| (*t).min(allowed.high));
            }
        }
        self.ranges[cell.index()] = new;
        self.news.changed(cell);
    }
}

fn wrapped(interval: Interval, to: ValueType) -> Interval {
    if to.range().includes(interval) { interval } else { to.range() }
}

fn thresholds(model: &Model) -> Vec<i32> {
    fn collect(expression: &Expression, out: &mut Vec<i32>) {
        match expression {
            Expression::Constant(value) => {
                out.extend([value.saturating_sub(1), *value, value.saturating_add(1)]);
            }
            Expression::Cell(_) => {}
            Expression::Element { index, length, .. } => {
                out.extend([*length as i32 - 1, *length as i32]);
                collect(index, out);
            }
            Expression::TableElement { index, table } => {
                out.extend(table.iter());
                collect(index, out);
            }
            Expression::Unary(_, operand) => collect(operand, out),
            Expression::Binary(_, left, right) => {
                collect(left, out);
                collect(right, out);
            }
        }
    }
    let mut out = Vec::new();
    for transition in &model.transitions {
        transition.guard.iter().for_each(|guard| collect(guard, &mut out));
        for assignment in &transition.assignments {
            collect(&assignment.value, &mut out);
        }
        if let Communication::Send { values, .. } = &transition.communication {
            values.iter().for_each(|value| collect(value, &mut out));
        }
    }
    out.extend(model.cells.iter().map(|c| c.initial));
    out.sort_unstable();
    out.dedup();
    out
}
