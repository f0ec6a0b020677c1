//! Which transitions can tell something new: those that read a cell whose interval has grown since they were replayed last.

use crate::{Assignment, CellId, ChannelId, ChannelKind, Communication, Expression, Model, Place, Transition};
use std::ops::Range;

/// What changed when, and what each transition reads.
pub(super) struct News {
    /// The number of changes and replays so far.
    clock: u32,
    changed_at: Vec<u32>,
    replayed_at: Vec<u32>,
    /// For each transition the ranges of cells that it reads.
    reads: Vec<Vec<Range<u32>>>,
    /// For each channel the transitions that send on it.
    senders: Vec<Vec<usize>>,
    /// For each transition that receives by rendezvous, its channel: what arrives is what senders read.
    receives: Vec<Option<ChannelId>>,
    /// Whether anything changed in this round.
    changed: bool,
}

impl News {
    /// Everything is new.
    pub(super) fn new(model: &Model) -> Self {
        let mut senders = vec![Vec::new(); model.channels.len()];
        for (i, transition) in model.transitions.iter().enumerate() {
            if let Communication::Send { channel, .. } = &transition.communication {
                senders[channel.index()].push(i);
            }
        }
        Self {
            clock: 1,
            changed_at: vec![1; model.cells.len()],
            replayed_at: vec![0; model.transitions.len()],
            reads: model.transitions.iter().map(|transition| reads(model, transition)).collect(),
            senders,
            receives: model.transitions.iter().map(|transition| receives(model, transition)).collect(),
            changed: true,
        }
    }

    /// The transitions that send on a channel.
    pub(super) fn senders(&self, channel: ChannelId) -> impl Iterator<Item = usize> {
        self.senders[channel.index()].iter().copied()
    }

    /// Whether the last round changed anything.
    pub(super) fn begin_round(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The interval of a cell has grown.
    pub(super) fn changed(&mut self, cell: CellId) {
        self.clock += 1;
        self.changed_at[cell.index()] = self.clock;
        self.changed = true;
    }

    /// Whether a transition reads anything new; if so, it counts as replayed now.
    pub(super) fn for_transition(&mut self, transition: usize) -> bool {
        let since = self.replayed_at[transition];
        let is_new = |cells: &Range<u32>| {
            self.changed_at[cells.start as usize..cells.end as usize].iter().any(|changed| *changed > since)
        };
        let mut all = self.reads[transition].iter();
        let sent = self.receives[transition].iter().flat_map(|channel| &self.senders[channel.index()]);
        let new = all.any(is_new) || sent.flat_map(|sender| &self.reads[*sender]).any(is_new);
        if new {
            self.replayed_at[transition] = self.clock;
        }
        new
    }
}

fn receives(model: &Model, transition: &Transition) -> Option<ChannelId> {
    match &transition.communication {
        Communication::Receive { channel, .. } => {
            matches!(model.channel(*channel).kind, ChannelKind::Rendezvous { .. }).then_some(*channel)
        }
        _ => None,
    }
}

fn reads(model: &Model, transition: &Transition) -> Vec<Range<u32>> {
    let mut reads = vec![cells(model.process(transition.process).location, 1)];
    let mut expression = |read: &Expression| {
        read.for_each_read(&mut |first, n_cells| {
            let read = cells(first, n_cells);
            if !reads.contains(&read) {
                reads.push(read);
            }
        });
    };
    transition.guard.iter().for_each(&mut expression);
    for Assignment { target, value } in &transition.assignments {
        expression(value);
        index_of(target).into_iter().for_each(&mut expression);
    }
    match &transition.communication {
        Communication::None => {}
        Communication::Send { values, .. } => values.iter().for_each(&mut expression),
        Communication::Receive { targets, .. } => targets.iter().filter_map(index_of).for_each(&mut expression),
    }
    if let Communication::Receive { channel, targets } = &transition.communication
        && let ChannelKind::Buffer { length, .. } = &model.channel(*channel).kind
    {
        // The oldest item stands for all.
        reads.push(cells(*length, 1 + targets.len() as u32));
    }
    reads
}

fn index_of(place: &Place) -> Option<&Expression> {
    match place {
        Place::Cell(_) => None,
        Place::Element { index, .. } => Some(index),
    }
}

fn cells(first: CellId, n_cells: u32) -> Range<u32> {
    first.0..first.0 + n_cells
}
