//! Turns what a scene shows into surfaces and draws.

use framefence::{FrameView, Gpu};
use glam::{DMat3, DVec2, IVec2};

use crate::assets::LutAsset;
use crate::color::BlendSpace;
use crate::compositor::PaintError;
use crate::effects::{
    DrawUniforms, EdgeMode, Step, SurfaceEncoding, blur_reach, blur_steps, grade_steps,
    spread_reach, spread_steps,
};
use crate::graph::{Graph, NewDraw, SurfaceId, Texture};
use crate::layer::BlendMode;
use crate::node::{Appearance, Body, GradeNode, Node, Progress, ShadowNode};
use crate::pipelines::{
    BlendKind, Coverage, MaskKind, PipelineKey, Pipelines, RampKind, SURFACE_FORMAT, Shader, Write,
};
use crate::placement::{Rect, frame_size};
use crate::rect::IntRect;
use crate::text::{TextBox, TextLayout, TextPart};
use crate::text_textures::TextTextures;
use crate::uniforms::{
    BlendUniforms, CompositeUniforms, Corner, CustomUniforms, DeliverUniforms, GlyphUniforms,
    GradientUniforms, ImageUniforms, LayerUniforms, Outline, ShapeUniforms, SolidUniforms,
};

/// The greatest difference that dithering makes to a colour. A little less than half a code value,
/// so that colours which are code values already stay as they are, for all that was rounded before.
const DITHER: f32 = 0.36 / 255.0;

/// The most pixels that are drawn at once by a shader which may take long for each.
const MAX_SLOW_PIXELS: i32 = 1 << 18;

/// Plans a frame.
pub(crate) struct Planner<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) graph: &'a mut Graph,
    pub(crate) pipelines: &'a mut Pipelines,
    pub(crate) text_textures: &'a mut TextTextures,
    pub(crate) blend_space: BlendSpace,
    pub(crate) target_format: wgpu::TextureFormat,
    /// The surface that stands for the frame where the target cannot, and all of the frame's pixels.
    pub(crate) canvas: Option<(SurfaceId, IntRect)>,
}

/// A layer on a surface of its own, and what decides where it is seen.
struct Finished {
    layer: SurfaceId,
    mask: Option<(SurfaceId, MaskKind)>,
}

/// How a draw gets into a surface.
#[derive(Clone, Copy)]
struct Laying {
    opacity: f64,
    write: Write,
}

impl Laying {
    const PLAIN: Self = Self {
        opacity: 1.0,
        write: Write::Over,
    };

    /// All that is drawn into a surface that has nothing in it yet.
    const ALONE: Self = Self {
        opacity: 1.0,
        write: Write::Replace,
    };
}

