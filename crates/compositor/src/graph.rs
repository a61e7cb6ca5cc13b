//! The surfaces of a frame and the draws that make them.
//!
//! A frame is planned first and recorded afterwards. A surface whose draws are the same as in the
//! frame before, to the byte, is not drawn again: its texture is still there.

use std::collections::{HashMap, HashSet};

use glam::IVec2;

use crate::compositor::PaintError;
use crate::cost::FrameCost;
use crate::pipelines::{PipelineId, Pipelines, Reads, SURFACE_FORMAT};
use crate::rect::IntRect;
use crate::surface_pool::{SurfacePool, SurfaceTexture};
use crate::uniform_buffer::{UniformBuffer, UniformOffsets};

/// A frame's surfaces and commands; kept from frame to frame for its memory and its textures.
#[derive(Debug)]
pub(crate) struct Graph {
    surfaces: Vec<Surface>,
    commands: Vec<Command>,
    /// The surfaces that can be known again, in the order in which their commands end.
    finished: Vec<(SurfaceId, ContentId)>,
    uniforms: UniformBuffer,
    known: Known,
    pool: SurfacePool,
    max_side: i32,
}

/// A surface of the frame that is being planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SurfaceId(usize);

#[derive(Debug)]
struct Surface {
    /// The pixels of the full frame that it holds, or of the grid of its own scale.
    region: IntRect,
    /// The frame's own target rather than a texture of ours.
    is_target: bool,
    /// Whether it is of no use in the next frame.
    is_transient: bool,
    background: wgpu::Color,
    /// Whether its first pass, which clears it, has been planned.
    is_begun: bool,
    /// Draws that no pass has been planned for yet.
    pending: Vec<Draw>,
    /// All that decides its pixels, in full: a hash could make two surfaces out to be the same.
    key: Vec<u8>,
    /// What it holds when it is finished, if it can be known again.
    content: Option<ContentId>,
}

/// What a finished surface holds. Surfaces with the same key hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ContentId(u64);

/// The contents of this frame and of the one before.
#[derive(Debug, Default)]
struct Known {
    by_key: HashMap<Vec<u8>, ContentId>,
    textures: HashMap<ContentId, SurfaceTexture>,
    count: u64,
}

#[derive(Debug)]
enum Command {
    /// A pass.
    Draw {
        target: SurfaceId,
        clear: Option<wgpu::Color>,
        draws: Vec<Draw>,
    },
    /// A copy of all that `to` holds, out of `from`.
    Copy { from: SurfaceId, to: SurfaceId },
}

#[derive(Debug)]
struct Draw {
    pipeline: PipelineId,
    uniforms: UniformOffsets,
    texture: Texture,
}

/// What a draw reads.
#[derive(Clone, Debug)]
pub(crate) enum Texture {
    None,
    /// A texture that is not a surface, and a number that no other texture has.
    Bound(wgpu::BindGroup, u64),
    Surface(SurfaceId),
    Surfaces(SurfaceId, SurfaceId),
    /// A surface and a look-up table, and a number that no other texture has.
    SurfaceAndTable(SurfaceId, wgpu::TextureView, u64),
}

impl Texture {
    fn surfaces(&self) -> impl Iterator<Item = SurfaceId> {
        let [first, second] = match *self {
            Self::None | Self::Bound(..) => [None, None],
            Self::Surface(only) | Self::SurfaceAndTable(only, ..) => [Some(only), None],
            Self::Surfaces(first, second) => [Some(first), Some(second)],
        };
        first.into_iter().chain(second)
    }
}

impl Graph {
    pub(crate) fn new(device: &wgpu::Device, pipelines: &Pipelines) -> Self {
        Self {
            surfaces: Vec::new(),
            commands: Vec::new(),
            finished: Vec::new(),
            uniforms: UniformBuffer::new(device, &pipelines.layouts().uniforms),
            known: Known::default(),
            pool: SurfacePool::default(),
            max_side: device.limits().max_texture_dimension_2d as i32,
        }
    }

    /// Forgets the plan of the frame before.
    pub(crate) fn clear(&mut self) {
        self.surfaces.clear();
        self.commands.clear();
        self.finished.clear();
        self.uniforms.clear();
    }

