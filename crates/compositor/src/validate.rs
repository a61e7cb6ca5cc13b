//! What a scene may contain beyond what its types say.

use std::path::Path;

use framefence::Time;

use crate::animation::Animated;
use crate::color::Color;
use crate::content::{Content, GradientStop, Sequence, Shape, TransitionKind};
use crate::custom::{MAX_UNIFORMS, Shader, Uniform};
use crate::easing::Easing;
use crate::effects::{MAX_TEMPERATURE_KELVIN, MIN_TEMPERATURE_KELVIN};
use crate::layer::Layer;
use crate::place::Place;
use crate::scene::{Canvas, Scene};
use crate::text;
use crate::time::since;
use crate::walk::{self, Names, Visit};

/// The most pixels that a canvas may be wide or high.
pub const MAX_CANVAS_SIDE: u32 = 65_536;

/// The longest time in a scene, in seconds: over eleven days.
pub const MAX_DURATION_SECONDS: i64 = 1_000_000;

/// The most stops that a gradient may have.
pub const MAX_GRADIENT_STOPS: usize = 16;

/// The most groups and sequences that a layer may lie in.
pub const MAX_GROUP_DEPTH: usize = 16;

/// The most layers that may mask each other in turn.
pub const MAX_MASK_CHAIN: usize = 16;

/// The most moments of which a motion blur may be the average.
pub const MAX_MOTION_SAMPLES: u32 = 64;

/// The largest standard deviation of a blur, in pixels.
pub const MAX_BLUR: f64 = 500.0;

/// The most pixels by which a shadow may be larger or smaller than its layer, on each side.
pub(crate) const MAX_SPREAD: f64 = 500.0;

/// A value in a scene that cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} is {given}; it must be {allowed}")]
pub struct InvalidValue {
    /// The value's path in the scene, such as `layers[2].opacity`.
    pub path: String,
    /// The value.
    pub given: String,
    /// What it may be.
    pub allowed: String,
}

pub(crate) fn scene(scene: &Scene) -> Result<(), InvalidValue> {
    let root = Place::root();
    root.field("version").require(
        scene.version == Scene::VERSION,
        &scene.version,
        &Scene::VERSION,
    )?;
    canvas(&scene.canvas, &root.field("canvas"))?;
    let place = root.field("duration");
    place.require(
        scene.duration > Time::ZERO && scene.duration <= longest(),
        &scene.duration,
        &format_args!("more than 0 and at most {MAX_DURATION_SECONDS} s"),
    )?;
    walk::layers(scene, &mut |visit, place| {
        let Visit {
            layer: entry,
            siblings,
            depth,
        } = visit;
        place.require(
            depth <= MAX_GROUP_DEPTH,
            &format_args!("in {depth} groups"),
            &format_args!("in at most {MAX_GROUP_DEPTH} groups and sequences"),
        )?;
        layer(entry, place)?;
        mask(entry, siblings, place)
    })
}

fn canvas(canvas: &Canvas, place: &Place) -> Result<(), InvalidValue> {
    for (name, side) in [("width", canvas.width), ("height", canvas.height)] {
        place.field(name).require(
            (1..=MAX_CANVAS_SIDE).contains(&side),
            &side,
            &format_args!("a number of pixels from 1 to {MAX_CANVAS_SIDE}"),
        )?;
    }
    colors(&canvas.background, &place.field("background"))
}

