//! The Vulkan backend: one timeline semaphore for a device's queue.
//!
//! wgpu-hal lets a semaphore be added to the signals of whichever submission comes next on the
//! queue. It is armed with the next value right before `queue.submit` and is signalled when the
//! GPU has finished that submission. A host that submits in between takes the signal with it; a
//! submission that wgpu refuses leaves it armed.
//!
//! One value is waited for at a time, without `VK_SEMAPHORE_WAIT_ANY_BIT`: Mesa's emulated
//! timelines (lavapipe) serve that flag with a busy loop.

#![allow(unsafe_code)]

use std::time::Instant;

use ash::vk::{self, Handle as _};
use wgpu::hal::api::Vulkan;

use crate::backend::{FenceBackend, Outcome, QueueFence, Signal};
use crate::{OpenFenceError, SubmissionLost};

pub(crate) struct VulkanFence {
    device: ash::Device,
    timeline: vk::Semaphore,
    queue: wgpu::Queue,
    /// Keeps the `VkDevice` alive at least as long as the semaphore; declared last, so dropped last.
    _owner: wgpu::Device,
}

impl VulkanFence {
    /// A timeline at zero on `device`, for which [`handle`] has given a handle.
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, OpenFenceError> {
        // SAFETY: the guard is only used to copy the device's function table.
        let hal = unsafe { device.as_hal::<Vulkan>() };
        let raw = hal.map(|hal| hal.raw_device().clone());
        let refused = |reason: String| OpenFenceError::Fence { reason };
        let raw = raw.ok_or_else(|| refused("not a Vulkan device".to_owned()))?;
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive (we hold `device`), and it has timeline semaphores enabled:
        // wgpu-hal enables them wherever they are supported, which `handle` has asked.
        let timeline = unsafe { raw.create_semaphore(&info, None) }
            .map_err(|result| refused(result.to_string()))?;
        Ok(Self {
            device: raw,
            timeline,
            queue: queue.clone(),
            _owner: device.clone(),
        })
    }
}

impl QueueFence for VulkanFence {
    fn backend(&self) -> FenceBackend {
        FenceBackend::VulkanTimeline
    }

    /// Whosever submission comes next will carry the signal.
    fn before_submit(&self, value: u64) {
        // SAFETY: the guard is dropped before anything is submitted or destroyed.
        if let Some(hal) = unsafe { self.queue.as_hal::<Vulkan>() } {
            hal.add_signal_semaphore(self.timeline, Some(value));
        }
    }

    /// Takes the signal back if no submission has carried it.
    fn after_submit(&self, _value: u64, _outcome: Outcome) -> Result<Signal, SubmissionLost> {
        // SAFETY: the guard is dropped before anything is submitted or destroyed.
        let hal = unsafe { self.queue.as_hal::<Vulkan>() };
        let is_left = hal.is_some_and(|hal| hal.remove_signal_semaphore(self.timeline));
        Ok(if is_left {
            Signal::Withdrawn
        } else {
            Signal::Sent
        })
    }

    fn wait(&self, value: u64, deadline: Instant) -> Result<u64, SubmissionLost> {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left_ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
            // SAFETY: device and semaphore live as long as `self`.
            match unsafe { self.device.wait_semaphores(&info, left_ns) } {
                Ok(()) => return self.reached(),
                // A driver's own limit may be shorter than what it was asked for.
                Err(vk::Result::TIMEOUT) if left.is_zero() => return self.reached(),
                Err(vk::Result::TIMEOUT) => {}
                Err(result) => return Err(SubmissionLost::new(result.to_string())),
            }
        }
    }

    fn reached(&self) -> Result<u64, SubmissionLost> {
        // SAFETY: device and semaphore live as long as `self`.
        match unsafe { self.device.get_semaphore_counter_value(self.timeline) } {
            // No submission carries it; and the watching thread looks for what lies beyond a value.
            Ok(u64::MAX) => Err(SubmissionLost::new("its timeline stands at the end")),
            Ok(value) => Ok(value),
            Err(result) => Err(SubmissionLost::new(result.to_string())),
        }
    }
}

impl Drop for VulkanFence {
    fn drop(&mut self) {
        // SAFETY: the watching thread holds this fence, and lets go of it only after it has waited
        // for the newest value that a submission carries (or the device is lost), so nothing in
        // the driver refers to the semaphore; `_owner` keeps the device alive.
        unsafe { self.device.destroy_semaphore(self.timeline, None) };
    }
}

/// What tells the queue from all others alive (wgpu's devices have one each), if it is that of a
/// Vulkan device that has timeline semaphores.
pub(crate) fn handle(device: &wgpu::Device) -> Option<u64> {
    // SAFETY: the guard is only used to read handles, and nothing is destroyed through it.
    let hal = unsafe { device.as_hal::<Vulkan>() }?;
    supports_timelines(&hal).then(|| hal.raw_device().handle().as_raw())
}

/// Timeline semaphores are core from Vulkan 1.2 on, where they are still an optional feature.
fn supports_timelines(hal: &wgpu::hal::vulkan::Device) -> bool {
    let physical = hal.raw_physical_device();
    let instance = hal.shared_instance();
    if instance.instance_api_version() < vk::API_VERSION_1_2 {
        return false;
    }
    let instance = instance.raw_instance();
    // SAFETY: the physical device was enumerated from this instance.
    let properties = unsafe { instance.get_physical_device_properties(physical) };
    if properties.api_version < vk::API_VERSION_1_2 {
        return false;
    }
    let mut timelines = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut timelines);
    // SAFETY: as above, and both are Vulkan 1.1 or newer, where this call is core.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    timelines.timeline_semaphore == vk::TRUE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_at_its_end_is_that_of_a_lost_device() {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
        let opened = pollster::block_on(adapter.request_device(&Default::default()));
        let (device, queue) = opened.unwrap();
        let fence = VulkanFence::new(&device, &queue).unwrap();
        assert_eq!(fence.reached(), Ok(0));
        let signal = vk::SemaphoreSignalInfo::default()
            .semaphore(fence.timeline)
            .value(u64::MAX);
        // SAFETY: the semaphore is alive, and nothing else signals it.
        unsafe { fence.device.signal_semaphore(&signal) }.unwrap();
        assert!(fence.wait(1, Instant::now()).is_err());
        assert!(fence.reached().is_err());
    }
}
