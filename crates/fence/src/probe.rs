//! Finds out how many submissions a driver takes before its submit call blocks.
//!
//! A submit that blocks in the driver holds wgpu's locks meanwhile, so it stalls a host's calls.
//! Mesa's lavapipe (22.3) takes a second submission while the first is running, and blocks the
//! third.

use std::time::{Duration, Instant};

use crate::backend::{Outcome, QueueFence, Signal};
use crate::deadline_after;
use crate::scope::capture_errors;

/// A driver that took this many submissions is taken to accept any number.
const MOST: usize = 8;
/// The first long job draws once; each after it this many times as often.
const LONGER: u32 = 4;
/// A job whose own submit took so long is long enough: the submit itself did the work.
const LONG: Duration = Duration::from_millis(20);
const ATTEMPTS: u32 = 8;
/// Pixels to a side of the job's target.
const SIDE: u32 = 64;

/// How many submissions the driver takes before it blocks; `None` if it took all that were tried,
/// or if no job could be made long enough to tell.
///
/// A long job is submitted, then short ones behind it. When such a submit returns and the long job
/// is done, the submit has waited for it; a longer job confirms that it did not just end by itself.
/// `newest` is the newest value of the fence, before and after.
pub(crate) fn probe_capacity(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    fence: &dyn QueueFence,
    newest: &mut u64,
) -> Option<usize> {
    let (probed, error) = capture_errors(device, || {
        let job = Job::new(device);
        let mut blocked_at = None;
        for attempt in 0..ATTEMPTS {
            let started = Instant::now();
            let mut submit = |commands: wgpu::CommandBuffer| {
                *newest += 1;
                fence.before_submit(*newest);
                let index = queue.submit([commands]);
                let signal = fence.after_submit(*newest, Outcome::Made(Some(index)));
                // A lost device takes nothing.
                (signal == Ok(Signal::Sent)).then_some(*newest)
            };
            let job_value = submit(job.record(device, LONGER.pow(attempt)))?;
            let is_over = || fence.reached().ok().map(|reached| reached >= job_value);
            let over_at_once = is_over()?;
            if over_at_once && started.elapsed() < LONG {
                continue;
            }
            let mut accepted = 1;
            while !is_over()? && accepted < MOST {
                submit(job.record(device, 1))?;
                if !is_over()? {
                    accepted += 1;
                }
            }
            fence.wait(*newest, deadline_after(Duration::MAX)).ok()?;
            if accepted == MOST {
                return None;
            }
            if over_at_once || blocked_at == Some(accepted) {
                return Some(accepted);
            }
            blocked_at = Some(accepted);
        }
        blocked_at
    });
    if let Some(error) = error {
        tracing::warn!(%error, "the start-up probe was refused");
    }
    probed
}

const ADD: wgpu::BlendState = {
    let component = wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::One,
        dst_factor: wgpu::BlendFactor::One,
        operation: wgpu::BlendOperation::Add,
    };
    wgpu::BlendState {
        color: component,
        alpha: component,
    }
};

struct Job {
    pipeline: wgpu::RenderPipeline,
    target: wgpu::TextureView,
}

impl Job {
    fn new(device: &wgpu::Device) -> Self {
        let module =
            device.create_shader_module(wgpu::include_wgsl!("../../../shaders/probe.wgsl"));
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("framefence probe"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                // Added up, so that no GPU leaves out what is drawn over.
                targets: &[Some(wgpu::ColorTargetState {
                    blend: Some(ADD),
                    ..format.into()
                })],
            }),
            multiview_mask: None,
            cache: None,
        });
        let target = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("framefence probe"),
            size: wgpu::Extent3d {
                width: SIDE,
                height: SIDE,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        Self {
            pipeline,
            target: target.create_view(&wgpu::TextureViewDescriptor::default()),
        }
    }

    /// Commands that draw over all pixels `times` times. (No bindings: Wine's DirectX 12 has none.)
    fn record(&self, device: &wgpu::Device, times: u32) -> wgpu::CommandBuffer {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("framefence probe"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.draw(0..3, 0..times);
        drop(pass);
        encoder.finish()
    }
}
