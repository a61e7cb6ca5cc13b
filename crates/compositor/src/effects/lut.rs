//! Look-up tables on the GPU.

use glam::DVec3;
use half::f16;
use thiserror::Error;

/// A look-up table as `.cube` files have it (Cube LUT Specification 1.0, Adobe 2013).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lut<'a> {
    pub(crate) table: LutTable<'a>,
    /// The input values of the table's first and last entry, for red, green and blue.
    pub(crate) domain_min: [f32; 3],
    pub(crate) domain_max: [f32; 3],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LutTable<'a> {
    /// A curve for each channel, of the same number of values, at least 2.
    Curves(&'a [[f32; 3]]),
    /// `size` values along each edge, at least 2; red changes fastest, blue slowest.
    Cube { size: u32, rgb: &'a [[f32; 3]] },
}

/// A table that a grade can read: what to bind and how it is laid out.
#[derive(Clone, Debug)]
pub(crate) struct LutTexture {
    /// For `@group(1) @binding(1)`: a 3D texture, not filterable.
    pub(crate) view: wgpu::TextureView,
    pub(crate) layout: LutLayout,
}

/// How a shader finds its way in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LutLayout {
    pub(super) kind: LutKind,
    /// The values of a curve, or of a cube along each edge.
    pub(super) size: u32,
    pub(super) domain_min: DVec3,
    pub(super) domain_max: DVec3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LutKind {
    Curves,
    Cube,
}

/// A look-up table could not be uploaded.
#[derive(Clone, Copy, Debug, Error)]
#[error(
    "the GPU has no memory for a look-up table of {} MiB",
    .bytes.div_ceil(1 << 20)
)]
pub(crate) struct LutOutOfMemory {
    pub(crate) bytes: u64,
}

/// Curves are longer than textures may be wide, so they go on in the next row.
const CURVE_ROW: u32 = 1024;

impl LutTexture {
    /// Uploads the table, as half floats: off by at most 1/16 of 255 code values within 0 to 1.
    /// Values beyond a half float's are taken as its largest.
    ///
    /// A cube needs a device whose 3D textures are as large (2048 is what WebGPU guarantees) and
    /// eight bytes for each of its values.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        lut: &Lut<'_>,
    ) -> Result<Self, LutOutOfMemory> {
        let (kind, size, rgb, extent) = match lut.table {
            LutTable::Curves(rgb) => {
                let size = rgb.len() as u32;
                (
                    LutKind::Curves,
                    size,
                    rgb,
                    [CURVE_ROW.min(size), size.div_ceil(CURVE_ROW), 1],
                )
            }
            LutTable::Cube { size, rgb } => (LutKind::Cube, size, rgb, [size; 3]),
        };
        let mut texels: Vec<[f16; 4]> = rgb
            .iter()
            .map(|&[red, green, blue]| [red, green, blue, 1.0].map(half_float))
            .collect();
        texels.resize(extent.iter().product::<u32>() as usize, [f16::ZERO; 4]);
        let [width, height, depth_or_array_layers] = extent;
        let extent = wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers,
        };
        let out_of_memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("look-up table"),
            size: extent,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D3,
            format: wgpu::TextureFormat::Rgba16Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        queue.write_texture(
            texture.as_image_copy(),
            bytemuck::cast_slice(&texels),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(width * size_of::<[f16; 4]>() as u32),
                rows_per_image: Some(height),
            },
            extent,
        );
        // Ready at once on native backends: errors are found as calls are made.
        if pollster::block_on(out_of_memory.pop()).is_some() {
            let bytes = size_of_val(texels.as_slice()) as u64;
            return Err(LutOutOfMemory { bytes });
        }
        Ok(Self {
            view: texture.create_view(&wgpu::TextureViewDescriptor::default()),
            layout: LutLayout {
                kind,
                size,
                domain_min: DVec3::from(lut.domain_min.map(f64::from)),
                domain_max: DVec3::from(lut.domain_max.map(f64::from)),
            },
        })
    }
}

fn half_float(value: f32) -> f16 {
    // An infinite corner of weight 0 would be no number.
    f16::from_f32(value.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()))
}