fn layer(layer: &Layer, place: &Place) -> Result<(), InvalidValue> {
    content(&layer.content, &place.field("content"))?;
    time(layer.in_point, &place.field("in_point"))?;
    if let Some(out_point) = layer.out_point {
        let place = place.field("out_point");
        time(out_point, &place)?;
        place.require(
            out_point > layer.in_point,
            &out_point,
            &format_args!("later than in_point, which is {}", layer.in_point),
        )?;
    }
    if let Some(position) = &layer.position {
        pairs(position, COORDINATE, &place.field("position"))?;
    }
    pairs(&layer.anchor, FRACTION, &place.field("anchor"))?;
    pairs(&layer.scale, SCALE, &place.field("scale"))?;
    numbers(&layer.rotation, DEGREES, &place.field("rotation"))?;
    if let Some(tilt) = &layer.tilt {
        let place = place.field("tilt");
        numbers(&tilt.x, DEGREES, &place.field("x"))?;
        numbers(&tilt.y, DEGREES, &place.field("y"))?;
        numbers(&tilt.distance, DISTANCE, &place.field("distance"))?;
    }
    if let Some(crop) = &layer.crop {
        let place = place.field("crop");
        numbers(&crop.left, UNIT, &place.field("left"))?;
        numbers(&crop.top, UNIT, &place.field("top"))?;
        numbers(&crop.right, UNIT, &place.field("right"))?;
        numbers(&crop.bottom, UNIT, &place.field("bottom"))?;
    }
    if let Some(fit) = &layer.fit {
        size(fit.size.as_ref(), &place.field("fit"))?;
    }
    numbers(&layer.corner_radius, LENGTH, &place.field("corner_radius"))?;
    effects(layer, place)?;
    numbers(&layer.opacity, UNIT, &place.field("opacity"))
}

fn effects(layer: &Layer, place: &Place) -> Result<(), InvalidValue> {
    if let Some(grade) = &layer.grade {
        let place = place.field("grade");
        numbers(&grade.exposure, STOPS, &place.field("exposure"))?;
        numbers(&grade.contrast, FACTOR, &place.field("contrast"))?;
        numbers(&grade.saturation, FACTOR, &place.field("saturation"))?;
        numbers(&grade.temperature, TEMPERATURE, &place.field("temperature"))?;
        if let Some(lut) = &grade.lut {
            let place = place.field("lut");
            file(&lut.path, "a .cube file", &place.field("path"))?;
            numbers(&lut.strength, UNIT, &place.field("strength"))?;
        }
    }
    numbers(&layer.blur, BLUR, &place.field("blur"))?;
    numbers(
        &layer.background_blur,
        BLUR,
        &place.field("background_blur"),
    )?;
    if let Some(shadow) = &layer.shadow {
        let place = place.field("shadow");
        colors(&shadow.color, &place.field("color"))?;
        pairs(&shadow.offset, COORDINATE, &place.field("offset"))?;
        numbers(&shadow.blur, BLUR, &place.field("blur"))?;
        numbers(&shadow.spread, SPREAD, &place.field("spread"))?;
    }
    if let Some(motion) = &layer.motion_blur {
        let place = place.field("motion_blur");
        numbers(&motion.shutter, SHUTTER, &place.field("shutter"))?;
        place.field("samples").require(
            (2..=MAX_MOTION_SAMPLES).contains(&motion.samples),
            &motion.samples,
            &format_args!("a whole number from 2 to {MAX_MOTION_SAMPLES}"),
        )?;
    }
    Ok(())
}

/// A mask is named once among the layer's siblings, and leads back to no layer that it masks.
fn mask(layer: &Layer, siblings: &Names<'_>, place: &Place) -> Result<(), InvalidValue> {
    let mut masked = layer;
    for _ in 0..=MAX_MASK_CHAIN {
        let Some(mask) = &masked.mask else {
            return Ok(());
        };
        let Some(&Some(next)) = siblings.get(mask.layer.as_str()) else {
            return place.field("mask").field("layer").require(
                false,
                &format_args!("{:?}", mask.layer),
                &"the name of exactly one layer of the same list",
            );
        };
        if std::ptr::eq(next, layer) {
            return place.field("mask").field("layer").require(
                false,
                &format_args!("{:?}, by way of which the layer masks itself", mask.layer),
                &"a layer that does not depend on this one",
            );
        }
        masked = next;
    }
    place.field("mask").require(
        false,
        &format_args!("the start of a chain of more than {MAX_MASK_CHAIN} masks"),
        &format_args!("masked by at most {MAX_MASK_CHAIN} layers in turn"),
    )
}

