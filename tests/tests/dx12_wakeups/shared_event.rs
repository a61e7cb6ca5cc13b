//! How waits must not be made.

use std::time::{Duration, Instant};

use windows::Win32::Foundation::{HANDLE, WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows::Win32::Graphics::Direct3D12::ID3D12Fence;
use windows::Win32::System::Threading::{CreateEventW, WaitForSingleObject};

use crate::gpu::Dx12Gpu;
use crate::race::{Contestant, Woken};

/// A fence whose waiters all share one event that resets itself, as those of a device did in
/// wgpu-hal 26 and before.
pub(crate) struct SharedEvent {
    fence: ID3D12Fence,
    /// Never closed: the process ends soon.
    event: HANDLE,
}

// SAFETY: an event's handle is a number that is good on every thread; nothing closes it.
unsafe impl Sync for SharedEvent {}

impl SharedEvent {
    pub(crate) fn new(gpu: &Dx12Gpu) -> Self {
        // SAFETY: no pointers are passed but the name, which is none.
        let event = unsafe { CreateEventW(None, false, false, None) }.expect("an event");
        Self {
            fence: gpu.create_fence(),
            event,
        }
    }

    fn reached(&self) -> u64 {
        // SAFETY: the fence is alive.
        unsafe { self.fence.GetCompletedValue() }
    }
}

impl Contestant for SharedEvent {
    fn wait(&self, value: u64, timeout: Duration, begun: &dyn Fn()) -> Woken {
        if self.reached() >= value {
            return Woken::Reached;
        }
        // SAFETY: fence and event are alive, and the event stays so.
        unsafe { self.fence.SetEventOnCompletion(value, self.event) }.expect("the fence takes it");
        begun();
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left_millis = u32::try_from(left.as_millis()).expect("a short timeout");
            // SAFETY: the event is alive.
            match unsafe { WaitForSingleObject(self.event, left_millis) } {
                WAIT_OBJECT_0 if self.reached() >= value => return Woken::Reached,
                WAIT_OBJECT_0 => {}
                WAIT_TIMEOUT => return Woken::TimedOut,
                other => panic!("the wait failed: {other:?}"),
            }
        }
    }

    fn signal(&self, value: u64) {
        // SAFETY: the fence is alive.
        unsafe { self.fence.Signal(value) }.expect("the fence takes a higher value");
    }
}
