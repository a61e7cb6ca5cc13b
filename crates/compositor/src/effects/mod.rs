//! Effects on surfaces: what is drawn, in which order and where, for a blur, a spread or a grade.
//!
//! A surface is an off-screen texture of premultiplied half floats that holds a rectangle of a
//! pixel grid, its region; all around it is transparent. An effect is a chain of [`Step`]s, each of
//! which draws one surface from the one before it, the first from the effect's source.
//!
//! Level 0 is the grid of the frame's pixels. Pixel `i` of level `k` covers the pixels from `i·2^k`
//! up to `(i + 1)·2^k` of the frame. As grids never move, a pixel's value depends on its position
//! alone: a surface drawn in tiles is the surface drawn whole, to the byte.
//!
//! Nothing here touches a device, except for [`lut`]'s textures.

mod blur;
mod chain;
mod grade;
mod lut;
mod shader;
mod spread;
#[cfg(test)]
mod testing;

pub(crate) use blur::{blur_reach, blur_steps};
pub(crate) use chain::EdgeMode;
pub(crate) use grade::{
    Grade, MAX_TEMPERATURE_KELVIN, MIN_TEMPERATURE_KELVIN, NEUTRAL_TEMPERATURE_KELVIN,
    SurfaceEncoding, grade_steps,
};
pub(crate) use lut::{Lut, LutOutOfMemory, LutTable, LutTexture};
pub(crate) use shader::{DrawUniforms, EffectShader};
pub(crate) use spread::{spread_reach, spread_steps};

use blur::{BlurUniforms, ResampleUniforms};
use grade::GradeUniforms;
use spread::{SpreadPartUniforms, SpreadUniforms};

use crate::rect::IntRect;

/// The format of every surface.
pub(crate) const SURFACE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

/// One pass: a surface drawn from the one before it.
///
/// A step with an empty region has a transparent result and is not to be run. If one step of a
/// chain is empty, all are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) shader: EffectShader,
    /// What the result holds, in the grid of its level.
    pub(crate) region: IntRect,
    pub(crate) uniforms: EffectUniforms,
}

/// What a shader reads at `@group(0) @binding(1)`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EffectUniforms {
    Blur(BlurUniforms),
    Resample(ResampleUniforms),
    Spread(SpreadUniforms),
    SpreadPart(SpreadPartUniforms),
    Grade(GradeUniforms),
}

impl EffectUniforms {
    /// The most that [`bytes`](Self::bytes) gives.
    #[cfg(test)]
    pub(crate) const MAX_BYTES: usize = size_of::<Self>();

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Blur(uniforms) => bytemuck::bytes_of(uniforms),
            Self::Resample(uniforms) => bytemuck::bytes_of(uniforms),
            Self::Spread(uniforms) => bytemuck::bytes_of(uniforms),
            Self::SpreadPart(uniforms) => bytemuck::bytes_of(uniforms),
            Self::Grade(uniforms) => bytemuck::bytes_of(uniforms),
        }
    }
}
