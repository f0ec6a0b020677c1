//! Doubtful states that the search goes on with before they are compared with what is on disk.
//!
//! A filter that has few bits for each state takes many new ones for met. In a graph that is deep and narrow soon nothing else waits, and pass after pass finds that
//! nearly all of them are new. Where that was so the last time, doubtful states that are not among those in memory are *assumed* to be new: they are expanded at once, like states
//! that the filter never met, and so are those that they lead to, for many levels. One pass compares what was assumed on all of them. A state that had been met after
//! all is taken out of its buffer, and expanded once more to take back what it counted.
//!
//! # Invariants
//! 1. A state that is assumed to be new is in the buffer of new states of exactly one worker, and no buffer of new states is written, until it was compared. What has no room there is doubtful.
//! 2. All visited runs are of expanded states meanwhile. So what was reached from a state that was met before would have been reached without it, too.
//! 3. Nothing is published while something is assumed.
//!
//! # Cost
//! An expansion for each state, and two more for each that had been met. How many may be assumed doubles as long as three of four are new, and where fewer than half are,
//! nothing is assumed for a while.

use super::reading::Reading;
use super::shares::Shares;
use super::short_pass::{Buffers, n_keys};
use super::visited::Visited;
use super::worker::Worker;
use super::{Search, Shared};
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_storage::sort::sort_rows;
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, ReservedVec, StorageError};

/// After a failure nothing is assumed for this many comparisons, after two for twice as many, up to the most.
const WAIT: u32 = 4;
const WAIT_MAX: u32 = 256;

/// The states that are assumed to be new.
pub(super) struct Assumed<'b, K: Key> {
    budget: &'b MemoryBudget,
    /// In no order until they are compared.
    keys: ReservedVec<'b, K>,
    /// How many there may be, as far as memory goes.
    most: usize,
    /// How many of four states have to turn out to be new.
    new_quarters: usize,
    /// How many there may be, as the last ones went.
    allowed: usize,
    /// Comparisons until something may be assumed again, and how many it will be the next time.
    wait: u32,
    next_wait: u32,
}

impl<'b, K: Key> Assumed<'b, K> {
    pub(super) fn new(shares: &Shares, budget: &'b MemoryBudget) -> Self {
        let Shares { assumed_keys: most, new_quarters, .. } = *shares;
        Self { budget, keys: ReservedVec::new(budget), most, new_quarters, allowed: 0, wait: 0, next_wait: WAIT }
    }

    /// Whether so many more may be assumed.
    fn allows(&self, n: usize) -> bool {
        n > 0 && self.wait == 0 && self.keys.len() + n <= self.allowed
    }

    /// All of them, in increasing order.
    pub(super) fn sorted(&mut self) -> &[K] {
        sort_rows(&mut self.keys);
        &self.keys
    }

    /// Takes states out that a worker had no room for.
    fn leave_out(&mut self, delayed: &[K]) {
        for key in delayed {
            if let Some(place) = self.keys.iter().position(|assumed| assumed == key) {
                let last = self.keys.len() - 1;
                self.keys.swap(place, last);
                self.keys.truncate(last);
            }
        }
    }

    /// Learns how a comparison of so many states went that were not in memory, assumed ones and others.
    pub(super) fn learn(&mut self, n_compared: u64, n_new: u64) {
        self.wait = self.wait.saturating_sub(1);
        if n_compared == 0 {
            return;
        }
        if n_new * 4 >= n_compared * self.new_quarters as u64 {
            let n_compared = usize::try_from(n_compared).unwrap_or(usize::MAX);
            self.allowed = self.allowed.max(n_compared).saturating_mul(2).min(self.most);
            if !self.keys.is_empty() {
                self.next_wait = WAIT;
            }
        } else if n_new * 2 < n_compared {
            self.allowed = 0;
            if !self.keys.is_empty() {
                self.learn_failure();
            }
        }
    }

    fn learn_failure(&mut self) {
        self.wait = self.next_wait;
        self.next_wait = (2 * self.next_wait).min(WAIT_MAX);
    }

    fn forget(&mut self) {
        self.keys = ReservedVec::new(self.budget);
    }
}