impl Planner<'_> {
    /// Plans the whole frame from its background up.
    pub(crate) fn frame(
        &mut self,
        nodes: &[Node],
        background: wgpu::Color,
        view: &FrameView,
    ) -> Result<(), PaintError> {
        let origin = IVec2::from(view.tile_origin.map(|position| position as i32));
        let target_size = IVec2::new(
            view.target_size.width as i32,
            view.target_size.height as i32,
        );
        let target_region = IntRect::new(origin, origin + target_size);
        let format = self.target_format;
        let target = self.graph.target(target_region, format, background);
        if self.draws_into_target(nodes) {
            return self.nodes(nodes, target);
        }
        let frame = IntRect::new(IVec2::ZERO, frame_size(view).ceil().as_ivec2());
        let region = needed_region(nodes, target_region, Some(frame));
        let canvas = self.graph.canvas(region, background)?;
        self.canvas = Some((canvas, frame));
        self.nodes(nodes, canvas)?;
        self.deliver(canvas, target);
        Ok(())
    }

    /// Whether the target can be drawn into as it is: it holds 8 bits of what is blended, and no
    /// more than the pixels that are delivered. It must not depend on which part of the frame it is.
    fn draws_into_target(&self, nodes: &[Node]) -> bool {
        self.blend_space == BlendSpace::Srgb && nodes.iter().all(|node| node.background_blur == 0.0)
    }

    fn deliver(&mut self, canvas: SurfaceId, target: SurfaceId) {
        let region = self.graph.region(target);
        let shader = Shader::Deliver {
            is_linear: self.blend_space == BlendSpace::Linear,
        };
        let uniforms = DeliverUniforms::new(self.graph.region(canvas));
        self.draw(
            target,
            Draw {
                shader,
                outline: None,
                bounds: region,
                write: Write::Replace,
                is_dithered: true,
                paint: bytemuck::bytes_of(&uniforms),
                texture: Texture::Surface(canvas),
            },
        );
    }

    /// Draws layers over each other, but for those that are hidden behind others.
    fn nodes(&mut self, nodes: &[Node], surface: SurfaceId) -> Result<(), PaintError> {
        let hidden = hidden_nodes(nodes, self.graph.region(surface));
        for (node, is_hidden) in nodes.iter().zip(hidden) {
            if !is_hidden {
                self.node(node, surface)?;
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, surface: SurfaceId) -> Result<(), PaintError> {
        let bounds = node.bounds.intersect(self.graph.region(surface));
        if bounds.is_empty() {
            return Ok(());
        }
        if node.background_blur > 0.0 {
            self.blur_behind(node, surface)?;
        }
        let laying = Laying {
            opacity: node.opacity,
            write: Write::Over,
        };
        if node.is_plain() {
            return self.body(&node.body, surface, laying);
        }
        let is_blended = node.blend != BlendMode::Normal;
        let is_together = node.shadow.is_some() && (is_blended || node.opacity < 1.0);
        if !is_together && !is_blended {
            return self.parts(node, bounds, surface, node.opacity);
        }
        // The layer and its shadow are blended, or faded, as one.
        let whole = match node.is_single_draw() {
            true => {
                let whole = self.graph.exact_surface(bounds.even())?;
                self.body(&node.body, whole, Laying::ALONE)?;
                whole
            }
            false => {
                let whole = self.graph.surface(bounds.even())?;
                self.parts(node, bounds, whole, 1.0)?;
                whole
            }
        };
        match is_blended {
            true => self.blend(whole, bounds, surface, node),
            false => {
                self.composite(whole, surface, laying, None);
                Ok(())
            }
        }
    }

    /// Draws a layer and its shadow over what is there.
    fn parts(
        &mut self,
        node: &Node,
        bounds: IntRect,
        surface: SurfaceId,
        opacity: f64,
    ) -> Result<(), PaintError> {
        let laying = Laying {
            opacity,
            write: Write::Over,
        };
        let is_finished_body = node.grade.is_none() && node.blur == 0.0 && node.mask.is_none();
        let Some(shadow) = &node.shadow else {
            if is_finished_body {
                return self.body(&node.body, surface, laying);
            }
            if let Some(Finished { layer, mask }) = self.finished(node, bounds)? {
                self.composite(layer, surface, laying, mask);
            }
            return Ok(());
        };
        // Drawn once for both: layers with shadows in each other would double at every level.
        let wanted = shadow.source_region(bounds).union(bounds);
        let Some(Finished { layer, mask }) = self.finished(node, wanted)? else {
            return Ok(());
        };
        let silhouette = match mask {
            Some(mask) => self.masked(layer, mask)?,
            None => layer,
        };
        self.shadow(shadow, silhouette, bounds, surface)?;
        if is_finished_body && node.body.is_single_draw() {
            return self.body(&node.body, surface, laying);
        }
        self.composite(silhouette, surface, laying, None);
        Ok(())
    }

    /// The layer alone, graded and blurred, where it lies in `wanted`, and its mask. Nothing if none
    /// of it is seen.
    fn finished(&mut self, node: &Node, wanted: IntRect) -> Result<Option<Finished>, PaintError> {
        let reach = blur_reach(node.blur);
        let region = node.body.bounds.intersect(wanted.expand(reach));
        if region.is_empty() {
            return Ok(None);
        }
        let mut layer = self.graph.surface(region.even())?;
        self.fill(&node.body, layer)?;
        if let Some(grade) = &node.grade {
            layer = self.grade(layer, grade)?;
        }
        if node.blur > 0.0 {
            let source = self.graph.region(layer);
            let steps = blur_steps(source, wanted, node.blur, EdgeMode::Transparent);
            layer = self.run(layer, &steps, None)?;
        }
        let Some(mask) = &node.mask else {
            return Ok(Some(Finished { layer, mask: None }));
        };
        let region = self.graph.region(layer);
        let mask_bounds = mask
            .node
            .as_ref()
            .map_or(IntRect::EMPTY, |node| node.bounds);
        let mask_region = mask_bounds.intersect(region);
        let (Some(mask_node), false) = (&mask.node, mask_region.is_empty()) else {
            // Where the mask is nothing, all is seen, or nothing.
            return Ok(mask
                .kind
                .is_inverted()
                .then_some(Finished { layer, mask: None }));
        };
        let mask_surface = self.graph.surface(mask_region.even())?;
        self.node(mask_node, mask_surface)?;
        Ok(Some(Finished {
            layer,
            mask: Some((mask_surface, mask.kind)),
        }))
    }

    /// A layer as its mask lets it be seen.
    fn masked(
        &mut self,
        layer: SurfaceId,
        (mask, kind): (SurfaceId, MaskKind),
    ) -> Result<SurfaceId, PaintError> {
        let region = match kind.is_inverted() {
            true => self.graph.region(layer),
            false => self.graph.region(mask),
        };
        let masked = self.graph.surface(region)?;
        self.composite(layer, masked, Laying::PLAIN, Some((mask, kind)));
        Ok(masked)
    }

    /// Draws what a layer shows over what is there.
    fn body(&mut self, body: &Body, surface: SurfaceId, laying: Laying) -> Result<(), PaintError> {
        let bounds = body.bounds.intersect(self.graph.region(surface));
        if bounds.is_empty() {
            return Ok(());
        }
        if body.is_single_draw() {
            self.content(body, bounds, surface, laying);
            return Ok(());
        }
        let is_plain = laying.opacity == 1.0 && laying.write == Write::Over;
        match &body.appearance {
            Appearance::Group { nodes, .. } if is_plain && body.passes_through() => {
                return self.nodes(nodes, surface);
            }
            Appearance::Text {
                layout,
                frame_from_block,
                is_clipped: false,
            } if is_plain => {
                self.text(layout, *frame_from_block, body, bounds, surface, laying);
                return Ok(());
            }
            _ => {}
        }
        let alone = self.graph.surface(bounds.even())?;
        self.fill(body, alone)?;
        self.composite(alone, surface, laying, None);
        Ok(())
    }

    /// Draws what a layer shows into a surface that has nothing in it yet.
    fn fill(&mut self, body: &Body, surface: SurfaceId) -> Result<(), PaintError> {
        let region = self.graph.region(surface);
        match &body.appearance {
            Appearance::Group {
                nodes,
                is_clipped: false,
            } => self.group(nodes, surface),
            Appearance::Group {
                nodes,
                is_clipped: true,
            } => {
                let inside = self
                    .graph
                    .surface(needed_region(nodes, region, None).even())?;
                self.nodes(nodes, inside)?;
                self.within_box(inside, body, surface);
                Ok(())
            }
            Appearance::Text {
                layout,
                frame_from_block,
                is_clipped,
            } => {
                let bounds = body.bounds.intersect(region);
                let inside = match is_clipped {
                    true => self.graph.surface(region)?,
                    false => surface,
                };
                self.text(
                    layout,
                    *frame_from_block,
                    body,
                    bounds,
                    inside,
                    Laying::PLAIN,
                );
                if *is_clipped {
                    self.within_box(inside, body, surface);
                }
                Ok(())
            }
            Appearance::Mix { old, new, progress } => self.mix(body, old, new, *progress, surface),
            Appearance::Average { moments, weight } => {
                let laying = Laying {
                    opacity: *weight,
                    write: Write::Add,
                };
                moments
                    .iter()
                    .try_for_each(|moment| self.body(moment, surface, laying))
            }
            _ => self.body(body, surface, Laying::PLAIN),
        }
    }

    /// Draws layers into a surface that has nothing in it yet, and that may hold too little for the
    /// blurs among them.
    fn group(&mut self, nodes: &[Node], surface: SurfaceId) -> Result<(), PaintError> {
        let region = self.graph.region(surface);
        let needed = needed_region(nodes, region, None).even();
        if needed == region {
            return self.nodes(nodes, surface);
        }
        let inside = self.graph.surface(needed)?;
        self.nodes(nodes, inside)?;
        self.composite(inside, surface, Laying::PLAIN, None);
        Ok(())
    }

    fn mix(
        &mut self,
        body: &Body,
        old: &[Node],
        new: &[Node],
        progress: Progress,
        surface: SurfaceId,
    ) -> Result<(), PaintError> {
        let region = self.graph.region(surface);
        for (nodes, is_new) in [(old, false), (new, true)] {
            let inside = self
                .graph
                .surface(needed_region(nodes, region, None).even())?;
            self.nodes(nodes, inside)?;
            let (opacity, kind, ramp) = match (progress, is_new) {
                (Progress::Even(progress), true) => (progress, RampKind::None, None),
                (Progress::Even(progress), false) => (1.0 - progress, RampKind::None, None),
                (Progress::Ramp { slope, start }, is_new) => {
                    let kind = if is_new {
                        RampKind::High
                    } else {
                        RampKind::Low
                    };
                    (1.0, kind, Some((slope, start)))
                }
                (Progress::Edge { slope, start }, is_new) => {
                    let kind = if is_new {
                        RampKind::HighEdge
                    } else {
                        RampKind::LowEdge
                    };
                    (1.0, kind, Some((slope, start)))
                }
            };
            let laying = Laying {
                opacity,
                write: Write::Add,
            };
            self.seen(inside, body, region, surface, laying, kind, ramp);
        }
        Ok(())
    }

    /// Lays a surface over all of another, within the box of a layer.
    fn within_box(&mut self, source: SurfaceId, body: &Body, surface: SurfaceId) {
        let region = self.graph.region(surface);
        self.seen(
            source,
            body,
            region,
            surface,
            Laying::PLAIN,
            RampKind::None,
            None,
        );
    }

    /// Lays a surface over another, within the box of a layer, and seen along a ramp.
    #[expect(clippy::too_many_arguments)]
    fn seen(
        &mut self,
        source: SurfaceId,
        body: &Body,
        bounds: IntRect,
        surface: SurfaceId,
        laying: Laying,
        kind: RampKind,
        ramp: Option<(DVec2, f64)>,
    ) {
        let outline = body.outline();
        let mut uniforms = CompositeUniforms::new(self.graph.region(source), laying.opacity);
        if let Some((slope, start)) = ramp {
            let map = &outline.map;
            let slope_along = slope / map.local_per_layer;
            uniforms = uniforms.with_ramp(slope_along, start + slope.dot(map.reference));
        }
        self.draw(
            surface,
            Draw {
                shader: Shader::Composite {
                    is_silhouette: false,
                    mask: MaskKind::None,
                    ramp: kind,
                },
                outline: Some(&outline),
                bounds,
                write: laying.write,
                is_dithered: true,
                paint: bytemuck::bytes_of(&uniforms),
                texture: Texture::Surfaces(source, source),
            },
        );
    }

    /// Lays a surface over another, all of it.
    fn composite(
        &mut self,
        source: SurfaceId,
        surface: SurfaceId,
        laying: Laying,
        mask: Option<(SurfaceId, MaskKind)>,
    ) {
        let region = self.graph.region(source);
        let bounds = region.intersect(self.graph.region(surface));
        if bounds.is_empty() {
            return;
        }
        let mut uniforms = CompositeUniforms::new(region, laying.opacity);
        if let Some((mask, _)) = mask {
            uniforms = uniforms.masked(self.graph.region(mask));
        }
        let (mask, kind) = mask.unwrap_or((source, MaskKind::None));
        self.draw(
            surface,
            Draw {
                shader: Shader::Composite {
                    is_silhouette: false,
                    mask: kind,
                    ramp: RampKind::None,
                },
                outline: None,
                bounds,
                write: laying.write,
                is_dithered: true,
                paint: bytemuck::bytes_of(&uniforms),
                texture: Texture::Surfaces(source, mask),
            },
        );
    }

    /// Blends a surface with what is behind it.
    fn blend(
        &mut self,
        source: SurfaceId,
        bounds: IntRect,
        surface: SurfaceId,
        node: &Node,
    ) -> Result<(), PaintError> {
        let backdrop = self.graph.copy(surface, bounds)?;
        let uniforms = BlendUniforms::new(self.graph.region(source), bounds, node.opacity);
        self.draw(
            surface,
            Draw {
                shader: Shader::Blend(BlendKind::Mode(node.blend)),
                outline: None,
                bounds,
                write: Write::Replace,
                is_dithered: true,
                paint: bytemuck::bytes_of(&uniforms),
                texture: Texture::Surfaces(source, backdrop),
            },
        );
        Ok(())
    }

    /// Blurs what is behind a layer's box.
    fn blur_behind(&mut self, node: &Node, surface: SurfaceId) -> Result<(), PaintError> {
        let placement = &node.body.placement;
        let region = self.graph.region(surface);
        let bounds = placement.bounds(placement.visible).intersect(region);
        if bounds.is_empty() {
            return Ok(());
        }
        let reach = blur_reach(node.background_blur);
        let behind = self
            .graph
            .copy(surface, bounds.expand(reach).intersect(region))?;
        // At the edges of the frame the picture goes on as it ends; around a group there is nothing.
        let (source, edge) = match self.canvas {
            Some((canvas, frame)) if canvas == surface => (frame, EdgeMode::Clamp),
            _ => (self.graph.region(behind), EdgeMode::Transparent),
        };
        let steps = blur_steps(source, bounds, node.background_blur, edge);
        let blurred = self.run(behind, &steps, None)?;
        let backdrop = self.graph.copy(surface, bounds)?;
        let uniforms = BlendUniforms::new(self.graph.region(blurred), bounds, node.opacity);
        let outline = node.body.outline();
        self.draw(
            surface,
            Draw {
                shader: Shader::Blend(BlendKind::Replace),
                outline: Some(&outline),
                bounds,
                write: Write::Replace,
                is_dithered: true,
                paint: bytemuck::bytes_of(&uniforms),
                texture: Texture::Surfaces(blurred, backdrop),
            },
        );
        Ok(())
    }

    fn shadow(
        &mut self,
        shadow: &ShadowNode,
        layer: SurfaceId,
        bounds: IntRect,
        surface: SurfaceId,
    ) -> Result<(), PaintError> {
        let mut silhouette = layer;
        let wanted = bounds
            .translate(-shadow.offset.floor().as_ivec2())
            .expand(1);
        if shadow.spread != 0.0 {
            let wanted = wanted.expand(blur_reach(shadow.blur));
            let steps = spread_steps(self.graph.region(silhouette), wanted, shadow.spread);
            silhouette = self.run(silhouette, &steps, None)?;
        }
        if shadow.blur > 0.0 {
            let source = self.graph.region(silhouette);
            let steps = blur_steps(source, wanted, shadow.blur, EdgeMode::Transparent);
            silhouette = self.run(silhouette, &steps, None)?;
        }
        let region = self.graph.region(silhouette);
        let uniforms = CompositeUniforms::silhouette(region, shadow.color, shadow.offset);
        let seen =
            IntRect::new(region.min, region.max + 1).translate(shadow.offset.floor().as_ivec2());
        self.draw(
            surface,
            Draw {
                shader: Shader::Composite {
                    is_silhouette: true,
                    mask: MaskKind::None,
                    ramp: RampKind::None,
                },
                outline: None,
                bounds: seen.intersect(bounds),
                write: Write::Over,
                is_dithered: true,
                paint: bytemuck::bytes_of(&uniforms),
                texture: Texture::Surfaces(silhouette, silhouette),
            },
        );
        Ok(())
    }

    fn grade(&mut self, layer: SurfaceId, grade: &GradeNode) -> Result<SurfaceId, PaintError> {
        let region = self.graph.region(layer);
        let encoding = match self.blend_space {
            BlendSpace::Srgb => SurfaceEncoding::Srgb,
            BlendSpace::Linear => SurfaceEncoding::Linear,
        };
        let lut = grade.lut.as_ref();
        let layout = lut.map(|lut| &lut.texture.layout);
        let steps = grade_steps(region, region, &grade.settings, layout, encoding);
        self.run(layer, &steps, lut)
    }

    /// Draws an effect's surfaces one from another; the last is the result.
    fn run(
        &mut self,
        source: SurfaceId,
        steps: &[Step],
        lut: Option<&LutAsset>,
    ) -> Result<SurfaceId, PaintError> {
        // What follows from a copy cannot be known again.
        let is_known = !self.graph.is_transient(source);
        let last = steps.len().saturating_sub(1);
        let mut result = source;
        for (index, step) in steps.iter().enumerate() {
            let next = match is_known && index == last {
                true => self.graph.surface(step.region)?,
                false => self.graph.transient(step.region)?,
            };
            if !step.region.is_empty() {
                self.step(step, result, next, lut);
            }
            result = next;
        }
        Ok(result)
    }

    fn step(&mut self, step: &Step, source: SurfaceId, target: SurfaceId, lut: Option<&LutAsset>) {
        let key = PipelineKey {
            target: SURFACE_FORMAT,
            shader: Shader::Effect(step.shader),
            coverage: Coverage::Whole,
            is_perspective: false,
            write: Write::Replace,
        };
        let pipeline = self.pipelines.find(self.gpu.device(), key);
        let place = DrawUniforms::new(
            step.region,
            step.region.min,
            step.region.size(),
            self.graph.region(source),
        );
        let texture = match lut {
            Some(lut) if step.shader.reads_lut() => {
                Texture::SurfaceAndTable(source, lut.texture.view.clone(), lut.id)
            }
            _ => Texture::Surface(source),
        };
        self.graph.draw(
            target,
            NewDraw {
                pipeline,
                place: bytemuck::bytes_of(&place),
                paint: step.uniforms.bytes(),
                texture,
                bounds: step.region,
            },
        );
    }

    /// Draws what a single draw shows.
    fn content(&mut self, body: &Body, bounds: IntRect, surface: SurfaceId, laying: Laying) {
        let outline = body.outline();
        let map = &outline.map;
        let Laying { opacity, write } = laying;
        let draw = |shader, paint, is_dithered, texture| Draw {
            shader,
            outline: Some(&outline),
            bounds,
            write,
            is_dithered,
            paint,
            texture,
        };
        match &body.appearance {
            Appearance::Solid(color) => {
                let uniforms = SolidUniforms::new(*color * opacity);
                let paint = bytemuck::bytes_of(&uniforms);
                self.draw(surface, draw(Shader::Solid, paint, false, Texture::None));
            }
            Appearance::Shape {
                fill,
                stroke,
                outwards,
                inwards,
            } => {
                let uniforms =
                    ShapeUniforms::new(*fill, *stroke, *outwards, *inwards, opacity, map);
                let paint = bytemuck::bytes_of(&uniforms);
                self.draw(surface, draw(Shader::Shape, paint, false, Texture::None));
            }
            Appearance::Gradient {
                kind,
                stops,
                matrix,
                center,
            } => {
                let uniforms = GradientUniforms::new(stops, *matrix, *center, opacity, map);
                let shader = Shader::Gradient {
                    kind: *kind,
                    span_count: stops.len() as u8 - 1,
                };
                let paint = bytemuck::bytes_of(&uniforms);
                self.draw(surface, draw(shader, paint, true, Texture::None));
            }
            Appearance::Image {
                texture,
                scale,
                offset,
            } => {
                let uniforms =
                    ImageUniforms::new(*scale, *offset, texture.texture_size, opacity, map);
                let shader = Shader::Image {
                    many_taps: uniforms.has_many_taps() || !map.is_affine,
                };
                let bound = Texture::Bound(texture.bind_group.clone(), texture.id);
                let paint = bytemuck::bytes_of(&uniforms);
                self.draw(surface, draw(shader, paint, false, bound));
            }
            Appearance::Custom {
                shader,
                uniforms,
                content_size,
                seconds,
            } => {
                let placement = &body.placement;
                let own = CustomUniforms::new(placement, map, *content_size, *seconds, opacity);
                let paint = [bytemuck::bytes_of(&own), uniforms].concat();
                self.pipelines.know(shader);
                let is_slow = shader.has_loops;
                let shader = Shader::Custom {
                    id: shader.id,
                    is_linear: self.blend_space == BlendSpace::Linear,
                };
                // Between draws a GPU can turn to others, so that none of its watchdogs barks.
                let rows = match is_slow {
                    true => (MAX_SLOW_PIXELS / bounds.size().x).max(1),
                    false => bounds.size().y,
                };
                for band in bounds.bands(rows) {
                    let mut draw = draw(shader, &paint, true, Texture::None);
                    draw.bounds = band;
                    self.draw(surface, draw);
                }
            }
            Appearance::Text {
                layout,
                frame_from_block,
                ..
            } => self.text(layout, *frame_from_block, body, bounds, surface, laying),
            Appearance::Group { .. } | Appearance::Mix { .. } | Appearance::Average { .. } => {}
        }
    }

    /// Draws the parts of a text over each other.
    fn text(
        &mut self,
        layout: &TextLayout,
        frame_from_block: DMat3,
        body: &Body,
        bounds: IntRect,
        surface: SurfaceId,
        laying: Laying,
    ) {
        let Laying { opacity, write } = laying;
        for part in layout.raster(frame_from_block, bounds) {
            match part {
                TextPart::Box(text_box) => {
                    let outline = text_box.outline(body);
                    let color = self.blend_space.encode(text_box.color);
                    let uniforms = SolidUniforms::new(color * opacity);
                    let text_box = Draw {
                        shader: Shader::Solid,
                        outline: Some(&outline),
                        bounds: body.placement.bounds(outline.rect).intersect(bounds),
                        write,
                        is_dithered: false,
                        paint: bytemuck::bytes_of(&uniforms),
                        texture: Texture::None,
                    };
                    self.draw(surface, text_box);
                }
                TextPart::Mask(mask) => {
                    let layouts = self.pipelines.layouts();
                    let texture = self.text_textures.mask(self.gpu, layouts, &mask);
                    let color = self.blend_space.encode(mask.color);
                    let uniforms = GlyphUniforms::new(color * opacity, mask.origin);
                    let glyphs = Draw {
                        shader: Shader::Glyphs,
                        outline: None,
                        bounds: mask.region().intersect(bounds),
                        write,
                        is_dithered: false,
                        paint: bytemuck::bytes_of(&uniforms),
                        texture: Texture::Bound(texture.bind_group, texture.id),
                    };
                    self.draw(surface, glyphs);
                }
                TextPart::Picture(picture) => {
                    let layouts = self.pipelines.layouts();
                    let texture =
                        self.text_textures
                            .picture(self.gpu, layouts, &picture, self.blend_space);
                    let region = picture.region();
                    let uniforms = CompositeUniforms::new(region, opacity);
                    let glyphs = Draw {
                        shader: Shader::Composite {
                            is_silhouette: false,
                            mask: MaskKind::None,
                            ramp: RampKind::None,
                        },
                        outline: None,
                        bounds: region.intersect(bounds),
                        write,
                        is_dithered: false,
                        paint: bytemuck::bytes_of(&uniforms),
                        texture: Texture::Bound(texture.bind_group, texture.id),
                    };
                    self.draw(surface, glyphs);
                }
            }
        }
    }

    fn draw(&mut self, surface: SurfaceId, draw: Draw<'_>) {
        let Draw {
            shader,
            outline,
            bounds,
            write,
            is_dithered,
            paint,
            texture,
        } = draw;
        if bounds.is_empty() {
            return;
        }
        let is_target = self.graph.is_target(surface);
        let coverage = match outline {
            None => Coverage::Whole,
            Some(outline) if shader != Shader::Shape && outline.covers(bounds) => Coverage::Whole,
            Some(outline) if outline.corner.extent == DVec2::ZERO => Coverage::Box,
            Some(_) => Coverage::RoundBox,
        };
        let key = PipelineKey {
            target: match is_target {
                true => self.target_format,
                false => self.graph.format(surface),
            },
            shader,
            coverage,
            is_perspective: outline.is_some_and(|outline| !outline.map.is_affine),
            write,
        };
        let pipeline = self.pipelines.find(self.gpu.device(), key);
        let dither = match is_target && is_dithered {
            true => DITHER,
            false => 0.0,
        };
        let place = LayerUniforms::new(outline, bounds, self.graph.region(surface), dither);
        self.graph.draw(
            surface,
            NewDraw {
                pipeline,
                place: bytemuck::bytes_of(&place),
                paint,
                texture,
                bounds,
            },
        );
    }
}

struct Draw<'a> {
    shader: Shader,
    outline: Option<&'a Outline>,
    bounds: IntRect,
    write: Write,
    /// Whether its colours may be none of the target's code values.
    is_dithered: bool,
    paint: &'a [u8],
    texture: Texture,
}

