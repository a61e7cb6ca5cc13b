//! Finds what a scene shows at one time.

use framefence::{FrameRate, FrameView, Gpu, Time};
use glam::{DMat2, DVec2, DVec4};

use crate::animation::Animated;
use crate::assets::Assets;
use crate::color::{BlendSpace, Color};
use crate::compositor::PaintError;
use crate::content::{
    Clip, Content, Direction, GradientStop, Sequence, Shape, StrokeAlign, Transition,
    TransitionKind,
};
use crate::custom::uniform_bytes;
use crate::effects::{self, blur_reach, spread_reach};
use crate::layer::{self, Corners, FitMode, Layer, Mask, MaskChannel, MotionBlur, Shadow};
use crate::node::{Appearance, Body, GradeNode, MaskNode, Node, Progress, ShadowNode};
use crate::pipelines::{GradientKind, MaskKind};
use crate::placement::{Geometry, Placement, Rect, Space};
use crate::rect::{FARTHEST, IntRect};
use crate::scene::Scene;
use crate::time::{after, after_seconds, since};
use crate::uniforms::Corner;
use crate::validate::{MAX_BLUR, MAX_SPREAD};

/// The most layers that a frame may show, masks and the moments of motion blurs counted.
///
/// Some scenes of a few kilobytes would show billions.
pub const MAX_LAYERS_IN_FRAME: u32 = 1 << 20;

/// What the scene shows in `view`, from the lowest layer to the topmost.
pub(crate) fn evaluate(
    scene: &Scene,
    gpu: &Gpu,
    assets: &mut Assets,
    view: &FrameView,
) -> Result<Vec<Node>, PaintError> {
    let canvas = &scene.canvas;
    let size = DVec2::new(f64::from(canvas.width), f64::from(canvas.height));
    let mut evaluator = Evaluator {
        gpu,
        assets,
        view,
        blend_space: scene.blend_space,
        frame_rate: scene.frame_rate,
        layers_left: MAX_LAYERS_IN_FRAME,
    };
    evaluator.layers(&scene.layers, &Space::canvas(size, view), view.time)
}

struct Evaluator<'a> {
    gpu: &'a Gpu,
    assets: &'a mut Assets,
    view: &'a FrameView,
    blend_space: BlendSpace,
    frame_rate: FrameRate,
    layers_left: u32,
}

