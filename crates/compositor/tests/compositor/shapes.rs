//! The coverage of shapes, against their area in each pixel and against tiny-skia's drawing.

use std::fmt;

use framefence_compositor::{Color, Content, Corners, Layer, Shape, Stroke, StrokeAlign};
use image::{ImageBuffer, RgbaImage};
use tiny_skia::{FillRule, Paint, Path, PathBuilder, Pixmap, Transform};

use crate::reference::away_from_edges;
use crate::render::{Difference, at, render, rotated, transparent_scene, with};

/// A box with round corners, or the ellipse in it, turned about its middle.
#[derive(Clone, Copy, Debug)]
struct Outline {
    size: [f64; 2],
    /// How far the corners' curves reach along the sides.
    corner: [f64; 2],
    /// Of the curve |x|ⁿ + |y|ⁿ = 1.
    exponent: i32,
    degrees: f64,
}

const SIDE: u32 = 64;
const CENTER: [f64; 2] = [31.7, 32.4];

impl Outline {
    fn rectangle(size: [f64; 2], radius: f64, degrees: f64) -> Self {
        Self {
            size,
            corner: [radius; 2],
            exponent: 2,
            degrees,
        }
    }

    /// The curve whose reach makes it pass through the middle of a circle's arc.
    fn continuous(size: [f64; 2], radius: f64, degrees: f64) -> Self {
        let reach = radius * (1.0 - 0.5_f64.sqrt()) / (1.0 - 0.5_f64.cbrt());
        Self {
            corner: [reach; 2],
            exponent: 3,
            ..Self::rectangle(size, radius, degrees)
        }
    }

    fn ellipse(size: [f64; 2], degrees: f64) -> Self {
        Self {
            corner: size.map(|side| side / 2.0),
            ..Self::rectangle(size, 0.0, degrees)
        }
    }

    fn is_ellipse(&self) -> bool {
        self.corner == self.size.map(|side| side / 2.0)
    }

    /// The outline whose sides lie farther out; round corners grow along.
    fn grown(self, by: f64) -> Self {
        let corner = self.corner.map(|reach| match reach {
            0.0 => 0.0,
            reach => (reach + by).max(0.0),
        });
        Self {
            size: self.size.map(|side| side + 2.0 * by),
            corner,
            ..self
        }
    }

    fn contains(&self, [x, y]: [f64; 2]) -> bool {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let [x, y] = [x - CENTER[0], y - CENTER[1]];
        let along = [x * cos + y * sin, y * cos - x * sin];
        let to_edge: [f64; 2] =
            std::array::from_fn(|axis| self.size[axis] / 2.0 - along[axis].abs());
        let into_corner: [f64; 2] = std::array::from_fn(|axis| self.corner[axis] - to_edge[axis]);
        if to_edge.iter().any(|&distance| distance <= 0.0) {
            return false;
        }
        if into_corner.iter().any(|&distance| distance <= 0.0) {
            return true;
        }
        let power = |axis: usize| (into_corner[axis] / self.corner[axis]).powi(self.exponent);
        power(0) + power(1) <= 1.0
    }

    fn layer(&self, fill: Option<Color>, stroke: Option<Stroke>) -> Layer {
        let shape = Shape {
            size: Some(self.size.into()),
            fill: fill.map(Into::into),
            stroke,
        };
        let content = match self.is_ellipse() {
            true => Content::Ellipse(shape),
            false => Content::Rectangle(shape),
        };
        let layer = at(
            CENTER[0],
            CENTER[1],
            rotated(self.degrees, Layer::new(content)),
        );
        match (self.is_ellipse(), self.exponent) {
            (true, _) => layer,
            (false, 2) => with(layer, |layer| layer.corner_radius = self.corner[0].into()),
            (false, _) => with(layer, |layer| {
                let reach_of_one = (1.0 - 0.5_f64.sqrt()) / (1.0 - 0.5_f64.cbrt());
                layer.corner_radius = (self.corner[0] / reach_of_one).into();
                layer.corners = Corners::Continuous;
            }),
        }
    }

