//! A device that belongs to a host.

use framefence::{Gpu, wgpu};

use crate::never_released;
use crate::validation::capture_messages;

/// What a host that embeds the engine has made for itself, with validation layers.
#[derive(Clone, Debug)]
pub struct Host {
    /// The host's instance.
    pub instance: wgpu::Instance,
    /// The host's adapter.
    pub adapter: wgpu::Adapter,
    /// The host's device.
    pub device: wgpu::Device,
    /// The device's queue.
    pub queue: wgpu::Queue,
}

impl Host {
    /// A fresh instance and a device of it.
    ///
    /// # Panics
    ///
    /// If there is no driver that gives one.
    #[must_use]
    pub fn new() -> Self {
        capture_messages();
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::PRIMARY;
        descriptor.flags = wgpu::InstanceFlags::VALIDATION | wgpu::InstanceFlags::DEBUG;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
            .expect("these tests need a GPU driver, such as Mesa's lavapipe");
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))
            .expect("the adapter gives a device");
        never_released(&device);
        Self {
            instance,
            adapter,
            device,
            queue,
        }
    }

    /// The engine on this device.
    ///
    /// # Panics
    ///
    /// If the engine does not take the device.
    #[must_use]
    pub fn gpu(&self) -> Gpu {
        let Self {
            instance,
            adapter,
            device,
            queue,
        } = self.clone();
        Gpu::from_host(instance, adapter, device, queue).expect("the engine takes the device")
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}
