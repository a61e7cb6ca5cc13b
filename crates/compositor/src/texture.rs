//! Pictures on the GPU.

use std::path::Path;

use framefence::{Gpu, Size};

use crate::mipmap::{self, MipLevel};
use crate::picture::{ImageProblem, LoadImageError, Picture};

/// What all pictures share: how they are bound and sampled.
#[derive(Debug)]
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
    pub(crate) bind_group: wgpu::BindGroup,
}

impl TextureBindings {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("picture"),
            entries: &[
                wgpu::BindGroupLayoutEntry {
                    binding: 0,
                    visibility: wgpu::ShaderStages::FRAGMENT,
                    ty: wgpu::BindingType::Texture {
                        sample_type: wgpu::TextureSampleType::Float { filterable: true },
                        view_dimension: wgpu::TextureViewDimension::D2,
                        multisampled: false,
                    },
                    count: None,
                },
                wgpu::BindGroupLayoutEntry {
                    binding: 1,
                    visibility: wgpu::ShaderStages::FRAGMENT,
                    ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
                    count: None,
                },
            ],
        });
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("picture"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        Self { layout, sampler }
    }

    pub(crate) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// Decodes the file and uploads it with all its mip levels.
    pub(crate) fn load(&self, gpu: &Gpu, path: &Path) -> Result<ImageTexture, LoadImageError> {
        let load = || {
            let picture = Picture::load(path)?;
            let size = picture.size;
            let texture = upload(gpu, &mipmap::mip_chain(&picture))?;
            Ok(ImageTexture {
                size,
                texture_size: Size::new(texture.width(), texture.height()),
                bind_group: self.bind(gpu.device(), &texture),
            })
        };
        load().map_err(|problem| LoadImageError {
            path: path.to_owned(),
            problem,
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

/// Makes a texture of the levels that the device can hold: a picture that is too large starts at
/// the first halving that fits. Coordinates are relative, so nothing else notices.
fn upload(gpu: &Gpu, levels: &[MipLevel]) -> Result<wgpu::Texture, ImageProblem> {
    let (device, queue) = (gpu.device(), gpu.queue());
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
    let levels = &levels[too_large..];
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
        format: wgpu::TextureFormat::Rgba8Unorm,
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
            &level.premultiplied_rgba,
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