/// The pixels that must be drawn for those of `region` to come out: blurs behind layers read beyond
/// them, up to the edges of the frame, if there are any.
fn needed_region(nodes: &[Node], region: IntRect, frame: Option<IntRect>) -> IntRect {
    let mut needed = region;
    for node in nodes.iter().rev().filter(|node| node.background_blur > 0.0) {
        let placement = &node.body.placement;
        let blurred = placement.bounds(placement.visible).intersect(needed);
        let read = blurred.expand(blur_reach(node.background_blur));
        needed = needed.union(frame.map_or(read, |frame| read.intersect(frame)));
    }
    needed
}

/// How many layers are remembered for what they hide, the largest of them: every layer is held
/// against each, and a frame may have a million.
const MAX_OPAQUE: usize = 32;

/// Which layers cannot be seen in `region`, because an opaque one hides them.
fn hidden_nodes(nodes: &[Node], region: IntRect) -> Vec<bool> {
    let mut hidden = vec![false; nodes.len()];
    let mut opaque: Vec<IntRect> = Vec::new();
    for (hidden, node) in hidden.iter_mut().zip(nodes).rev() {
        let seen = node.bounds.intersect(region);
        *hidden = seen.is_empty() || opaque.iter().any(|opaque| opaque.contains(seen));
        if *hidden {
            continue;
        }
        if node.background_blur > 0.0 {
            // What is hidden above may still show through the blur beside it.
            opaque.clear();
        }
        if node.hides() {
            let outline = node.body.outline();
            let covered = node.body.bounds.intersect(region);
            let candidates = [covered, covered.expand(-1)];
            opaque.extend(
                candidates
                    .into_iter()
                    .find(|bounds| !bounds.is_empty() && outline.covers(*bounds)),
            );
            if opaque.len() > MAX_OPAQUE {
                let smallest = (0..opaque.len()).min_by_key(|&index| opaque[index].area());
                opaque.swap_remove(smallest.unwrap_or_default());
            }
        }
    }
    hidden
}

impl TextBox {
    /// The box as part of the layer that the text is in.
    fn outline(&self, body: &Body) -> Outline {
        let placement = &body.placement;
        Outline {
            map: body.map,
            rect: placement.layer_from_content(Rect::from(self.rect)),
            corner: Corner {
                extent: self.corner_radius / placement.content_scale,
                exponent: 2.0,
            },
        }
    }
}

impl ShadowNode {
    /// The pixels of the layer that its shadow in `wanted` depends on.
    fn source_region(&self, wanted: IntRect) -> IntRect {
        let reach = blur_reach(self.blur) + spread_reach(self.spread) + 1;
        wanted
            .translate(-self.offset.floor().as_ivec2())
            .expand(reach)
    }
}
