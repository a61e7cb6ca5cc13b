//! A DirectX 12 device, with what lies beneath wgpu's.

use framefence::wgpu;
use framefence::wgpu::hal::Queue as _;
use framefence::wgpu::hal::api::Dx12;
use framefence_tests::never_released;
use windows::Win32::Graphics::Direct3D12::{D3D12_FENCE_FLAG_NONE, ID3D12Fence};

#[derive(Clone)]
pub(crate) struct Dx12Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
}

impl Dx12Gpu {
    pub(crate) fn open() -> Self {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::DX12;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
            .expect("these tests need a DirectX 12 driver");
        let limits = wgpu::DeviceDescriptor {
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&limits))
            .expect("the adapter gives a device");
        never_released(&device);
        Self { device, queue }
    }

    /// A fence at zero.
    pub(crate) fn create_fence(&self) -> ID3D12Fence {
        // SAFETY: the guard is only used to reach the device, which lives on.
        let hal = unsafe { self.device.as_hal::<Dx12>() }.expect("a DirectX 12 device");
        // SAFETY: the device is alive, and the call has no other condition.
        unsafe { hal.raw_device().CreateFence(0, D3D12_FENCE_FLAG_NONE) }
            .expect("the device makes a fence")
    }

    /// Blocks until the queue is idle, as the hal does it.
    pub(crate) fn wait_for_idle(&self) {
        // SAFETY: nothing is destroyed through the guard.
        let hal = unsafe { self.queue.as_hal::<Dx12>() }.expect("a DirectX 12 queue");
        // SAFETY: the queue is alive. That one event serves all calls is what is tested.
        unsafe { hal.wait_for_idle() }.expect("the device is not lost");
    }
}
