//! A value that arrives once, and those who wait for it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use crate::timer;

/// A place for one value, which ends all waits for it.
///
/// Whoever calls [`complete`](Self::complete) first decides how the wait ends; every later value
/// is handed back. Completing, waiting and asking are possible from any number of threads, and no
/// waiter shares a wake-up with another completion's.
#[derive(Debug)]
pub struct Completion<T> {
    state: Mutex<State<T>>,
    completed: Condvar,
}

#[derive(Debug)]
enum State<T> {
    Open { wakers: Vec<Waker> },
    Complete(T),
    Taken,
}

/// The deadline came before the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired;

/// Wakes a task. A waker is foreign code: one that panics must not keep the others asleep.
pub(crate) fn wake(waker: Waker) {
    if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
        tracing::error!("a waker panicked");
    }
}

/// The instant `timeout` from now; a timeout beyond what an [`Instant`] can hold is 30 years.
#[must_use]
pub fn deadline_after(timeout: Duration) -> Instant {
    const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or_else(|| now + FOREVER)
}

impl<T> Completion<T> {
    /// A completion that waits for its value.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Mutex::new(State::Open { wakers: Vec::new() }),
            completed: Condvar::new(),
        }
    }

    /// Ends every wait with `value`, unless an earlier call has done so.
    ///
    /// # Errors
    ///
    /// Hands `value` back if the completion was complete already.
    pub fn complete(&self, value: T) -> Result<(), T> {
        let mut state = self.lock();
        let State::Open { wakers } = &mut *state else {
            return Err(value);
        };
        let wakers = std::mem::take(wakers);
        *state = State::Complete(value);
        drop(state);
        self.completed.notify_all();
        for waker in wakers {
            wake(waker);
        }
        Ok(())
    }

    /// Whether a value has come, taken or not.
    pub fn is_complete(&self) -> bool {
        !matches!(*self.lock(), State::Open { .. })
    }

    /// Blocks until a value has come or `deadline` has passed. A deadline in the past only asks.
    ///
    /// # Errors
    ///
    /// [`Expired`] if there is no value by then.
    pub fn wait_until(&self, deadline: Instant) -> Result<(), Expired> {
        let mut state = self.lock();
        while matches!(*state, State::Open { .. }) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Expired);
            }
            let woken = self.completed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }

    /// Resolves when a value has come or `deadline` has passed. Needs no runtime: the deadline is
    /// kept by a thread of this crate, so any executor will do.
    ///
    /// # Errors
    ///
    /// [`Expired`] if there is no value by then.
    pub async fn reached(&self, deadline: Instant) -> Result<(), Expired> {
        let mut timer = None;
        poll_fn(|context| {
            if self.wake_when_complete(context.waker()) {
                return Poll::Ready(Ok(()));
            }
            if Instant::now() >= deadline {
                return Poll::Ready(Err(Expired));
            }
            timer = Some(timer::wake_at(deadline, context.waker()));
            Poll::Pending
        })
        .await
    }

    /// Wakes `waker` when a value comes. Says whether one has come already; it is not woken then.
    pub fn wake_when_complete(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        let State::Open { wakers } = &mut *state else {
            return true;
        };
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        false
    }

    /// Takes the value out, if it has come and nobody has taken it.
    pub fn take(&self) -> Option<T> {
        let mut state = self.lock();
        match &*state {
            State::Complete(_) => match std::mem::replace(&mut *state, State::Taken) {
                State::Complete(value) => Some(value),
                State::Open { .. } | State::Taken => None,
            },
            State::Open { .. } | State::Taken => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // The state is replaced whole, so a poisoned lock still guards a sound one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Completion<T> {
    /// A copy of the value, if it has come and nobody has taken it.
    pub fn peek(&self) -> Option<T> {
        match &*self.lock() {
            State::Complete(value) => Some(value.clone()),
            State::Open { .. } | State::Taken => None,
        }
    }
}

impl<T> Default for Completion<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;
    use std::thread;

    #[test]
    fn the_first_value_wins_and_is_taken_once() {
        let completion = Completion::new();
        assert_eq!(completion.complete(1), Ok(()));
        assert_eq!(completion.complete(2), Err(2));
        assert_eq!(completion.take(), Some(1));
        assert_eq!(completion.take(), None);
        assert!(completion.is_complete());
        assert_eq!(completion.complete(3), Err(3));
    }

    #[test]
    fn a_deadline_in_the_past_only_asks() {
        let completion = Completion::<()>::new();
        let past = Instant::now();
        assert_eq!(completion.wait_until(past), Err(Expired));
        assert_eq!(pollster::block_on(completion.reached(past)), Err(Expired));
        completion.complete(()).unwrap();
        assert_eq!(completion.wait_until(past), Ok(()));
        assert_eq!(pollster::block_on(completion.reached(past)), Ok(()));
    }

    #[test]
    fn every_waiter_is_woken() {
        let completion = Arc::new(Completion::new());
        let far = Instant::now() + Duration::from_secs(600);
        let waiters: Vec<_> = (0..8)
            .map(|index| {
                let completion = Arc::clone(&completion);
                thread::spawn(move || match index % 2 {
                    0 => completion.wait_until(far),
                    _ => pollster::block_on(completion.reached(far)),
                })
            })
            .collect();
        completion.complete("done").unwrap();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), Ok(()));
        }
        assert_eq!(completion.peek(), Some("done"));
    }

    #[test]
    fn an_async_wait_ends_at_its_deadline() {
        let completion = Completion::<()>::new();
        let soon = Instant::now() + Duration::from_millis(5);
        assert_eq!(pollster::block_on(completion.reached(soon)), Err(Expired));
        assert!(Instant::now() >= soon);
    }

    #[test]
    fn a_waker_that_panics_leaves_the_others_awake() {
        struct Panics;
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                panic!("the task's own fault");
            }
        }
        let completion = Completion::new();
        let pending = completion.reached(Instant::now() + Duration::from_secs(600));
        assert!(!completion.wake_when_complete(&Waker::from(Arc::new(Panics))));
        let woken = thread::scope(|scope| {
            let waiter = scope.spawn(|| pollster::block_on(pending));
            completion.complete(()).unwrap();
            waiter.join().unwrap()
        });
        assert_eq!(woken, Ok(()));
    }
}