    /// Its corners are quarters of ellipses as cubic curves, which stray from them by less than a
    /// three-thousandth of the radius.
    fn path(&self) -> Path {
        const HANDLE: f32 = 0.552_284_8;
        let [x, y] = self.size.map(|side| (side / 2.0) as f32);
        let [rx, ry] = self.corner.map(|reach| reach as f32);
        let (hx, hy) = (x - rx + rx * HANDLE, y - ry + ry * HANDLE);
        let mut path = PathBuilder::new();
        path.move_to(rx - x, -y);
        path.line_to(x - rx, -y);
        path.cubic_to(hx, -y, x, -hy, x, ry - y);
        path.line_to(x, y - ry);
        path.cubic_to(x, hy, hx, y, x - rx, y);
        path.line_to(rx - x, y);
        path.cubic_to(-hx, y, -x, hy, -x, y - ry);
        path.line_to(-x, ry - y);
        path.cubic_to(-x, -hy, -hx, -y, rx - x, -y);
        path.close();
        path.finish().unwrap()
    }
}

fn draw(layer: Layer) -> RgbaImage {
    render(&transparent_scene(SIDE, SIDE, vec![layer]))
}

/// How far a white layer's coverage of pixels is from the area of what contains their points: the
/// largest difference, and the mean over the pixels that an edge runs through.
fn apart_from_area(layer: Layer, contains: impl Fn([f64; 2]) -> bool) -> (f64, f64) {
    const SAMPLES: u32 = 64;
    let drawn = draw(layer);
    let (mut largest, mut sum, mut edges) = (0.0_f64, 0.0, 0);
    for (x, y, pixel) in drawn.enumerate_pixels() {
        let inside = (0..SAMPLES * SAMPLES)
            .filter(|sample| {
                let along = |from: u32, part: u32| {
                    f64::from(from) + (f64::from(part) + 0.5) / f64::from(SAMPLES)
                };
                contains([along(x, sample % SAMPLES), along(y, sample / SAMPLES)])
            })
            .count();
        let area = inside as f64 / f64::from(SAMPLES * SAMPLES);
        let apart = (f64::from(pixel[3]) / 255.0 - area).abs();
        largest = largest.max(apart);
        if area > 0.0 && area < 1.0 {
            sum += apart;
            edges += 1;
        }
    }
    (largest, sum / f64::from(edges.max(1)))
}

const ALIGNS: [(StrokeAlign, f64, f64); 3] = [
    (StrokeAlign::Inside, 0.0, 1.0),
    (StrokeAlign::Center, 0.5, 0.5),
    (StrokeAlign::Outside, 1.0, 0.0),
];

fn stroke(color: Color, width: f64, align: StrokeAlign) -> Stroke {
    Stroke {
        color: color.into(),
        width: width.into(),
        align,
    }
}

/// Straight edges are exact but for 1/128 that the samples may miss and 1/510 of rounding. At the
/// corners of a turned box, coverage is the product of two edges', off by up to 0.015. Curves are
/// their tangents, pixel by pixel, which for a radius of a few pixels comes to 0.02 and at the tips
/// of a slender ellipse to more. The mean stays at what samples and rounding make.
#[test]
fn shapes_cover_the_area_that_lies_in_them() {
    for (outline, largest_apart) in [
        (Outline::rectangle([40.3, 27.7], 0.0, 0.0), 0.010),
        (Outline::rectangle([40.3, 27.7], 0.0, 17.0), 0.025),
        (Outline::rectangle([40.3, 27.7], 0.0, 45.0), 0.025),
        (Outline::rectangle([40.3, 27.7], 9.0, 0.0), 0.016),
        (Outline::rectangle([40.3, 27.7], 9.0, 17.0), 0.016),
        (Outline::rectangle([40.3, 27.7], 2.0, 31.0), 0.060),
        (Outline::continuous([40.3, 27.7], 7.0, 0.0), 0.025),
        (Outline::continuous([40.3, 27.7], 7.0, 17.0), 0.025),
        (Outline::ellipse([41.0, 23.0], 0.0), 0.025),
        (Outline::ellipse([41.0, 23.0], 33.0), 0.025),
    ] {
        let fill = outline.layer(Some(Color::WHITE), None);
        let strokes = ALIGNS.map(|(align, outwards, inwards)| {
            let width = 3.2;
            let (outer, inner) = (
                outline.grown(outwards * width),
                outline.grown(-inwards * width),
            );
            let layer = outline.layer(None, Some(stroke(Color::WHITE, width, align)));
            (layer, outer, Some(inner))
        });
        for (layer, outer, inner) in [(fill, outline, None)].into_iter().chain(strokes) {
            let (largest, mean) = apart_from_area(layer, |point| {
                outer.contains(point) && !inner.is_some_and(|inner| inner.contains(point))
            });
            assert!(
                largest <= largest_apart && mean <= 0.006,
                "{largest} and {mean} in the mean between {outer:?} and {inner:?}"
            );
        }
    }
}

