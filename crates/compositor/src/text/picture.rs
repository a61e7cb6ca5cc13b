//! Glyphs in their own colours.

use glam::{DVec2, DVec4, IVec2};
use kurbo::Rect;

use super::coverage::Coverage;
use super::glyph::{Art, Bitmap};
use super::projection::Projection;
use crate::color::{Color, PremultipliedColor};
use crate::rect::IntRect;

/// The most samples of a glyph's bitmap that a frame pixel takes along an axis: enough for the
/// largest that fonts have, reduced to a few pixels.
const MAX_SAMPLES: f64 = 32.0;

/// A window of the frame that glyphs are drawn over each other in: red, green, blue and alpha,
/// sRGB-encoded, with alpha multiplied in.
pub(super) struct Picture {
    window: IntRect,
    /// The text's colour, for what a glyph leaves to it.
    text_color: PremultipliedColor,
    pixels: Vec<DVec4>,
}

impl Picture {
    pub(super) fn new(window: IntRect, text_color: PremultipliedColor) -> Self {
        let size = window.size().as_usizevec2();
        Self {
            window,
            text_color,
            pixels: vec![DVec4::ZERO; size.x * size.y],
        }
    }

    /// Draws a glyph that lies in `bounds`, and in the frame within `touched`, over what is there.
    /// It is as opaque as the text's colour.
    pub(super) fn add(
        &mut self,
        art: &Art,
        bounds: Rect,
        projection: Projection,
        touched: IntRect,
    ) {
        match art {
            Art::Outline(_) => {}
            Art::Layers(layers) => {
                for (path, color) in layers {
                    let color = match color {
                        Some([red, green, blue, alpha]) => {
                            let color = Color::rgba(*red, *green, *blue, *alpha);
                            color.premultiplied().faded(self.text_color.0[3])
                        }
                        None => self.text_color,
                    };
                    let color = DVec4::from_array(color.0);
                    let mut coverage = Coverage::new(touched);
                    projection.trace(path, bounds, &mut coverage);
                    let covered = coverage.finish();
                    let mut covered = covered.iter().map(|&byte| f64::from(byte) / 255.0);
                    self.blend(touched, |_| color * covered.next().unwrap_or(0.0));
                }
            }
            Art::Bitmap(bitmap) => {
                let sampler = Sampler::new(bitmap, projection);
                let opacity = self.text_color.0[3];
                self.blend(touched, |pixel| sampler.average(pixel) * opacity);
            }
        }
    }

    /// Four bytes a pixel, rows from top to bottom.
    pub(super) fn finish(self) -> Vec<u8> {
        self.pixels
            .iter()
            .flat_map(DVec4::to_array)
            .map(|channel| (channel * 255.0).round() as u8)
            .collect()
    }

    /// Blends what `source` gives for each pixel of `touched`, row by row, over what is there.
    fn blend(&mut self, touched: IntRect, mut source: impl FnMut(IVec2) -> DVec4) {
        let width = self.window.size().x as usize;
        for y in touched.min.y..touched.max.y {
            let row = (y - self.window.min.y) as usize * width;
            for x in touched.min.x..touched.max.x {
                let source = source(IVec2::new(x, y));
                let pixel = &mut self.pixels[row + (x - self.window.min.x) as usize];
                *pixel = source + *pixel * (1.0 - source.w);
            }
        }
    }
}

/// Reads a bitmap where frame pixels lie on it.
struct Sampler<'a, F> {
    bitmap: &'a Bitmap,
    em_from_frame: F,
    /// Samples for a frame pixel along either axis.
    samples: u32,
}

impl<'a> Sampler<'a, ()> {
    fn new(
        bitmap: &'a Bitmap,
        projection: Projection,
    ) -> Sampler<'a, impl Fn(DVec2) -> Option<DVec2>> {
        // A sample at least for every pixel of the bitmap where the glyph is at its largest, and
        // twice that many where perspective halves it.
        let bitmap_scale = bitmap.width as f64 / bitmap.place.width();
        let reduction = bitmap_scale / projection.largest_scale(bitmap.place);
        Sampler {
            bitmap,
            em_from_frame: projection.em_from_frame(),
            samples: (2.0 * reduction).ceil().clamp(1.0, MAX_SAMPLES) as u32,
        }
    }
}

impl<F: Fn(DVec2) -> Option<DVec2>> Sampler<'_, F> {
    /// The mean of what lies in a frame pixel.
    fn average(&self, pixel: IVec2) -> DVec4 {
        let step = 1.0 / f64::from(self.samples);
        let mut sum = DVec4::ZERO;
        for y in 0..self.samples {
            for x in 0..self.samples {
                let offset = (DVec2::new(f64::from(x), f64::from(y)) + 0.5) * step;
                if let Some(em) = (self.em_from_frame)(pixel.as_dvec2() + offset) {
                    sum += self.interpolate(em);
                }
            }
        }
        sum * (step * step)
    }

    /// The bitmap at a point, between the middles of its pixels; nothing is beyond its edges.
    fn interpolate(&self, em: DVec2) -> DVec4 {
        let Bitmap {
            width,
            height,
            place,
            ..
        } = self.bitmap;
        let size = DVec2::new(*width as f64, *height as f64);
        let place_size = DVec2::new(place.width(), place.height());
        let point = (em - DVec2::new(place.x0, place.y0)) / place_size * size - 0.5;
        let corner = point.floor();
        let part = point - corner;
        let corner = corner.as_ivec2();
        let row = |y: i32| {
            self.pixel(corner.x, y)
                .lerp(self.pixel(corner.x + 1, y), part.x)
        };
        row(corner.y).lerp(row(corner.y + 1), part.y)
    }

    fn pixel(&self, x: i32, y: i32) -> DVec4 {
        let bitmap = self.bitmap;
        let [Ok(x), Ok(y)] = [usize::try_from(x), usize::try_from(y)] else {
            return DVec4::ZERO;
        };
        if x >= bitmap.width || y >= bitmap.height {
            return DVec4::ZERO;
        }
        let index = 4 * (y * bitmap.width + x);
        let [red, green, blue, alpha] =
            std::array::from_fn(|channel| f64::from(bitmap.rgba[index + channel]) / 255.0);
        DVec4::new(red * alpha, green * alpha, blue * alpha, alpha)
    }
}
