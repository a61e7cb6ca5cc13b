//! Textures that frames are drawn into.

use framefence_pixel::{OutputFormat, Size};
use framefence_pool::{Lease, Pool, PoolReport};

/// The texture format that a frame delivered as `format` is drawn into.
#[must_use]
pub fn target_format(format: OutputFormat) -> Option<wgpu::TextureFormat> {
    match format {
        OutputFormat::Rgba8 => Some(wgpu::TextureFormat::Rgba8Unorm),
        OutputFormat::Rgba8Srgb => Some(wgpu::TextureFormat::Rgba8UnormSrgb),
        OutputFormat::Bgra8 => Some(wgpu::TextureFormat::Bgra8Unorm),
        OutputFormat::Bgra8Srgb => Some(wgpu::TextureFormat::Bgra8UnormSrgb),
        OutputFormat::Rgba16F => Some(wgpu::TextureFormat::Rgba16Float),
        OutputFormat::Rgba32F => Some(wgpu::TextureFormat::Rgba32Float),
        OutputFormat::R8 => Some(wgpu::TextureFormat::R8Unorm),
        _ => None,
    }
}

/// All that makes one target different from another; targets are used again only by requests that
/// agree in all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetDescriptor {
    /// Width and height in pixels.
    pub size: Size,
    /// The texture format.
    pub format: wgpu::TextureFormat,
}

/// A texture to draw into and to copy from.
#[derive(Debug)]
pub struct Target {
    /// The texture.
    pub texture: wgpu::Texture,
    /// A view of all of it.
    pub view: wgpu::TextureView,
}

/// The targets of one renderer.
///
/// A target is free again as soon as its frame is submitted: the queue orders the next frame's
/// draws behind this frame's copy.
#[derive(Debug)]
pub struct TargetPool {
    device: wgpu::Device,
    targets: Pool<TargetDescriptor, Target>,
}

impl TargetPool {
    /// A pool that keeps at most `idle_budget_bytes` of textures.
    #[must_use]
    pub fn new(device: wgpu::Device, idle_budget_bytes: usize) -> Self {
        Self {
            device,
            targets: Pool::new(idle_budget_bytes),
        }
    }

    /// A target of this description, whatever was drawn into it before.
    pub fn acquire(&self, descriptor: TargetDescriptor) -> Lease<TargetDescriptor, Target> {
        if let Some(target) = self.targets.take(&descriptor) {
            return target;
        }
        let TargetDescriptor { size, format } = descriptor;
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("framefence target"),
            size: extent(size),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            // Painters may copy what they have drawn before into it.
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let pixel_bytes = format.block_copy_size(None).unwrap_or(0) as usize;
        let size_bytes = size.width as usize * size.height as usize * pixel_bytes;
        self.targets
            .add(descriptor, size_bytes, Target { texture, view })
    }

    /// What the pool holds.
    #[must_use]
    pub fn report(&self) -> PoolReport {
        self.targets.report()
    }
}

pub(crate) fn extent(size: Size) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width: size.width,
        height: size.height,
        depth_or_array_layers: 1,
    }
}
