//! The limit that the engine is measured against: the least a careful program does with Vulkan.
//!
//! Everything is made once: the target, the render pass, the pipeline, one command buffer for each
//! slot and phase, one readback buffer a slot that stays mapped for good. A frame is one
//! `vkQueueSubmit` that signals a timeline semaphore, one `vkWaitSemaphores`, and the bytes are
//! read where the GPU copied them to.
//!
//! On lavapipe, dynamic rendering, two triangles, a viewport of negative height and the `GENERAL`
//! layout throughout make no difference; clearing the target first takes 1.4 times as long.

#![allow(unsafe_code, reason = "calls Vulkan without wgpu")]
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "to make an object and to own it is one step, and so are the commands of a recording"
)]

mod commands;
mod context;
mod owned;
mod pipeline;
mod resources;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ash::vk;
use framefence::pixel::PlaneLayout;
use framefence::{OutputFormat, Plane, Size};

use self::context::Context;
use self::owned::Owned;
use self::pipeline::Pipeline;
use self::resources::{Readback, Target};
use crate::gradient;
use crate::strategy::Strategy;

/// How long a frame may take. Generous, since a software adapter compiles its pipelines in the
/// first one; it is there so that a lost device ends in an error.
const FRAME_TIMEOUT: Duration = Duration::from_secs(60);

/// Renders and reads back with Vulkan alone, on an instance and a device of its own.
pub struct RawVulkan {
    layout: PlaneLayout,
    submitted: u64,
    /// The slot and the semaphore value of each undelivered frame, oldest first.
    in_flight: VecDeque<(usize, u64)>,
    slots: Vec<Slot>,
    timeline: Owned<vk::Semaphore>,
    // Kept for the command buffers, which refer to them.
    _pool: Owned<vk::CommandPool>,
    _target: Target,
    _pipeline: Pipeline,
    context: Rc<Context>,
}

/// What one frame in flight has to itself.
struct Slot {
    readback: Readback,
    /// Draws and copies a frame, by phase.
    phases: Vec<vk::CommandBuffer>,
}

impl RawVulkan {
    /// Its name, which reports of ratios refer to.
    pub const NAME: &str = "raw-vulkan";

    /// Opens a device on the adapter that `adapter` describes and records the commands for frames
    /// of `size`, of which up to `depth` are in flight.
    ///
    /// # Errors
    ///
    /// If there is no Vulkan, no such adapter, or not what the program needs.
    pub fn new(adapter: &wgpu::AdapterInfo, size: Size, depth: usize) -> Result<Self> {
        let context = Rc::new(Context::open(adapter)?);
        let pipeline = Pipeline::new(&context, size)?;
        let target = Target::new(&context, &pipeline.render_pass, size)?;
        let timeline = timeline(&context)?;
        let pool = commands::pool(&context)?;
        let layout = OutputFormat::Rgba8.tight_planes(size)[0];
        let slots = (0..depth)
            .map(|_| {
                let readback = Readback::new(&context, layout.len_bytes())?;
                let phases = commands::allocate(&context, &pool, gradient::PHASES)?;
                for (phase, &commands) in (0..).zip(&phases) {
                    commands::record(
                        &context, commands, &pipeline, &target, &readback, size, phase,
                    )?;
                }
                Ok(Slot { readback, phases })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            layout,
            submitted: 0,
            in_flight: VecDeque::with_capacity(depth),
            slots,
            timeline,
            _pool: pool,
            _target: target,
            _pipeline: pipeline,
            context,
        })
    }
}

impl Strategy for RawVulkan {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn start(&mut self, phase: u32) -> Result<()> {
        ensure!(
            self.in_flight.len() < self.slots.len(),
            "{} frames are in flight already",
            self.slots.len()
        );
        let slot = (self.submitted % self.slots.len() as u64) as usize;
        let value = self.submitted + 1;
        let (semaphores, values) = ([*self.timeline], [value]);
        let commands = [self.slots[slot].phases[phase as usize]];
        let mut timeline =
            vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let submit = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline);
        // SAFETY: the queue is used by this thread alone (`Rc`). The commands are recorded and not
        // pending: their slot's last frame was delivered, else more than `slots.len()` frames were
        // in flight. The value is above all earlier ones of the semaphore.
        unsafe {
            self.context
                .device
                .queue_submit(self.context.queue, &[submit], vk::Fence::null())
        }
        .context("vkQueueSubmit")?;
        self.submitted = value;
        self.in_flight.push_back((slot, value));
        Ok(())
    }

    fn deliver(&mut self, look: &mut dyn FnMut(Plane<'_>)) -> Result<()> {
        let &(slot, value) = self.in_flight.front().context("no frame is in flight")?;
        let (semaphores, values) = ([*self.timeline], [value]);
        let wait = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        let timeout_nanos = FRAME_TIMEOUT.as_nanos() as u64;
        // SAFETY: the semaphore is a timeline of this device.
        unsafe { self.context.device.wait_semaphores(&wait, timeout_nanos) }
            .with_context(|| format!("waiting {FRAME_TIMEOUT:?} for frame {value}"))?;
        self.in_flight.pop_front();
        // SAFETY: the frame that writes this slot has finished, its last barrier made the writes
        // available to the host, and the next one is not submitted before this borrow of `self`
        // ends.
        look(Plane::new(
            unsafe { self.slots[slot].readback.bytes() },
            &self.layout,
        ));
        Ok(())
    }
}

impl Drop for RawVulkan {
    fn drop(&mut self) {
        // Nothing may be destroyed while the GPU uses it. An error here is a lost device, which
        // uses nothing any more.
        //
        // SAFETY: the queue is used by this thread alone.
        let _ = unsafe { self.context.device.device_wait_idle() };
    }
}

/// A timeline semaphore at 0.
fn timeline(context: &Rc<Context>) -> Result<Owned<vk::Semaphore>> {
    let mut kind =
        vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the device has timeline semaphores on. The handle is new and ours.
    Ok(unsafe { Owned::new(context, context.device.create_semaphore(&info, None)?) })
}
