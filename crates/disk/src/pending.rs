//! A transfer that is under way.

use crate::{AlignedBuffer, DiskError};

/// A transfer that is under way, and the buffer that it uses. Dropping it waits for its end and forgets the result.
pub struct Pending<'b>(State<'b>);

enum State<'b> {
    Ended(Completed<'b>),
    UnderWay(Box<dyn Wait<'b> + 'b>),
}

/// A transfer that has ended.
pub struct Completed<'b> {
    /// The buffer; filled if it was a read that went well.
    pub buffer: AlignedBuffer<'b>,
    /// Whether it went well.
    pub result: Result<(), DiskError>,
}

impl<'b> Completed<'b> {
    /// The buffer, if it went well.
    pub fn buffer(self) -> Result<AlignedBuffer<'b>, DiskError> {
        self.result.map(|()| self.buffer)
    }
}

/// How a kind of disk waits for its transfers.
pub trait Wait<'b>: Send {
    /// Waits for the end.
    fn wait(self: Box<Self>) -> Completed<'b>;
}

impl<'b> Pending<'b> {
    /// A transfer that has ended.
    pub fn ended(buffer: AlignedBuffer<'b>, result: Result<(), DiskError>) -> Self {
        Self(State::Ended(Completed { buffer, result }))
    }

    /// A transfer that goes on.
    pub fn under_way(wait: Box<dyn Wait<'b> + 'b>) -> Self {
        Self(State::UnderWay(wait))
    }

    /// Waits for the end.
    pub fn wait(self) -> Completed<'b> {
        match self.0 {
            State::Ended(completed) => completed,
            State::UnderWay(wait) => wait.wait(),
        }
    }
}
