//! What tutorials teach: a new staging buffer for each frame, copied out twice.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use framefence::pixel::PlaneLayout;
use framefence::{OutputFormat, Plane, Size};

use crate::gradient;
use crate::strategy::Strategy;

/// How long a frame may take: see the engine's own deadline for software adapters.
const FRAME_TIMEOUT: Duration = Duration::from_secs(60);

/// Renders with wgpu and reads back the way most programs do.
pub struct Fresh {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::RenderPipeline,
    target: wgpu::Texture,
    size: Size,
    in_flight: VecDeque<InFlight>,
}

struct InFlight {
    staging: wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Fresh {
    /// Frames of `size` on `device`.
    #[must_use]
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, size: Size) -> Self {
        let target = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("fresh target"),
            size: extent(size),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        Self {
            device: device.clone(),
            queue: queue.clone(),
            pipeline: gradient::pipeline(device, size),
            target,
            size,
            in_flight: VecDeque::new(),
        }
    }

    fn row_bytes(&self) -> u32 {
        self.size.width * gradient::BYTES_PER_PIXEL
    }

    fn padded_row_bytes(&self) -> u32 {
        self.row_bytes()
            .next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
    }
}

impl Strategy for Fresh {
    fn name(&self) -> &'static str {
        "fresh"
    }

    fn start(&mut self, phase: u32) -> Result<()> {
        let padded_row_bytes = self.padded_row_bytes();
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("fresh staging"),
            size: u64::from(padded_row_bytes) * u64::from(self.size.height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let view = self
            .target
            .create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = self
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        gradient::draw(&mut encoder, &self.pipeline, &view, phase);
        encoder.copy_texture_to_buffer(
            self.target.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &staging,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded_row_bytes),
                    rows_per_image: None,
                },
            },
            extent(self.size),
        );
        let submission = self.queue.submit([encoder.finish()]);
        let (sender, mapped) = mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |result| {
            // Nobody listens to a frame whose `Fresh` was dropped.
            let _ = sender.send(result);
        });
        self.in_flight.push_back(InFlight {
            staging,
            submission,
            mapped,
        });
        Ok(())
    }

    fn deliver(&mut self, look: &mut dyn FnMut(Plane<'_>)) -> Result<()> {
        let frame = self
            .in_flight
            .pop_front()
            .context("no frame is in flight")?;
        self.device.poll(wgpu::PollType::Wait {
            submission_index: Some(frame.submission),
            timeout: Some(FRAME_TIMEOUT),
        })?;
        frame.mapped.recv()??;
        let padded = frame.staging.get_mapped_range(..)?.to_vec();
        let mut tight = Vec::with_capacity(self.row_bytes() as usize * self.size.height as usize);
        for row in padded.chunks_exact(self.padded_row_bytes() as usize) {
            tight.extend_from_slice(&row[..self.row_bytes() as usize]);
        }
        frame.staging.unmap();
        let layout: PlaneLayout = OutputFormat::Rgba8.tight_planes(self.size)[0];
        look(Plane::new(&tight, &layout));
        Ok(())
    }
}

fn extent(size: Size) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width: size.width,
        height: size.height,
        depth_or_array_layers: 1,
    }
}