impl Evaluator<'_> {
    fn layers(
        &mut self,
        layers: &[Layer],
        space: &Space,
        time: Time,
    ) -> Result<Vec<Node>, PaintError> {
        let mut nodes = Vec::new();
        for layer in layers.iter().filter(|layer| !layer.hidden) {
            nodes.extend(self.layer(layer, layers, space, time)?);
        }
        Ok(nodes)
    }

    /// Nothing, if the layer is not seen. `siblings` are those among which its mask is.
    fn layer(
        &mut self,
        layer: &Layer,
        siblings: &[Layer],
        space: &Space,
        time: Time,
    ) -> Result<Option<Node>, PaintError> {
        let opacity = layer.opacity.at(time).clamp(0.0, 1.0);
        if opacity == 0.0 || !layer.is_active(time) {
            return Ok(None);
        }
        let body = match &layer.motion_blur {
            Some(motion) => self.average(layer, motion, space, time)?,
            None => self.body(layer, space, time)?,
        };
        let Some(body) = body else {
            return Ok(None);
        };
        let mask = match &layer.mask {
            Some(mask) => Some(self.mask(mask, siblings, space, time)?),
            None => None,
        };
        // Lengths are seen as large as at the place where the layer lies.
        let at = position(layer, space, time);
        let shadow = layer
            .shadow
            .as_ref()
            .map(|shadow| self.shadow(shadow, space, at, time));
        let grade = layer
            .grade
            .as_ref()
            .and_then(|grade| self.grade(grade, time));
        let blur = blur_in_frame(&layer.blur, space, at, time);
        let background_blur = blur_in_frame(&layer.background_blur, space, at, time);
        let mut bounds = body.bounds.expand(blur_reach(blur));
        if let Some(mask) = &mask {
            bounds = bounds.intersect(mask.reach());
        }
        if let Some(shadow) = &shadow {
            bounds = bounds.union(shadow.bounds(bounds));
        }
        if background_blur > 0.0 {
            bounds = bounds.union(body.placement.bounds(body.placement.visible));
        }
        Ok(Some(Node {
            body,
            bounds,
            opacity,
            blend: layer.blend,
            grade,
            blur,
            background_blur,
            mask: mask.map(Box::new),
            shadow,
        }))
    }

    /// The layer at several moments around `time`.
    fn average(
        &mut self,
        layer: &Layer,
        motion: &MotionBlur,
        space: &Space,
        time: Time,
    ) -> Result<Option<Body>, PaintError> {
        let frames = motion.shutter.at(time).clamp(0.0, 360.0) / 360.0;
        let seconds = frames * f64::from(self.frame_rate.denominator())
            / f64::from(self.frame_rate.numerator());
        let mut bodies = Vec::with_capacity(motion.samples as usize);
        for index in 0..motion.samples {
            let part = (f64::from(index) + 0.5) / f64::from(motion.samples) - 0.5;
            bodies.extend(self.body(layer, space, after_seconds(time, part * seconds))?);
        }
        // Nothing moves: the average of one and the same is that.
        if bodies.len() == motion.samples as usize && bodies.windows(2).all(|two| two[0] == two[1])
        {
            return Ok(bodies.pop());
        }
        let bounds = union(bodies.iter().map(|body| body.bounds));
        let Some(Body {
            placement,
            map,
            corner,
            ..
        }) = self.body(layer, space, time)?.or_else(|| bodies.pop())
        else {
            return Ok(None);
        };
        Ok(Some(Body {
            appearance: Appearance::Average {
                moments: bodies,
                weight: 1.0 / f64::from(motion.samples),
            },
            placement,
            map,
            corner,
            bounds,
        }))
    }

    fn body(
        &mut self,
        layer: &Layer,
        space: &Space,
        time: Time,
    ) -> Result<Option<Body>, PaintError> {
        self.layers_left = self
            .layers_left
            .checked_sub(1)
            .ok_or(PaintError::TooManyLayers)?;
        let natural_size = self.natural_size(layer, space, time);
        let Some(placement) = place(layer, natural_size, space, time) else {
            return Ok(None);
        };
        let Some(map) = placement.pixel_map(self.view) else {
            return Ok(None);
        };
        let appearance = self.appearance(layer, &placement, natural_size, time)?;
        let bounds = match &appearance {
            Appearance::Group { nodes, is_clipped } => {
                let bounds = union(nodes.iter().map(|node| node.bounds));
                match is_clipped {
                    true => bounds.intersect(placement.bounds(placement.visible)),
                    false => bounds,
                }
            }
            Appearance::Mix { old, new, .. } => {
                union(old.iter().chain(new).map(|node| node.bounds))
                    .intersect(placement.bounds(placement.visible))
            }
            Appearance::Text {
                layout, is_clipped, ..
            } => {
                let ink = placement.layer_from_content(layout.ink().into());
                let bounds = placement.bounds(ink);
                match is_clipped {
                    true => bounds.intersect(placement.bounds(placement.visible)),
                    false => bounds,
                }
            }
            Appearance::Shape { outwards, .. } => {
                placement.bounds(placement.visible.expand(outwards.max(0.0)))
            }
            _ => placement.bounds(placement.visible),
        };
        Ok((!bounds.is_empty()).then(|| Body {
            corner: corner(layer, &placement, time),
            appearance,
            placement,
            map,
            bounds,
        }))
    }

    /// Width and height of a layer's content in its own pixels.
    fn natural_size(&mut self, layer: &Layer, space: &Space, time: Time) -> DVec2 {
        let size = |size: &Option<Animated<[f64; 2]>>| match size {
            // An overshoot between keyframes may go below nothing.
            Some(size) => DVec2::from(size.at(time)).max(DVec2::ZERO),
            None => space.size,
        };
        match &layer.content {
            Content::Solid(solid) => size(&solid.size),
            Content::LinearGradient(gradient) => size(&gradient.size),
            Content::RadialGradient(gradient) => size(&gradient.size),
            Content::ConicGradient(gradient) => size(&gradient.size),
            Content::Rectangle(shape) | Content::Ellipse(shape) => size(&shape.size),
            Content::Shader(shader) => size(&shader.size),
            Content::Group(group) => size(&group.size),
            Content::Sequence(sequence) => size(&sequence.size),
            Content::Text(text) => self.assets.text(text, time).size(),
            Content::Image(image) => {
                let size = self.assets.image_size(&image.path);
                DVec2::new(f64::from(size.width), f64::from(size.height))
            }
        }
    }

    fn appearance(
        &mut self,
        layer: &Layer,
        placement: &Placement,
        natural_size: DVec2,
        time: Time,
    ) -> Result<Appearance, PaintError> {
        Ok(match &layer.content {
            Content::Solid(solid) => Appearance::Solid(self.color(&solid.color, time)),
            Content::Rectangle(shape) | Content::Ellipse(shape) => self.shape(shape, time),
            Content::LinearGradient(gradient) => {
                let start = DVec2::from(gradient.start.at(time)) * natural_size;
                let line = DVec2::from(gradient.end.at(time)) * natural_size - start;
                // The place of a point p on the line is (p - start) · line / |line|².
                let along = line / line.length_squared();
                let matrix = DMat2::from_cols(along.with_y(0.0), DVec2::new(along.y, 0.0));
                let matrix = (line.length_squared() > 0.0).then_some(matrix);
                let stops = self.stops(&gradient.stops, time);
                gradient_of(GradientKind::Linear, stops, matrix, start, placement)
            }
            Content::RadialGradient(gradient) => {
                let center = DVec2::from(gradient.center.at(time)) * natural_size;
                let radius = DVec2::from(gradient.radius.at(time)) * natural_size;
                let matrix =
                    (radius.min_element() > 0.0).then(|| DMat2::from_diagonal(1.0 / radius));
                let stops = self.stops(&gradient.stops, time);
                gradient_of(GradientKind::Radial, stops, matrix, center, placement)
            }
            Content::ConicGradient(gradient) => {
                let center = DVec2::from(gradient.center.at(time)) * natural_size;
                let turn = DMat2::from_angle(-gradient.start_angle.at(time).to_radians());
                let stops = self.stops(&gradient.stops, time);
                gradient_of(GradientKind::Conic, stops, Some(turn), center, placement)
            }
            Content::Image(image) => Appearance::Image {
                texture: self
                    .assets
                    .image(self.gpu, &image.path, since(layer.in_point, time))?,
                scale: placement.content_scale / natural_size,
                offset: placement.content_offset / natural_size,
            },
            Content::Shader(shader) => match self.assets.shader(shader) {
                Some(checked) => Appearance::Custom {
                    seconds: match checked.reads_time {
                        true => since(layer.in_point, time).as_secs_f64(),
                        false => 0.0,
                    },
                    shader: checked,
                    uniforms: uniform_bytes(&shader.uniforms, time),
                    content_size: natural_size,
                },
                None => nothing(),
            },
            Content::Text(text) => Appearance::Text {
                layout: self.assets.text(text, time),
                frame_from_block: placement.content_space(natural_size).frame_from_space,
                is_clipped: is_clipped(layer, time),
            },
            Content::Group(group) => Appearance::Group {
                nodes: self.layers(&group.layers, &placement.content_space(natural_size), time)?,
                is_clipped: is_clipped(layer, time),
            },
            Content::Sequence(sequence) => {
                let space = placement.content_space(natural_size);
                self.sequence(sequence, &space, placement, since(layer.in_point, time))?
            }
        })
    }

    fn color(&self, color: &Animated<Color>, time: Time) -> DVec4 {
        self.blend_space.encode(color.at(time))
    }

    fn stops(&self, stops: &[GradientStop], time: Time) -> Vec<(f64, DVec4)> {
        stops
            .iter()
            .map(|stop| {
                // An overshoot between keyframes may leave the line.
                let offset = stop.offset.at(time).clamp(0.0, 1.0);
                (offset, self.color(&stop.color, time))
            })
            .collect()
    }

    fn shape(&self, shape: &Shape, time: Time) -> Appearance {
        let fill = match &shape.fill {
            Some(fill) => self.color(fill, time),
            None => DVec4::ZERO,
        };
        let Some(stroke) = &shape.stroke else {
            return Appearance::Solid(fill);
        };
        let width = stroke.width.at(time).max(0.0);
        let (outwards, inwards) = match stroke.align {
            StrokeAlign::Inside => (0.0, width),
            StrokeAlign::Center => (width / 2.0, width / 2.0),
            StrokeAlign::Outside => (width, 0.0),
        };
        Appearance::Shape {
            fill,
            stroke: self.color(&stroke.color, time),
            outwards,
            inwards,
        }
    }

    /// Nothing, if no colour would change.
    fn grade(&self, grade: &layer::Grade, time: Time) -> Option<GradeNode> {
        let lut = grade.lut.as_ref();
        let settings = effects::Grade {
            exposure_stops: grade.exposure.at(time),
            temperature_kelvin: grade.temperature.at(time),
            contrast: grade.contrast.at(time).max(0.0),
            saturation: grade.saturation.at(time).max(0.0),
            lut_strength: lut.map_or(0.0, |lut| lut.strength.at(time).clamp(0.0, 1.0)),
            ..effects::Grade::default()
        };
        let lut = lut.and_then(|lut| self.assets.lut(&lut.path)).cloned();
        (!settings.is_neutral()).then_some(GradeNode { settings, lut })
    }

    fn shadow(&self, shadow: &Shadow, space: &Space, at: DVec2, time: Time) -> ShadowNode {
        let offset = space.offsets_at(at) * DVec2::from(shadow.offset.at(time));
        let spread = shadow.spread.at(time).clamp(-MAX_SPREAD, MAX_SPREAD) * space.scale_at(at);
        let farthest = DVec2::splat(FARTHEST);
        ShadowNode {
            color: self.color(&shadow.color, time),
            offset: offset.clamp(-farthest, farthest),
            blur: blur_in_frame(&shadow.blur, space, at, time),
            spread: spread.clamp(-FARTHEST, FARTHEST),
        }
    }

    fn mask(
        &mut self,
        mask: &Mask,
        siblings: &[Layer],
        space: &Space,
        time: Time,
    ) -> Result<MaskNode, PaintError> {
        let layer = siblings.iter().find(|layer| layer.name == mask.layer);
        let node = match layer {
            Some(layer) => self.layer(layer, siblings, space, time)?,
            None => None,
        };
        let kind = match (mask.channel, mask.inverted) {
            (MaskChannel::Alpha, false) => MaskKind::Alpha,
            (MaskChannel::Alpha, true) => MaskKind::InvertedAlpha,
            (MaskChannel::Luminance, false) => MaskKind::Luminance,
            (MaskChannel::Luminance, true) => MaskKind::InvertedLuminance,
        };
        Ok(MaskNode { node, kind })
    }

    /// The clip that is seen `elapsed` after the sequence's start, or two in a transition.
    fn sequence(
        &mut self,
        sequence: &Sequence,
        space: &Space,
        placement: &Placement,
        elapsed: Time,
    ) -> Result<Appearance, PaintError> {
        let mut now = None;
        let mut start = Time::ZERO;
        for (index, clip) in sequence.clips.iter().enumerate() {
            if elapsed >= start {
                now = Some((index, start));
            }
            let next = sequence.clips.get(index + 1);
            let overlap = next
                .and_then(|clip| clip.transition.as_ref())
                .map_or(Time::ZERO, |transition| transition.duration);
            start = since(overlap, end_of(clip, start));
        }
        let Some((index, start)) = now else {
            return Ok(nothing());
        };
        let clip = &sequence.clips[index];
        if elapsed >= end_of(clip, start) {
            return Ok(nothing());
        }
        let time = since(start, elapsed);
        let old = index
            .checked_sub(1)
            .map(|previous| &sequence.clips[previous]);
        match (&clip.transition, old) {
            (Some(transition), Some(old)) if time < transition.duration => {
                let old_time = after(since(transition.duration, old.duration), time);
                self.transition(transition, (old, old_time), (clip, time), space, placement)
            }
            _ => Ok(Appearance::Group {
                nodes: self.layers(&clip.layers, space, time)?,
                is_clipped: true,
            }),
        }
    }

    fn transition(
        &mut self,
        transition: &Transition,
        (old, old_time): (&Clip, Time),
        (new, new_time): (&Clip, Time),
        space: &Space,
        placement: &Placement,
    ) -> Result<Appearance, PaintError> {
        let seconds = transition.duration.as_secs_f64();
        let progress = transition
            .easing
            .progress(new_time.as_secs_f64() / seconds, seconds);
        let mut nodes = |clip: &Clip, space: &Space, time| self.layers(&clip.layers, space, time);
        Ok(match transition.kind {
            TransitionKind::CrossFade => Appearance::Mix {
                old: nodes(old, space, old_time)?,
                new: nodes(new, space, new_time)?,
                progress: Progress::Even(progress.clamp(0.0, 1.0)),
            },
            TransitionKind::Wipe { to, softness } => Appearance::Mix {
                old: nodes(old, space, old_time)?,
                new: nodes(new, space, new_time)?,
                progress: wipe(to, softness, progress, placement),
            },
            TransitionKind::Slide { to } => {
                let way = to.unit() * space.size;
                Appearance::Mix {
                    old: nodes(old, &space.moved(way * progress), old_time)?,
                    new: nodes(new, &space.moved(way * (progress - 1.0)), new_time)?,
                    progress: slide(to, progress, space, placement),
                }
            }
            TransitionKind::Zoom => Appearance::Mix {
                old: nodes(old, &space.zoomed(1.0 + progress * 0.5), old_time)?,
                new: nodes(new, &space.zoomed(1.5 - progress * 0.5), new_time)?,
                progress: Progress::Even(progress.clamp(0.0, 1.0)),
            },
        })
    }
}

