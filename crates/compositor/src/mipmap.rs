//! A picture at all the sizes that smooth downscaling samples it in.

use framefence::Size;

use crate::color::BlendSpace;
use crate::picture::Picture;

/// One size of a picture.
#[derive(Debug)]
pub(crate) struct MipLevel {
    pub(crate) size: Size,
    /// RGBA with alpha multiplied in, rows packed tightly: in [`BlendSpace::Srgb`] sRGB-encoded and
    /// then multiplied, in [`BlendSpace::Linear`] multiplied and then sRGB-encoded.
    pub(crate) rgba: Vec<u8>,
}

/// The picture and its halvings down to one pixel, largest first.
///
/// Each texel of a level is the average, in linear light and weighted by alpha, of exactly the area
/// that it covers of the level before: with an odd size it takes parts of pixels, so no level is
/// shifted against another. Averages are carried on unrounded from level to level.
pub(crate) fn mip_chain(picture: &Picture, space: BlendSpace) -> Vec<MipLevel> {
    let source = StraightRgba::of(picture);
    let mut levels = vec![MipLevel {
        size: picture.size,
        rgba: match space {
            BlendSpace::Srgb => premultiply(&picture.straight_rgba),
            BlendSpace::Linear => premultiply_light(&source),
        },
    }];
    let mut light: Option<Vec<LightPixel>> = None;
    loop {
        let previous = levels[levels.len() - 1].size;
        if previous.width == 1 && previous.height == 1 {
            return levels;
        }
        let size = Size::new((previous.width / 2).max(1), (previous.height / 2).max(1));
        let halved = match &light {
            None => average(previous, size, &source),
            Some(pixels) => average(previous, size, &Light(pixels)),
        };
        levels.push(MipLevel {
            size,
            rgba: halved
                .iter()
                .flat_map(|&pixel| encode(pixel, space))
                .collect(),
        });
        light = Some(halved);
    }
}

/// Linear light multiplied by alpha, and alpha.
pub(crate) type LightPixel = [f32; 4];

/// Pixels that can be read as light.
trait LightSource {
    fn at(&self, index: usize) -> LightPixel;
}

/// The pixels of a level that has been averaged before.
struct Light<'a>(&'a [LightPixel]);

impl LightSource for Light<'_> {
    fn at(&self, index: usize) -> LightPixel {
        self.0[index]
    }
}

/// The pixels of the picture, decoded as they are read: as floats all of them would take four times
/// the picture's memory.
struct StraightRgba<'a> {
    rgba: &'a [u8],
    linear_from_srgb: [f32; 256],
}

impl<'a> StraightRgba<'a> {
    fn of(picture: &'a Picture) -> Self {
        Self {
            rgba: &picture.straight_rgba,
            linear_from_srgb: std::array::from_fn(|code| linear_from_srgb(code as f32 / 255.0)),
        }
    }
}

impl LightSource for StraightRgba<'_> {
    fn at(&self, index: usize) -> LightPixel {
        let pixel = &self.rgba[index * 4..index * 4 + 4];
        let alpha = f32::from(pixel[3]) / 255.0;
        let channel = |code: u8| self.linear_from_srgb[usize::from(code)] * alpha;
        [
            channel(pixel[0]),
            channel(pixel[1]),
            channel(pixel[2]),
            alpha,
        ]
    }
}

fn average(from: Size, to: Size, source: &impl LightSource) -> Vec<LightPixel> {
    let columns = footprints(from.width, to.width);
    let rows = footprints(from.height, to.height);
    let mut pixels = Vec::with_capacity(to.width as usize * to.height as usize);
    for row in &rows {
        for column in &columns {
            let mut sum = [0.0; 4];
            for (y, weight_y) in row.weights() {
                for (x, weight_x) in column.weights() {
                    let pixel = source.at(y * from.width as usize + x);
                    for (sum, channel) in sum.iter_mut().zip(pixel) {
                        *sum += weight_x * weight_y * channel;
                    }
                }
            }
            pixels.push(sum);
        }
    }
    pixels
}

/// The source samples that one sample of the smaller level covers along one axis. Halving covers at
/// most three and parts of none but the outer two.
struct Footprint {
    first: usize,
    count: usize,
    weights: [f32; 3],
}

impl Footprint {
    fn weights(&self) -> impl Iterator<Item = (usize, f32)> {
        (self.first..).zip(self.weights).take(self.count)
    }
}

fn footprints(from: u32, to: u32) -> Vec<Footprint> {
    let (from, to) = (u64::from(from), u64::from(to));
    (0..to)
        .map(|index| {
            // In parts of 1/to of a source sample, so that all is whole numbers.
            let (start, end) = (index * from, (index + 1) * from);
            let first = start / to;
            let last = (end - 1) / to;
            let mut weights = [0.0; 3];
            for (weight, sample) in weights.iter_mut().zip(first..=last) {
                let covered = ((sample + 1) * to).min(end) - (sample * to).max(start);
                *weight = covered as f32 / from as f32;
            }
            Footprint {
                first: first as usize,
                count: (last - first + 1) as usize,
                weights,
            }
        })
        .collect()
}

fn premultiply(straight_rgba: &[u8]) -> Vec<u8> {
    straight_rgba
        .chunks_exact(4)
        .flat_map(|pixel| {
            let alpha = u32::from(pixel[3]);
            let channel = |code: u8| ((u32::from(code) * alpha + 127) / 255) as u8;
            [
                channel(pixel[0]),
                channel(pixel[1]),
                channel(pixel[2]),
                pixel[3],
            ]
        })
        .collect()
}

