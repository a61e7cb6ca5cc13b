//! The same pictures drawn by tiny-skia, a rasteriser on the CPU that shares no code with ours.
//!
//! tiny-skia finds coverage from 4 × 4 samples a pixel: along an edge it is off by up to an eighth,
//! at a corner by more, so pixels at edges may differ by 48 code values. All others may differ by 2
//! where colours are computed, and by 4 where textures are filtered: GPUs weigh texels in steps of
//! 1/256, tiny-skia in its own. The mean over the whole picture stays far below one code value.

use framefence::Time;
use framefence_compositor::{Color, Layer};
use image::{ImageBuffer, RgbaImage};
use tiny_skia::{
    FilterQuality, GradientStop, Paint, Pattern, Pixmap, PixmapRef, Point, Rect, Shader,
    SpreadMode, Transform,
};

use crate::render::{
    Difference, at, gradient, picture, render, render_at, rotated, scaled, solid, test_card,
    transparent_scene,
};

const SIZE: (u32, u32) = (160, 120);
const CENTER: (f32, f32) = (80.3, 60.6);

/// A box of one size in several places, angles and scales.
const PLACES: [(f64, [f64; 2]); 6] = [
    (0.0, [1.0, 1.0]),
    (7.0, [1.0, 1.0]),
    (-33.0, [1.3, 0.7]),
    (45.0, [1.0, 1.0]),
    (90.0, [1.25, 0.8]),
    (171.5, [-1.1, 1.4]),
];

fn placed(layer: Layer, degrees: f64, [x, y]: [f64; 2]) -> Layer {
    let (center_x, center_y) = CENTER;
    at(
        f64::from(center_x),
        f64::from(center_y),
        rotated(degrees, scaled(x, y, layer)),
    )
}

/// Draws a box of `size` with `shader` where [`placed`] would.
fn draw(shader: Shader<'_>, size: (f32, f32), degrees: f64, [x, y]: [f64; 2]) -> RgbaImage {
    let mut pixmap = Pixmap::new(SIZE.0, SIZE.1).unwrap();
    let paint = Paint {
        shader,
        anti_alias: true,
        ..Paint::default()
    };
    let transform = Transform::from_translate(-size.0 / 2.0, -size.1 / 2.0)
        .post_scale(x as f32, y as f32)
        .post_rotate(degrees as f32)
        .post_translate(CENTER.0, CENTER.1);
    let rect = Rect::from_xywh(0.0, 0.0, size.0, size.1).unwrap();
    pixmap.fill_rect(rect, &paint, transform, None);
    ImageBuffer::from_raw(SIZE.0, SIZE.1, pixmap.take()).unwrap()
}

/// Pixels whose neighbours are all covered alike, so that no edge runs through them.
pub(crate) fn away_from_edges(picture: &RgbaImage) -> impl Fn(u32, u32) -> bool {
    |x, y| {
        let alpha = picture.get_pixel(x, y)[3];
        let neighbours = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        neighbours
            .filter_map(|(dx, dy)| Some((x.checked_add_signed(dx)?, y.checked_add_signed(dy)?)))
            .filter(|&(x, y)| x < picture.width() && y < picture.height())
            .all(|(x, y)| picture.get_pixel(x, y)[3] == alpha)
    }
}

#[track_caller]
fn assert_alike(actual: &RgbaImage, expected: &RgbaImage, inside: u8, what: &str) {
    Difference::between(actual, expected).assert_within(48, 0.5, format_args!("{what}, all"));
    Difference::where_(actual, expected, away_from_edges(expected)).assert_within(
        inside,
        0.5,
        format_args!("{what}, away from edges"),
    );
}

fn skia_color(color: Color) -> tiny_skia::Color {
    tiny_skia::Color::from_rgba8(color.red, color.green, color.blue, color.alpha)
}

#[test]
fn solids_look_as_tiny_skia_draws_them() {
    let color = Color::rgba(230, 120, 40, 200);
    for (degrees, scale) in PLACES {
        let layer = placed(solid(70.0, 45.0, color), degrees, scale);
        let actual = render(&transparent_scene(SIZE.0, SIZE.1, vec![layer]));
        let expected = draw(
            Shader::SolidColor(skia_color(color)),
            (70.0, 45.0),
            degrees,
            scale,
        );
        assert_alike(&actual, &expected, 1, &format!("{degrees}° {scale:?}"));
    }
}

