//! Spread: alpha grown or shrunk, as for a shadow that is larger or smaller than its layer.
//!
//! The maximum or minimum over a square of pixels, as `feMorphology` of the W3C's Filter
//! Effects Module Level 1 has it, of alpha alone. A square's is found along one axis after the
//! other, and along an axis from windows that grow fourfold with each step.

use bytemuck::{Pod, Zeroable};
use glam::IVec2;

use super::chain::{self, EdgeMode, Footprint, StepRects};
use super::shader::{Axis, EffectShader};
use super::{EffectUniforms, Step};
use crate::rect::IntRect;

/// The steps that spread a surface's alpha by `radius` pixels on every side, or shrink it if
/// `radius` is negative; none if it is 0.
///
/// Between whole radii the result is the mean of those of both, weighted by how near they are. The
/// result is black: `(0, 0, 0, alpha)`. Around the source all is transparent, so that shrinking
/// takes from its edges.
///
/// `source` is where the source may be other than transparent; of it the pixels within
/// [`spread_reach`] of `wanted` are read. The last step's region is `wanted`, without what must be
/// transparent.
pub(crate) fn spread_steps(source: IntRect, wanted: IntRect, radius: f64) -> Vec<Step> {
    let erode = radius < 0.0;
    let whole = radius.abs().floor();
    let part = radius.abs() - whole;
    let mut passes = [Axis::Horizontal, Axis::Vertical]
        .map(|axis| growing_windows(axis, whole as i32))
        .concat();
    if part > 0.0 {
        passes.push(Pass::Part(part));
    }
    let footprints: Vec<_> = passes.iter().map(Pass::footprint).collect();
    let wanted = match erode {
        true => wanted.intersect(source),
        false => wanted,
    };
    chain::plan(&footprints, source, wanted, EdgeMode::Transparent)
        .into_iter()
        .zip(passes)
        .map(|(StepRects { region, .. }, pass)| pass.step(region, erode))
        .collect()
}

/// How many pixels further than its result a spread's source is read.
pub(crate) fn spread_reach(radius: f64) -> i32 {
    radius.abs().ceil() as i32
}

#[derive(Clone, Copy, Debug)]
enum Pass {
    /// Over four positions.
    Four([IVec2; 4]),
    /// Part of the way to the next whole radius.
    Part(f64),
}

/// The passes that take a pixel to the window `radius` to both of its sides. The first moves the
/// window's start there; each takes up to four of the windows of the one before, the last of which
/// may overlap another.
fn growing_windows(axis: Axis, radius: i32) -> Vec<Pass> {
    let wanted = 2 * radius + 1;
    let mut passes = Vec::new();
    let mut window = 1;
    let mut start = -radius;
    while window < wanted {
        let grown = wanted.min(4 * window);
        let offsets = [0, 1, 2, 3].map(|i| start + (i * window).min(grown - window));
        passes.push(Pass::Four(offsets.map(|offset| axis.unit() * offset)));
        window = grown;
        start = 0;
    }
    passes
}

impl Pass {
    fn footprint(&self) -> Footprint {
        match *self {
            Self::Four([first, .., last]) => Footprint::Window {
                before: -first,
                after: last,
            },
            Self::Part(_) => Footprint::Window {
                before: IVec2::ONE,
                after: IVec2::ONE,
            },
        }
    }

    fn step(self, region: IntRect, erode: bool) -> Step {
        match self {
            Self::Four(offsets) => Step {
                shader: EffectShader::Spread { erode },
                region,
                uniforms: EffectUniforms::Spread(SpreadUniforms {
                    offsets: offsets.map(|offset| offset.to_array()),
                }),
            },
            Self::Part(part) => Step {
                shader: EffectShader::SpreadPart { erode },
                region,
                uniforms: EffectUniforms::SpreadPart(SpreadPartUniforms {
                    part: part as f32,
                    padding: [0; 3],
                }),
            },
        }
    }
}

