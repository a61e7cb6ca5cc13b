//! A frame's commands on their way into an encoder.

use std::collections::HashMap;

use glam::IVec2;

use crate::backdrop::Backdrop;
use crate::cost::FrameCost;
use crate::graph::{Command, Draw, Surface, SurfaceId, Texture};
use crate::known::{ContentId, Known};
use crate::pipelines::{Pipelines, Reads};
use crate::surface_pool::{SurfacePool, SurfaceTexture};
use crate::uniform_buffer::UniformBuffer;

/// A frame's commands on their way into an encoder.
pub(crate) struct Recording<'a> {
    /// Of surfaces whose content cannot be known again.
    pub(crate) textures: HashMap<SurfaceId, SurfaceTexture>,
    pub(crate) reads_left: HashMap<Slot, usize>,
    pub(crate) surfaces: &'a [Surface],
    pub(crate) known: &'a mut Known,
    pub(crate) backdrops: &'a mut [Backdrop; 2],
    pub(crate) pool: &'a mut SurfacePool,
    pub(crate) pipelines: &'a Pipelines,
    pub(crate) device: &'a wgpu::Device,
    pub(crate) target: &'a wgpu::TextureView,
    pub(crate) cost: FrameCost,
}

/// What has a texture: a content, which several surfaces may have, or a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    Content(ContentId),
    Surface(SurfaceId),
}

impl Slot {
    fn of(surfaces: &[Surface], id: SurfaceId) -> Self {
        surfaces[id.0]
            .content
            .map_or(Self::Surface(id), Self::Content)
    }
}

/// How often each texture is read.
pub(crate) fn reads(
    surfaces: &[Surface],
    commands: &[Command],
    needed: &[bool],
) -> HashMap<Slot, usize> {
    let mut reads = HashMap::new();
    for (command, _) in commands.iter().zip(needed).filter(|(_, needed)| **needed) {
        for read in command.reads() {
            *reads.entry(Slot::of(surfaces, read)).or_insert(0) += 1;
        }
    }
    reads
}

