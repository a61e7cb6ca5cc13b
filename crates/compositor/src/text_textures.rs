//! Rastered texts on the GPU.

use std::collections::HashMap;

use framefence::Gpu;
use glam::UVec2;

use crate::color::{BlendSpace, PremultipliedColor};
use crate::mipmap;
use crate::pipelines::Layouts;
use crate::text::{TextMask, TextPicture};
use crate::texture::{next_texture_id, texture_format};

/// The textures of the texts that were seen of late.
#[derive(Debug, Default)]
pub(crate) struct TextTextures {
    /// By the number that the text's part has.
    textures: HashMap<u64, TextTexture>,
}

/// A part of a text that shaders can read.
#[derive(Clone, Debug)]
pub(crate) struct TextTexture {
    pub(crate) bind_group: wgpu::BindGroup,
    /// A number that no other texture has.
    pub(crate) id: u64,
    /// The number of frames for which it has been of no use.
    idle_frames: u32,
}

/// A texture that was not used for this many frames is let go.
const MAX_IDLE_FRAMES: u32 = 8;

impl TextTextures {
    /// Glyphs of one colour: how much of each pixel they cover.
    pub(crate) fn mask(&mut self, gpu: &Gpu, layouts: &Layouts, mask: &TextMask) -> TextTexture {
        self.find(mask.id, || {
            let format = wgpu::TextureFormat::R8Unorm;
            let view = upload(gpu, mask.size, format, &mask.coverage);
            bind(gpu, &layouts.one, &[&view])
        })
    }

    /// Glyphs in their own colours, in the values of `blend_space`, as the two surfaces that a
    /// composite reads.
    pub(crate) fn picture(
        &mut self,
        gpu: &Gpu,
        layouts: &Layouts,
        picture: &TextPicture,
        blend_space: BlendSpace,
    ) -> TextTexture {
        self.find(picture.id, || {
            let format = texture_format(blend_space);
            let view = match blend_space {
                BlendSpace::Srgb => upload(gpu, picture.size, format, &picture.premultiplied_rgba),
                BlendSpace::Linear => upload(gpu, picture.size, format, &light(picture)),
            };
            bind(gpu, &layouts.two, &[&view, &view])
        })
    }

    /// Lets go, once a frame, of what has not been needed for long.
    pub(crate) fn trim(&mut self) {
        self.textures.retain(|_, texture| {
            texture.idle_frames += 1;
            texture.idle_frames <= MAX_IDLE_FRAMES
        });
    }

    fn find(&mut self, part: u64, bind: impl FnOnce() -> wgpu::BindGroup) -> TextTexture {
        let texture = self.textures.entry(part).or_insert_with(|| TextTexture {
            bind_group: bind(),
            id: next_texture_id(),
            idle_frames: 0,
        });
        texture.idle_frames = 0;
        texture.clone()
    }
}

/// The picture as texels that are decoded to linear light as they are read.
fn light(picture: &TextPicture) -> Vec<u8> {
    let pixels = picture.premultiplied_rgba.chunks_exact(4);
    pixels
        .flat_map(|pixel| {
            let channel = |index: usize| f64::from(pixel[index]) / 255.0;
            let color = PremultipliedColor([0, 1, 2, 3].map(channel));
            let light = BlendSpace::Linear.encode(color);
            mipmap::encode(light.as_vec4().to_array(), BlendSpace::Linear)
        })
        .collect()
}

fn upload(gpu: &Gpu, size: UVec2, format: wgpu::TextureFormat, texels: &[u8]) -> wgpu::TextureView {
    let extent = wgpu::Extent3d {
        width: size.x,
        height: size.y,
        depth_or_array_layers: 1,
    };
    let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: Some("text"),
        size: extent,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: format
            .block_copy_size(None)
            .map(|texel_bytes| texel_bytes * size.x),
        rows_per_image: None,
    };
    // The texture is new: no frame that is still being drawn reads it.
    gpu.queue()
        .write_texture(texture.as_image_copy(), texels, layout, extent);
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn bind(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    views: &[&wgpu::TextureView],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(views)
        .map(|(binding, view)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::TextureView(view),
        })
        .collect();
    gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("text"),
        layout,
        entries: &entries,
    })
}