    /// The target of the frame, which holds the pixels `region`.
    pub(crate) fn target(&mut self, region: IntRect, background: wgpu::Color) -> SurfaceId {
        self.add(Surface {
            is_target: true,
            background,
            ..Surface::new(region)
        })
    }

    /// Whether what a surface holds follows from other surfaces than those that it is copied from.
    pub(crate) fn is_transient(&self, surface: SurfaceId) -> bool {
        self.surfaces[surface.0].is_transient
    }

    /// A transparent surface of the pixels `region`.
    pub(crate) fn surface(&mut self, region: IntRect) -> Result<SurfaceId, PaintError> {
        let size = region.size();
        if size.max_element() > self.max_side {
            return Err(PaintError::SurfaceTooLarge {
                width: size.x,
                height: size.y,
                max_side: self.max_side,
            });
        }
        Ok(self.add(Surface::new(region)))
    }

    /// A surface that is read only on the way to another one.
    pub(crate) fn transient(&mut self, region: IntRect) -> Result<SurfaceId, PaintError> {
        let id = self.surface(region)?;
        self.surfaces[id.0].is_transient = true;
        Ok(id)
    }

    /// A surface with a background instead of nothing.
    pub(crate) fn surface_on(
        &mut self,
        region: IntRect,
        background: wgpu::Color,
    ) -> Result<SurfaceId, PaintError> {
        let id = self.surface(region)?;
        let surface = &mut self.surfaces[id.0];
        surface.background = background;
        let wgpu::Color { r, g, b, a } = background;
        for channel in [r, g, b, a] {
            surface.key.extend(channel.to_le_bytes());
        }
        Ok(id)
    }

    fn add(&mut self, surface: Surface) -> SurfaceId {
        self.surfaces.push(surface);
        SurfaceId(self.surfaces.len() - 1)
    }

    pub(crate) fn region(&self, surface: SurfaceId) -> IntRect {
        self.surfaces[surface.0].region
    }

    pub(crate) fn is_target(&self, surface: SurfaceId) -> bool {
        self.surfaces[surface.0].is_target
    }

    /// Adds a draw to a surface. Surfaces that it reads are finished: nothing can be drawn into them
    /// any more.
    pub(crate) fn draw(
        &mut self,
        surface: SurfaceId,
        pipeline: PipelineId,
        place: &[u8],
        paint: &[u8],
        texture: Texture,
    ) {
        for read in texture.surfaces() {
            self.finish(read);
        }
        let key = &mut self.surfaces[surface.0].key;
        let mut key = std::mem::take(key);
        key.extend(pipeline.0.to_le_bytes());
        key.extend((place.len() as u32).to_le_bytes());
        key.extend(place);
        key.extend((paint.len() as u32).to_le_bytes());
        key.extend(paint);
        self.identify(&texture, &mut key);
        let uniforms = self.uniforms.push(place, paint);
        let surface = &mut self.surfaces[surface.0];
        surface.key = key;
        surface.pending.push(Draw {
            pipeline,
            uniforms,
            texture,
        });
    }

    /// Appends what decides the pixels that a texture has.
    fn identify(&self, texture: &Texture, key: &mut Vec<u8>) {
        match texture {
            Texture::None => key.push(0),
            Texture::Bound(_, id) | Texture::SurfaceAndTable(_, _, id) => {
                key.push(1);
                key.extend(id.to_le_bytes());
            }
            Texture::Surface(_) | Texture::Surfaces(..) => {}
        }
        for read in texture.surfaces() {
            let read = &self.surfaces[read.0];
            match read.content {
                Some(ContentId(id)) => {
                    key.push(2);
                    key.extend(id.to_le_bytes());
                }
                // A copy, or filtered from one: what it holds follows from what was drawn before it
                // into the surface that reads it.
                None => {
                    key.push(3);
                    key.extend((read.key.len() as u64).to_le_bytes());
                    key.extend(&read.key);
                }
            }
        }
    }

    /// Copies some pixels of a surface as it is now.
    pub(crate) fn copy(
        &mut self,
        from: SurfaceId,
        region: IntRect,
    ) -> Result<SurfaceId, PaintError> {
        self.end_pass(from);
        let to = self.transient(region)?;
        self.surfaces[to.0].is_begun = true;
        self.commands.push(Command::Copy { from, to });
        Ok(to)
    }

