//! The surfaces of a frame and the draws that make them.
//!
//! A frame is planned first and recorded afterwards. A surface whose draws are the same as in the
//! frame before, to the byte, is not drawn again: its texture is still there.

use std::collections::{HashMap, HashSet};

use crate::backdrop::{Backdrop, BackdropUse};
use crate::compositor::PaintError;
use crate::cost::FrameCost;
use crate::known::{ContentId, Known};
use crate::pipelines::{PipelineId, Pipelines, SURFACE_FORMAT};
use crate::recording::{Recording, reads};
use crate::rect::IntRect;
use crate::submission::Discarded;
use crate::surface_pool::SurfacePool;
use crate::uniform_buffer::{UniformBuffer, UniformOffsets};

/// A frame's surfaces and commands; kept from frame to frame for its memory and its textures.
#[derive(Debug)]
pub(crate) struct Graph {
    surfaces: Vec<Surface>,
    commands: Vec<Command>,
    /// The surfaces that can be known again, in the order in which their commands end.
    finished: Vec<(SurfaceId, ContentId)>,
    draw_count: usize,
    uniforms: UniformBuffer,
    /// The target, and what stands for it, if anything does: the frame's own layers lie on them.
    roots: Vec<SurfaceId>,
    known: Known,
    /// Of what stands for the target, and of the target.
    backdrops: [Backdrop; 2],
    pool: SurfacePool,
    discarded: Discarded,
    max_side: i32,
}

/// The most bytes that a surface may have. Drivers count with 32 bits in places: lavapipe never ends
/// a pass over 2 GiB.
pub(crate) const MAX_SURFACE_BYTES: u64 = (2 << 30) - 1;

/// A pass is ended when the surfaces that its draws read take more than this, so that their textures
/// can be used again.
const MAX_PENDING_BYTES: u64 = 256 << 20;

/// The most surfaces, and about the most draws, that a frame may need.
///
/// A shadow draws its layer a second time, and layers with shadows can lie in each other: some scenes
/// of a few kilobytes would need more surfaces than there is memory to plan.
const MAX_SURFACES: usize = 1 << 17;
const MAX_DRAWS: usize = 1 << 21;

/// A surface of the frame that is being planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SurfaceId(pub(crate) usize);

#[derive(Debug)]
pub(crate) struct Surface {
    /// The pixels of the full frame that it holds, or of the grid of its own scale.
    pub(crate) region: IntRect,
    /// The format of its texture, unless it is the target.
    pub(crate) format: wgpu::TextureFormat,
    /// The frame's own target rather than a texture of ours.
    pub(crate) is_target: bool,
    /// Whether it is of no use in the next frame.
    is_transient: bool,
    background: wgpu::Color,
    /// Whether its first pass, which clears it, has been planned.
    is_begun: bool,
    /// Draws that no pass has been planned for yet.
    pending: Vec<Draw>,
    /// What the surfaces that they read take.
    pending_bytes: u64,
    /// All that decides its pixels, in full: a hash could make two surfaces out to be the same.
    key: Vec<u8>,
    /// What it holds when it is finished, if it can be known again.
    pub(crate) content: Option<ContentId>,
}

#[derive(Debug)]
pub(crate) enum Command {
    /// A pass.
    Draw {
        target: SurfaceId,
        clear: Option<wgpu::Color>,
        draws: Vec<Draw>,
    },
    /// A copy of all that `to` holds, out of `from`.
    Copy { from: SurfaceId, to: SurfaceId },
    /// The pixels of a surface as they are in the backdrop.
    Restore { to: SurfaceId },
    /// A surface's pixels are to be the backdrop, with that key.
    Keep { from: SurfaceId, key: Vec<u8> },
}

#[derive(Debug)]
pub(crate) struct Draw {
    pub(crate) pipeline: PipelineId,
    pub(crate) uniforms: UniformOffsets,
    pub(crate) texture: Texture,
    /// How many it may change.
    pub(crate) pixels: u64,
    /// Where it ends in the surface's key.
    pub(crate) key_end: usize,
}