fn nothing() -> Appearance {
    Appearance::Group {
        nodes: Vec::new(),
        is_clipped: true,
    }
}

fn end_of(clip: &Clip, start: Time) -> Time {
    after(start, clip.duration)
}

/// The ramp of an edge that moves across the visible box, one pixel of the layer soft at least.
fn wipe(to: Direction, softness: f64, progress: f64, placement: &Placement) -> Progress {
    let Rect { min, max } = placement.visible;
    let direction = to.unit();
    let way = ((max - min) * direction).element_sum().abs().max(1.0);
    let soft = (softness.clamp(0.0, 1.0) * way).max(1.0);
    // Along the direction of the movement from where it begins; behind the edge all is new.
    let begin = DVec2::select(direction.cmpge(DVec2::ZERO), min, max);
    let edge = progress * (way + soft);
    Progress::Ramp {
        slope: -direction / soft,
        start: (edge + direction.dot(begin)) / soft,
    }
}

/// The ramp of the line where two clips meet that slide, one pixel of the layer soft.
fn slide(to: Direction, progress: f64, space: &Space, placement: &Placement) -> Progress {
    let direction = to.unit();
    // Where the new clip comes in, and where the line is by now, in pixels of the content.
    let begin = DVec2::select(direction.cmpge(DVec2::ZERO), DVec2::ZERO, space.size);
    let line = placement.layer_point(begin + direction * space.size * progress);
    Progress::Edge {
        slope: -direction,
        start: direction.dot(line) + 0.5,
    }
}

