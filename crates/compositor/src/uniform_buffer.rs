//! The uniforms of a frame's draws, in one buffer that is written once a frame.

/// First where a draw lies, then what it shows.
#[derive(Debug)]
pub(crate) struct UniformBuffer {
    bytes: Vec<u8>,
    buffer: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
}

/// Where a draw's uniforms begin: dynamic offsets.
pub(crate) type UniformOffsets = [u32; 2];

/// The most bytes that each of a draw's two parts may have.
pub(crate) const MAX_UNIFORM_BYTES: usize = 2048;
/// The largest value that WebGPU allows for `min_uniform_buffer_offset_alignment`.
const OFFSET_ALIGNMENT: usize = 256;
const FIRST_CAPACITY: usize = 16 * 1024;

impl UniformBuffer {
    pub(crate) fn new(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> Self {
        Self::with_capacity(device, layout, FIRST_CAPACITY)
    }

    fn with_capacity(
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        capacity_bytes: usize,
    ) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("compositor draws"),
            size: capacity_bytes as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let part = || {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: 0,
                size: wgpu::BufferSize::new(MAX_UNIFORM_BYTES as u64),
            })
        };
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("compositor draws"),
            layout,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: part(),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: part(),
                },
            ],
        });
        Self {
            bytes: Vec::with_capacity(capacity_bytes),
            buffer,
            bind_group,
        }
    }

    /// The layout of [`bind_group`](Self::bind_group).
    pub(crate) fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
        let entry = |binding: u32, visibility: wgpu::ShaderStages| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: None,
            },
            count: None,
        };
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("compositor draws"),
            entries: &[
                entry(0, wgpu::ShaderStages::VERTEX_FRAGMENT),
                entry(1, wgpu::ShaderStages::FRAGMENT),
            ],
        })
    }

    /// Forgets the draws of the frame before.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Adds a draw's uniforms.
    pub(crate) fn push(&mut self, place: &[u8], paint: &[u8]) -> UniformOffsets {
        [self.put(place), self.put(paint)]
    }

    fn put(&mut self, bytes: &[u8]) -> u32 {
        assert!(bytes.len() <= MAX_UNIFORM_BYTES);
        let start = self.bytes.len().next_multiple_of(OFFSET_ALIGNMENT);
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(bytes);
        start as u32
    }

    /// Hands all uniforms to the queue, in a larger buffer if they outgrew this one.
    ///
    /// The queue orders the write between the submissions before and after it, so frames that are
    /// still being drawn keep what they read.
    pub(crate) fn upload(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        layout: &wgpu::BindGroupLayout,
    ) {
        if self.bytes.is_empty() {
            return;
        }
        // So that the last binding, too, lies within the buffer whole.
        let needed = self.bytes.len() + MAX_UNIFORM_BYTES + OFFSET_ALIGNMENT;
        if needed as u64 > self.buffer.size() {
            let bytes = std::mem::take(&mut self.bytes);
            *self = Self {
                bytes,
                ..Self::with_capacity(device, layout, needed.next_power_of_two())
            };
        }
        let aligned = self.bytes.len().next_multiple_of(OFFSET_ALIGNMENT);
        self.bytes.resize(aligned, 0);
        queue.write_buffer(&self.buffer, 0, &self.bytes);
    }

    pub(crate) fn bind_group(&self) -> &wgpu::BindGroup {
        &self.bind_group
    }
}