    /// Plans a pass for the draws that wait for one.
    pub(crate) fn end_pass(&mut self, id: SurfaceId) {
        let surface = &mut self.surfaces[id.0];
        if surface.is_begun && surface.pending.is_empty() {
            return;
        }
        let clear = (!surface.is_begun).then_some(surface.background);
        surface.is_begun = true;
        self.commands.push(Command::Draw {
            target: id,
            clear,
            draws: std::mem::take(&mut surface.pending),
        });
    }

    /// Ends a surface that can be known again by all that was drawn into it.
    fn finish(&mut self, id: SurfaceId) {
        self.end_pass(id);
        let surface = &mut self.surfaces[id.0];
        if surface.content.is_none() && !surface.is_transient {
            let content = self.known.find(&surface.key);
            surface.content = Some(content);
            self.finished.push((id, content));
        }
    }

    /// Records the frame's commands and tells what they are; `target` is the texture that the frame
    /// is drawn into.
    pub(crate) fn record(
        &mut self,
        gpu: &framefence::Gpu,
        encoder: &mut wgpu::CommandEncoder,
        pipelines: &Pipelines,
        target: &wgpu::TextureView,
    ) -> FrameCost {
        for index in 0..self.surfaces.len() {
            if self.surfaces[index].is_target {
                self.end_pass(SurfaceId(index));
            }
        }
        let (device, queue) = (gpu.device(), gpu.queue());
        self.uniforms
            .upload(device, queue, &pipelines.layouts().uniforms);
        let needed = self.needed_commands();
        let mut recording = Recording {
            textures: HashMap::new(),
            reads_left: reads(&self.commands, &needed),
            surfaces: &self.surfaces,
            known: &mut self.known,
            pool: &mut self.pool,
            pipelines,
            device,
            target,
            cost: FrameCost::default(),
        };
        for (command, _) in self
            .commands
            .iter()
            .zip(&needed)
            .filter(|(_, needed)| **needed)
        {
            match command {
                Command::Draw {
                    target,
                    clear,
                    draws,
                } => recording.pass(encoder, &self.uniforms, *target, *clear, draws),
                Command::Copy { from, to } => recording.copy(encoder, *from, *to),
            }
        }
        let cost = recording.finish();
        let used: HashSet<_> = self.finished.iter().map(|&(_, content)| content).collect();
        self.known.keep(&used, &mut self.pool);
        self.pool.trim();
        cost
    }

    /// Which commands the target's pixels depend on, given the textures that are there already.
    fn needed_commands(&self) -> Vec<bool> {
        let mut wanted: Vec<_> = self
            .surfaces
            .iter()
            .map(|surface| surface.is_target)
            .collect();
        // Of surfaces with the same content the one that is finished first is drawn: all that read
        // any of them come after it.
        let mut first = HashMap::new();
        for &(surface, content) in &self.finished {
            first.entry(content).or_insert(surface);
        }
        let mut needed = vec![false; self.commands.len()];
        for (needed, command) in needed.iter_mut().zip(&self.commands).rev() {
            let written = command.writes();
            let surface = &self.surfaces[written.0];
            let is_had = surface.content.is_some_and(|content| {
                first[&content] != written || self.known.textures.contains_key(&content)
            });
            *needed = wanted[written.0] && !is_had;
            if *needed {
                for read in command.reads() {
                    wanted[read.0] = true;
                    if let Some(content) = self.surfaces[read.0].content {
                        wanted[first[&content].0] = true;
                    }
                }
            }
        }
        needed
    }
}

impl Command {
    fn writes(&self) -> SurfaceId {
        match self {
            Self::Draw { target, .. } => *target,
            Self::Copy { to, .. } => *to,
        }
    }

    fn reads(&self) -> Vec<SurfaceId> {
        match self {
            Self::Draw { draws, .. } => draws
                .iter()
                .flat_map(|draw| draw.texture.surfaces())
                .collect(),
            Self::Copy { from, .. } => vec![*from],
        }
    }
}

/// How often each surface is read.
fn reads(commands: &[Command], needed: &[bool]) -> HashMap<SurfaceId, usize> {
    let mut reads = HashMap::new();
    for (command, _) in commands.iter().zip(needed).filter(|(_, needed)| **needed) {
        for read in command.reads() {
            *reads.entry(read).or_insert(0) += 1;
        }
    }
    reads
}