impl Recording<'_> {
    pub(crate) fn command(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        uniforms: &UniformBuffer,
        command: &Command,
    ) {
        match command {
            Command::Draw {
                target,
                clear,
                draws,
            } => self.pass(encoder, uniforms, *target, *clear, draws),
            Command::Copy { from, to } => self.copy(encoder, *from, *to),
            Command::Restore { to } => self.restore(encoder, *to),
            Command::Keep { from, key } => self.keep(encoder, *from, key),
        }
    }

    fn pass(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        uniforms: &UniformBuffer,
        target: SurfaceId,
        clear: Option<wgpu::Color>,
        draws: &[Draw],
    ) {
        self.make(target);
        let surface = &self.surfaces[target.0];
        let view = match surface.is_target {
            true => self.target.clone(),
            false => self.texture(target).view.clone(),
        };
        let size = surface.region.size().as_vec2();
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("compositor"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        // Textures from the pool may be larger than the surface.
        pass.set_viewport(0.0, 0.0, size.x, size.y, 0.0, 1.0);
        let mut bound = None;
        for draw in draws {
            if bound != Some(draw.pipeline) {
                pass.set_pipeline(self.pipelines.get(draw.pipeline));
                bound = Some(draw.pipeline);
            }
            match &draw.texture {
                Texture::None => {}
                Texture::Bound(bind_group, _) => pass.set_bind_group(1, bind_group, &[]),
                Texture::Surface(only) => {
                    pass.set_bind_group(1, self.bind(Reads::One, &[*only], None).as_ref(), &[]);
                }
                Texture::Surfaces(first, second) => {
                    let bound = self.bind(Reads::Two, &[*first, *second], None);
                    pass.set_bind_group(1, bound.as_ref(), &[]);
                }
                Texture::SurfaceAndTable(surface, table, _) => {
                    let bound = self.bind(Reads::OneAndTable, &[*surface], Some(table));
                    pass.set_bind_group(1, bound.as_ref(), &[]);
                }
            }
            pass.set_bind_group(0, uniforms.bind_group(), &draw.uniforms);
            pass.draw(0..4, 0..1);
        }
        drop(pass);
        self.cost += FrameCost {
            passes: 1,
            draws: draws.len() as u32,
            surface_pixels: self.surfaces[target.0].region.area(),
        };
        for read in draws.iter().flat_map(|draw| draw.texture.surfaces()) {
            self.has_read(read);
        }
    }

    fn copy(&mut self, encoder: &mut wgpu::CommandEncoder, from: SurfaceId, to: SurfaceId) {
        let region = self.surfaces[to.0].region;
        let texture = self
            .pool
            .take(self.device, region.size(), self.format(from));
        self.textures.insert(to, texture);
        let at = region.min - self.surfaces[from.0].region.min;
        copy(
            encoder,
            (self.of(from), at),
            &self.texture(to).texture,
            region.size(),
        );
        self.has_read(from);
    }

    fn restore(&mut self, encoder: &mut wgpu::CommandEncoder, to: SurfaceId) {
        self.make(to);
        let surface = &self.surfaces[to.0];
        let size = surface.region.size();
        if let Some(kept) = self.backdrops[usize::from(surface.is_target)].texture() {
            copy(encoder, (&kept.texture, IVec2::ZERO), self.of(to), size);
        }
    }

    fn keep(&mut self, encoder: &mut wgpu::CommandEncoder, from: SurfaceId, key: &[u8]) {
        let surface = &self.surfaces[from.0];
        let size = surface.region.size();
        let texture = self.pool.take(self.device, size, self.format(from));
        copy(
            encoder,
            (self.of(from), IVec2::ZERO),
            &texture.texture,
            size,
        );
        self.backdrops[usize::from(surface.is_target)].keep(key, texture, self.pool);
    }

    fn format(&self, id: SurfaceId) -> wgpu::TextureFormat {
        let surface = &self.surfaces[id.0];
        match surface.is_target {
            true => self.target.texture().format(),
            false => surface.format,
        }
    }

    /// The texture of a surface or of the target.
    fn of(&self, id: SurfaceId) -> &wgpu::Texture {
        match self.surfaces[id.0].is_target {
            true => self.target.texture(),
            false => &self.texture(id).texture,
        }
    }

    /// Makes the texture of a surface that is about to be drawn into, unless it has been already.
    fn make(&mut self, id: SurfaceId) {
        let surface = &self.surfaces[id.0];
        let (device, size, format) = (self.device, surface.region.size(), surface.format);
        match Slot::of(self.surfaces, id) {
            _ if surface.is_target => {}
            Slot::Content(content) if self.known.texture(content).is_none() => {
                let texture = self.pool.take(device, size, format);
                self.known.insert(content, texture);
            }
            Slot::Content(_) => {}
            Slot::Surface(_) => {
                let make = || self.pool.take(device, size, format);
                self.textures.entry(id).or_insert_with(make);
            }
        }
    }

    /// The texture of a surface that has been made and is still to be read.
    fn texture(&self, id: SurfaceId) -> &SurfaceTexture {
        let known = self.surfaces[id.0].content;
        known
            .and_then(|content| self.known.texture(content))
            .unwrap_or_else(|| &self.textures[&id])
    }

    fn bind(
        &self,
        reads: Reads,
        surfaces: &[SurfaceId],
        table: Option<&wgpu::TextureView>,
    ) -> Option<wgpu::BindGroup> {
        let layout = self.pipelines.layouts().of(reads)?;
        let surfaces = surfaces.iter().map(|&surface| &self.texture(surface).view);
        let entries: Vec<_> = (0..)
            .zip(surfaces.chain(table))
            .map(|(binding, view)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::TextureView(view),
            })
            .collect();
        Some(self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("surfaces"),
            layout,
            entries: &entries,
        }))
    }

    /// Takes back the texture of a surface that is not read any more.
    fn has_read(&mut self, id: SurfaceId) {
        let slot = Slot::of(self.surfaces, id);
        let Some(left) = self.reads_left.get_mut(&slot) else {
            return;
        };
        *left -= 1;
        if *left > 0 {
            return;
        }
        match slot {
            Slot::Content(content) => self.known.has_been_read(content, self.pool),
            Slot::Surface(id) => {
                if let Some(texture) = self.textures.remove(&id) {
                    self.pool.give_back(texture);
                }
            }
        }
    }

    pub(crate) fn finish(self) -> FrameCost {
        for texture in self.textures.into_values() {
            self.pool.give_back(texture);
        }
        self.cost
    }
}

/// Copies `size` pixels from a place in one texture to the corner of another.
fn copy(
    encoder: &mut wgpu::CommandEncoder,
    (from, at): (&wgpu::Texture, IVec2),
    to: &wgpu::Texture,
    size: IVec2,
) {
    let at = at.as_uvec2();
    let origin = wgpu::Origin3d {
        x: at.x,
        y: at.y,
        z: 0,
    };
    let source = wgpu::TexelCopyTextureInfo {
        origin,
        ..from.as_image_copy()
    };
    let extent = wgpu::Extent3d {
        width: size.x as u32,
        height: size.y as u32,
        depth_or_array_layers: 1,
    };
    encoder.copy_texture_to_texture(source, to.as_image_copy(), extent);
}
