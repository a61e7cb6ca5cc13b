//! The DirectX 12 backend: one `ID3D12Fence` for a device's queue.
//!
//! The queue is told to signal the next value right after each `queue.submit`. A queue does one
//! thing after the other, so the value says that the submission is done, and a host that submits in
//! between only delays it.
//!
//! Each wait has an event of its own, lent from a pool for its length: were one auto-reset event
//! shared by two waits, the wake-up of one could end the other's sleep and be gone.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wgpu::hal::api::Dx12;
use windows::Win32::Foundation::{CloseHandle, HANDLE, WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows::Win32::Graphics::Direct3D12::{
    D3D12_FENCE_FLAG_NONE, ID3D12CommandQueue, ID3D12Device, ID3D12Fence,
};
use windows::Win32::System::Threading::{CreateEventW, INFINITE, WaitForSingleObject};
use windows::core::Interface as _;

use crate::backend::{FenceBackend, Outcome, QueueFence, Signal};
use crate::canary::Canary;
use crate::{OpenFenceError, SubmissionLost};

/// What every fence of a removed device stands at.
const REMOVED: u64 = u64::MAX;

/// A fence of our own on a DirectX 12 queue.
pub struct Dx12Fence {
    fence: ID3D12Fence,
    queue: ID3D12CommandQueue,
    device: ID3D12Device,
    events: EventPool,
    canary: Canary,
    /// The newest value that the queue was told to signal.
    newest: AtomicU64,
}

impl Dx12Fence {
    /// A fence at zero on `queue`.
    ///
    /// # Errors
    ///
    /// [`OpenFenceError`] if it is no queue of DirectX 12, or the driver refuses a fence.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, OpenFenceError> {
        let refused = |reason: String| OpenFenceError::Fence { reason };
        let other = || refused("not a DirectX 12 queue".to_owned());
        let (raw_device, raw_queue) = {
            // SAFETY: the guards are only used to take references of our own.
            let hal = unsafe { device.as_hal::<Dx12>() }.ok_or_else(other)?;
            // SAFETY: as above.
            let hal_queue = unsafe { queue.as_hal::<Dx12>() }.ok_or_else(other)?;
            (hal.raw_device().clone(), hal_queue.as_raw().clone())
        };
        // SAFETY: a plain call on a device that we hold a reference of.
        let fence = unsafe { raw_device.CreateFence(0, D3D12_FENCE_FLAG_NONE) };
        Ok(Self {
            fence: fence.map_err(|error| refused(error.to_string()))?,
            queue: raw_queue,
            device: raw_device,
            events: EventPool::default(),
            canary: Canary::new(device),
            newest: AtomicU64::new(0),
        })
    }

    /// Blocks until `value` is signalled or `deadline` has passed; says which value has been reached.
    ///
    /// # Errors
    ///
    /// [`SubmissionLost`] if the device was removed.
    pub fn wait(&self, value: u64, deadline: Instant) -> Result<u64, SubmissionLost> {
        let reached = self.reached()?;
        if reached >= value {
            return Ok(reached);
        }
        self.events
            .lend(|event| self.wait_on(event, value, deadline))
            .map_err(failed)?
    }

    fn wait_on(&self, event: HANDLE, value: u64, deadline: Instant) -> Result<u64, SubmissionLost> {
        // SAFETY: the fence and the event are alive. The runtime may set the event after this wait
        // has ended at its deadline: it goes back to the pool, which keeps it as long as the fence.
        unsafe { self.fence.SetEventOnCompletion(value, event) }.map_err(failed)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // SAFETY: the event is alive and is waited for by this thread alone.
            let woken = unsafe { WaitForSingleObject(event, milliseconds(left)) };
            if woken != WAIT_OBJECT_0 && woken != WAIT_TIMEOUT {
                return Err(failed(windows::core::Error::from_thread()));
            }
            // It may also have been set for an earlier wait that it was lent to.
            let reached = self.reached()?;
            if reached >= value || left.is_zero() {
                return Ok(reached);
            }
        }
    }

    /// The newest value that has been signalled.
    ///
    /// # Errors
    ///
    /// [`SubmissionLost`] if the device was removed.
    pub fn reached(&self) -> Result<u64, SubmissionLost> {
        // SAFETY: a plain call on a fence that we hold a reference of.
        match unsafe { self.fence.GetCompletedValue() } {
            REMOVED => Err(self.removal().unwrap_or_else(|| {
                SubmissionLost::new("its fence stands where those of removed devices do")
            })),
            value => Ok(value),
        }
    }

    /// The fence itself.
    #[must_use]
    pub fn raw(&self) -> &ID3D12Fence {
        &self.fence
    }

    /// How many kernel events the waits so far have taken: as many as there were at a time.
    #[must_use]
    pub fn events_created(&self) -> u64 {
        self.events.created.load(Ordering::Relaxed)
    }

    /// Why the device was removed, if it was.
    fn removal(&self) -> Option<SubmissionLost> {
        // SAFETY: a plain call on a device that we hold a reference of.
        let reason = unsafe { self.device.GetDeviceRemovedReason() }.err()?;
        Some(SubmissionLost::new(format!("it was removed: {reason}")))
    }
}

