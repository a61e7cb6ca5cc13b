//! The uniforms of a frame's layers, in one buffer that is written once a frame.

use bytemuck::Pod;

use crate::uniforms::{GradientUniforms, ImageUniforms, LayerUniforms, SolidUniforms};

/// A slot for each layer: first where it lies, then what it shows.
#[derive(Debug)]
pub(crate) struct UniformBuffer {
    bytes: Vec<u8>,
    buffer: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
}

/// The largest value that WebGPU allows for `min_uniform_buffer_offset_alignment`.
const OFFSET_ALIGNMENT: usize = 256;
const PAINT_OFFSET: usize = OFFSET_ALIGNMENT;
const PAINT_BYTES: usize = size_of::<GradientUniforms>();
const SLOT_BYTES: usize = (PAINT_OFFSET + PAINT_BYTES).next_multiple_of(OFFSET_ALIGNMENT);
const FIRST_CAPACITY: usize = 16;

const _: () = assert!(
    size_of::<LayerUniforms>() <= PAINT_OFFSET
        && size_of::<SolidUniforms>() <= PAINT_BYTES
        && size_of::<ImageUniforms>() <= PAINT_BYTES
);

impl UniformBuffer {
    pub(crate) fn new(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> Self {
        Self::with_capacity(device, layout, FIRST_CAPACITY)
    }

    fn with_capacity(device: &wgpu::Device, layout: &wgpu::BindGroupLayout, slots: usize) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("compositor layers"),
            size: (slots * SLOT_BYTES) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let part = |offset: usize, length: usize| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: offset as u64,
                size: wgpu::BufferSize::new(length as u64),
            })
        };
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("compositor layers"),
            layout,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: part(0, size_of::<LayerUniforms>()),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: part(PAINT_OFFSET, PAINT_BYTES),
                },
            ],
        });
        Self {
            bytes: Vec::with_capacity(slots * SLOT_BYTES),
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
            label: Some("compositor layers"),
            entries: &[
                entry(0, wgpu::ShaderStages::VERTEX_FRAGMENT),
                entry(1, wgpu::ShaderStages::FRAGMENT),
            ],
        })
    }

    /// Forgets the layers of the frame before.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Adds a layer; its slot's number is the number of layers before it.
    pub(crate) fn push(&mut self, layer: &LayerUniforms, paint: &impl Pod) {
        let start = self.bytes.len();
        self.bytes.resize(start + SLOT_BYTES, 0);
        let mut put = |offset: usize, bytes: &[u8]| {
            self.bytes[start + offset..][..bytes.len()].copy_from_slice(bytes);
        };
        put(0, bytemuck::bytes_of(layer));
        put(PAINT_OFFSET, bytemuck::bytes_of(paint));
    }

    /// Hands all layers to the queue, in a larger buffer if they outgrew this one.
    ///
    /// The queue orders the write between the submissions before and after it, so frames that are
    /// still being drawn keep what they read.
    pub(crate) fn upload(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        layout: &wgpu::BindGroupLayout,
    ) {
        if self.bytes.len() as u64 > self.buffer.size() {
            let slots = (self.bytes.len() / SLOT_BYTES).next_power_of_two();
            let bytes = std::mem::take(&mut self.bytes);
            *self = Self {
                bytes,
                ..Self::with_capacity(device, layout, slots)
            };
        }
        if !self.bytes.is_empty() {
            queue.write_buffer(&self.buffer, 0, &self.bytes);
        }
    }

    pub(crate) fn bind_group(&self) -> &wgpu::BindGroup {
        &self.bind_group
    }

    /// The dynamic offsets that select a slot.
    pub(crate) fn offsets(slot: usize) -> [u32; 2] {
        let offset = (slot * SLOT_BYTES) as u32;
        [offset, offset]
    }
}