/// A draw that is to be planned.
pub(crate) struct NewDraw<'a> {
    pub(crate) pipeline: PipelineId,
    /// The uniforms of the draw's place, and those of what it shows.
    pub(crate) place: &'a [u8],
    pub(crate) paint: &'a [u8],
    pub(crate) texture: Texture,
    /// The pixels that it may change.
    pub(crate) bounds: IntRect,
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
    pub(crate) fn surfaces(&self) -> impl Iterator<Item = SurfaceId> {
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
            draw_count: 0,
            uniforms: UniformBuffer::new(device, &pipelines.layouts().uniforms),
            roots: Vec::new(),
            known: Known::default(),
            backdrops: Default::default(),
            pool: SurfacePool::default(),
            discarded: Discarded::default(),
            max_side: device.limits().max_texture_dimension_2d as i32,
        }
    }

    /// Forgets the plan of the frame before, and its textures, too, if it was never drawn.
    pub(crate) fn clear(&mut self) {
        if self.discarded.take() {
            self.known = Known::default();
            self.backdrops = Default::default();
        }
        self.roots.clear();
        self.surfaces.clear();
        self.commands.clear();
        self.finished.clear();
        self.draw_count = 0;
        self.uniforms.clear();
    }

    /// The target of the frame, of that format, which holds the pixels `region`.
    pub(crate) fn target(
        &mut self,
        region: IntRect,
        format: wgpu::TextureFormat,
        background: wgpu::Color,
    ) -> SurfaceId {
        let mut surface = Surface::new(region).on(background);
        surface.is_target = true;
        surface.key.extend(format!("{format:?}").bytes());
        let target = self.add(surface);
        self.roots.push(target);
        target
    }

    /// A surface that stands for the frame.
    pub(crate) fn canvas(
        &mut self,
        region: IntRect,
        background: wgpu::Color,
    ) -> Result<SurfaceId, PaintError> {
        let canvas = self.try_add(Surface::new(region).on(background))?;
        self.roots.push(canvas);
        Ok(canvas)
    }

    /// Whether what a surface holds follows from other surfaces than those that it is copied from.
    pub(crate) fn is_transient(&self, surface: SurfaceId) -> bool {
        self.surfaces[surface.0].is_transient
    }

    /// A transparent surface of the pixels `region`.
    pub(crate) fn surface(&mut self, region: IntRect) -> Result<SurfaceId, PaintError> {
        self.try_add(Surface::new(region))
    }

    /// A surface of single floats, into which a single draw without blending is made: formulas make
    /// far more than a code value of what half floats lose.
    pub(crate) fn exact_surface(&mut self, region: IntRect) -> Result<SurfaceId, PaintError> {
        let mut surface = Surface::new(region);
        surface.format = wgpu::TextureFormat::Rgba32Float;
        self.try_add(surface)
    }

    /// The format that a surface's draws are made for, unless it is the target.
    pub(crate) fn format(&self, surface: SurfaceId) -> wgpu::TextureFormat {
        self.surfaces[surface.0].format
    }

    /// A surface that is read only on the way to another one.
    pub(crate) fn transient(&mut self, region: IntRect) -> Result<SurfaceId, PaintError> {
        let mut surface = Surface::new(region);
        surface.is_transient = true;
        self.try_add(surface)
    }

    fn try_add(&mut self, surface: Surface) -> Result<SurfaceId, PaintError> {
        let size = surface.region.size();
        if size.max_element() > self.max_side || surface.bytes() > MAX_SURFACE_BYTES {
            return Err(PaintError::SurfaceTooLarge {
                width: size.x,
                height: size.y,
                max_side: self.max_side,
            });
        }
        if self.surfaces.len() >= MAX_SURFACES || self.draw_count >= MAX_DRAWS {
            return Err(PaintError::TooManySurfaces {
                surfaces: self.surfaces.len(),
                draws: self.draw_count,
            });
        }
        Ok(self.add(surface))
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
    pub(crate) fn draw(&mut self, surface: SurfaceId, draw: NewDraw<'_>) {
        let NewDraw {
            pipeline,
            place,
            paint,
            texture,
            bounds,
        } = draw;
        let mut read_bytes = 0;
        for read in texture.surfaces() {
            self.finish(read);
            read_bytes += self.surfaces[read.0].bytes();
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
        self.draw_count += 1;
        let planned = &mut self.surfaces[surface.0];
        planned.pending.push(Draw {
            pipeline,
            uniforms,
            texture,
            pixels: bounds.area(),
            key_end: key.len(),
        });
        planned.key = key;
        planned.pending_bytes += read_bytes;
        if planned.pending_bytes > MAX_PENDING_BYTES {
            self.end_pass(surface);
        }
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
        surface.pending_bytes = 0;
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

    /// Records the frame's commands; `target` is the texture that the frame is drawn into.
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
        let copies = wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST;
        if target.texture().usage().contains(copies) {
            for root in std::mem::take(&mut self.roots) {
                self.use_backdrop(root);
            }
        }
        let needed = self.needed_commands();
        let mut recording = Recording {
            textures: HashMap::new(),
            reads_left: reads(&self.surfaces, &self.commands, &needed),
            surfaces: &self.surfaces,
            known: &mut self.known,
            backdrops: &mut self.backdrops,
            pool: &mut self.pool,
            pipelines,
            device,
            target,
            cost: FrameCost::default(),
        };
        let commands = self.commands.iter().zip(&needed);
        for (command, _) in commands.filter(|(_, needed)| **needed) {
            recording.command(encoder, &self.uniforms, command);
        }
        let cost = recording.finish();
        self.discarded.watch(encoder);
        let used: HashSet<_> = self.finished.iter().map(|&(_, content)| content).collect();
        self.known.keep(&used, &mut self.pool);
        for backdrop in &mut self.backdrops {
            backdrop.trim(&mut self.pool);
        }
        self.pool.trim();
        cost
    }

    /// Takes the draws that need not be made out of a surface's passes, and splits them where its
    /// pixels are to be kept.
    fn use_backdrop(&mut self, surface: SurfaceId) {
        let Surface {
            key,
            region,
            is_target,
            ..
        } = &self.surfaces[surface.0];
        let draws = self.commands.iter().flat_map(|command| match command {
            Command::Draw { target, draws, .. } if *target == surface => draws.as_slice(),
            _ => &[],
        });
        let spans: Vec<_> = draws.map(|draw| (draw.key_end, draw.pixels)).collect();
        let backdrop = &mut self.backdrops[usize::from(*is_target)];
        let BackdropUse {
            restored_draws,
            kept_draws,
        } = backdrop.plan(key, &spans, region.area());
        if kept_draws == 0 {
            return;
        }
        let mut planned = Vec::with_capacity(self.commands.len() + 3);
        let mut first = 0;
        for command in std::mem::take(&mut self.commands) {
            let (mut clear, mut pass) = match command {
                Command::Draw {
                    target,
                    clear,
                    draws,
                } if target == surface => (clear, draws),
                other => {
                    planned.push(other);
                    continue;
                }
            };
            let end = first + pass.len();
            // How many draws of this pass come before that one of the surface's.
            let within = |draw: usize| draw.clamp(first, end) - first;
            let rest = pass.split_off(within(kept_draws));
            let kept = pass.split_off(within(restored_draws));
            if (first + 1..=end).contains(&restored_draws) {
                planned.push(Command::Restore { to: surface });
            }
            if first < restored_draws {
                clear = None;
            }
            let is_kept = (first + 1..=end).contains(&kept_draws) && kept_draws > restored_draws;
            let mut passes = vec![(clear, kept)];
            if is_kept {
                passes.push((None, rest));
            } else {
                passes[0].1.extend(rest);
            }
            for (index, (clear, draws)) in passes.into_iter().enumerate() {
                if index > 0 {
                    let (key_end, _) = spans[kept_draws - 1];
                    planned.push(Command::Keep {
                        from: surface,
                        key: key[..key_end].to_vec(),
                    });
                }
                if clear.is_some() || !draws.is_empty() {
                    planned.push(Command::Draw {
                        target: surface,
                        clear,
                        draws,
                    });
                }
            }
            first = end;
        }
        self.commands = planned;
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
                first[&content] != written || self.known.texture(content).is_some()
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
            Self::Copy { to, .. } | Self::Restore { to } => *to,
            Self::Keep { from, .. } => *from,
        }
    }

    pub(crate) fn reads(&self) -> Vec<SurfaceId> {
        match self {
            Self::Draw { draws, .. } => draws
                .iter()
                .flat_map(|draw| draw.texture.surfaces())
                .collect(),
            Self::Copy { from, .. } => vec![*from],
            Self::Restore { .. } | Self::Keep { .. } => Vec::new(),
        }
    }
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
            format: SURFACE_FORMAT,
            is_target: false,
            is_transient: false,
            background: wgpu::Color::TRANSPARENT,
            is_begun: false,
            pending: Vec::new(),
            pending_bytes: 0,
            key,
            content: None,
        }
    }

    /// With a background instead of nothing.
    fn on(mut self, background: wgpu::Color) -> Self {
        let wgpu::Color { r, g, b, a } = background;
        for channel in [r, g, b, a] {
            self.key.extend(channel.to_le_bytes());
        }
        self.background = background;
        self
    }

    /// About what its texels take.
    fn bytes(&self) -> u64 {
        let texel_bytes = self.format.block_copy_size(None).unwrap_or(0);
        self.region.area() * u64::from(texel_bytes)
    }
}