fn gradient_of(
    kind: GradientKind,
    mut stops: Vec<(f64, DVec4)>,
    matrix: Option<DMat2>,
    center: DVec2,
    placement: &Placement,
) -> Appearance {
    if matrix.is_none() {
        let (_, last) = stops[stops.len() - 1];
        stops = vec![(0.0, last), (1.0, last)];
    }
    // From pixels of the content to those of the layer.
    Appearance::Gradient {
        kind,
        stops,
        matrix: matrix.unwrap_or(DMat2::ZERO) * DMat2::from_diagonal(placement.content_scale),
        center: (center - placement.content_offset) / placement.content_scale,
    }
}

/// The standard deviation of a blur at a point of `space`, in pixels of the frame.
fn blur_in_frame(blur: &Animated<f64>, space: &Space, at: DVec2, time: Time) -> f64 {
    // No picture that fits into a texture leaves a trace of itself when it is blurred by more; and
    // groups that enlarge each other could ask for any number of pixels.
    const MAX_IN_FRAME: f64 = (1 << 20) as f64;
    // An overshoot between keyframes may leave the range.
    let in_space = blur.at(time).clamp(0.0, MAX_BLUR);
    (in_space * space.scale_at(at)).min(MAX_IN_FRAME)
}

fn position(layer: &Layer, space: &Space, time: Time) -> DVec2 {
    match &layer.position {
        Some(position) => position.at(time).into(),
        None => space.size / 2.0,
    }
}