/// The same for light: each pixel is decoded, multiplied, and encoded again.
fn premultiply_light(source: &StraightRgba<'_>) -> Vec<u8> {
    let pixels = source.rgba.chunks_exact(4).enumerate();
    pixels
        .flat_map(|(index, pixel)| match pixel[3] {
            0 => [0; 4],
            // Multiplied by 1, the code values are what they were.
            255 => [pixel[0], pixel[1], pixel[2], 255],
            _ => encode(source.at(index), BlendSpace::Linear),
        })
        .collect()
}

/// Light as the texels of a blend space.
pub(crate) fn encode([red, green, blue, alpha]: LightPixel, space: BlendSpace) -> [u8; 4] {
    if alpha <= 0.0 {
        return [0; 4];
    }
    let channel = |light: f32| match space {
        BlendSpace::Srgb => quantize(srgb_from_linear(light / alpha) * alpha),
        BlendSpace::Linear => quantize(srgb_from_linear(light)),
    };
    [channel(red), channel(green), channel(blue), quantize(alpha)]
}

fn quantize(value: f32) -> u8 {
    // `as` saturates, so rounding errors beyond 1 do no harm.
    (value * 255.0 + 0.5) as u8
}

/// IEC 61966-2-1.
fn linear_from_srgb(encoded: f32) -> f32 {
    if encoded <= 0.04045 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

/// IEC 61966-2-1.
fn srgb_from_linear(linear: f32) -> f32 {
    if linear <= 0.003_130_8 {
        linear * 12.92
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> Picture {
        let straight_rgba = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .flat_map(|(x, y)| pixel(x, y))
            .collect();
        Picture {
            size: Size::new(width, height),
            straight_rgba,
        }
    }

    #[test]
    fn levels_halve_down_to_one_pixel() {
        let sizes: Vec<_> = mip_chain(&picture(7, 2, |_, _| [0; 4]), BlendSpace::Srgb)
            .iter()
            .map(|level| (level.size.width, level.size.height))
            .collect();
        assert_eq!(sizes, [(7, 2), (3, 1), (1, 1)]);
    }

    #[test]
    fn black_and_white_average_to_the_grey_of_half_the_light() {
        let checker = picture(8, 8, |x, y| match (x + y) % 2 {
            0 => [255; 4],
            _ => [0, 0, 0, 255],
        });
        // sRGB encodes half the light of white as 188.
        for space in [BlendSpace::Srgb, BlendSpace::Linear] {
            for level in &mip_chain(&checker, space)[1..] {
                for pixel in level.rgba.chunks_exact(4) {
                    assert_eq!(pixel, [188, 188, 188, 255]);
                }
            }
        }
    }

    #[test]
    fn transparent_pixels_give_no_colour() {
        let half = picture(2, 1, |x, _| match x {
            0 => [255, 0, 0, 204],
            _ => [0, 255, 0, 0],
        });
        assert_eq!(mip_chain(&half, BlendSpace::Srgb)[1].rgba, [102, 0, 0, 102]);
    }

    /// Against the definition in f64: decoded, multiplied by alpha, encoded.
    #[test]
    fn texels_of_linear_light_are_multiplied_before_they_are_encoded() {
        let all = picture(256, 256, |code, alpha| [code as u8, 0, 255, alpha as u8]);
        let texels = &mip_chain(&all, BlendSpace::Linear)[0].rgba;
        for (texel, source) in texels
            .chunks_exact(4)
            .zip(all.straight_rgba.chunks_exact(4))
        {
            let alpha = f64::from(source[3]) / 255.0;
            assert_eq!(texel[3], source[3]);
            for (&given, &code) in texel[..3].iter().zip(source) {
                let encoded = f64::from(code) / 255.0;
                let light = match encoded {
                    ..=0.04045 => encoded / 12.92,
                    _ => ((encoded + 0.055) / 1.055).powf(2.4),
                } * alpha;
                let expected = match light {
                    ..=0.003_130_8 => light * 12.92,
                    _ => 1.055 * light.powf(1.0 / 2.4) - 0.055,
                };
                let error = (f64::from(given) - expected * 255.0).abs();
                assert!(error <= 0.501, "{code} at alpha {}", source[3]);
            }
        }
    }

    /// A half-covered white pixel beside nothing is a quarter of white's light.
    #[test]
    fn halvings_of_linear_light_average_what_is_multiplied() {
        let half = picture(2, 1, |x, _| match x {
            0 => [255, 255, 255, 128],
            _ => [0; 4],
        });
        // sRGB encodes 64 / 255 of the light of white as 137.3.
        let level = &mip_chain(&half, BlendSpace::Linear)[1];
        assert_eq!(level.rgba, [137, 137, 137, 64]);
    }

    /// Every source sample counts the same, whatever the sizes.
    #[test]
    fn footprints_cover_each_sample_once() {
        for from in 2..200_u32 {
            let to = from / 2;
            let mut covered = vec![0.0; from as usize];
            for footprint in footprints(from, to) {
                for (sample, weight) in footprint.weights() {
                    covered[sample] += weight;
                }
            }
            let expected = to as f32 / from as f32;
            for weight in covered {
                assert!((weight - expected).abs() < 1e-6, "{from} to {to}");
            }
        }
    }
}
