//! The contention example's job: a draw that keeps the GPU busy for as long as it was asked to.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use framefence::{OutputFormat, Size};

/// The job's shader.
pub const WGSL: &str = include_str!("../../shaders/contention_job.wgsl");

/// The size of the job's targets, in pixels: small, so that the loop's length sets how long it
/// takes, and large enough to occupy every core.
pub const SIZE: Size = Size::new(256, 256);

/// The format of the job's targets.
pub const FORMAT: OutputFormat = OutputFormat::Rgba8;

const TEXTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// How long a calibrating job may take. Generous, since a software adapter compiles in the first.
const CALIBRATION_TIMEOUT: Duration = Duration::from_secs(60);

/// A draw of known length. Clones share its pipeline.
#[derive(Clone, Debug)]
pub struct LongJob {
    pipeline: wgpu::RenderPipeline,
    iterations: u32,
    duration: Duration,
}

impl LongJob {
    /// Finds the loop length at which a job takes `at_least`, by running ever longer ones.
    ///
    /// # Errors
    ///
    /// If a job fails, or none is long enough.
    pub fn calibrate(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        at_least: Duration,
    ) -> Result<Self> {
        let target = target(device);
        let mut job = Self {
            pipeline: pipeline(device),
            iterations: 1000,
            duration: Duration::ZERO,
        };
        // The first run compiles.
        job.time(device, queue, &target)?;
        loop {
            job.duration = job.time(device, queue, &target)?;
            if job.duration >= at_least {
                return Ok(job);
            }
            ensure!(
                job.iterations < u32::MAX,
                "no loop takes this adapter {at_least:?}"
            );
            // A little beyond what proportion says, in steps that end before a driver's watchdog
            // takes an overshoot for a hang.
            let missing = at_least.div_duration_f64(job.duration).clamp(1.0, 8.0);
            job.iterations = (f64::from(job.iterations) * missing * 1.1) as u32;
        }
    }

    /// How long the job took when nothing else ran.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Records the job into `encoder`; it fills `target`, of [`SIZE`] and [`FORMAT`].
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, target: &wgpu::TextureView) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("long job"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations::default(),
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        // The instance's index is the loop's length.
        pass.draw(0..3, self.iterations..self.iterations + 1);
    }

    /// Submits the job into `target`.
    pub fn submit(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        target: &wgpu::TextureView,
    ) -> wgpu::SubmissionIndex {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.record(&mut encoder, target);
        queue.submit([encoder.finish()])
    }

    fn time(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        target: &wgpu::TextureView,
    ) -> Result<Duration> {
        let start = Instant::now();
        let submission = self.submit(device, queue, target);
        device.poll(wgpu::PollType::Wait {
            submission_index: Some(submission),
            timeout: Some(CALIBRATION_TIMEOUT),
        })?;
        Ok(start.elapsed())
    }
}

/// A target for jobs.
#[must_use]
pub fn target(device: &wgpu::Device) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("long job target"),
        size: wgpu::Extent3d {
            width: SIZE.width,
            height: SIZE.height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TEXTURE_FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn pipeline(device: &wgpu::Device) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("long job"),
        source: wgpu::ShaderSource::Wgsl(WGSL.into()),
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("long job"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("cover"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("iterate"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(TEXTURE_FORMAT.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
