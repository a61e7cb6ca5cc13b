//! Holds the GPU at a submission until a test lets it go on.

#![allow(unsafe_code)]

use ash::vk;
use framefence::wgpu::hal::api::Vulkan;
use framefence::{Gpu, wgpu};

/// Keeps one submission waiting on the GPU, so that a test can act while it is in flight, however
/// fast the GPU is. Dropping the gate lets the submission go on.
#[derive(Debug)]
pub struct Gate {
    gpu: Gpu,
    semaphore: vk::Semaphore,
}

impl Gate {
    /// Keeps the next submission on the device's queue waiting, whosever it is.
    ///
    /// # Panics
    ///
    /// If the device is not a Vulkan device or the driver refuses a timeline semaphore.
    #[must_use]
    pub fn before_next_submission(gpu: &Gpu) -> Self {
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive, and the engine, whose fences are timelines, runs on it.
        let semaphore = unsafe { raw_device(gpu).create_semaphore(&info, None) }
            .expect("the driver makes timeline semaphores");
        // SAFETY: the guard is dropped before anything is submitted or destroyed.
        let queue = unsafe { gpu.queue().as_hal::<Vulkan>() };
        queue.expect("the tests run on Vulkan").add_wait_semaphore(
            semaphore,
            Some(1),
            vk::PipelineStageFlags::ALL_COMMANDS,
        );
        Self {
            gpu: gpu.clone(),
            semaphore,
        }
    }

    /// Lets the submission go on.
    pub fn open(self) {}
}

impl Drop for Gate {
    fn drop(&mut self) {
        let device = raw_device(&self.gpu);
        // SAFETY: the guard is dropped before anything is submitted or destroyed.
        let queue = unsafe { self.gpu.queue().as_hal::<Vulkan>() };
        if let Some(queue) = queue {
            // Nothing was submitted: the wait must not reach a later submission.
            queue.remove_wait_semaphore(self.semaphore);
        }
        let signal = vk::SemaphoreSignalInfo::default()
            .semaphore(self.semaphore)
            .value(1);
        // SAFETY: the semaphore is a timeline at 0, and nothing else signals it.
        let signalled = unsafe { device.signal_semaphore(&signal) };
        // The submission must have let go of the semaphore before it is destroyed.
        let idle = self.gpu.device().poll(wgpu::PollType::wait_indefinitely());
        if signalled.is_ok() && idle.is_ok() {
            // SAFETY: every submission is done, so none waits for the semaphore.
            unsafe { device.destroy_semaphore(self.semaphore, None) };
        }
    }
}

/// The device's function table.
fn raw_device(gpu: &Gpu) -> ash::Device {
    // SAFETY: the guard is only used to copy the function table.
    let hal = unsafe { gpu.device().as_hal::<Vulkan>() };
    hal.expect("the tests run on Vulkan").raw_device().clone()
}
