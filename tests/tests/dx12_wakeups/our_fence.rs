//! The fence of `framefence-fence`.

use std::time::{Duration, Instant};

use framefence::fence::testing::Dx12Fence;

use crate::gpu::Dx12Gpu;
use crate::race::{Contestant, Woken};

pub(crate) struct OurFence(Dx12Fence);

impl OurFence {
    pub(crate) fn new(gpu: &Dx12Gpu) -> Self {
        Self(Dx12Fence::new(&gpu.device, &gpu.queue).expect("the device makes a fence"))
    }

    /// Kernel events that its waits have made so far.
    pub(crate) fn events_created(&self) -> u64 {
        self.0.events_created()
    }
}

impl Contestant for OurFence {
    /// The fence does not tell when it has registered, so this begins a little before it has.
    fn wait(&self, value: u64, timeout: Duration, begun: &dyn Fn()) -> Woken {
        begun();
        match self.0.wait(value, Instant::now() + timeout) {
            Ok(reached) if reached >= value => Woken::Reached,
            Ok(_) => Woken::TimedOut,
            Err(_) => Woken::DeviceLost,
        }
    }

    fn signal(&self, value: u64) {
        // SAFETY: the fence is alive.
        unsafe { self.0.raw().Signal(value) }.expect("the fence takes a higher value");
    }
}
