//! What lies on the canvas: a content, where it lies, and what is done to it.

use std::path::{Path, PathBuf};

use framefence::Time;
use serde::{Deserialize, Serialize};

use crate::animation::Animated;
use crate::color::Color;
use crate::content::Content;
use crate::exact;
#[cfg(feature = "schema")]
use crate::schema::{self, Pair, range};

/// A picture on the canvas, for part of the scene's time.
///
/// A layer is a box of the size of its content, or of its [`fit`](Self::fit). The point `anchor` of
/// the box lies at `position`; the box is scaled, then rotated, then tilted about that point.
///
/// What is done to a layer is done in this order: crop and fit, corners, motion blur, grade, blur,
/// mask, shadow (of what the mask left), opacity, blend. Lengths of blurs and shadows are measured
/// where `position` is, in pixels of the canvas or of the group that holds the layer: they neither
/// grow nor turn with the layer itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// A name for people, and for [`mask`](Self::mask)s of other layers to refer to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What is seen.
    pub content: Content,
    /// Whether the layer is left out of the picture: it can still be the mask of others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hidden: bool,
    /// The first time at which the layer is seen, in seconds from the start of the scene; 0 unless
    /// given.
    #[serde(with = "exact::seconds", default)]
    #[cfg_attr(feature = "schema", schemars(with = "schema::Seconds"))]
    pub in_point: Time,
    /// The first time at which the layer is no longer seen, later than `in_point`; without it the
    /// layer is seen to the end.
    #[serde(
        with = "exact::seconds::option",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "schema::Seconds"))]
    pub out_point: Option<Time>,
    /// Where the anchor lies, in pixels of the canvas, or of the group that holds the layer, from
    /// its top left corner, x to the right and y downwards; the middle unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Coordinate>>>")
    )]
    pub position: Option<Animated<[f64; 2]>>,
    /// The point of the layer that lies at `position`, in parts of its width and height: `[0, 0]`
    /// is the top left corner, `[1, 1]` the bottom right one; the middle unless given.
    #[serde(default = "defaults::middle")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Fraction>>"))]
    pub anchor: Animated<[f64; 2]>,
    /// Canvas pixels for a pixel of the layer, along the layer's own axes; negative mirrors. 1
    /// unless given.
    #[serde(default = "defaults::natural_scale")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Scale>>"))]
    pub scale: Animated<[f64; 2]>,
    /// Degrees clockwise, not limited to one turn; 0 unless given.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Degrees>"))]
    pub rotation: Animated<f64>,
    /// A turn out of the plane, seen in perspective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tilt: Option<Tilt>,
    /// What is cut off the content before all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crop: Option<Crop>,
    /// A box that the content is fitted into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// The radius of the box's corners in pixels of the layer, at most half its shorter side; 0
    /// unless given.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Length>"))]
    pub corner_radius: Animated<f64>,
    /// The line that the corners follow.
    #[serde(default, skip_serializing_if = "is_default")]
    pub corners: Corners,
    /// Changes to the content's colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// The standard deviation of a Gaussian blur of the layer, in pixels; 0 unless given.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Blur>"))]
    pub blur: Animated<f64>,
    /// The standard deviation of a Gaussian blur of what lies behind the layer's box, in pixels; 0
    /// unless given. It is seen through the layer where that is translucent.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Blur>"))]
    pub background_blur: Animated<f64>,
    /// Another layer that decides where this one is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<Mask>,
    /// A shadow beneath the layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<Shadow>,
    /// The average of the layer over part of the frame's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion_blur: Option<MotionBlur>,
    /// 0 is invisible, 1 as opaque as the content; 1 unless given. Between keyframes that
    /// overshoot it stays within these bounds.
    #[serde(default = "defaults::one")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Unit>"))]
    pub opacity: Animated<f64>,
    /// How the layer's colours are mixed with those behind it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub blend: BlendMode,
}

/// A turn of a layer about its own axes, seen in perspective by an eye straight in front of the
/// layer's `position`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tilt {
    /// Degrees about the horizontal axis; positive moves the top away from the eye.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Degrees>"))]
    pub x: Animated<f64>,
    /// Degrees about the vertical axis; positive moves the right side away from the eye.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Degrees>"))]
    pub y: Animated<f64>,
    /// How far away the eye is, in pixels of the canvas or group; 1500 unless given. What comes
    /// behind the eye is not seen.
    #[serde(default = "defaults::eye_distance")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Distance>"))]
    pub distance: Animated<f64>,
}

/// The parts of a content's width and height that are cut off, from each side; what remains is the
/// layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Crop {
    /// From the left, 0 to 1.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Unit>"))]
    pub left: Animated<f64>,
    /// From the top, 0 to 1.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Unit>"))]
    pub top: Animated<f64>,
    /// From the right, 0 to 1.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Unit>"))]
    pub right: Animated<f64>,
    /// From the bottom, 0 to 1.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Unit>"))]
    pub bottom: Animated<f64>,
}