#[test]
fn gradients_look_as_tiny_skia_draws_them() {
    let stops = [
        (0.0, Color::rgb(230, 40, 40)),
        (0.4, Color::rgb(240, 220, 60)),
        (1.0, Color::rgb(20, 60, 220)),
    ];
    for (degrees, scale) in PLACES {
        let layer = gradient([70.0, 45.0], [0.1, 0.2], [0.9, 0.7], &stops);
        let actual = render(&transparent_scene(
            SIZE.0,
            SIZE.1,
            vec![placed(layer, degrees, scale)],
        ));
        let shader = tiny_skia::LinearGradient::new(
            Point::from_xy(7.0, 9.0),
            Point::from_xy(63.0, 31.5),
            stops
                .iter()
                .map(|&(offset, color)| GradientStop::new(offset as f32, skia_color(color)))
                .collect(),
            SpreadMode::Pad,
            Transform::identity(),
        )
        .unwrap();
        let expected = draw(shader, (70.0, 45.0), degrees, scale);
        assert_alike(&actual, &expected, 2, &format!("{degrees}° {scale:?}"));
    }
}

/// At scales from 1 up, where both sample the four nearest texels.
#[test]
fn images_look_as_tiny_skia_draws_them() {
    let folder = tempfile::tempdir().unwrap();
    let card = test_card(40, 28);
    card.save(folder.path().join("card.png")).unwrap();
    for (degrees, scale) in PLACES {
        let scale = scale.map(|axis| axis * 2.0);
        let layer = placed(picture("card.png"), degrees, scale);
        let scene = transparent_scene(SIZE.0, SIZE.1, vec![layer]);
        let actual = render_at(&scene, folder.path(), Time::ZERO);
        let pixels = PixmapRef::from_bytes(card.as_raw(), card.width(), card.height()).unwrap();
        let shader = Pattern::new(
            pixels,
            SpreadMode::Pad,
            FilterQuality::Bilinear,
            1.0,
            Transform::identity(),
        );
        let expected = draw(shader, (40.0, 28.0), degrees, scale);
        assert_alike(&actual, &expected, 4, &format!("{degrees}° {scale:?}"));
    }
}

/// Thinner than a pixel, turned any way, lying anywhere between pixels: a line has the weight of
/// its area. Each of the pixels it touches, at most three for a step along it, is rounded to 8 bits.
#[test]
fn thin_layers_keep_their_weight() {
    const LENGTH: f64 = 60.0;
    const ROUNDING: f64 = LENGTH * 2.0 * 0.5 / 255.0;
    for thickness in [0.02, 0.1, 0.5, 1.0, 1.7] {
        for (step, degrees) in (0..).zip([0.0, 3.0, 20.0, 45.0, 71.0, 90.0, 133.0]) {
            let center = 40.0 + 0.37 * f64::from(step);
            let line = rotated(degrees, solid(LENGTH, thickness, Color::WHITE));
            let frame = render(&transparent_scene(80, 80, vec![at(center, center, line)]));
            let weight: f64 = frame
                .pixels()
                .map(|pixel| f64::from(pixel[3]) / 255.0)
                .sum();
            assert!(
                (weight - LENGTH * thickness).abs() <= ROUNDING,
                "{thickness} px at {degrees}°: {weight} is not {}",
                LENGTH * thickness
            );
        }
    }
}

/// The corner of an upright box covers exactly the product of what its edges cover.
#[test]
fn edges_between_pixels_cover_parts_of_them() {
    let frame = render(&transparent_scene(
        8,
        8,
        vec![at(4.25, 4.5, solid(4.0, 4.0, Color::WHITE))],
    ));
    // From 2.25 to 6.25 and from 2.5 to 6.5.
    let across = [0.0, 0.0, 0.75, 1.0, 1.0, 1.0, 0.25, 0.0];
    let down = [0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0];
    for (x, y, pixel) in frame.enumerate_pixels() {
        let expected = across[x as usize] * down[y as usize] * 255.0;
        assert!(
            (f64::from(pixel[3]) - expected).abs() <= 0.51,
            "{x},{y}: {} is not {expected}",
            pixel[3]
        );
    }
}