/// Where the box of a layer lies whose content has `natural_size`; `None` if nothing is left of it.
fn place(layer: &Layer, natural_size: DVec2, space: &Space, time: Time) -> Option<Placement> {
    let (from, to) = match &layer.crop {
        Some(crop) => {
            let cut = |part: &Animated<f64>| part.at(time).clamp(0.0, 1.0);
            (
                DVec2::new(cut(&crop.left), cut(&crop.top)),
                DVec2::ONE - DVec2::new(cut(&crop.right), cut(&crop.bottom)),
            )
        }
        None => (DVec2::ZERO, DVec2::ONE),
    };
    let kept = (to - from) * natural_size;
    let first = from * natural_size;
    if kept.min_element() <= 0.0 {
        return None;
    }
    let (size, visible, layer_per_content, offset) = match &layer.fit {
        None => (kept, Rect::of_size(kept), DVec2::ONE, DVec2::ZERO),
        Some(fit) => {
            let size = match &fit.size {
                Some(size) => DVec2::from(size.at(time)).max(DVec2::ZERO),
                None => space.size,
            };
            let stretched = size / kept;
            let scale = match fit.mode {
                FitMode::Fill => stretched,
                FitMode::Contain => DVec2::splat(stretched.min_element()),
                FitMode::Cover => DVec2::splat(stretched.max_element()),
            };
            let offset = (size - kept * scale) / 2.0;
            let visible = match fit.mode {
                FitMode::Contain => Rect {
                    min: offset,
                    max: size - offset,
                },
                FitMode::Fill | FitMode::Cover => Rect::of_size(size),
            };
            (size, visible, scale, offset)
        }
    };
    if visible.size().min_element() <= 0.0 {
        return None;
    }
    let tilt = layer.tilt.as_ref();
    let geometry = Geometry {
        position: position(layer, space, time),
        anchor: layer.anchor.at(time).into(),
        scale: layer.scale.at(time).into(),
        rotation_degrees: layer.rotation.at(time),
        tilt_degrees: tilt.map_or(DVec2::ZERO, |tilt| {
            DVec2::new(tilt.x.at(time), tilt.y.at(time))
        }),
        eye_distance: tilt.map_or(1.0, |tilt| tilt.distance.at(time).max(1.0)),
    };
    Some(Placement {
        frame_from_layer: space.frame_from_space * geometry.space_from_layer(size),
        visible,
        content_scale: 1.0 / layer_per_content,
        content_offset: first - offset / layer_per_content,
    })
}

