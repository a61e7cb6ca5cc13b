//! How many submissions the driver has, kept below the number at which its submit call blocks.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The places for submissions in a driver.
#[derive(Debug)]
pub(crate) struct DriverSlots {
    /// `None`: the driver takes as many as it is given.
    capacity: Option<usize>,
    used: Mutex<usize>,
    freed: Condvar,
}

impl DriverSlots {
    pub(crate) fn new(capacity: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            capacity,
            used: Mutex::new(0),
            freed: Condvar::new(),
        })
    }

    /// Waits until the driver has room. `Err` with the number in the driver at the deadline.
    pub(crate) fn acquire(self: &Arc<Self>, deadline: Instant) -> Result<DriverSlot, usize> {
        let mut used = self.lock();
        while self.capacity.is_some_and(|capacity| *used >= capacity) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(*used);
            }
            let woken = self.freed.wait_timeout(used, left);
            used = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        *used += 1;
        drop(used);
        Ok(DriverSlot {
            slots: Arc::clone(self),
        })
    }

    /// Takes a place whether there is one or not.
    pub(crate) fn take_another(self: &Arc<Self>) -> DriverSlot {
        *self.lock() += 1;
        DriverSlot {
            slots: Arc::clone(self),
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One place in the driver, free again when dropped.
#[derive(Debug)]
pub(crate) struct DriverSlot {
    slots: Arc<DriverSlots>,
}

impl Drop for DriverSlot {
    fn drop(&mut self) {
        *self.slots.lock() -= 1;
        self.slots.freed.notify_one();
    }
}