/// Where the edge is curved, a pixel sees its tangent: the smaller the circle, the less that is it.
#[test]
fn circles_cover_their_area() {
    for radius in [0.4, 0.7, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0] {
        let circle = Outline::ellipse([radius * 2.0; 2], 0.0);
        let layer = circle.layer(Some(Color::WHITE), None);
        let (largest, _) = apart_from_area(layer, |point| circle.contains(point));
        assert!(
            largest <= 0.01 + 0.08 / radius,
            "{largest} of radius {radius}"
        );
    }
}

/// A stroke over its own fill: along the edge nothing shines through from behind.
#[test]
fn a_stroke_of_the_fills_colour_makes_the_shape_larger() {
    let color = Color::rgba(230, 120, 40, 255);
    for outline in [
        Outline::rectangle([40.3, 27.7], 9.0, 17.0),
        Outline::ellipse([41.0, 23.0], 33.0),
    ] {
        let stroke = stroke(color, 4.0, StrokeAlign::Center);
        let both = draw(outline.layer(Some(color), Some(stroke)));
        let larger = draw(outline.grown(2.0).layer(Some(color), None));
        // Rounding of the two areas' sum.
        Difference::between(&both, &larger).assert_within(1, 0.01, format_args!("{outline:?}"));
    }
}

#[test]
fn fills_look_as_tiny_skia_draws_them() {
    let color = Color::rgba(230, 120, 40, 200);
    for outline in peers_outlines() {
        let actual = draw(outline.layer(Some(color), None));
        let expected = drawn_by_tiny_skia(&outline, color, |pixmap, path, paint, transform| {
            pixmap.fill_path(path, paint, FillRule::Winding, transform, None);
        });
        assert_alike(&actual, &expected, format_args!("{outline:?}"));
    }
}

/// Of ellipses only circles have sides that are ellipses in either way of drawing a stroke.
#[test]
fn strokes_look_as_tiny_skia_draws_them() {
    let color = Color::rgba(230, 120, 40, 200);
    for width in [1.5, 3.0, 8.0] {
        let outlines = peers_outlines().into_iter();
        for outline in outlines.filter(|outline| outline.corner[0] == outline.corner[1]) {
            let stroke = stroke(color, width, StrokeAlign::Center);
            let actual = draw(outline.layer(None, Some(stroke)));
            let stroke = tiny_skia::Stroke {
                width: width as f32,
                ..tiny_skia::Stroke::default()
            };
            let expected = drawn_by_tiny_skia(&outline, color, |pixmap, path, paint, transform| {
                pixmap.stroke_path(path, paint, &stroke, transform, None);
            });
            assert_alike(
                &actual,
                &expected,
                format_args!("{width} along {outline:?}"),
            );
        }
    }
}

fn peers_outlines() -> Vec<Outline> {
    [0.0, 7.0, 45.0, 113.0]
        .into_iter()
        .flat_map(|degrees| {
            [
                Outline::rectangle([40.3, 27.7], 0.0, degrees),
                Outline::rectangle([40.3, 27.7], 9.0, degrees),
                Outline::ellipse([41.0, 23.0], degrees),
                Outline::ellipse([31.4, 31.4], degrees),
            ]
        })
        .collect()
}

fn drawn_by_tiny_skia(
    outline: &Outline,
    color: Color,
    draw: impl FnOnce(&mut Pixmap, &Path, &Paint<'_>, Transform),
) -> RgbaImage {
    let mut pixmap = Pixmap::new(SIDE, SIDE).unwrap();
    let mut paint = Paint::default();
    paint.set_color_rgba8(color.red, color.green, color.blue, color.alpha);
    let [x, y] = CENTER.map(|position| position as f32);
    let transform = Transform::from_rotate(outline.degrees as f32).post_translate(x, y);
    draw(&mut pixmap, &outline.path(), &paint, transform);
    ImageBuffer::from_raw(SIDE, SIDE, pixmap.take()).unwrap()
}

/// tiny-skia finds coverage from 4 × 4 samples a pixel: it is off by up to an eighth along an edge,
/// of a colour whose channels go up to 200, and twice that where two edges meet in a pixel. Around
/// corners its strokes follow the true curve only nearly. In the mean over the edges that comes to
/// less than 4 code values; away from them only the colour's rounding differs.
fn assert_alike(actual: &RgbaImage, expected: &RgbaImage, what: fmt::Arguments<'_>) {
    let is_even = away_from_edges(expected);
    Difference::where_(actual, expected, |x, y| !is_even(x, y)).assert_within(60, 4.0, what);
    Difference::where_(actual, expected, &is_even).assert_within(1, 1.0, what);
}
