//! The Metal backend: one `MTLSharedEvent` for a device's queue.
//!
//! Right after each `queue.submit`, a command buffer that does nothing but signal the next value is
//! committed behind it. Metal may let command buffers of one queue overlap where they share no
//! resource that it tracks, so that the signal can come before the submission's end: the proof, and
//! in the worst case wgpu's own wait, are what is relied on (see `watch`).
//!
//! Compiled for Apple's systems by `cargo xtask windows check`, and not run on one yet.

#![allow(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{NSObjectProtocol as _, ProtocolObject};
use objc2::sel;
use objc2_metal::{
    MTLCommandBuffer, MTLCommandBufferStatus, MTLCommandQueue as _, MTLDevice as _, MTLEvent,
    MTLSharedEvent,
};
use wgpu::hal::api::Metal;

use crate::backend::{FenceBackend, Outcome, QueueFence, Signal};
use crate::canary::Canary;
use crate::{OpenFenceError, SubmissionLost};

/// How long a wait lasts before it is looked whether the signal's command buffer has failed: then
/// its signal never comes.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

pub(crate) struct MetalFence {
    event: Retained<ProtocolObject<dyn MTLSharedEvent>>,
    queue: wgpu::Queue,
    canary: Canary,
    newest: Mutex<Newest>,
}

/// The newest signal.
#[derive(Default)]
struct Newest {
    value: u64,
    commands: Option<Retained<ProtocolObject<dyn MTLCommandBuffer>>>,
}

// SAFETY: Metal's events, queues and command buffers may be used from any thread; a command buffer
// that was committed, as the one held here, is only asked for its state.
unsafe impl Send for MetalFence {}
// SAFETY: as above.
unsafe impl Sync for MetalFence {}

impl MetalFence {
    /// An event at zero on `queue`, for which [`handle`] has given a handle.
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, OpenFenceError> {
        let refused = |reason: &str| OpenFenceError::Fence {
            reason: reason.to_owned(),
        };
        // SAFETY: the guard is only used to create an event.
        let hal = unsafe { queue.as_hal::<Metal>() };
        let event = hal.and_then(|hal| hal.as_raw().device().newSharedEvent());
        Ok(Self {
            event: event.ok_or_else(|| refused("Metal gave no shared event"))?,
            queue: queue.clone(),
            canary: Canary::new(device),
            newest: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Newest> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the newest signal will not come, if it will not.
    fn failure(&self) -> Option<SubmissionLost> {
        let newest = self.lock().commands.clone()?;
        (newest.status() == MTLCommandBufferStatus::Error).then(|| {
            let error = newest.error().map(|error| error.localizedDescription());
            let reason = error.map(|error| error.to_string());
            SubmissionLost::new(reason.unwrap_or_else(|| "a command buffer failed".to_owned()))
        })
    }
}

impl QueueFence for MetalFence {
    fn backend(&self) -> FenceBackend {
        FenceBackend::MetalSharedEvent
    }

    fn before_submit(&self, _value: u64) {}

    fn after_submit(&self, value: u64, outcome: Outcome) -> Result<Signal, SubmissionLost> {
        if matches!(outcome, Outcome::Refused) || self.canary.is_dead() {
            return Ok(Signal::Withdrawn);
        }
        let mut newest = self.lock();
        if newest.value > value {
            // A callback within this submit has made a later one. Its signal is behind both, and must
            // not be taken back.
            return Ok(Signal::Sent);
        }
        // SAFETY: the guard is only used to commit a command buffer, as any host may.
        let hal = unsafe { self.queue.as_hal::<Metal>() };
        let committed = autoreleasepool(|_| {
            let commands = hal?.as_raw().commandBuffer()?;
            let event: &ProtocolObject<dyn MTLEvent> = ProtocolObject::from_ref(&*self.event);
            commands.encodeSignalEvent_value(event, value);
            commands.commit();
            Some(commands)
        });
        if committed.is_none() {
            return Err(SubmissionLost::new("Metal gave no command buffer"));
        }
        *newest = Newest {
            value,
            commands: committed,
        };
        Ok(Signal::Sent)
    }

    fn wait(&self, value: u64, deadline: Instant) -> Result<u64, SubmissionLost> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // Rounded up: less than a millisecond would be no wait at all.
            let left_ms = left.min(LONGEST_WAIT).as_nanos().div_ceil(1_000_000) as u64;
            let is_reached = self.event.waitUntilSignaledValue_timeoutMS(value, left_ms);
            if is_reached || left.is_zero() {
                return self.reached();
            }
            if let Some(lost) = self.failure() {
                return Err(lost);
            }
        }
    }

    fn reached(&self) -> Result<u64, SubmissionLost> {
        Ok(self.event.signaledValue())
    }

    fn is_ordered(&self) -> bool {
        false
    }
}

/// The queue's handle for as long as it lives, if it is one of Metal, on a system whose events can
/// be waited for: macOS 12, iOS 15.
pub(crate) fn handle(queue: &wgpu::Queue) -> Option<u64> {
    // SAFETY: the guard is only used to read a handle, and to make an event that is dropped again.
    let hal = unsafe { queue.as_hal::<Metal>() }?;
    let event = hal.as_raw().device().newSharedEvent()?;
    let can_wait = event.respondsToSelector(sel!(waitUntilSignaledValue:timeoutMS:));
    can_wait.then(|| std::ptr::from_ref(hal.as_raw()).cast::<()>() as u64)
}
