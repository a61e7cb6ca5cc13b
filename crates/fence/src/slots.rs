//! How many submissions the driver has: kept below the number at which its submit call blocks, and at
//! none while someone holds a pause.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The places for submissions in a driver.
#[derive(Debug)]
pub(crate) struct DriverSlots {
    /// `None`: the driver takes as many as it is given.
    capacity: Option<usize>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    /// How many hold a pause, or wait for one.
    pauses: usize,
    /// The device is lost: there is nothing left to wait for.
    is_lost: bool,
}

/// Why there was no place by the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSlot {
    Full { in_driver: usize },
    Paused,
}

impl DriverSlots {
    pub(crate) fn new(capacity: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            capacity,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Waits until the driver has room and nobody holds a pause, or the device is lost.
    pub(crate) fn acquire(self: &Arc<Self>, deadline: Instant) -> Result<DriverSlot, NoSlot> {
        let obstacle = |state: &State| {
            let in_driver = state.used;
            if state.is_lost {
                None
            } else if state.pauses > 0 {
                Some(NoSlot::Paused)
            } else if self.capacity.is_some_and(|capacity| in_driver >= capacity) {
                Some(NoSlot::Full { in_driver })
            } else {
                None
            }
        };
        let mut state = self.wait_until_none(deadline, self.lock(), obstacle)?;
        state.used += 1;
        drop(state);
        Ok(self.slot())
    }

    /// For a callback that holds up what would empty the driver: takes a place whether there is one
    /// or not. Waits only for a pause that has found the driver empty.
    pub(crate) fn acquire_another(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<DriverSlot, NoSlot> {
        let obstacle = |state: &State| {
            let is_kept_empty = state.pauses > 0 && state.used == 0 && !state.is_lost;
            is_kept_empty.then_some(NoSlot::Paused)
        };
        let mut state = self.wait_until_none(deadline, self.lock(), obstacle)?;
        state.used += 1;
        drop(state);
        Ok(self.slot())
    }

    /// Takes a place whether there is one or not.
    pub(crate) fn take_another(self: &Arc<Self>) -> DriverSlot {
        self.lock().used += 1;
        self.slot()
    }

    /// Ends all waits for a place.
    pub(crate) fn lose(&self) {
        self.lock().is_lost = true;
        self.changed.notify_all();
    }

    /// Keeps new submissions back and waits until the driver has none. `Err` with the number in the
    /// driver at the deadline; then none is kept back.
    pub(crate) fn pause(self: &Arc<Self>, deadline: Instant) -> Result<Pause, usize> {
        let mut state = self.lock();
        state.pauses += 1;
        // From here on dropped, and so taken back, however this ends.
        let pause = Pause {
            slots: Arc::clone(self),
        };
        let in_driver = |state: &State| (state.used > 0).then_some(state.used);
        let drained = self.wait_until_none(deadline, state, in_driver).map(drop);
        drained.map(|()| pause)
    }

    /// Waits until there is no obstacle; `Err` with the one at the deadline.
    fn wait_until_none<'a, O>(
        &self,
        deadline: Instant,
        mut state: MutexGuard<'a, State>,
        obstacle: impl Fn(&State) -> Option<O>,
    ) -> Result<MutexGuard<'a, State>, O> {
        while let Some(obstacle) = obstacle(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(obstacle);
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state)
    }

    fn slot(self: &Arc<Self>) -> DriverSlot {
        DriverSlot {
            slots: Arc::clone(self),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One place in the driver, free again when dropped.
#[derive(Debug)]
pub(crate) struct DriverSlot {
    slots: Arc<DriverSlots>,
}

impl Drop for DriverSlot {
    fn drop(&mut self) {
        self.slots.lock().used -= 1;
        // Those who wait for room and those who wait for none at all wait here.
        self.slots.changed.notify_all();
    }
}

/// Keeps submissions back until it is dropped.
#[derive(Debug)]
pub(crate) struct Pause {
    slots: Arc<DriverSlots>,
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.slots.lock().pauses -= 1;
        self.slots.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_pause_waits_for_what_the_driver_has_and_keeps_back_what_comes() {
        let slots = DriverSlots::new(Some(2));
        let past = Instant::now();
        let far = past + Duration::from_secs(600);
        let first = slots.acquire(past).unwrap();
        assert_eq!(slots.pause(past).unwrap_err(), 1);
        // The pause that did not come about keeps nothing back.
        let second = slots.acquire(past).unwrap();
        assert_eq!(
            slots.acquire(past).unwrap_err(),
            NoSlot::Full { in_driver: 2 }
        );
        drop(slots.acquire_another(past).unwrap());

        thread::scope(|threads| {
            let pausing = threads.spawn(|| slots.pause(far));
            drop(first);
            drop(second);
            let pause = pausing.join().unwrap().unwrap();
            let other = slots.pause(past).unwrap();
            assert_eq!(slots.acquire(past).unwrap_err(), NoSlot::Paused);
            drop(pause);
            assert_eq!(slots.acquire(past).unwrap_err(), NoSlot::Paused);
            assert_eq!(slots.acquire_another(past).unwrap_err(), NoSlot::Paused);
            let kept_back = threads.spawn(|| slots.acquire(far).map(drop));
            drop(other);
            assert_eq!(kept_back.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn a_lost_device_keeps_nobody_back() {
        let slots = DriverSlots::new(Some(1));
        let past = Instant::now();
        let far = past + Duration::from_secs(600);
        let _pause = slots.pause(past).unwrap();
        thread::scope(|threads| {
            let kept_back = threads.spawn(|| slots.acquire(far).map(drop));
            slots.lose();
            assert_eq!(kept_back.join().unwrap(), Ok(()));
        });
    }
}