pub(super) fn is_out_of_memory(error: &SearchError) -> bool {
    matches!(error, SearchError::Storage(StorageError::Memory(_)))
}

impl<'s, K: Key> Search<'s, K> {
    /// Goes on with doubtful states as if they were new, if most of them will be; false if something has to be compared first. Nothing waits.
    pub(super) fn assume(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<bool, SearchError> {
        let shared = &self.shared;
        let mut assumed = self.assumed.borrow_mut();
        let n_doubtful = workers.iter().map(|worker| worker.doubtful_in_memory().len()).sum();
        if !assumed.allows(n_doubtful) || !shared.can_assume(&shared.visited()) {
            return Ok(false);
        }
        shared.context.begin_phase("assume");
        if assumed.keys.is_empty() {
            self.each(workers, Worker::write_much_expanded)?;
        }
        // They are dealt out evenly, and there is to be room for what they lead to.
        let room_min = (2 * n_doubtful.div_ceil(workers.len())).max(shared.shares.new_keys / 8);
        if workers.iter().any(|worker| worker.room() < room_min) {
            return Ok(false);
        }
        self.sort_buffers(workers)?;
        let buffers = Buffers::of(workers, &[]);
        let found = match shared.visited().find_not_in_memory(&shared.files, &buffers, n_doubtful) {
            // What is doubtful stays as it is.
            Err(error) if is_out_of_memory(&error) => return Ok(false),
            found => found?,
        };
        if assumed.keys.reserve(n_doubtful).is_err() {
            return Ok(false);
        }
        workers.iter_mut().for_each(Worker::forget_doubtful);
        for new in &found {
            assumed.keys.extend_from_slice(new).map_err(StorageError::from)?;
            self.deal(new, workers)?;
            shared.tally.add_states(new.len() as u64);
        }
        shared.set_assuming(!assumed.keys.is_empty());
        Ok(found.iter().any(|new| !new.is_empty()))
    }

    /// States that were given to a worker without room for them are doubtful, and are not counted.
    pub(super) fn forget_delayed(&self, workers: &mut [Worker<'_, 's, K>]) {
        let delayed: Vec<K> = workers.iter_mut().flat_map(Worker::take_delayed).collect();
        self.shared.tally.remove_states(delayed.len() as u64);
        self.assumed.borrow_mut().leave_out(&delayed);
    }

    /// Gives each worker as many new states.
    pub(super) fn deal(&self, keys: &[K], workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        let of_each = keys.len().div_ceil(workers.len()).max(1);
        keys.chunks(of_each).zip(workers).try_for_each(|(keys, worker)| worker.adopt(keys))
    }

    /// Compares what is assumed, whatever else there is to do; false if nothing is.
    pub(super) fn settle(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<bool, SearchError> {
        let shared = &self.shared;
        let mut assumed = self.assumed.borrow_mut();
        if assumed.keys.is_empty() {
            return Ok(false);
        }
        shared.context.begin_phase("check");
        let keys = assumed.sorted();
        let n_compared = keys.len() as u64;
        let reading = shared.reading_to_settle(&shared.visited());
        let compared = reading.map(|reading| {
            let buffers = Buffers { new: Vec::new(), doubtful: Vec::new(), assumed: keys };
            let mut visited = shared.visited();
            visited.passes.add(shared.files.n_runs());
            visited.find_new(&shared.files, &buffers, false, 0, reading)
        });
        let wrong = match compared {
            Some(Err(error)) if !is_out_of_memory(&error) => return Err(error),
            Some(Ok(compared)) => compared.wrong,
            _ => {
                drop(assumed);
                return self.doubt_again(workers).map(|()| true);
            }
        };
        assumed.learn(n_compared, n_compared - n_keys(&wrong));
        drop(assumed);
        self.settled(workers, &wrong)?;
        Ok(true)
    }

    /// Makes all that is assumed doubtful again, where there is no memory for comparing it.
    pub(super) fn doubt_again(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        let mut assumed = self.assumed.borrow_mut();
        assumed.sorted();
        let all = std::mem::replace(&mut assumed.keys, ReservedVec::new(self.shared.context.budget));
        assumed.learn_failure();
        drop(assumed);
        self.settled(workers, std::slice::from_ref(&all))?;
        all.iter().try_for_each(|key| workers[0].push_doubtful(*key))
    }

    /// Takes back what was assumed wrongly. Nothing is assumed any more.
    pub(super) fn settled(
        &self,
        workers: &mut [Worker<'_, 's, K>],
        wrong: &[ReservedVec<'_, K>],
    ) -> Result<(), SearchError> {
        let n_wrong = n_keys(wrong);
        if n_wrong > 0 {
            self.each(workers, |worker| worker.take_back(wrong))?;
            self.shared.tally.remove_states(n_wrong);
        }
        let was_assuming = self.shared.is_assuming();
        self.assumed.borrow_mut().forget();
        self.shared.set_assuming(false);
        // While it is sorted.
        if was_assuming { self.each(workers, Worker::write_much_expanded) } else { Ok(()) }
    }
}

impl<'s, K: Key> Shared<'s, K> {
    /// Whether what is assumed could be compared by a short pass, and all runs are of expanded states.
    fn can_assume(&self, visited: &Visited<'s, K>) -> bool {
        let all_in_memory = visited.doubtful.is_empty() && visited.waiting.is_empty();
        !visited.is_wide && all_in_memory && self.reading_of_short_pass(visited).is_some()
    }

    /// How all runs are read while the buffers keep their memory; none if they cannot be.
    fn reading_to_settle(&self, visited: &Visited<'s, K>) -> Option<Reading> {
        let left = self.files.memory_left().checked_sub(self.shares.writers_bytes)? / 4 * 3;
        self.shares.readers.reading(visited.expanded.len(), left)
    }
}

/// New states as a comparison gives them, but for those that were assumed to be new. Assumed ones that are not among them had been met.
pub(super) struct Settling<'a, 'b, K: Key, S> {
    stream: S,
    assumed: &'a [K],
    pub(super) wrong: ReservedVec<'b, K>,
    /// Those from `from` on are to come.
    keys: ReservedVec<'b, K>,
    values: Vec<()>,
    from: usize,
}

impl<'a, 'b, K: Key, S: RowStream<K, ()>> Settling<'a, 'b, K, S> {
    pub(super) fn new(stream: S, assumed: &'a [K], budget: &'b MemoryBudget) -> Self {
        let (wrong, keys) = (ReservedVec::new(budget), ReservedVec::new(budget));
        Self { stream, assumed, wrong, keys, values: Vec::new(), from: 0 }
    }

    fn fill(&mut self) -> Result<(), StorageError> {
        self.keys.clear();
        self.from = 0;
        while self.keys.is_empty() && !self.assumed.is_empty() {
            let (new, _) = self.stream.batch()?;
            let n = new.len();
            if n == 0 {
                self.wrong.extend_from_slice(std::mem::take(&mut self.assumed))?;
                return Ok(());
            }
            for key in new {
                while let Some((assumed, rest)) = self.assumed.split_first()
                    && assumed < key
                {
                    self.wrong.push(*assumed)?;
                    self.assumed = rest;
                }
                match self.assumed.split_first() {
                    Some((assumed, rest)) if assumed == key => self.assumed = rest,
                    _ => self.keys.push(*key)?,
                }
            }
            self.stream.consume(n);
        }
        self.values.resize(self.keys.len(), ());
        Ok(())
    }
}

impl<K: Key, S: RowStream<K, ()>> RowStream<K, ()> for Settling<'_, '_, K, S> {
    fn batch(&mut self) -> Result<(&[K], &[()]), StorageError> {
        if self.from == self.keys.len() {
            self.fill()?;
        }
        // Without assumed states all of them are passed on.
        if self.from == self.keys.len() && self.assumed.is_empty() {
            return self.stream.batch();
        }
        let keys = &self.keys[self.from..];
        Ok((keys, &self.values[self.from..]))
    }

    fn consume(&mut self, n: usize) {
        if self.from < self.keys.len() {
            self.from += n;
        } else {
            self.stream.consume(n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Extent};
    use lariat_base::{SilentObserver, StopSignal};
    use lariat_disk::{FaultPlan, FaultyDisk};
    use lariat_testkit::RandomGraph;

    /// A full buffer of new states must not be written while something in it is assumed.
    #[test]
    fn what_a_full_worker_is_given_is_doubtful_and_not_assumed() {
        let graph = RandomGraph::chain(1_000);
        let (budget, stop, disk) =
            (MemoryBudget::new(64 << 20), StopSignal::new(None), FaultyDisk::new(FaultPlan::default()));
        let (observer, threads) = (&SilentObserver, 1);
        let context = Context { budget: &budget, stop: &stop, observer, threads, disk: Some(&disk), labels: &[] };
        let shares = Shares { new_keys: 3, ..Shares::of::<u64>(&context, 8) };
        let search = Search::<u64>::new(&graph, &[], Extent::Everything, &context, &disk, Some(shares)).unwrap();
        let mut workers = [Worker::new(&search.shared).unwrap()];
        workers[0].begin_round().unwrap();
        search.assumed.borrow_mut().keys.extend_from_slice(&[7, 5, 6]).unwrap();
        search.shared.set_assuming(true);
        search.shared.tally.add_states(5);
        workers[0].adopt(&[1, 2, 5]).unwrap();
        assert_eq!(workers[0].room(), 0);
        workers[0].adopt(&[6, 7]).unwrap();
        search.forget_delayed(&mut workers);
        assert_eq!(search.assumed.borrow_mut().sorted(), [5]);
        assert_eq!(workers[0].doubtful_in_memory(), [6, 7]);
        assert_eq!(search.shared.tally.states(), 3);
        assert!(search.shared.frontier.is_paused(), "the others stop, so that it can be compared");
    }

    #[test]
    fn what_cannot_be_compared_is_doubtful_again() {
        let graph = RandomGraph::chain(1_000);
        let (budget, stop, disk) =
            (MemoryBudget::new(64 << 20), StopSignal::new(None), FaultyDisk::new(FaultPlan::default()));
        let (observer, threads) = (&SilentObserver, 1);
        let context = Context { budget: &budget, stop: &stop, observer, threads, disk: Some(&disk), labels: &[] };
        let shares = Shares { new_keys: 10, ..Shares::of::<u64>(&context, 8) };
        let search = Search::<u64>::new(&graph, &[], Extent::Everything, &context, &disk, Some(shares)).unwrap();
        let mut workers = [Worker::new(&search.shared).unwrap()];
        workers[0].begin_round().unwrap();
        search.assumed.borrow_mut().keys.extend_from_slice(&[9, 4]).unwrap();
        search.shared.set_assuming(true);
        search.shared.tally.add_states(4);
        workers[0].adopt(&[9, 1, 4, 2]).unwrap();
        search.doubt_again(&mut workers).unwrap();
        assert_eq!((workers[0].n_waiting(), workers[0].room()), (2, 8));
        assert_eq!(workers[0].doubtful_in_memory(), [4, 9]);
        assert_eq!(search.shared.tally.states(), 2);
        assert!(!search.shared.is_assuming() && !search.assumed.borrow().allows(1));
    }

    #[test]
    fn how_many_may_be_assumed_follows_what_came_out() {
        let budget = MemoryBudget::new(1 << 20);
        let mut assumed = Assumed::<u64> {
            budget: &budget,
            keys: ReservedVec::new(&budget),
            most: 1000,
            new_quarters: 3,
            allowed: 0,
            wait: 0,
            next_wait: WAIT,
        };
        assert!(!assumed.allows(1));
        assumed.learn(100, 75);
        assert!(assumed.allows(200) && !assumed.allows(201) && !assumed.allows(0));
        (0..5).for_each(|_| assumed.learn(100, 100));
        assert!(assumed.allows(1000) && !assumed.allows(1001), "no more than memory allows");
        assumed.keys.extend_from_slice(&[1, 2]).unwrap();
        assumed.learn(10, 6);
        assert!(assumed.allows(998), "neither good nor bad");
        assumed.learn(10, 4);
        assumed.forget();
        for _ in 0..WAIT {
            assert!(!assumed.allows(1), "after a failure it takes its time");
            assumed.learn(10, 10);
        }
        assert!(assumed.allows(1));
        assert_eq!(assumed.next_wait, 2 * WAIT);
    }
}