fn content(content: &Content, place: &Place) -> Result<(), InvalidValue> {
    match content {
        Content::Solid(solid) => {
            let place = place.field("solid");
            size(solid.size.as_ref(), &place)?;
            colors(&solid.color, &place.field("color"))
        }
        Content::LinearGradient(gradient) => {
            let place = place.field("linear_gradient");
            size(gradient.size.as_ref(), &place)?;
            pairs(&gradient.start, FRACTION, &place.field("start"))?;
            pairs(&gradient.end, FRACTION, &place.field("end"))?;
            stops(&gradient.stops, &place.field("stops"))
        }
        Content::RadialGradient(gradient) => {
            let place = place.field("radial_gradient");
            size(gradient.size.as_ref(), &place)?;
            pairs(&gradient.center, FRACTION, &place.field("center"))?;
            pairs(&gradient.radius, RADIUS, &place.field("radius"))?;
            stops(&gradient.stops, &place.field("stops"))
        }
        Content::ConicGradient(gradient) => {
            let place = place.field("conic_gradient");
            size(gradient.size.as_ref(), &place)?;
            pairs(&gradient.center, FRACTION, &place.field("center"))?;
            numbers(&gradient.start_angle, DEGREES, &place.field("start_angle"))?;
            stops(&gradient.stops, &place.field("stops"))
        }
        Content::Rectangle(outline) => shape(outline, &place.field("rectangle")),
        Content::Ellipse(outline) => shape(outline, &place.field("ellipse")),
        Content::Image(image) => {
            let place = place.field("image").field("path");
            file(&image.path, "a PNG, JPEG, WebP or GIF file", &place)
        }
        Content::Text(text) => text::validate(text, &place.field("text")),
        Content::Shader(shader) => custom(shader, &place.field("shader")),
        Content::Group(group) => size(group.size.as_ref(), &place.field("group")),
        Content::Sequence(clips) => sequence(clips, &place.field("sequence")),
    }
}

fn shape(shape: &Shape, place: &Place) -> Result<(), InvalidValue> {
    size(shape.size.as_ref(), place)?;
    if let Some(fill) = &shape.fill {
        colors(fill, &place.field("fill"))?;
    }
    if let Some(stroke) = &shape.stroke {
        let place = place.field("stroke");
        colors(&stroke.color, &place.field("color"))?;
        numbers(&stroke.width, LENGTH, &place.field("width"))?;
    }
    Ok(())
}

/// Its source is checked as it is loaded.
fn custom(shader: &Shader, place: &Place) -> Result<(), InvalidValue> {
    size(shader.size.as_ref(), place)?;
    if let Some(path) = shader.source.file() {
        let place = place.field("source").field("path");
        file(path, "a WGSL file", &place)?;
    }
    let place = place.field("uniforms");
    place.require(
        shader.uniforms.len() <= MAX_UNIFORMS,
        &format_args!("{} values", shader.uniforms.len()),
        &format_args!("at most {MAX_UNIFORMS} values"),
    )?;
    for (name, uniform) in &shader.uniforms {
        let place = place.field(name);
        match uniform {
            Uniform::Number(number) => numbers(number, UNIFORM, &place.field("number"))?,
            Uniform::Pair(pair) => pairs(pair, UNIFORM, &place.field("pair"))?,
            Uniform::Color(color) => colors(color, &place.field("color"))?,
        }
    }
    Ok(())
}