/// A box that becomes the layer's size, whatever its content's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Width and height in pixels; those of the canvas or group unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// How the content fills it.
    pub mode: FitMode,
}

/// How a content fills a box of other proportions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FitMode {
    /// As large as fits whole, in the middle; the rest of the box stays empty.
    Contain,
    /// As small as leaves nothing empty, in the middle; what reaches beyond the box is cut off.
    Cover,
    /// Stretched to the box.
    Fill,
}

/// The line that round corners follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Corners {
    /// A quarter of a circle.
    #[default]
    Round,
    /// A quarter of a superellipse |x|³ + |y|³ = 1, whose curvature begins and ends at 0, so that
    /// the eye sees no seam; it reaches 1.42 times as far along the sides as a circle of the radius,
    /// and passes through the middle of that circle's arc.
    Continuous,
}

/// Changes to colours: exposure and temperature of linear light, then contrast, saturation and a
/// look-up table of sRGB-encoded values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Grade {
    /// Stops: each doubles the light; 0 unless given.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Stops>"))]
    pub exposure: Animated<f64>,
    /// How many times as far from middle grey (half of the encoded range) colours become; 1 unless
    /// given, 0 is all grey.
    #[serde(default = "defaults::one")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Factor>"))]
    pub contrast: Animated<f64>,
    /// How many times as far from the grey of their luma (BT.709) colours become; 1 unless given, 0
    /// is black and white.
    #[serde(default = "defaults::one")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Factor>"))]
    pub saturation: Animated<f64>,
    /// What white turns into, as the daylight of a colour temperature in kelvin: below 6504 warmer,
    /// above colder. 6504 unless given.
    #[serde(default = "defaults::daylight")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Temperature>"))]
    pub temperature: Animated<f64>,
    /// A look-up table, applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lut: Option<Lut>,
}

/// A look-up table from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lut {
    /// A `.cube` file; a relative path starts at the folder of the scene file.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub path: PathBuf,
    /// How much of the table's colours is mixed in, 0 to 1; 1 unless given.
    #[serde(default = "defaults::one")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Unit>"))]
    pub strength: Animated<f64>,
}

/// Another layer of the same list that decides where this one is seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// The name of that layer, which no other layer of the list has. It is drawn as it would be
    /// seen on nothing, hidden or not.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub layer: String,
    /// What of it counts.
    #[serde(default)]
    pub channel: MaskChannel,
    /// Whether this layer is seen where the mask is not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inverted: bool,
}

/// What of a mask counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MaskChannel {
    /// Its opacity.
    #[default]
    Alpha,
    /// Its luminance times its opacity, as in CSS Masking Module Level 1: 0.2126 R + 0.7152 G +
    /// 0.0722 B of the values in the scene's blending space.
    Luminance,
}

/// A shadow: the layer's silhouette in one colour, beneath the layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shadow {
    /// Its colour; black at half opacity unless given.
    #[serde(default = "defaults::shadow")]
    pub color: Animated<Color>,
    /// Pixels to the right and downwards; none unless given.
    #[serde(default = "defaults::no_offset")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Animated<Pair<range::Coordinate>>")
    )]
    pub offset: Animated<[f64; 2]>,
    /// The standard deviation of its Gaussian blur in pixels, which is half of what CSS calls a
    /// shadow's blur radius; 0 unless given.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Blur>"))]
    pub blur: Animated<f64>,
    /// Pixels by which the silhouette grows, or shrinks below 0, before it is blurred; 0 unless
    /// given.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Spread>"))]
    pub spread: Animated<f64>,
}

/// The average of a layer's content and place over part of a frame's time, as a camera's shutter
/// makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MotionBlur {
    /// How long the shutter is open, in degrees of a turn that takes the time of one frame: 360 is
    /// all of it. The frame's own time is in the middle. 180 unless given.
    #[serde(default = "defaults::shutter")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Shutter>"))]
    pub shutter: Animated<f64>,
    /// The number of moments that are averaged, 2 to [`MAX_MOTION_SAMPLES`](crate::MAX_MOTION_SAMPLES);
    /// 16 unless given. Movement over more pixels than that shows steps.
    #[serde(default = "defaults::motion_samples")]
    #[cfg_attr(feature = "schema", schemars(with = "range::MotionSamples"))]
    pub samples: u32,
}

