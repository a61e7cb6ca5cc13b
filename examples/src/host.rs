//! What an application does on its own device while somebody else renders on it.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::latency::{Latencies, Percentiles};

/// How long calls took, by the call's name.
#[derive(Clone, Debug, Default)]
pub struct CallTimes(BTreeMap<&'static str, Latencies>);

impl CallTimes {
    /// Makes `call` and records how long it took under `name`.
    pub fn time<T>(&mut self, name: &'static str, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = call();
        self.0.entry(name).or_default().record(start.elapsed());
        result
    }

    /// Adds the times of other calls, made on another thread.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The percentiles of each call.
    #[must_use]
    pub fn percentiles(&self) -> BTreeMap<&'static str, Percentiles> {
        let calls = self.0.iter();
        calls
            .map(|(&name, latencies)| (name, latencies.percentiles()))
            .collect()
    }
}

/// A host thread's resources, and the calls it makes with them.
#[derive(Debug)]
pub struct HostThread {
    device: wgpu::Device,
    queue: wgpu::Queue,
    texture: wgpu::Texture,
    layout: wgpu::BindGroupLayout,
    uniform: wgpu::Buffer,
}

/// Bytes of the host's buffers.
const BUFFER_BYTES: u64 = 256;

impl HostThread {
    /// Resources on `device`.
    #[must_use]
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("host texture"),
            size: wgpu::Extent3d {
                width: 64,
                height: 64,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("host layout"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        Self {
            device: device.clone(),
            queue: queue.clone(),
            texture,
            layout,
            uniform: buffer(
                device,
                wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            ),
        }
    }

    /// Makes each call that an application makes all day once, timed.
    ///
    /// # Errors
    ///
    /// If polling finds the device lost.
    pub fn call_all(&self, times: &mut CallTimes) -> Result<(), wgpu::PollError> {
        let doomed = buffer(&self.device, wgpu::BufferUsages::COPY_DST);
        times.time("Buffer::destroy", || destroy(&doomed));
        let view = times.time("create_view", || {
            self.texture
                .create_view(&wgpu::TextureViewDescriptor::default())
        });
        drop(view);
        let bind_group = times.time("create_bind_group", || {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("host bind group"),
                layout: &self.layout,
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: self.uniform.as_entire_binding(),
                }],
            })
        });
        drop(bind_group);
        let bytes = [0; BUFFER_BYTES as usize];
        times.time("write_buffer", || {
            self.queue.write_buffer(&self.uniform, 0, &bytes);
        });
        let read = buffer(
            &self.device,
            wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        );
        times.time("map_async", || {
            read.map_async(wgpu::MapMode::Read, .., |_| {});
        });
        times.time("drop(Buffer)", || drop(read));
        times.time("poll(Poll)", || self.device.poll(wgpu::PollType::Poll))?;
        Ok(())
    }

    /// Submits a small piece of work, timed: clears the host's texture.
    pub fn submit(&self, times: &mut CallTimes) {
        let mut encoder = self
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let view = self
            .texture
            .create_view(&wgpu::TextureViewDescriptor::default());
        drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("host clear"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations::default(),
            })],
            ..Default::default()
        }));
        let commands = encoder.finish();
        times.time("submit", || self.queue.submit([commands]));
    }
}

fn buffer(device: &wgpu::Device, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("host buffer"),
        size: BUFFER_BYTES,
        usage,
        mapped_at_creation: false,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "plays a host that does what the engine never does"
)]
fn destroy(buffer: &wgpu::Buffer) {
    buffer.destroy();
}
