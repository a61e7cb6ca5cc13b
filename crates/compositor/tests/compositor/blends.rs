//! Blended colours against the formulas of W3C Compositing and Blending Level 1, in f64.
//!
//! A blended group has half floats, and so has what lies behind it in linear light: the colour that
//! a formula is given, a channel over its alpha, may be off by 2⁻¹⁰ of itself. Some formulas make
//! far more of that, as a dodge does by a source that is almost white. So what is delivered is held
//! against all that the formula gives within that reach, and may be off by one code value beyond it:
//! half of one for its rounding, 0.36 for the dither of a blended surface, the rest for the alphas.

use std::fmt;

use framefence_compositor::{BlendMode, BlendSpace, Color, Content, Group, Layer};
use image::RgbaImage;

use crate::light::{Premultiplied, blended_values, delivered_codes, over};
use crate::render::{at, render, scene, solid, with};

/// The ends, their neighbours, where formulas change over, and what lies between. Times the alphas
/// below most are whole code values.
const LEVELS: [u8; 12] = [0, 1, 5, 20, 63, 64, 127, 128, 190, 250, 254, 255];
const ALPHAS: [u8; 4] = [0, 51, 153, 255];

/// Every level with every alpha; its channels are different levels.
pub(crate) fn colors() -> Vec<Color> {
    let level = |index: usize| LEVELS[index % LEVELS.len()];
    ALPHAS
        .into_iter()
        .flat_map(|alpha| {
            (0..LEVELS.len()).map(move |index| {
                Color::rgba(level(index), level(index + 5), level(index + 8), alpha)
            })
        })
        .collect()
}

/// Each colour in a row of its own.
fn rows() -> Vec<Layer> {
    let colors = colors();
    let width = colors.len() as f64;
    (0..)
        .zip(colors)
        .map(|(y, color)| at(width / 2.0, f64::from(y) + 0.5, solid(width, 1.0, color)))
        .collect()
}

/// Each colour in a column of its own.
pub(crate) fn columns() -> Vec<Layer> {
    let colors = colors();
    let height = colors.len() as f64;
    (0..)
        .zip(colors)
        .map(|(x, color)| at(f64::from(x) + 0.5, height / 2.0, solid(1.0, height, color)))
        .collect()
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    space: BlendSpace,
    background: Color,
}

fn settings() -> impl Iterator<Item = Setting> {
    let backgrounds = [
        Color::TRANSPARENT,
        Color::rgb(60, 130, 220),
        Color::rgba(200, 90, 30, 153),
    ];
    [BlendSpace::Srgb, BlendSpace::Linear]
        .into_iter()
        .flat_map(move |space| backgrounds.map(|background| Setting { space, background }))
}

impl Setting {
    fn draw(self, layers: Vec<Layer>) -> RgbaImage {
        let side = colors().len() as u32;
        let mut scene = scene(side, side, layers);
        scene.blend_space = self.space;
        scene.canvas.background = self.background.into();
        render(&scene)
    }

    fn encoded(self, color: Color) -> Premultiplied {
        blended_values(color, self.space)
    }

    fn delivered(self, color: Premultiplied) -> [f64; 4] {
        delivered_codes(color, self.space)
    }

    /// What lies behind the columns in each row.
    fn backdrops(self) -> Vec<Premultiplied> {
        // In sRGB, frames are blended in the 8 bits that are delivered.
        if self.space == BlendSpace::Srgb {
            let drawn = self.draw(rows());
            return (0..drawn.height())
                .map(|y| drawn.get_pixel(0, y).0.map(|code| f64::from(code) / 255.0))
                .collect();
        }
        let background = self.encoded(self.background);
        colors()
            .into_iter()
            .map(|color| over(self.encoded(color), background))
            .collect()
    }
}

/// Section 9.1, and `plus-lighter` of CSS for `add`; `front_by` and `behind_by` is what the colours
/// are multiplied by that are given to the formula.
fn blended(
    mode: BlendMode,
    (front, front_by): (Premultiplied, f64),
    (behind, behind_by): (Premultiplied, f64),
) -> Premultiplied {
    if mode == BlendMode::Add {
        return std::array::from_fn(|index| (front[index] + behind[index]).min(1.0));
    }
    let ([.., front_alpha], [.., behind_alpha]) = (front, behind);
    let both = front_alpha * behind_alpha;
    std::array::from_fn(|index| {
        let apart = front[index] * (1.0 - behind_alpha) + behind[index] * (1.0 - front_alpha);
        let mixed = || {
            mix(
                mode,
                rounded(behind[index] / behind_alpha, behind_by),
                rounded(front[index] / front_alpha, front_by),
            )
        };
        match index {
            3 => apart + both,
            _ if both == 0.0 => apart,
            _ => apart + both * mixed(),
        }
    })
}

/// None and all of a colour are exact in half floats.
fn rounded(color: f64, by: f64) -> f64 {
    match color {
        0.0 | 1.0 => color,
        _ => (color * by).min(1.0),
    }
}

