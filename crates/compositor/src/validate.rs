//! What a scene may contain beyond what its types say.

use std::fmt::Display;

use framefence::Time;

use crate::animation::{Animated, Keyframe};
use crate::color::Color;
use crate::easing::Easing;
use crate::scene::{Canvas, Content, Layer, LinearGradient, Scene};

/// The most pixels that a canvas may be wide or high.
pub const MAX_CANVAS_SIDE: u32 = 65_536;

/// The longest time in a scene, in seconds: over eleven days.
pub const MAX_DURATION_SECONDS: i64 = 1_000_000;

/// The most stops that a gradient may have.
pub const MAX_GRADIENT_STOPS: usize = 16;

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
    let layers = root.field("layers");
    for (index, entry) in scene.layers.iter().enumerate() {
        layer(entry, &layers.index(index))?;
    }
    Ok(())
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
    numbers(&layer.opacity, UNIT, &place.field("opacity"))
}

fn content(content: &Content, place: &Place) -> Result<(), InvalidValue> {
    match content {
        Content::Solid(solid) => {
            let place = place.field("solid");
            size(solid.size.as_ref(), &place)?;
            colors(&solid.color, &place.field("color"))
        }
        Content::LinearGradient(gradient) => {
            linear_gradient(gradient, &place.field("linear_gradient"))
        }
        Content::Image(image) => place.field("image").field("path").require(
            !image.path.as_os_str().is_empty(),
            &"empty",
            &"the path of a PNG or JPEG file",
        ),
    }
}

fn linear_gradient(gradient: &LinearGradient, place: &Place) -> Result<(), InvalidValue> {
    size(gradient.size.as_ref(), place)?;
    pairs(&gradient.start, FRACTION, &place.field("start"))?;
    pairs(&gradient.end, FRACTION, &place.field("end"))?;
    let place = place.field("stops");
    place.require(
        (2..=MAX_GRADIENT_STOPS).contains(&gradient.stops.len()),
        &format_args!("a list of {}", gradient.stops.len()),
        &format_args!("a list of 2 to {MAX_GRADIENT_STOPS} stops"),
    )?;
    for (index, stop) in gradient.stops.iter().enumerate() {
        let place = place.index(index);
        numbers(&stop.offset, UNIT, &place.field("offset"))?;
        colors(&stop.color, &place.field("color"))?;
    }
    Ok(())
}

fn size(size: Option<&Animated<[f64; 2]>>, place: &Place) -> Result<(), InvalidValue> {
    size.map_or(Ok(()), |size| pairs(size, SIDE, &place.field("size")))
}

fn time(time: Time, place: &Place) -> Result<(), InvalidValue> {
    place.require(
        (Time::ZERO..=longest()).contains(&time),
        &time,
        &format_args!("from 0 to {MAX_DURATION_SECONDS} s"),
    )
}

fn longest() -> Time {
    Time::from_ratio(MAX_DURATION_SECONDS, 1)
}

fn numbers(property: &Animated<f64>, range: Range, place: &Place) -> Result<(), InvalidValue> {
    values(property, place, |&value, place| range.check(value, place))
}

fn pairs(property: &Animated<[f64; 2]>, range: Range, place: &Place) -> Result<(), InvalidValue> {
    values(property, place, |pair, place| {
        pair.iter()
            .enumerate()
            .try_for_each(|(axis, &value)| range.check(value, &place.index(axis)))
    })
}

/// Every colour can be drawn; only its keyframes can be wrong.
fn colors(property: &Animated<Color>, place: &Place) -> Result<(), InvalidValue> {
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
        easing(keyframe, &place.field("easing"))?;
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

fn easing<T>(keyframe: &Keyframe<T>, place: &Place) -> Result<(), InvalidValue> {
    let Easing::CubicBezier(control) = keyframe.easing else {
        return Ok(());
    };
    let place = place.field("cubic_bezier");
    for (index, (&value, range)) in control
        .iter()
        .zip([UNIT, PROGRESS, UNIT, PROGRESS])
        .enumerate()
    {
        range.check(value, &place.index(index))?;
    }
    Ok(())
}

/// Numbers that a property may have. NaN lies in no range.
#[derive(Clone, Copy)]
struct Range {
    minimum: f64,
    maximum: f64,
    /// Whether the minimum itself is left out.
    above: bool,
}

const UNIT: Range = Range::new(0.0, 1.0);
/// Far enough from the canvas for any use, and near enough for pixels to be exact.
const COORDINATE: Range = Range::new(-1e6, 1e6);
const FRACTION: Range = Range::new(-1e3, 1e3);
const SCALE: Range = Range::new(-1e4, 1e4);
const DEGREES: Range = Range::new(-1e6, 1e6);
const PROGRESS: Range = Range::new(-100.0, 100.0);
const SIDE: Range = Range {
    minimum: 0.0,
    maximum: 1e6,
    above: true,
};

impl Range {
    const fn new(minimum: f64, maximum: f64) -> Self {
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

/// Where in the scene a value stands.
struct Place(String);

impl Place {
    fn root() -> Self {
        Self(String::new())
    }

    fn field(&self, name: &str) -> Self {
        match self.0.as_str() {
            "" => Self(name.to_owned()),
            path => Self(format!("{path}.{name}")),
        }
    }

    fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    fn require(
        &self,
        holds: bool,
        given: &dyn Display,
        allowed: &dyn Display,
    ) -> Result<(), InvalidValue> {
        if holds {
            return Ok(());
        }
        Err(InvalidValue {
            path: self.0.clone(),
            given: given.to_string(),
            allowed: allowed.to_string(),
        })
    }
}