/// The layers of the clips are checked on their own.
fn sequence(sequence: &Sequence, place: &Place) -> Result<(), InvalidValue> {
    size(sequence.size.as_ref(), place)?;
    let place = place.field("clips");
    place.require(
        !sequence.clips.is_empty(),
        &"empty",
        &"a list of at least one clip",
    )?;
    for (index, clip) in sequence.clips.iter().enumerate() {
        let place = place.index(index);
        place.field("duration").require(
            clip.duration > Time::ZERO && clip.duration <= longest(),
            &clip.duration,
            &format_args!("more than 0 and at most {MAX_DURATION_SECONDS} s"),
        )?;
        let Some(transition) = &clip.transition else {
            continue;
        };
        let place = place.field("transition");
        let Some(previous) = index
            .checked_sub(1)
            .map(|previous| &sequence.clips[previous])
        else {
            return place.require(false, &"given", &"left out of the first clip");
        };
        let before = previous.transition.as_ref();
        let before = before.map_or(Time::ZERO, |transition| transition.duration);
        // What is left of the clip before, when its own transition has ended.
        let room = clip.duration.min(since(before, previous.duration));
        place.field("duration").require(
            transition.duration > Time::ZERO && transition.duration <= room,
            &transition.duration,
            &format_args!(
                "more than 0 and at most {room}, which is what the clips before and after it have for it"
            ),
        )?;
        easing(transition.easing, &place.field("easing"))?;
        if let TransitionKind::Wipe { softness, .. } = transition.kind {
            UNIT.check(
                softness,
                &place.field("kind").field("wipe").field("softness"),
            )?;
        }
    }
    Ok(())
}

fn stops(stops: &[GradientStop], place: &Place) -> Result<(), InvalidValue> {
    place.require(
        (2..=MAX_GRADIENT_STOPS).contains(&stops.len()),
        &format_args!("a list of {}", stops.len()),
        &format_args!("a list of 2 to {MAX_GRADIENT_STOPS} stops"),
    )?;
    for (index, stop) in stops.iter().enumerate() {
        let place = place.index(index);
        numbers(&stop.offset, UNIT, &place.field("offset"))?;
        colors(&stop.color, &place.field("color"))?;
    }
    Ok(())
}

fn file(path: &Path, kind: &str, place: &Place) -> Result<(), InvalidValue> {
    place.require(
        !path.as_os_str().is_empty(),
        &"empty",
        &format_args!("the path of {kind}"),
    )
}

fn size(size: Option<&Animated<[f64; 2]>>, place: &Place) -> Result<(), InvalidValue> {
    size.map_or(Ok(()), |size| pairs(size, SIDE, &place.field("size")))
}

pub(crate) fn time(time: Time, place: &Place) -> Result<(), InvalidValue> {
    place.require(
        (Time::ZERO..=longest()).contains(&time),
        &time,
        &format_args!("from 0 to {MAX_DURATION_SECONDS} s"),
    )
}

fn longest() -> Time {
    Time::from_ratio(MAX_DURATION_SECONDS, 1)
}

pub(crate) fn numbers(
    property: &Animated<f64>,
    range: Range,
    place: &Place,
) -> Result<(), InvalidValue> {
    values(property, place, |&value, place| range.check(value, place))
}

pub(crate) fn pairs(
    property: &Animated<[f64; 2]>,
    range: Range,
    place: &Place,
) -> Result<(), InvalidValue> {
    values(property, place, |pair, place| {
        pair.iter()
            .enumerate()
            .try_for_each(|(axis, &value)| range.check(value, &place.index(axis)))
    })
}

/// Every colour can be drawn; only its keyframes can be wrong.
pub(crate) fn colors(property: &Animated<Color>, place: &Place) -> Result<(), InvalidValue> {
    values(property, place, |_, _| Ok(()))
}

fn values<T>(
    property: &Animated<T>,
    place: &Place,
    check: impl Fn(&T, &Place) -> Result<(), InvalidValue>,
) -> Result<(), InvalidValue> {
    let keyframes = match property {
        Animated::Constant(value) => return check(value, place),
        Animated::Keyframes(keyframes) => keyframes,
    };
    let place = place.field("keyframes");
    place.require(
        !keyframes.is_empty(),
        &"empty",
        &"a list of at least one keyframe",
    )?;
    let mut previous = None;
    for (index, keyframe) in keyframes.iter().enumerate() {
        let place = place.index(index);
        keyframe_time(keyframe.time, previous, &place.field("time"))?;
        check(&keyframe.value, &place.field("value"))?;
        easing(keyframe.easing, &place.field("easing"))?;
        previous = Some(keyframe.time);
    }
    Ok(())
}

