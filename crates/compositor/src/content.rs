//! What is seen in a layer.

use std::path::PathBuf;

use framefence::Time;
use serde::{Deserialize, Serialize};

use crate::animation::Animated;
use crate::color::Color;
use crate::custom::Shader;
use crate::easing::Easing;
use crate::exact;
use crate::layer::Layer;
#[cfg(feature = "schema")]
use crate::schema::{self, Pair, range};
use crate::text::Text;

/// What is seen in a layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// One colour.
    Solid(Solid),
    /// Colours that change along a line.
    LinearGradient(LinearGradient),
    /// Colours that change outwards from a point.
    RadialGradient(RadialGradient),
    /// Colours that change around a point.
    ConicGradient(ConicGradient),
    /// A rectangle with fill and stroke; the layer's corners are its corners.
    Rectangle(Shape),
    /// An ellipse with fill and stroke, which touches the sides of the layer's box.
    Ellipse(Shape),
    /// A picture from a file, still or moving. The layer has the picture's size, in its upright
    /// orientation.
    Image(ImageFile),
    /// Lines of text.
    Text(Box<Text>),
    /// Colours that are found by a WGSL function.
    Shader(Box<Shader>),
    /// Layers that are composited together and then treated as one.
    Group(Group),
    /// Clips that follow each other, with transitions between them.
    Sequence(Sequence),
}

/// A box of one colour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Solid {
    /// Width and height in pixels; those of the canvas or group unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// The colour.
    pub color: Animated<Color>,
}

/// A box of colours that change along the line from `start` to `end` and are constant across it,
/// that is, along its perpendiculars in the layer's own pixels. Before the first stop and after the
/// last one the colour goes on.
///
/// Colours are mixed in the scene's blending space with alpha multiplied in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinearGradient {
    /// Width and height in pixels; those of the canvas or group unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// Where offset 0 lies, in parts of the box's width and height; the middle of the top edge
    /// unless given.
    #[serde(default = "defaults::top")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Fraction>>"))]
    pub start: Animated<[f64; 2]>,
    /// Where offset 1 lies, in the same measure; the middle of the bottom edge unless given. Where
    /// it coincides with `start`, the whole box has the last stop's colour.
    #[serde(default = "defaults::bottom")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Fraction>>"))]
    pub end: Animated<[f64; 2]>,
    /// The colours along the line, 2 to [`MAX_GRADIENT_STOPS`](crate::MAX_GRADIENT_STOPS). An
    /// offset below an earlier one counts as equal to it; at equal offsets the colour jumps.
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = crate::MAX_GRADIENT_STOPS)))]
    pub stops: Vec<GradientStop>,
}

/// A box of colours that change from `center` outwards: offset 0 is there, offset 1 on the ellipse
/// of the given radii.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RadialGradient {
    /// Width and height in pixels; those of the canvas or group unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// The point in parts of the box's width and height; its middle unless given.
    #[serde(default = "defaults::middle")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Fraction>>"))]
    pub center: Animated<[f64; 2]>,
    /// The ellipse's radii in parts of the box's width and height; half of them unless given.
    #[serde(default = "defaults::middle")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Radius>>"))]
    pub radius: Animated<[f64; 2]>,
    /// As for [`LinearGradient`].
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = crate::MAX_GRADIENT_STOPS)))]
    pub stops: Vec<GradientStop>,
}

/// A box of colours that change clockwise around `center`: offsets 0 and 1 meet at `start_angle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConicGradient {
    /// Width and height in pixels; those of the canvas or group unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// The point in parts of the box's width and height; its middle unless given.
    #[serde(default = "defaults::middle")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Fraction>>"))]
    pub center: Animated<[f64; 2]>,
    /// Degrees clockwise from straight up; 0 unless given.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Degrees>"))]
    pub start_angle: Animated<f64>,
    /// As for [`LinearGradient`].
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = crate::MAX_GRADIENT_STOPS)))]
    pub stops: Vec<GradientStop>,
}

/// A colour on a gradient's line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GradientStop {
    /// The place on the line: 0 is its start, 1 its end.
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Unit>"))]
    pub offset: Animated<f64>,
    /// The colour there.
    pub color: Animated<Color>,
}

/// The inside and the outline of a shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Width and height in pixels, without the stroke; those of the canvas or group unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// The colour inside; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Animated<Color>>,
    /// The line along the edge, drawn over the fill; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stroke: Option<Stroke>,
}