/// How a layer's colours are mixed with those behind it.
///
/// The separable modes of W3C Compositing and Blending Level 1, section 9, and `add`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlendMode {
    /// The layer's own colours.
    #[default]
    Normal,
    /// The product: never brighter than either.
    Multiply,
    /// The inverse of the product of inverses: never darker than either.
    Screen,
    /// Multiplies dark backdrops, screens bright ones.
    Overlay,
    /// The darker of both, channel by channel.
    Darken,
    /// The brighter of both, channel by channel.
    Lighten,
    /// Brightens the backdrop to reflect the layer.
    ColorDodge,
    /// Darkens the backdrop to reflect the layer.
    ColorBurn,
    /// Multiplies where the layer is dark, screens where it is bright.
    HardLight,
    /// Darkens or brightens, as a diffuse light would.
    SoftLight,
    /// The distance between both.
    Difference,
    /// The same with less contrast.
    Exclusion,
    /// The sum of both, as light adds up: `plus-lighter` in CSS.
    Add,
}

impl BlendMode {
    /// Every mode, in declaration order.
    pub const ALL: [Self; 13] = [
        Self::Normal,
        Self::Multiply,
        Self::Screen,
        Self::Overlay,
        Self::Darken,
        Self::Lighten,
        Self::ColorDodge,
        Self::ColorBurn,
        Self::HardLight,
        Self::SoftLight,
        Self::Difference,
        Self::Exclusion,
        Self::Add,
    ];
}

impl Layer {
    /// A layer with `content` that is seen all the time, as it is, in the middle of the canvas.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self {
            name: String::new(),
            content,
            hidden: false,
            in_point: Time::ZERO,
            out_point: None,
            position: None,
            anchor: defaults::middle(),
            scale: defaults::natural_scale(),
            rotation: defaults::zero(),
            tilt: None,
            crop: None,
            fit: None,
            corner_radius: defaults::zero(),
            corners: Corners::default(),
            grade: None,
            blur: defaults::zero(),
            background_blur: defaults::zero(),
            mask: None,
            shadow: None,
            motion_blur: None,
            opacity: defaults::one(),
            blend: BlendMode::default(),
        }
    }

    /// The files that the layer itself is made of.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let content: Vec<&Path> = match &self.content {
            Content::Image(image) => vec![&image.path],
            Content::Text(text) => text.font.files().collect(),
            Content::Shader(shader) => shader.source.file().into_iter().collect(),
            _ => Vec::new(),
        };
        let lut = self.grade.as_ref().and_then(|grade| grade.lut.as_ref());
        content.into_iter().chain(lut.map(|lut| lut.path.as_path()))
    }

    /// Whether the layer is seen at `time`.
    #[must_use]
    pub fn is_active(&self, time: Time) -> bool {
        time >= self.in_point && self.out_point.is_none_or(|out_point| time < out_point)
    }
}

impl Default for Tilt {
    /// None, 1500 pixels from the eye.
    fn default() -> Self {
        Self {
            x: defaults::zero(),
            y: defaults::zero(),
            distance: defaults::eye_distance(),
        }
    }
}

impl Default for Crop {
    /// Nothing is cut off.
    fn default() -> Self {
        Self {
            left: defaults::zero(),
            top: defaults::zero(),
            right: defaults::zero(),
            bottom: defaults::zero(),
        }
    }
}

impl Default for Grade {
    /// Leaves colours as they are.
    fn default() -> Self {
        Self {
            exposure: defaults::zero(),
            contrast: defaults::one(),
            saturation: defaults::one(),
            temperature: defaults::daylight(),
            lut: None,
        }
    }
}

impl Default for Shadow {
    /// A hard black shadow at half opacity, right beneath the layer.
    fn default() -> Self {
        Self {
            color: defaults::shadow(),
            offset: defaults::no_offset(),
            blur: defaults::zero(),
            spread: defaults::zero(),
        }
    }
}

impl Default for MotionBlur {
    /// 16 samples over half a frame.
    fn default() -> Self {
        Self {
            shutter: defaults::shutter(),
            samples: defaults::motion_samples(),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

mod defaults {
    use super::{Animated, Color};
    use crate::effects::NEUTRAL_TEMPERATURE_KELVIN;

    pub(super) fn middle() -> Animated<[f64; 2]> {
        [0.5, 0.5].into()
    }

    pub(super) fn natural_scale() -> Animated<[f64; 2]> {
        [1.0, 1.0].into()
    }

    pub(super) fn no_offset() -> Animated<[f64; 2]> {
        [0.0, 0.0].into()
    }

    pub(super) fn zero() -> Animated<f64> {
        0.0.into()
    }

    pub(super) fn one() -> Animated<f64> {
        1.0.into()
    }

    pub(super) fn daylight() -> Animated<f64> {
        NEUTRAL_TEMPERATURE_KELVIN.into()
    }

    pub(super) fn eye_distance() -> Animated<f64> {
        1500.0.into()
    }

    pub(super) fn shadow() -> Animated<Color> {
        Color::rgba(0, 0, 0, 128).into()
    }

    pub(super) fn shutter() -> Animated<f64> {
        180.0.into()
    }

    pub(super) fn motion_samples() -> u32 {
        16
    }
}
