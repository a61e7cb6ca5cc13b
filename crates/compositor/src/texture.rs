//! Pictures on the GPU.

use std::sync::atomic::{AtomicU64, Ordering};

use framefence::{Gpu, Size};

use crate::color::BlendSpace;
use crate::image_error::ImageProblem;
use crate::mipmap::{self, MipLevel};
use crate::picture::Picture;

/// What all pictures share: how they are bound and sampled.
#[derive(Clone, Debug)]
pub(crate) struct TextureBindings {
    layout: wgpu::BindGroupLayout,
    sampler: wgpu::Sampler,
}

/// A picture that shaders can sample.
#[derive(Clone, Debug)]
pub(crate) struct ImageTexture {
    /// The picture's size in the file, upright.
    pub(crate) size: Size,
    /// The texture's size, smaller if the picture had to be halved to fit the device.
    pub(crate) texture_size: Size,
    /// What the texels of all its levels take.
    pub(crate) gpu_bytes: u64,
    /// Whether every pixel is.
    pub(crate) is_opaque: bool,
    pub(crate) bind_group: wgpu::BindGroup,
    /// A number that no other texture has.
    pub(crate) id: u64,
}

/// The same number is the same texture.
impl PartialEq for ImageTexture {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A number that no texture has had before.
pub(crate) fn next_texture_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl TextureBindings {
    /// `layout` is that of a texture and its sampler.
    pub(crate) fn new(device: &wgpu::Device, layout: wgpu::BindGroupLayout) -> Self {
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("picture"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        Self { layout, sampler }
    }

    /// Makes a texture of the picture and all its mip levels.
    ///
    /// Shaders sample colours with alpha multiplied in, in the values of `blend_space`.
    pub(crate) fn upload(
        &self,
        gpu: &Gpu,
        picture: &Picture,
        blend_space: BlendSpace,
    ) -> Result<ImageTexture, ImageProblem> {
        let levels = mipmap::mip_chain(picture, blend_space);
        let levels = fitting_levels(gpu.device(), &levels);
        let texture = write_texture(gpu, levels, texture_format(blend_space))?;
        Ok(ImageTexture {
            size: picture.size,
            texture_size: levels[0].size,
            gpu_bytes: levels.iter().map(|level| level.rgba.len() as u64).sum(),
            is_opaque: picture
                .straight_rgba
                .chunks_exact(4)
                .all(|pixel| pixel[3] == u8::MAX),
            bind_group: self.bind(gpu.device(), &texture),
            id: next_texture_id(),
        })
    }

    fn bind(&self, device: &wgpu::Device, texture: &wgpu::Texture) -> wgpu::BindGroup {
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("picture"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::TextureView(&view),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: wgpu::BindingResource::Sampler(&self.sampler),
                },
            ],
        })
    }
}

/// The texels of linear light are stored sRGB-encoded and decoded as they are sampled: 8 bits of
/// light itself would be too coarse in the shadows.
pub(crate) fn texture_format(blend_space: BlendSpace) -> wgpu::TextureFormat {
    match blend_space {
        BlendSpace::Srgb => wgpu::TextureFormat::Rgba8Unorm,
        BlendSpace::Linear => wgpu::TextureFormat::Rgba8UnormSrgb,
    }
}

/// The levels that the device can hold: a picture that is too large starts at the first halving
/// that fits. Coordinates are relative, so nothing else notices.
fn fitting_levels<'a>(device: &wgpu::Device, levels: &'a [MipLevel]) -> &'a [MipLevel] {
    let max_side = device.limits().max_texture_dimension_2d;
    let too_large = levels
        .iter()
        .take_while(|level| level.size.width.max(level.size.height) > max_side)
        .count();
    if too_large > 0 {
        tracing::info!(
            size = %levels[0].size,
            halvings = too_large,
            max_side,
            "picture exceeds the device's texture size and is halved"
        );
    }
    &levels[too_large..]
}

fn write_texture(
    gpu: &Gpu,
    levels: &[MipLevel],
    format: wgpu::TextureFormat,
) -> Result<wgpu::Texture, ImageProblem> {
    let (device, queue) = (gpu.device(), gpu.queue());
    let extent = |size: Size| wgpu::Extent3d {
        width: size.width,
        height: size.height,
        depth_or_array_layers: 1,
    };
    let out_of_memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: extent(levels[0].size),
        mip_level_count: levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (mip_level, level) in (0..).zip(levels) {
        queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &texture,
                mip_level,
                origin: wgpu::Origin3d::ZERO,
                aspect: wgpu::TextureAspect::All,
            },
            &level.rgba,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(level.size.width * 4),
                rows_per_image: None,
            },
            extent(level.size),
        );
    }
    // Ready at once on native backends: errors are found as calls are made.
    match pollster::block_on(out_of_memory.pop()) {
        Some(_) => Err(ImageProblem::OutOfGpuMemory {
            size: levels[0].size,
        }),
        None => Ok(texture),
    }
}
