//! Gaussian blur.
//!
//! A blur of a few pixels is a Gaussian along each axis. For a larger one the picture is first
//! halved as often as needed, blurred there, and doubled again, so that its cost for a pixel stays
//! within that of a small one.
//!
//! Halving with [1 3 3 1] / 8 blurs too, and so does doubling with [3 1] / 4, which weights the
//! pixels of the larger level by [1 3 3 1] / 4 over that level's samples: each adds a variance of
//! 3/4 in the pixels of the larger level. Over all levels up to `k` that makes
//! 2 · Σ 3/4 · 4^j = (4^k - 1) / 2, and the Gaussian at level `k` has the rest of σ².

use bytemuck::{Pod, Zeroable};
use glam::IVec2;

use super::chain::{self, EdgeMode, Footprint, StepRects};
use super::shader::{Axis, EffectShader};
use super::{EffectUniforms, Step};
use crate::rect::IntRect;

/// The steps that blur a surface by a Gaussian whose standard deviation is `sigma` pixels; none if
/// it is too small to change anything.
///
/// `source` is where the source may be other than transparent, or what it is clamped to. The first
/// step reads at most the pixels of `source` within [`blur_reach`] of `wanted`, or those that they
/// are clamped to. The last step's region is `wanted`, without what must be transparent.
///
/// Against the sum with the Gaussian's true weights the result is off by at most 1 of 255 code
/// values, for pictures as well as for edges.
pub(crate) fn blur_steps(
    source: IntRect,
    wanted: IntRect,
    sigma: f64,
    edge: EdgeMode,
) -> Vec<Step> {
    let Some(levels) = Levels::of(sigma) else {
        return Vec::new();
    };
    let weights = levels.weights();
    let passes = levels.passes();
    chain::plan(&levels.footprints(), source, wanted, edge)
        .into_iter()
        .zip(passes)
        .map(|(StepRects { region, source }, pass)| {
            let edges = match edge {
                EdgeMode::Transparent => EVERYWHERE,
                EdgeMode::Clamp => first_and_last(source),
            };
            let resample = EffectUniforms::Resample(ResampleUniforms { edges });
            let radius = levels.radius;
            let (shader, uniforms) = match pass {
                Pass::Halve => (EffectShader::Halve, resample),
                Pass::Blur(axis) => (
                    EffectShader::Blur { axis, radius },
                    EffectUniforms::Blur(BlurUniforms { edges, weights }),
                ),
                Pass::Double => (EffectShader::Double, resample),
            };
            Step {
                shader,
                region,
                uniforms,
            }
        })
        .collect()
}

/// How many pixels further than its result a blur's source is read, at most.
pub(crate) fn blur_reach(sigma: f64) -> i32 {
    Levels::of(sigma).map_or(0, |levels| {
        // To the edge of a pixel of the lowest level and one further, once for each doubling; then
        // as far as the Gaussian; then one pixel of each level that is halved.
        let side = 1 << levels.halvings;
        3 * (side - 1) + i32::from(levels.radius) * side
    })
}

#[derive(Clone, Copy, Debug)]
enum Pass {
    Halve,
    Blur(Axis),
    Double,
}

/// How a blur is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Levels {
    halvings: u32,
    /// The standard deviation of the Gaussian at the lowest level, in its pixels.
    sigma: f64,
    /// Where that Gaussian is cut off, in the same pixels; even, which makes half as many shaders.
    radius: u8,
}

/// The largest Gaussian at level 0. The smallest at level 1 is then 1.37 pixels, of which linear
/// interpolation is within 0.7 code values of an edge.
const MAX_SIGMA_UNHALVED: f64 = 3.0;
/// The largest Gaussian at other levels. They have few pixels, so it may be larger than at level 0,
/// and the smallest at the next one, of 1.97 pixels, is smooth enough to be interpolated within 0.3.
const MAX_SIGMA_HALVED: f64 = 4.0;
/// Beyond this many standard deviations lie 0.06 % of a Gaussian on either side.
const CUT_OFF: f64 = 3.25;
/// A neighbour's weight is then 10^-9 of the middle's.
const MIN_SIGMA: f64 = 0.155;
const MAX_RADIUS: usize = 15;

