//! Which fence a device's queue gets, and what every one of them does.

use std::any::Any;
use std::time::Instant;

use crate::polled::PolledFence;
use crate::{OpenFenceError, SubmissionLost};

/// How the end of a submission is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FenceBackend {
    /// Vulkan: a timeline semaphore of our own, waited for without any lock of wgpu's.
    VulkanTimeline,
    /// DirectX 12: an `ID3D12Fence` of our own, waited for on an event that no other wait has.
    Dx12Fence,
    /// Metal: an `MTLSharedEvent` of our own, waited for without any lock of wgpu's.
    MetalSharedEvent,
    /// All else: `Device::poll(PollType::Wait)`, which holds wgpu's snatch lock while it waits.
    Polled,
}

/// A fence on one queue: a number that goes up as the GPU gets through the submissions.
///
/// [`before_submit`](Self::before_submit) and [`after_submit`](Self::after_submit) are called
/// around each submit, under the submit lock, with the next number. A callback that runs within a
/// submit may submit, too: then the later number's calls come between the two of the earlier. All else
/// is called by any thread at any time, without a lock.
pub(crate) trait QueueFence: Any + Send + Sync {
    /// Which of them this is.
    fn backend(&self) -> FenceBackend;

    /// The next submission on the queue is meant to signal `value`.
    fn before_submit(&self, value: u64);

    /// The submission was made, or refused. Says whether `value` will be signalled: not if the queue
    /// took nothing, which of a lost device is the only sign.
    ///
    /// # Errors
    ///
    /// If the driver says that the device is lost.
    fn after_submit(&self, value: u64, outcome: Outcome) -> Result<Signal, SubmissionLost>;

    /// Blocks until `value` is signalled, however long that takes beyond the driver's own limit for
    /// waits, or `deadline` has passed. Says which value has been reached.
    ///
    /// # Errors
    ///
    /// If the driver says that the device is lost.
    fn wait(&self, value: u64, deadline: Instant) -> Result<u64, SubmissionLost>;

    /// The newest value that has been signalled.
    ///
    /// # Errors
    ///
    /// If the driver says that the device is lost.
    fn reached(&self) -> Result<u64, SubmissionLost>;

    /// Whether a callback of wgpu's is to be believed when it says that a submission is done.
    ///
    /// # Errors
    ///
    /// If the device is lost in a way that wgpu takes for finished work.
    fn confirm(&self) -> Result<(), SubmissionLost> {
        Ok(())
    }

    /// Whether a signal waits for all submissions before its own.
    fn is_ordered(&self) -> bool {
        true
    }
}

/// What became of a submission.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// wgpu reported an error: nothing was submitted.
    Refused,
    /// wgpu reported none. There is no index if a callback that ran within the submit panicked.
    Made(Option<wgpu::SubmissionIndex>),
}

/// What became of the signal that was meant to go with a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The GPU will give it.
    Sent,
    /// Nobody will give it.
    Withdrawn,
}

/// The queue of a device, told from all others in the process for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueId {
    backend: FenceBackend,
    /// The driver's own handle. wgpu's equality will not do: it compares numbers that are counted in
    /// each instance. Nor will the device's handle: those of DirectX 12 and Metal belong to the
    /// adapter, and wgpu's devices on it share them.
    handle: u64,
}

impl QueueId {
    /// The queue, if it can have a fence of its own: here the choice is made.
    pub(crate) fn of(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        let of = |backend, handle| Some(Self { backend, handle });
        #[cfg(not(target_vendor = "apple"))]
        if let Some(handle) = crate::vulkan::handle(device) {
            return of(FenceBackend::VulkanTimeline, handle);
        }
        #[cfg(windows)]
        if let Some(handle) = crate::dx12::handle(queue) {
            return of(FenceBackend::Dx12Fence, handle);
        }
        #[cfg(target_vendor = "apple")]
        if let Some(handle) = crate::metal::handle(queue) {
            return of(FenceBackend::MetalSharedEvent, handle);
        }
        // Not every system has backends that look at both.
        let _ = (device, queue);
        None
    }
}

/// A new fence on the queue that `id` tells of.
pub(crate) fn open(
    id: QueueId,
    device: &wgpu::Device,
    queue: &wgpu::Queue,
) -> Result<Box<dyn QueueFence>, OpenFenceError> {
    Ok(match id.backend {
        #[cfg(not(target_vendor = "apple"))]
        FenceBackend::VulkanTimeline => Box::new(crate::vulkan::VulkanFence::new(device, queue)?),
        #[cfg(windows)]
        FenceBackend::Dx12Fence => Box::new(crate::dx12::Dx12Fence::new(device, queue)?),
        #[cfg(target_vendor = "apple")]
        FenceBackend::MetalSharedEvent => Box::new(crate::metal::MetalFence::new(device, queue)?),
        _ => Box::new(PolledFence::new(device)),
    })
}