fn keyframe_time(at: Time, previous: Option<Time>, place: &Place) -> Result<(), InvalidValue> {
    time(at, place)?;
    match previous {
        Some(previous) => place.require(
            at > previous,
            &at,
            &format_args!("later than the keyframe before it, which is at {previous}"),
        ),
        None => Ok(()),
    }
}

fn easing(easing: Easing, place: &Place) -> Result<(), InvalidValue> {
    match easing {
        Easing::CubicBezier(control) => {
            let place = place.field("cubic_bezier");
            let ranges = [UNIT, PROGRESS, UNIT, PROGRESS];
            for (index, (&value, range)) in control.iter().zip(ranges).enumerate() {
                range.check(value, &place.index(index))?;
            }
            Ok(())
        }
        Easing::Spring(spring) => {
            let place = place.field("spring");
            MASS.check(spring.mass, &place.field("mass"))?;
            STIFFNESS.check(spring.stiffness, &place.field("stiffness"))?;
            DAMPING.check(spring.damping, &place.field("damping"))?;
            PROGRESS.check(spring.velocity, &place.field("velocity"))
        }
        _ => Ok(()),
    }
}

/// Numbers that a property may have. NaN lies in no range.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    /// Whether the minimum itself is left out.
    pub(crate) above: bool,
}

pub(crate) const UNIT: Range = Range::new(0.0, 1.0);
/// Far enough from the canvas for any use, and near enough for pixels to be exact.
pub(crate) const COORDINATE: Range = Range::new(-1e6, 1e6);
pub(crate) const FRACTION: Range = Range::new(-1e3, 1e3);
pub(crate) const SCALE: Range = Range::new(-1e4, 1e4);
pub(crate) const DEGREES: Range = Range::new(-1e6, 1e6);
pub(crate) const PROGRESS: Range = Range::new(-100.0, 100.0);
/// Wide enough for any spring that can be seen to move, and narrow enough for its movement to be
/// a finite number at all times.
pub(crate) const MASS: Range = Range::new(1e-3, 1e3);
pub(crate) const STIFFNESS: Range = Range::new(1e-3, 1e6);
pub(crate) const DAMPING: Range = Range::new(0.0, 1e6);
pub(crate) const LENGTH: Range = Range::new(0.0, 1e6);
pub(crate) const DISTANCE: Range = Range::new(1.0, 1e6);
pub(crate) const RADIUS: Range = Range::new(0.0, 1e3);
pub(crate) const STOPS: Range = Range::new(-16.0, 16.0);
pub(crate) const FACTOR: Range = Range::new(0.0, 10.0);
pub(crate) const TEMPERATURE: Range = Range::new(MIN_TEMPERATURE_KELVIN, MAX_TEMPERATURE_KELVIN);
pub(crate) const BLUR: Range = Range::new(0.0, MAX_BLUR);
pub(crate) const SPREAD: Range = Range::new(-MAX_SPREAD, MAX_SPREAD);
/// What 32-bit floats hold, with room to calculate.
pub(crate) const UNIFORM: Range = Range::new(-1e9, 1e9);
pub(crate) const SHUTTER: Range = Range::new(0.0, 360.0);
pub(crate) const SIDE: Range = Range {
    minimum: 0.0,
    maximum: 1e6,
    above: true,
};

impl Range {
    pub(crate) const fn new(minimum: f64, maximum: f64) -> Self {
        Self {
            minimum,
            maximum,
            above: false,
        }
    }

    fn check(self, value: f64, place: &Place) -> Result<(), InvalidValue> {
        let Self {
            minimum,
            maximum,
            above,
        } = self;
        let inside = (minimum..=maximum).contains(&value) && !(above && value == minimum);
        let from = if above { "above" } else { "from" };
        place.require(
            inside,
            &value,
            &format_args!("a number {from} {minimum} to {maximum}"),
        )
    }
}