/// A line along a shape's edge.
///
/// Its two sides are the shape made larger and smaller: of an ellipse, ellipses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stroke {
    /// The line's colour.
    pub color: Animated<Color>,
    /// Its width in pixels of the layer.
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Length>"))]
    pub width: Animated<f64>,
    /// Where it lies; half inside and half outside unless given.
    #[serde(default)]
    pub align: StrokeAlign,
}

/// Where a stroke lies with respect to the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StrokeAlign {
    /// All of it within the shape.
    Inside,
    /// Half of it on either side.
    #[default]
    Center,
    /// All of it around the shape.
    Outside,
}

/// A picture from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImageFile {
    /// A PNG, JPEG, WebP or GIF file; a relative path starts at the folder of the scene file. An
    /// animated one begins at the layer's `in_point`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub path: PathBuf,
}

/// Layers that are composited together on nothing, and then treated as one.
///
/// Its children's positions are pixels of the group from its top left corner. They may reach beyond
/// the group's box, unless it is cropped, fitted or has round corners.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Width and height in pixels; those of the canvas or of the group around it unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// The layers from the lowest to the topmost.
    pub layers: Vec<Layer>,
}

/// Clips that follow each other from the layer's `in_point` on. After the last one there is
/// nothing. What reaches beyond the sequence's box is cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Width and height in pixels; those of the canvas or of the group around it unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// The clips in order; at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub clips: Vec<Clip>,
}

/// A part of a sequence. Times in its layers are counted from its own start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clip {
    /// How long it is seen in seconds, transitions included.
    #[serde(with = "exact::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "schema::Duration"))]
    pub duration: Time,
    /// How it takes the place of the clip before it; at once unless given. The first clip has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// The layers from the lowest to the topmost.
    pub layers: Vec<Layer>,
}

/// How one clip takes the place of another. Both are seen during it: a clip with a transition
/// starts that much before the one before it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// What happens.
    pub kind: TransitionKind,
    /// How long it takes, in seconds; no longer than either clip.
    #[serde(with = "exact::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "schema::Duration"))]
    pub duration: Time,
    /// How it proceeds; at constant speed unless given.
    #[serde(default)]
    pub easing: Easing,
}

/// What happens in a transition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum TransitionKind {
    /// One fades into the other: at each moment both together are as opaque as they are alone.
    CrossFade,
    /// An edge moves across the sequence and uncovers the new clip.
    Wipe {
        /// Where the edge moves to.
        to: Direction,
        /// The width of the edge's soft part, in parts of the way; 0 is sharp.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "range::Unit"))]
        softness: f64,
    },
    /// The new clip pushes the old one out; each is cut off where the other begins.
    Slide {
        /// Where both move to.
        to: Direction,
    },
    /// The old clip grows to one and a half times its size and fades, the new one fades in at that
    /// size and shrinks into its place.
    Zoom,
}

/// A direction on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Upwards.
    Up,
    /// Downwards.
    Down,
}

impl LinearGradient {
    /// A gradient from top to bottom that fills the canvas.
    #[must_use]
    pub fn new(stops: Vec<GradientStop>) -> Self {
        Self {
            size: None,
            start: defaults::top(),
            end: defaults::bottom(),
            stops,
        }
    }
}

impl RadialGradient {
    /// A gradient from the middle to the sides that fills the canvas.
    #[must_use]
    pub fn new(stops: Vec<GradientStop>) -> Self {
        Self {
            size: None,
            center: defaults::middle(),
            radius: defaults::middle(),
            stops,
        }
    }
}

impl ConicGradient {
    /// A gradient around the middle, from straight up, that fills the canvas.
    #[must_use]
    pub fn new(stops: Vec<GradientStop>) -> Self {
        Self {
            size: None,
            center: defaults::middle(),
            start_angle: defaults::zero(),
            stops,
        }
    }
}

mod defaults {
    use super::Animated;

    pub(super) fn middle() -> Animated<[f64; 2]> {
        [0.5, 0.5].into()
    }

    pub(super) fn top() -> Animated<[f64; 2]> {
        [0.5, 0.0].into()
    }

    pub(super) fn bottom() -> Animated<[f64; 2]> {
        [0.5, 1.0].into()
    }

    pub(super) fn zero() -> Animated<f64> {
        0.0.into()
    }
}
