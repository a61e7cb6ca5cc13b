//! Deadlines of async waits, kept by one thread for the whole process.
//!
//! A blocking wait brings its own thread and keeps its deadline there; a future has none, and must
//! not depend on one runtime's timer.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Instant;

use crate::completion::wake;

/// Wakes `waker` at `deadline` unless the returned timer is dropped before.
pub(crate) fn wake_at(deadline: Instant, waker: &Waker) -> Timer {
    let clock = Clock::get();
    let mut pending = clock.lock();
    pending.last_id += 1;
    let key = (deadline, pending.last_id);
    let is_earliest = pending
        .wakers
        .keys()
        .next()
        .is_none_or(|earliest| key < *earliest);
    pending.wakers.insert(key, waker.clone());
    drop(pending);
    if is_earliest {
        clock.changed.notify_one();
    }
    Timer { key }
}

/// A deadline that will wake a task; dropping it forgets the deadline.
pub(crate) struct Timer {
    key: (Instant, u64),
}

impl Drop for Timer {
    fn drop(&mut self) {
        // The clock thread may wake up for it once for nothing; that is cheaper than telling it.
        let forgotten = Clock::get().lock().wakers.remove(&self.key);
        drop(forgotten);
    }
}

struct Clock {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    last_id: u64,
    wakers: BTreeMap<(Instant, u64), Waker>,
}

impl Clock {
    fn get() -> &'static Self {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        static THREAD: OnceLock<()> = OnceLock::new();
        let clock = CLOCK.get_or_init(|| Self {
            pending: Mutex::default(),
            changed: Condvar::new(),
        });
        THREAD.get_or_init(|| {
            let spawned = thread::Builder::new()
                .name("framefence-timer".into())
                .spawn(|| clock.run());
            if let Err(error) = spawned {
                tracing::error!(%error, "no thread for deadlines: async waits will outlast theirs");
            }
        });
        clock
    }

    fn run(&self) {
        let mut pending = self.lock();
        loop {
            let Some((&key, _)) = pending.wakers.first_key_value() else {
                pending = self
                    .changed
                    .wait(pending)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = key.0.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let due = pending.wakers.remove(&key);
                drop(pending);
                // A waker runs foreign code: never under our lock.
                if let Some(waker) = due {
                    wake(waker);
                }
                pending = self.lock();
            } else {
                let woken = self.changed.wait_timeout(pending, left);
                pending = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