/// The corners of an ellipse meet; those of a box are at most half as long as its shorter side.
fn corner(layer: &Layer, placement: &Placement, time: Time) -> Corner {
    let half = placement.visible.size() / 2.0;
    if let Content::Ellipse(_) = layer.content {
        return Corner {
            extent: half,
            exponent: 2.0,
        };
    }
    // How much further a superellipse of exponent 3 reaches than the circle through the middle of
    // its arc: (1 - 1 / √2) / (1 - 1 / ∛2).
    const CONTINUOUS_REACH: f64 = 1.419_754;
    let radius = layer.corner_radius.at(time).max(0.0);
    let (reach, exponent) = match layer.corners {
        Corners::Round => (radius, 2.0),
        Corners::Continuous => (radius * CONTINUOUS_REACH, 3.0),
    };
    Corner {
        extent: DVec2::splat(reach.min(half.min_element())),
        exponent,
    }
}

/// Whether what reaches beyond the box of a group or a text is cut off.
fn is_clipped(layer: &Layer, time: Time) -> bool {
    layer.crop.is_some() || layer.fit.is_some() || layer.corner_radius.at(time) > 0.0
}

fn union(bounds: impl Iterator<Item = IntRect>) -> IntRect {
    bounds.fold(IntRect::EMPTY, IntRect::union)
}

impl MaskNode {
    /// The pixels in which the mask lets anything be seen.
    fn reach(&self) -> IntRect {
        match (self.kind, &self.node) {
            (MaskKind::Alpha | MaskKind::Luminance, Some(node)) => node.bounds,
            (MaskKind::Alpha | MaskKind::Luminance, None) => IntRect::EMPTY,
            _ => IntRect::around(DVec2::NEG_INFINITY, DVec2::INFINITY),
        }
    }
}

impl ShadowNode {
    /// The pixels that the shadow of something within `bounds` can change.
    fn bounds(&self, bounds: IntRect) -> IntRect {
        let reach = blur_reach(self.blur) + spread_reach(self.spread) + 1;
        bounds
            .expand(reach)
            .translate(self.offset.floor().as_ivec2())
    }
}

impl Direction {
    /// One step, y downwards.
    fn unit(self) -> DVec2 {
        match self {
            Self::Left => DVec2::NEG_X,
            Self::Right => DVec2::X,
            Self::Up => DVec2::NEG_Y,
            Self::Down => DVec2::Y,
        }
    }
}
