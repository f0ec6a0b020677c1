//! What every layer of Lariat shares: sizes and times as people write them, the memory budget, the stop signal,
//! progress events, and the plain-data outcome of a check. Nothing here reads files, prints or starts threads.

pub mod budget;
pub mod event;
pub mod outcome;
pub mod random;
pub mod rows;
pub mod size;
pub mod stop;
pub mod suggest;
pub mod time;
pub mod trace;

pub use budget::{BudgetExceeded, MemoryBudget};
pub use event::{Event, Observer, Progress, SilentObserver};
pub use outcome::{Limit, Verdict};
pub use random::Random;
pub use stop::StopSignal;
