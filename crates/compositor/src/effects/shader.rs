//! The shaders of effects, and what all of them read.

use bytemuck::{Pod, Zeroable};
use glam::IVec2;

use super::grade::SurfaceEncoding;
use super::lut::LutKind;
use crate::rect::IntRect;

/// How a step is shaded: one pipeline for each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EffectShader {
    /// A Gaussian that ends `radius` pixels from its middle.
    Blur { axis: Axis, radius: u8 },
    /// From a level to the next, of half as many pixels on each axis.
    Halve,
    /// From a level to the one before.
    Double,
    /// The largest of four alphas, or the smallest.
    Spread { erode: bool },
    /// Part of a pixel's way to the next spread.
    SpreadPart { erode: bool },
    /// A colour grade.
    Grade {
        encoding: SurfaceEncoding,
        /// Whether exposure or temperature has an effect.
        changes_light: bool,
        /// What is bound besides the source, if anything.
        lut: Option<LutKind>,
    },
}

/// Along which axis a separable effect works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Axis {
    Horizontal,
    Vertical,
}

impl Axis {
    /// One pixel along the axis.
    pub(crate) fn unit(self) -> IVec2 {
        match self {
            Self::Horizontal => IVec2::X,
            Self::Vertical => IVec2::Y,
        }
    }
}

macro_rules! effect_source {
    ($file:literal) => {
        concat!(
            include_str!("../../../../shaders/surface.wgsl"),
            include_str!(concat!("../../../../shaders/", $file))
        )
    };
}

impl EffectShader {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Blur { .. } => "blur",
            Self::Halve => "halve",
            Self::Double => "double",
            Self::Spread { .. } => "spread",
            Self::SpreadPart { .. } => "part of a spread",
            Self::Grade { .. } => "grade",
        }
    }

    /// The module. The entry point of its vertex shader is `vertex`.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::Blur { .. } => effect_source!("effect_blur.wgsl"),
            Self::Halve => effect_source!("effect_halve.wgsl"),
            Self::Double => effect_source!("effect_double.wgsl"),
            Self::Spread { .. } => effect_source!("effect_spread.wgsl"),
            Self::SpreadPart { .. } => effect_source!("effect_spread_part.wgsl"),
            Self::Grade { .. } => effect_source!("effect_grade.wgsl"),
        }
    }

    /// The entry point of the fragment shader.
    pub(crate) fn fragment(self) -> &'static str {
        match self {
            _ if self.reads_lut() => "fragment_with_lut",
            _ => "fragment",
        }
    }

    /// Whether a look-up table is bound besides the source.
    pub(crate) fn reads_lut(self) -> bool {
        matches!(self, Self::Grade { lut: Some(_), .. })
    }

    /// The values of the module's overrides.
    pub(crate) fn constants(self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Blur { axis, radius } => vec![
                ("VERTICAL", f64::from(axis == Axis::Vertical)),
                ("RADIUS", f64::from(radius)),
            ],
            Self::Halve | Self::Double => Vec::new(),
            Self::Spread { erode } | Self::SpreadPart { erode } => {
                vec![("ERODE", f64::from(erode))]
            }
            Self::Grade {
                encoding,
                changes_light,
                lut,
            } => vec![
                (
                    "LINEAR_SURFACE",
                    f64::from(encoding == SurfaceEncoding::Linear),
                ),
                ("CHANGES_LIGHT", f64::from(changes_light)),
                ("CURVES", f64::from(lut == Some(LutKind::Curves))),
            ],
        }
    }
}

/// `Draw` in `surface.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct DrawUniforms {
    bounds: [i32; 4],
    target_origin: [i32; 2],
    source_origin: [i32; 2],
    source_size: [i32; 2],
    target_size: [f32; 2],
}

impl DrawUniforms {
    /// Draws `region` into a texture of `target_size` texels, the first of which is at
    /// `target_origin`, from one that holds `source` from its first texel on. What else the textures
    /// have room for is not touched.
    pub(crate) fn new(
        region: IntRect,
        target_origin: IVec2,
        target_size: IVec2,
        source: IntRect,
    ) -> Self {
        let (first, after_last) = (region.min - target_origin, region.max - target_origin);
        Self {
            bounds: [first.x, first.y, after_last.x, after_last.y],
            target_origin: target_origin.to_array(),
            source_origin: source.min.to_array(),
            source_size: source.size().to_array(),
            target_size: target_size.as_vec2().to_array(),
        }
    }
}