/// B(backdrop, source) of the specification.
fn mix(mode: BlendMode, backdrop: f64, source: f64) -> f64 {
    let (b, s) = (backdrop, source);
    match mode {
        BlendMode::Multiply => b * s,
        BlendMode::Screen => b + s - b * s,
        BlendMode::Overlay => mix(BlendMode::HardLight, s, b),
        BlendMode::Darken => b.min(s),
        BlendMode::Lighten => b.max(s),
        BlendMode::ColorDodge if b <= 0.0 => 0.0,
        BlendMode::ColorDodge if s >= 1.0 => 1.0,
        BlendMode::ColorDodge => (b / (1.0 - s)).min(1.0),
        BlendMode::ColorBurn if b >= 1.0 => 1.0,
        BlendMode::ColorBurn if s <= 0.0 => 0.0,
        BlendMode::ColorBurn => 1.0 - ((1.0 - b) / s).min(1.0),
        BlendMode::HardLight if s <= 0.5 => mix(BlendMode::Multiply, b, 2.0 * s),
        BlendMode::HardLight => mix(BlendMode::Screen, b, 2.0 * s - 1.0),
        BlendMode::SoftLight if s <= 0.5 => b - (1.0 - 2.0 * s) * b * (1.0 - b),
        BlendMode::SoftLight if b <= 0.25 => {
            b + (2.0 * s - 1.0) * (((16.0 * b - 12.0) * b + 4.0) * b - b)
        }
        BlendMode::SoftLight => b + (2.0 * s - 1.0) * (b.sqrt() - b),
        BlendMode::Difference => (b - s).abs(),
        BlendMode::Exclusion => b + s - 2.0 * b * s,
        _ => s,
    }
}

/// Checks all rows and columns; `expected` is the least and the most that a pixel may be.
fn assert_expected(
    drawn: &RgbaImage,
    tolerance: f64,
    what: impl fmt::Debug,
    expected: impl Fn(Color, usize) -> [[f64; 4]; 2],
) {
    let colors = colors();
    for (x, y, pixel) in drawn.enumerate_pixels() {
        let (column, row) = (x as usize, y as usize);
        let [least, most] = expected(colors[column], row);
        for (index, &code) in pixel.0.iter().enumerate() {
            let allowed = least[index] - tolerance..=most[index] + tolerance;
            assert!(
                allowed.contains(&f64::from(code)),
                "{what:?}: channel {index} of {} on {} is {code}, not in {allowed:?}",
                colors[column],
                colors[row]
            );
        }
    }
}

const HALF: f64 = 1.0 / 1024.0;
const ROUNDED: [f64; 3] = [1.0, 1.0 - HALF, 1.0 + HALF];

/// What a layer shows that is one draw is blended in single floats.
#[test]
fn every_mode_of_a_single_layer_is_what_its_formula_says() {
    assert_formulas(&ROUNDED[..1], |mode| {
        let columns = columns().into_iter();
        let blended = columns.map(|layer| with(layer, |layer| layer.blend = mode));
        blended.collect()
    });
}

#[test]
fn every_mode_of_a_group_is_what_its_formula_says() {
    assert_formulas(&ROUNDED, |mode| {
        let group = Content::Group(Group {
            size: None,
            layers: columns(),
        });
        vec![with(Layer::new(group), |layer| layer.blend = mode)]
    });
}

/// `front_by` is what a blended layer's colours may have been multiplied by.
fn assert_formulas(front_by: &[f64], blended_layers: impl Fn(BlendMode) -> Vec<Layer>) {
    for setting in settings() {
        let backdrops = setting.backdrops();
        let behind_by = match setting.space {
            BlendSpace::Srgb => &ROUNDED[..1],
            _ => &ROUNDED[..],
        };
        for mode in BlendMode::ALL {
            let mut layers = rows();
            layers.extend(blended_layers(mode));
            let drawn = setting.draw(layers);
            assert_expected(&drawn, 1.0, (mode, setting), |color, row| {
                let mut range = [[f64::INFINITY; 4], [f64::NEG_INFINITY; 4]];
                for &front_by in front_by {
                    for &behind_by in behind_by {
                        let front = (setting.encoded(color), front_by);
                        let behind = (backdrops[row], behind_by);
                        let possible = setting.delivered(blended(mode, front, behind));
                        for (index, value) in possible.into_iter().enumerate() {
                            range[0][index] = range[0][index].min(value);
                            range[1][index] = range[1][index].max(value);
                        }
                    }
                }
                range
            });
        }
    }
}

/// A target of 8 bits rounds twice: the layer's colour and what is left of the backdrop's. What was
/// drawn on nothing is rounded once, and not dithered.
#[test]
fn layers_lie_over_each_other_as_their_alpha_says() {
    for setting in settings() {
        let once = match setting.space {
            BlendSpace::Srgb if setting.background == Color::TRANSPARENT => 0.501,
            _ => 1.0,
        };
        let background = setting.encoded(setting.background);
        assert_expected(&setting.draw(columns()), once, setting, |color, _| {
            [setting.delivered(over(setting.encoded(color), background)); 2]
        });
        let backdrops = setting.backdrops();
        let drawn = setting.draw([rows(), columns()].concat());
        assert_expected(&drawn, 1.0, setting, |color, row| {
            [setting.delivered(over(setting.encoded(color), backdrops[row])); 2]
        });
    }
}