impl QueueFence for Dx12Fence {
    fn backend(&self) -> FenceBackend {
        FenceBackend::Dx12Fence
    }

    fn before_submit(&self, _value: u64) {}

    fn after_submit(&self, value: u64, outcome: Outcome) -> Result<Signal, SubmissionLost> {
        if matches!(outcome, Outcome::Refused) || self.canary.is_dead() {
            return Ok(Signal::Withdrawn);
        }
        if self.newest.fetch_max(value, Ordering::Relaxed) > value {
            // A callback within this submit has made a later one. Its signal is behind both, and must
            // not be taken back.
            return Ok(Signal::Sent);
        }
        // SAFETY: the queue and the fence are of one device, and we hold references of both.
        unsafe { self.queue.Signal(&self.fence, value) }
            .map_err(|error| self.removal().unwrap_or_else(|| failed(error)))?;
        Ok(Signal::Sent)
    }

    fn wait(&self, value: u64, deadline: Instant) -> Result<u64, SubmissionLost> {
        Self::wait(self, value, deadline)
    }

    fn reached(&self) -> Result<u64, SubmissionLost> {
        Self::reached(self)
    }

    /// wgpu takes the fences of a removed device for those of a device that has done all its work.
    fn confirm(&self) -> Result<(), SubmissionLost> {
        Self::reached(self)?;
        // wgpu's fence may have been moved before ours.
        self.removal().map_or(Ok(()), Err)
    }
}

fn failed(error: windows::core::Error) -> SubmissionLost {
    SubmissionLost::new(error.to_string())
}

/// A time for a wait of Windows', which counts whole milliseconds: rounded up, since less than one
/// would be none at all; and never `INFINITE`, which is not what was asked for.
fn milliseconds(time: Duration) -> u32 {
    let rounded_up = time.as_nanos().div_ceil(1_000_000);
    u32::try_from(rounded_up).map_or(INFINITE - 1, |milliseconds| milliseconds.min(INFINITE - 1))
}

/// The queue's handle for as long as it lives, if it is one of DirectX 12.
pub(crate) fn handle(queue: &wgpu::Queue) -> Option<u64> {
    // SAFETY: the guard is only used to read a handle, and nothing is destroyed through it.
    let hal = unsafe { queue.as_hal::<Dx12>() }?;
    Some(hal.as_raw().as_raw() as u64)
}

/// Events that no wait has at the moment. As many are kept as there were waits at a time.
#[derive(Default)]
struct EventPool {
    idle: Mutex<Vec<Event>>,
    created: AtomicU64,
}

impl EventPool {
    /// Calls `wait` with an event that belongs to it alone. It may be set from the wait before.
    fn lend<R>(&self, wait: impl FnOnce(HANDLE) -> R) -> windows::core::Result<R> {
        let idle = self.lock().pop();
        let event = match idle {
            Some(event) => event,
            None => {
                self.created.fetch_add(1, Ordering::Relaxed);
                Event::new()?
            }
        };
        let result = wait(event.0);
        self.lock().push(event);
        Ok(result)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A kernel event that resets itself when it has woken its one waiter.
struct Event(HANDLE);

// SAFETY: events are made to be used from any thread; only the handle's type does not say so.
unsafe impl Send for Event {}

impl Event {
    fn new() -> windows::core::Result<Self> {
        // SAFETY: no name and no attributes are passed.
        unsafe { CreateEventW(None, false, false, None) }.map(Self)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and is closed once.
        if let Err(error) = unsafe { CloseHandle(self.0) } {
            tracing::error!(%error, "an event could not be closed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_never_endless() {
        let of = |nanoseconds| milliseconds(Duration::from_nanos(nanoseconds));
        assert_eq!([of(0), of(1), of(300_000)], [0, 1, 1]);
        assert_eq!([of(1_000_000), of(1_000_001)], [1, 2]);
        assert_eq!(milliseconds(Duration::MAX), INFINITE - 1);
        let just_too_long = Duration::from_millis(u64::from(u32::MAX));
        assert_eq!(milliseconds(just_too_long), INFINITE - 1);
    }

    #[test]
    fn no_two_waits_have_one_event_and_none_is_made_while_one_is_idle() {
        let pool = EventPool::default();
        for _ in 0..1000 {
            let others = pool.lend(|first| pool.lend(|second| assert_ne!(first, second)));
            others.unwrap().unwrap();
        }
        assert_eq!(pool.created.load(Ordering::Relaxed), 2);
    }
}
