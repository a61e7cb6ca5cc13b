//! Textures for surfaces, used again from frame to frame.

use glam::IVec2;

/// A texture that holds a surface from its first pixel on; it may be larger.
#[derive(Debug)]
pub(crate) struct SurfaceTexture {
    pub(crate) texture: wgpu::Texture,
    pub(crate) view: wgpu::TextureView,
    /// The number of frames for which it has been of no use.
    idle_frames: u32,
}

impl SurfaceTexture {
    /// What its texels take.
    pub(crate) fn bytes(&self) -> u64 {
        let texel_bytes = self.texture.format().block_copy_size(None).unwrap_or(0);
        u64::from(self.texture.width()) * u64::from(self.texture.height()) * u64::from(texel_bytes)
    }
}

/// Textures that nothing needs at the moment.
#[derive(Debug, Default)]
pub(crate) struct SurfacePool {
    /// Those that were needed last come last.
    idle: Vec<SurfaceTexture>,
    idle_bytes: u64,
}

/// Sides are rounded up to this, so that a surface that grows a little finds its texture again.
const SIDE_STEP: u32 = 64;
/// The most bytes of textures that nothing needs; the longest unused give way.
const MAX_IDLE_BYTES: u64 = 256 << 20;
/// A texture that was not used for this many frames is let go.
const MAX_IDLE_FRAMES: u32 = 8;

impl SurfacePool {
    /// A texture of at least `size`; its pixels are those of some surface before.
    pub(crate) fn take(
        &mut self,
        device: &wgpu::Device,
        size: IVec2,
        format: wgpu::TextureFormat,
    ) -> SurfaceTexture {
        let max_side = device.limits().max_texture_dimension_2d;
        let side = |side: i32| {
            (side.max(1) as u32)
                .next_multiple_of(SIDE_STEP)
                .min(max_side)
        };
        let (width, height) = (side(size.x), side(size.y));
        let fits = |idle: &SurfaceTexture| {
            let texture = &idle.texture;
            texture.width() == width && texture.height() == height && texture.format() == format
        };
        if let Some(index) = self.idle.iter().rposition(fits) {
            let mut texture = self.idle.remove(index);
            self.idle_bytes -= texture.bytes();
            texture.idle_frames = 0;
            return texture;
        }
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("surface"),
            size: wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        SurfaceTexture {
            view: texture.create_view(&wgpu::TextureViewDescriptor::default()),
            texture,
            idle_frames: 0,
        }
    }

    /// Later draws may overwrite it: the queue keeps them behind those that read it now.
    pub(crate) fn give_back(&mut self, texture: SurfaceTexture) {
        self.idle_bytes += texture.bytes();
        self.idle.push(texture);
    }

    /// Lets go, once a frame, of what has not been needed for long, and of what is too much. Earlier
    /// it would free nothing: the commands of the frame hold all that they use, to the last.
    pub(crate) fn trim(&mut self) {
        for texture in &mut self.idle {
            texture.idle_frames += 1;
        }
        let old = self
            .idle
            .extract_if(.., |texture| texture.idle_frames > MAX_IDLE_FRAMES);
        self.idle_bytes -= old.map(|texture| texture.bytes()).sum::<u64>();
        while self.idle_bytes > MAX_IDLE_BYTES {
            let longest_unused = self.idle.remove(0);
            self.idle_bytes -= longest_unused.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than the idle may take after the frame.
    #[test]
    fn what_a_frame_has_done_with_is_used_again_in_it_whatever_its_size() {
        let gpu = framefence_tests::gpu();
        let mut pool = SurfacePool::default();
        let take = |pool: &mut SurfacePool| {
            let format = wgpu::TextureFormat::Rgba16Float;
            pool.take(gpu.device(), IVec2::new(8192, 4160), format)
        };
        let first = take(&mut pool);
        assert!(first.bytes() > MAX_IDLE_BYTES);
        let texture = first.texture.clone();
        pool.give_back(first);
        let second = take(&mut pool);
        assert!(second.texture == texture);
        pool.give_back(second);
        pool.trim();
        assert!(pool.idle.is_empty());
        assert_eq!(pool.idle_bytes, 0);
    }
}