impl Levels {
    /// None if nothing is blurred.
    fn of(sigma: f64) -> Option<Self> {
        if sigma.is_nan() || sigma <= MIN_SIGMA {
            return None;
        }
        let mut halvings = 0;
        let mut rest = sigma;
        let mut max_sigma = MAX_SIGMA_UNHALVED;
        while rest > max_sigma {
            halvings += 1;
            let area = 4.0_f64.powi(halvings);
            rest = ((sigma * sigma + 0.5) / area - 0.5).sqrt();
            max_sigma = MAX_SIGMA_HALVED;
        }
        Some(Self {
            halvings: halvings as u32,
            sigma: rest,
            radius: ((CUT_OFF * rest / 2.0).ceil() * 2.0) as u8,
        })
    }

    fn passes(&self) -> Vec<Pass> {
        let halvings = self.halvings as usize;
        let mut passes = vec![Pass::Halve; halvings];
        passes.extend([Pass::Blur(Axis::Horizontal), Pass::Blur(Axis::Vertical)]);
        passes.resize(passes.len() + halvings, Pass::Double);
        passes
    }

    fn footprints(&self) -> Vec<Footprint> {
        let footprint = |pass| match pass {
            Pass::Halve => Footprint::Halve,
            Pass::Blur(axis) => {
                let side = axis.unit() * i32::from(self.radius);
                Footprint::Window {
                    before: side,
                    after: side,
                }
            }
            Pass::Double => Footprint::Double,
        };
        self.passes().into_iter().map(footprint).collect()
    }

    /// Of the middle and of each position up to the radius, so that all together are 1.
    fn weights(&self) -> [[f32; 4]; (MAX_RADIUS + 1) / 4] {
        let gaussian = |position: f64| (-0.5 * (position / self.sigma).powi(2)).exp();
        let side: f64 = (1..=self.radius).map(|i| gaussian(i.into())).sum();
        let total = 1.0 + 2.0 * side;
        let mut weights = [[0.0; 4]; _];
        for i in 0..=self.radius {
            let place = usize::from(i);
            weights[place / 4][place % 4] = (gaussian(i.into()) / total) as f32;
        }
        weights
    }
}

/// `Blur` in `effect_blur.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct BlurUniforms {
    edges: [i32; 4],
    weights: [[f32; 4]; (MAX_RADIUS + 1) / 4],
}

/// `Resample` in `effect_halve.wgsl` and `effect_double.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ResampleUniforms {
    edges: [i32; 4],
}

/// Edges that no position is beyond.
const EVERYWHERE: [i32; 4] = [i32::MIN, i32::MIN, i32::MAX, i32::MAX];

