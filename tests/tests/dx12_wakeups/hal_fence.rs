//! wgpu-hal's own fence and wait.

use std::time::Duration;

use framefence::wgpu;
use framefence::wgpu::hal::api::Dx12;
use framefence::wgpu::hal::{Device as _, DeviceError, dx12};

use crate::gpu::Dx12Gpu;
use crate::race::{Contestant, Woken};

pub(crate) struct HalFence {
    device: wgpu::Device,
    fence: dx12::Fence,
}

impl HalFence {
    pub(crate) fn new(gpu: &Dx12Gpu) -> Self {
        let device = gpu.device.clone();
        // SAFETY: nothing is destroyed through the guard.
        let hal = unsafe { device.as_hal::<Dx12>() }.expect("a DirectX 12 device");
        // SAFETY: the device is alive.
        let fence = unsafe { hal.create_fence() }.expect("the device makes a fence");
        drop(hal);
        Self { device, fence }
    }

    /// The value that the hal says has been reached.
    pub(crate) fn value(&self) -> Result<u64, DeviceError> {
        // SAFETY: nothing is destroyed through the guard.
        let hal = unsafe { self.device.as_hal::<Dx12>() }.expect("a DirectX 12 device");
        // SAFETY: the fence is of this device, and alive.
        unsafe { hal.get_fence_value(&self.fence) }
    }
}

impl Contestant for HalFence {
    /// The hal does not tell when it has registered, so this begins a little before it has.
    fn wait(&self, value: u64, timeout: Duration, begun: &dyn Fn()) -> Woken {
        // SAFETY: nothing is destroyed through the guard.
        let hal = unsafe { self.device.as_hal::<Dx12>() }.expect("a DirectX 12 device");
        begun();
        // SAFETY: the fence is of this device, and alive.
        match unsafe { hal.wait(&self.fence, value, Some(timeout)) } {
            Ok(true) => Woken::Reached,
            Ok(false) => Woken::TimedOut,
            Err(DeviceError::Lost) => Woken::DeviceLost,
            Err(other) => panic!("the wait failed: {other}"),
        }
    }

    fn signal(&self, value: u64) {
        // SAFETY: the fence is alive.
        unsafe { self.fence.raw_fence().Signal(value) }.expect("the fence takes a higher value");
    }
}
