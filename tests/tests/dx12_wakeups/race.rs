//! A game that is lost with the first wake-up that reaches the wrong thread.

use std::fmt;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom as _;

const GROUPS: u64 = 40;
pub(crate) const WAITERS_PER_GROUP: u64 = 4;

/// A fence that can be waited for by several threads.
pub(crate) trait Contestant: Sync {
    /// Blocks until `value` is reached, for `timeout` at most.
    ///
    /// Calls `begun` right before it blocks: when the fence knows of this wait, where that can be told.
    fn wait(&self, value: u64, timeout: Duration, begun: &dyn Fn()) -> Woken;

    /// Sets the fence to `value`, from the CPU.
    fn signal(&self, value: u64);
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    Reached,
    TimedOut,
    DeviceLost,
}

/// What came of a race.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) waits: u64,
    /// Waits that timed out though their value had been signalled.
    pub(crate) missed: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} waits missed their wake-up",
            self.missed, self.waits
        )
    }
}

/// Lets group after group of threads wait for the next values of a fresh fence, each for one of them.
/// When all have begun to wait, the values are signalled one by one, in order.
pub(crate) fn race(fence: &dyn Contestant, timeout: Duration) -> Tally {
    let mut shuffle = SmallRng::seed_from_u64(12);
    let mut missed = 0;
    for group in 0..GROUPS {
        let first = group * WAITERS_PER_GROUP + 1;
        let mut values: Vec<u64> = (first..first + WAITERS_PER_GROUP).collect();
        values.shuffle(&mut shuffle);
        missed += missed_by_group(fence, &values, timeout);
    }
    Tally {
        waits: GROUPS * WAITERS_PER_GROUP,
        missed,
    }
}

/// How many waits, one for each of `values`, missed their wake-up.
fn missed_by_group(fence: &dyn Contestant, values: &[u64], timeout: Duration) -> u64 {
    let all_have_begun = Barrier::new(values.len() + 1);
    let signalled = AtomicU64::new(0);

    let misses = |value: u64| {
        let begun = || {
            all_have_begun.wait();
        };
        let mut woken = fence.wait(value, timeout, &begun);
        // On a busy machine the signal may come later than a short timeout.
        while woken == Woken::TimedOut && signalled.load(Ordering::Acquire) < value {
            woken = fence.wait(value, timeout, &|| {});
        }
        assert_ne!(woken, Woken::DeviceLost);
        woken == Woken::TimedOut
    };
    thread::scope(|scope| {
        let waiters: Vec<_> = values
            .iter()
            .map(|&value| scope.spawn(move || misses(value)))
            .collect();
        all_have_begun.wait();
        let mut in_order = values.to_vec();
        in_order.sort_unstable();
        for value in in_order {
            fence.signal(value);
            signalled.store(value, Ordering::Release);
            // Whoever is woken is to look at the fence before it goes on.
            thread::yield_now();
        }
        let missed = |waiter: thread::ScopedJoinHandle<'_, bool>| {
            waiter.join().expect("a waiter does not panic")
        };
        waiters
            .into_iter()
            .map(|waiter| u64::from(missed(waiter)))
            .sum()
    })
}