/// `Spread` in `effect_spread.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct SpreadUniforms {
    offsets: [[i32; 2]; 4],
}

/// `SpreadPart` in `effect_spread_part.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct SpreadPartUniforms {
    part: f32,
    padding: [u32; 3],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::{
        Surface, assert_same, max_difference, noise, positions, run, tiles,
    };

    const REGION: IntRect = IntRect::new(IVec2::new(-23, -31), IVec2::new(60, 38));

    /// Islands of any alpha in a transparent sea, and a plain of low alphas.
    fn islands() -> Surface {
        let random = noise(REGION);
        Surface::new(REGION, |x, y| {
            let [red, _, _, alpha] = random.at(x, y).map(f64::from);
            match x < 5 {
                true => [0.0, 0.1 * alpha, 0.0, 0.2 * alpha],
                false if red > 0.9 => [0.3 * alpha, 0.0, alpha, alpha],
                false => [0.0; 4],
            }
        })
    }

    fn spread(source: &Surface, wanted: IntRect, radius: f64) -> Surface {
        run(&spread_steps(source.region, wanted, radius), source).cropped(wanted)
    }

    /// The extreme alpha of the square around a pixel.
    fn extreme(source: &Surface, x: i32, y: i32, radius: i32, erode: bool) -> f64 {
        let square = IntRect::new(IVec2::new(x, y), IVec2::new(x, y) + 1).expand(radius);
        let alphas = positions(square).map(|(x, y)| f64::from(source.at(x, y)[3]));
        match erode {
            true => alphas.fold(f64::MAX, f64::min),
            false => alphas.fold(0.0, f64::max),
        }
    }

    #[test]
    fn a_spread_is_the_extreme_of_the_square_around_each_pixel() {
        let source = islands();
        for radius in [
            0.5, 1.0, 1.25, 2.0, 3.7, 7.0, 8.0, 20.0, 33.3, -0.4, -1.0, -2.5, -6.0,
        ] {
            let spread = spread(&source, REGION.expand(40), radius);
            let whole = radius.abs().floor();
            let exact: Vec<_> = positions(spread.region)
                .map(|(x, y)| {
                    let [nearer, further] = [whole, whole + 1.0]
                        .map(|side| extreme(&source, x, y, side as i32, radius < 0.0));
                    let alpha = nearer + (further - nearer) * (radius.abs() - whole);
                    [0.0, 0.0, 0.0, alpha]
                })
                .collect();
            let rounding = if radius.fract() == 0.0 { 0.0 } else { 0.07 };
            let error = max_difference(&spread, &exact);
            assert!(error <= rounding, "{radius}: {error}");
            let region = match radius < 0.0 {
                true => REGION,
                false => REGION.expand(radius.ceil() as i32),
            };
            assert_eq!(spread.region, region, "{radius}");
        }
    }

    #[test]
    fn tiles_are_the_whole_to_the_byte() {
        let source = islands();
        let wanted = REGION.expand(19);
        for radius in [1.0, 5.3, 17.0, -1.7] {
            let whole = spread(&source, wanted, radius);
            for tile in tiles(wanted, IVec2::new(41, 33)) {
                let read = tile.expand(spread_reach(radius)).intersect(REGION);
                let steps = spread_steps(REGION, tile, radius);
                let part = match read.is_empty() {
                    true => Surface::new(IntRect::EMPTY, |_, _| [0.0; 4]),
                    false => run(&steps, &source.cropped(read)).cropped(tile),
                };
                assert_same(&part, &whole.cropped(tile), (radius, tile));
            }
        }
    }

    #[test]
    fn a_hundred_times_the_radius_takes_few_more_passes() {
        for (radius, passes) in [(0.0, 0), (1.0, 2), (5.0, 4), (50.0, 8), (500.0, 10)] {
            assert_eq!(spread_steps(REGION, REGION, radius).len(), passes);
            assert_eq!(spread_steps(REGION, REGION, -radius).len(), passes);
        }
    }
}