fn first_and_last(rect: IntRect) -> [i32; 4] {
    let IVec2 { x, y } = rect.max - 1;
    [rect.min.x, rect.min.y, x, y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::{
        self, Surface, assert_same, max_difference, noise, photo, positions, run,
    };

    /// Odd on purpose, and on both sides of 0.
    const REGION: IntRect = IntRect::new(IVec2::new(-37, -21), IVec2::new(124, 90));
    const CENTER: IVec2 = IVec2::new(43, 34);
    const EDGE_MODES: [EdgeMode; 2] = [EdgeMode::Transparent, EdgeMode::Clamp];

    fn edge() -> Surface {
        Surface::new(REGION, |x, _| match x < CENTER.x {
            true => [0.0, 0.0, 0.0, 1.0],
            false => [1.0; 4],
        })
    }

    fn pictures() -> Vec<(&'static str, Surface)> {
        let impulse = Surface::new(REGION, |x, y| match IVec2::new(x, y) == CENTER {
            true => [1.0; 4],
            false => [0.0; 4],
        });
        let corner = Surface::new(REGION, |x, y| match x < CENTER.x && y < CENTER.y {
            true => [1.0; 4],
            false => [0.0; 4],
        });
        vec![
            ("impulse", impulse),
            ("edge", edge()),
            ("corner", corner),
            ("photo", photo("chelsea.png", REGION)),
            ("noise", noise(REGION)),
        ]
    }

    fn blur(source: &Surface, wanted: IntRect, sigma: f64, edge: EdgeMode) -> Surface {
        let steps = blur_steps(source.region, wanted, sigma, edge);
        run(&steps, source).cropped(wanted)
    }

    /// The sum over all of the Gaussian, along one axis and then along the other.
    fn gaussian(source: &Surface, wanted: IntRect, sigma: f64, edge: EdgeMode) -> Vec<[f64; 4]> {
        let IntRect { min, max } = source.region;
        let radius = (7.0 * sigma).ceil() as i32;
        let weight = |distance: i32| (-0.5 * (f64::from(distance) / sigma).powi(2)).exp();
        let total: f64 = (-radius..=radius).map(weight).sum();
        // A weight for each position of the source, those that are clamped to it included.
        let kernel = |at: i32, first: i32, last: i32| -> Vec<f64> {
            let mut weights = vec![0.0; (last - first + 1) as usize];
            for position in at - radius..=at + radius {
                let nearest = position.clamp(first, last);
                if edge == EdgeMode::Clamp || nearest == position {
                    weights[(nearest - first) as usize] += weight(position - at) / total;
                }
            }
            weights
        };
        let sum = |weights: &[f64], pixels: &mut dyn Iterator<Item = [f64; 4]>| {
            let mut sum = [0.0; 4];
            for (weight, pixel) in weights.iter().zip(pixels) {
                for channel in 0..4 {
                    sum[channel] += weight * pixel[channel];
                }
            }
            sum
        };
        let columns: Vec<_> = (wanted.min.x..wanted.max.x)
            .map(|x| {
                let weights = kernel(x, min.x, max.x - 1);
                let along_row = |y| {
                    let mut row = (min.x..max.x).map(|x| source.at(x, y).map(f64::from));
                    sum(&weights, &mut row)
                };
                (min.y..max.y).map(along_row).collect::<Vec<_>>()
            })
            .collect();
        let rows: Vec<_> = (wanted.min.y..wanted.max.y)
            .map(|y| kernel(y, min.y, max.y - 1))
            .collect();
        positions(wanted)
            .map(|(x, y)| {
                let column = &columns[(x - wanted.min.x) as usize];
                let weights = &rows[(y - wanted.min.y) as usize];
                sum(weights, &mut column.iter().copied())
            })
            .collect()
    }

    #[test]
    fn a_blur_is_within_a_code_value_of_the_gaussian() {
        let mut worst: f64 = 0.0;
        for sigma in [
            0.3, 0.7, 1.6, 2.9, 3.001, 5.0, 8.0, 8.2, 13.0, 16.3, 33.0, 70.0, 200.0,
        ] {
            for (name, source) in pictures() {
                for edge in EDGE_MODES {
                    let wanted = match edge {
                        EdgeMode::Transparent => REGION.expand(23),
                        EdgeMode::Clamp => REGION,
                    };
                    let blurred = blur(&source, wanted, sigma, edge);
                    let exact = gaussian(&source, blurred.region, sigma, edge);
                    let error = max_difference(&blurred, &exact);
                    println!("{sigma} {name} {edge:?}: {error:.3}");
                    assert!(error <= 1.0, "σ {sigma}, {name}, {edge:?}: {error}");
                    worst = worst.max(error);
                }
            }
        }
        println!("worst: {worst:.3}");
    }

    #[test]
    fn the_blur_goes_on_where_another_level_begins() {
        let source = edge();
        let switches = [1, 2, 3].map(|halvings| {
            let area = 4.0_f64.powi(halvings);
            (area * (MAX_SIGMA_HALVED.powi(2) + 0.5) - 0.5).sqrt()
        });
        for sigma in switches.into_iter().chain([MAX_SIGMA_UNHALVED]) {
            let [below, above] = [0.9999, 1.0001].map(|factor| sigma * factor);
            let [finer, coarser] = [below, above].map(|sigma| Levels::of(sigma).unwrap().halvings);
            assert_eq!(finer + 1, coarser, "σ {sigma}");
            let after = blur(&source, REGION, above, EdgeMode::Clamp);
            let before: Vec<_> = blur(&source, REGION, below, EdgeMode::Clamp)
                .pixels
                .iter()
                .map(|pixel| pixel.map(f64::from))
                .collect();
            let jump = max_difference(&after, &before);
            println!("{sigma} {jump:.3}");
            assert!(jump <= 0.8, "σ {sigma}: {jump}");
        }
    }

    #[test]
    fn a_uniform_picture_stays_as_it_is_to_the_byte() {
        let source = Surface::new(REGION, |_, _| [0.7, 0.311, 0.02, 0.83]);
        for sigma in [0.5, 1.0, 2.3, 3.0, 3.5, 9.0, 47.0, 130.0, 500.0] {
            assert_same(
                &blur(&source, REGION, sigma, EdgeMode::Clamp),
                &source,
                sigma,
            );
        }
    }

    #[test]
    fn tiles_are_the_whole_to_the_byte() {
        let source = noise(REGION);
        for edge in EDGE_MODES {
            for sigma in [0.8, 3.0, 3.2, 11.0, 60.0] {
                let wanted = match edge {
                    EdgeMode::Transparent => REGION.expand(17),
                    EdgeMode::Clamp => REGION,
                };
                let whole = blur(&source, wanted, sigma, edge);
                for tile in testing::tiles(wanted, IVec2::new(61, 47)) {
                    let read = tile.expand(blur_reach(sigma));
                    let read = match edge {
                        EdgeMode::Transparent => read.intersect(REGION),
                        EdgeMode::Clamp => read.clamp(REGION),
                    };
                    let steps = blur_steps(REGION, tile, sigma, edge);
                    let part = run(&steps, &source.cropped(read)).cropped(tile);
                    assert_same(&part, &whole.cropped(tile), (edge, sigma, tile));
                }
            }
        }
    }

    /// Far enough for every position, and no further than one of them needs.
    #[test]
    fn the_reach_is_exact() {
        let everywhere = IntRect::new(IVec2::splat(-10_000), IVec2::splat(10_000));
        for sigma in [0.1, 0.5, 3.0, 3.1, 8.0, 20.0, 130.0, 500.0] {
            let furthest = (-256..256)
                .map(|x| {
                    let wanted = IntRect::new(IVec2::splat(x), IVec2::splat(x + 3));
                    let read = Levels::of(sigma).map_or(wanted, |levels| {
                        let footprints = levels.footprints();
                        let region =
                            chain::plan(&footprints, everywhere, wanted, EdgeMode::Transparent)
                                .iter()
                                .zip(&footprints)
                                .map(|(step, footprint)| footprint.read(step.region))
                                .take(2)
                                .collect::<Vec<_>>();
                        // Blurs of level 0 read in both of their steps.
                        match levels.halvings {
                            0 => IntRect::new(
                                IVec2::new(region[0].min.x, region[1].min.y),
                                IVec2::new(region[0].max.x, region[1].max.y),
                            ),
                            _ => region[0],
                        }
                    });
                    assert_eq!((wanted.min - read.min).x, (wanted.min - read.min).y);
                    (wanted.min - read.min)
                        .max(read.max - wanted.max)
                        .max_element()
                })
                .max();
            assert_eq!(furthest, Some(blur_reach(sigma)), "σ {sigma}");
        }
    }

    #[test]
    fn what_is_far_from_the_source_is_not_drawn() {
        for sigma in [1.0, 30.0] {
            let far = REGION.max + blur_reach(sigma) + 1;
            let wanted = IntRect::new(far, far + 50);
            let steps = blur_steps(REGION, wanted, sigma, EdgeMode::Transparent);
            assert!(!steps.is_empty());
            assert!(steps.iter().all(|step| step.region.is_empty()), "{steps:?}");
        }
    }

    #[test]
    fn a_blur_of_nothing_takes_no_steps() {
        for sigma in [0.0, -1.0, f64::NAN, 0.1] {
            assert!(blur_steps(REGION, REGION, sigma, EdgeMode::Clamp).is_empty());
            assert_eq!(blur_reach(sigma), 0);
        }
    }
}