impl Surface {
    fn new(region: IntRect) -> Self {
        let mut key = Vec::new();
        for edge in [region.min, region.max] {
            key.extend(edge.x.to_le_bytes());
            key.extend(edge.y.to_le_bytes());
        }
        Self {
            region,
            is_target: false,
            is_transient: false,
            background: wgpu::Color::TRANSPARENT,
            is_begun: false,
            pending: Vec::new(),
            key,
            content: None,
        }
    }
}

impl Known {
    /// The content that a surface of this key has.
    fn find(&mut self, key: &[u8]) -> ContentId {
        if let Some(&content) = self.by_key.get(key) {
            return content;
        }
        let content = ContentId(self.count);
        self.count += 1;
        self.by_key.insert(key.to_vec(), content);
        content
    }

    /// Forgets all contents but those of this frame.
    fn keep(&mut self, used: &HashSet<ContentId>, pool: &mut SurfacePool) {
        self.by_key.retain(|_, content| used.contains(content));
        let unused: Vec<_> = self
            .textures
            .keys()
            .filter(|content| !used.contains(content))
            .copied()
            .collect();
        for content in unused {
            if let Some(texture) = self.textures.remove(&content) {
                pool.give_back(texture);
            }
        }
    }
}

/// A frame's commands on their way into an encoder.
struct Recording<'a> {
    /// Of surfaces whose content cannot be known again.
    textures: HashMap<SurfaceId, SurfaceTexture>,
    reads_left: HashMap<SurfaceId, usize>,
    surfaces: &'a [Surface],
    known: &'a mut Known,
    pool: &'a mut SurfacePool,
    pipelines: &'a Pipelines,
    device: &'a wgpu::Device,
    target: &'a wgpu::TextureView,
    cost: FrameCost,
}

impl Recording<'_> {
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
        self.cost += FrameCost {
            passes: 1,
            draws: draws.len() as u32,
            surface_pixels: surface.region.area(),
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
        for read in draws.iter().flat_map(|draw| draw.texture.surfaces()) {
            self.has_read(read);
        }
    }

    fn copy(&mut self, encoder: &mut wgpu::CommandEncoder, from: SurfaceId, to: SurfaceId) {
        let format = match self.surfaces[from.0].is_target {
            true => self.target.texture().format(),
            false => SURFACE_FORMAT,
        };
        let region = self.surfaces[to.0].region;
        let texture = self.pool.take(self.device, region.size(), format);
        self.textures.insert(to, texture);
        let source = match self.surfaces[from.0].is_target {
            true => self.target.texture(),
            false => &self.texture(from).texture,
        };
        let at = region.min - self.surfaces[from.0].region.min;
        let whole = |texture, origin: IVec2| wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: 0,
            origin: wgpu::Origin3d {
                x: origin.x as u32,
                y: origin.y as u32,
                z: 0,
            },
            aspect: wgpu::TextureAspect::All,
        };
        encoder.copy_texture_to_texture(
            whole(source, at),
            whole(&self.texture(to).texture, IVec2::ZERO),
            wgpu::Extent3d {
                width: region.size().x as u32,
                height: region.size().y as u32,
                depth_or_array_layers: 1,
            },
        );
        self.has_read(from);
    }

    /// Makes the texture of a surface that is about to be drawn into, unless it has been already.
    fn make(&mut self, id: SurfaceId) {
        let surface = &self.surfaces[id.0];
        let (device, size) = (self.device, surface.region.size());
        let make = || self.pool.take(device, size, SURFACE_FORMAT);
        match surface.content {
            _ if surface.is_target => {}
            Some(content) => {
                self.known.textures.entry(content).or_insert_with(make);
            }
            None => {
                self.textures.entry(id).or_insert_with(make);
            }
        }
    }

    fn texture(&self, id: SurfaceId) -> &SurfaceTexture {
        match self.surfaces[id.0].content {
            Some(content) => &self.known.textures[&content],
            None => &self.textures[&id],
        }
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
        if let Some(left) = self.reads_left.get_mut(&id) {
            *left -= 1;
            if *left == 0
                && let Some(texture) = self.textures.remove(&id)
            {
                self.pool.give_back(texture);
            }
        }
    }

    fn finish(self) -> FrameCost {
        for texture in self.textures.into_values() {
            self.pool.give_back(texture);
        }
        self.cost
    }
}
