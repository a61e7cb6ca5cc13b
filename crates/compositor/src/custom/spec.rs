//! Shaders in a scene, as data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::animation::Animated;
use crate::color::Color;
#[cfg(feature = "schema")]
use crate::schema::{Pair, range};

/// The most uniforms that a shader may have.
pub const MAX_UNIFORMS: usize = 64;

/// A box whose colours are found by a WGSL function, pixel by pixel:
///
/// ```wgsl
/// fn shade(place: Place) -> vec4<f32> {
///     return vec4<f32>(place.uv, uniforms.blue, 1.0);
/// }
/// ```
///
/// It returns red, green, blue and alpha from 0 to 1: sRGB-encoded, alpha not multiplied in. What
/// it returns beyond these bounds is cut off.
///
/// `Place` and `uniforms` need not be declared:
///
/// ```wgsl
/// struct Place {
///     position: vec2<f32>, // in pixels of the box, from its top left corner
///     uv: vec2<f32>,       // the same in parts of its width and height
///     size: vec2<f32>,     // width and height of the box
///     pixel: f32,          // how many pixels of the box a pixel of the frame is wide
///     time: f32,           // seconds since the layer's in_point
/// }
/// ```
///
/// `uniforms` has a member for each of [`uniforms`](Self::uniforms). The source may have functions,
/// structures, constants and `var<private>` variables of its own, but no entry points, no bindings,
/// and no derivatives, which would make a pixel depend on those beside it: `place.pixel` is for
/// soft edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shader {
    /// Width and height in pixels; those of the canvas or group unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<Animated<Pair<range::Side>>>")
    )]
    pub size: Option<Animated<[f64; 2]>>,
    /// The function, and all that it calls.
    pub source: ShaderSource,
    /// Values that the function reads, by their names in WGSL; at most
    /// [`MAX_UNIFORMS`](crate::MAX_UNIFORMS).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("maxProperties" = MAX_UNIFORMS)))]
    pub uniforms: BTreeMap<String, Uniform>,
}

/// Where a shader's source is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShaderSource {
    /// In the scene.
    Wgsl(String),
    /// In a file; a relative path starts at the folder of the scene file.
    Path(PathBuf),
}

/// A value that a shader reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Uniform {
    /// An `f32`.
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Uniform>"))]
    Number(Animated<f64>),
    /// A `vec2<f32>`.
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Uniform>>"))]
    Pair(Animated<[f64; 2]>),
    /// A `vec4<f32>`: red, green, blue and alpha from 0 to 1, sRGB-encoded, alpha not multiplied in.
    Color(Animated<Color>),
}

impl ShaderSource {
    /// The file that it is in.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Wgsl(_) => None,
            Self::Path(path) => Some(path),
        }
    }
}
