use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pool of values that are costly to make, each found again by the whole of its description.
///
/// Cloning gives another handle on the same pool.
pub struct Pool<K, T> {
    shared: Arc<Shared<K, T>>,
}

struct Shared<K, T> {
    budget_bytes: usize,
    state: Mutex<State<K, T>>,
}

struct State<K, T> {
    /// Oldest first: values are added at the back and evicted from the front.
    idle: VecDeque<Block<K, T>>,
    report: PoolReport,
}

struct Block<K, T> {
    key: K,
    size_bytes: usize,
    value: T,
}

/// What a pool holds, and what it has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolReport {
    /// Bytes of the values that are lent now.
    pub live_bytes: usize,
    /// Number of values that are lent now.
    pub live_count: usize,
    /// Bytes of the values that wait to be lent again; never above the budget.
    pub idle_bytes: usize,
    /// Number of values that wait to be lent again.
    pub idle_count: usize,
    /// Values that were taken in with [`Pool::add`], since the pool was made.
    pub made: u64,
    /// Values that were lent again by [`Pool::take`], since the pool was made.
    pub reused: u64,
    /// Values that were dropped, to stay within the budget, by [`Pool::clear`] or by
    /// [`Lease::discard`], since the pool was made.
    pub evicted: u64,
}

impl<K: PartialEq, T> Pool<K, T> {
    /// A pool that keeps at most `budget_bytes` of idle values: the values idle for longest are
    /// dropped to make room for one just released, and one larger than the whole budget is
    /// dropped as soon as it is released.
    #[must_use]
    pub fn new(budget_bytes: usize) -> Self {
        let state = State {
            idle: VecDeque::new(),
            report: PoolReport::default(),
        };
        Self {
            shared: Arc::new(Shared {
                budget_bytes,
                state: Mutex::new(state),
            }),
        }
    }

    /// Lends an idle value of this description, the one most recently released, as it is.
    ///
    /// Nothing is made where there is none: see [`add`](Self::add).
    #[must_use]
    pub fn take(&self, key: &K) -> Option<Lease<K, T>> {
        let mut state = self.shared.lock();
        let newest = state.idle.iter().rposition(|block| block.key == *key)?;
        let block = state.idle.remove(newest)?;
        let report = &mut state.report;
        report.idle_bytes -= block.size_bytes;
        report.idle_count -= 1;
        report.live_bytes += block.size_bytes;
        report.live_count += 1;
        report.reused += 1;
        drop(state);
        Some(self.lease(block))
    }

    /// Takes in a value that its caller has just made, and lends it to that caller.
    ///
    /// `size_bytes` is what it counts for in the budget and the report.
    pub fn add(&self, key: K, size_bytes: usize, value: T) -> Lease<K, T> {
        let mut state = self.shared.lock();
        let report = &mut state.report;
        report.live_bytes += size_bytes;
        report.live_count += 1;
        report.made += 1;
        drop(state);
        self.lease(Block {
            key,
            size_bytes,
            value,
        })
    }

    /// The most bytes that lie idle.
    #[must_use]
    pub fn budget_bytes(&self) -> usize {
        self.shared.budget_bytes
    }

    /// What the pool holds now.
    #[must_use]
    pub fn report(&self) -> PoolReport {
        self.shared.lock().report
    }

    /// Drops every idle value.
    pub fn clear(&self) {
        let mut state = self.shared.lock();
        state.report.evicted += state.idle.len() as u64;
        state.report.idle_bytes = 0;
        state.report.idle_count = 0;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        // Values may take locks of their own when dropped: never under ours.
        drop(idle);
    }

    fn lease(&self, block: Block<K, T>) -> Lease<K, T> {
        Lease {
            block: Some(block),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<K, T> Shared<K, T> {
    fn lock(&self) -> MutexGuard<'_, State<K, T>> {
        // Counters and the list are changed together without a panic in between, so a poisoned
        // lock still guards a sound state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, T> State<K, T> {
    /// Moves a lent block to the idle ones, and hands out those that have to make room for it.
    fn release(&mut self, block: Block<K, T>, budget_bytes: usize) -> Vec<Block<K, T>> {
        let Self { idle, report } = self;
        report.live_bytes -= block.size_bytes;
        report.live_count -= 1;
        if block.size_bytes > budget_bytes {
            // No eviction could make room for it: it goes alone.
            report.evicted += 1;
            return vec![block];
        }
        report.idle_bytes += block.size_bytes;
        report.idle_count += 1;
        idle.push_back(block);
        let mut evicted = Vec::new();
        while report.idle_bytes > budget_bytes {
            let Some(oldest) = idle.pop_front() else {
                break;
            };
            report.idle_bytes -= oldest.size_bytes;
            report.idle_count -= 1;
            report.evicted += 1;
            evicted.push(oldest);
        }
        evicted
    }
}

impl<K, T> Clone for Pool<K, T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<K, T> fmt::Debug for Pool<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("budget_bytes", &self.shared.budget_bytes)
            .field("report", &self.shared.lock().report)
            .finish()
    }
}

/// A value lent by a [`Pool`]; dropping the lease releases it.
#[must_use]
pub struct Lease<K, T> {
    /// Present until the lease is dropped.
    block: Option<Block<K, T>>,
    shared: Arc<Shared<K, T>>,
}

impl<K, T> Lease<K, T> {
    const PRESENT: &'static str = "a lease holds its value until it is dropped";

    /// The description under which the value will be found again.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.block.as_ref().expect(Self::PRESENT).key
    }
}

impl<K, T> Lease<K, T> {
    /// Drops the value instead of releasing it: it is not fit to be lent again.
    pub fn discard(mut self) {
        let Some(block) = self.block.take() else {
            return;
        };
        let mut state = self.shared.lock();
        state.report.live_bytes -= block.size_bytes;
        state.report.live_count -= 1;
        state.report.evicted += 1;
        drop(state);
        // Values may take locks of their own when dropped: never under ours.
        drop(block);
    }
}

impl<K, T> Deref for Lease<K, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.block.as_ref().expect(Self::PRESENT).value
    }
}

impl<K, T> DerefMut for Lease<K, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.block.as_mut().expect(Self::PRESENT).value
    }
}

impl<K, T> Drop for Lease<K, T> {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else {
            return;
        };
        let evicted = self.shared.lock().release(block, self.shared.budget_bytes);
        // Values may take locks of their own when dropped: never under ours.
        drop(evicted);
    }
}

impl<K: fmt::Debug, T> fmt::Debug for Lease<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("key", self.key())
            .finish_non_exhaustive()
    }
}
