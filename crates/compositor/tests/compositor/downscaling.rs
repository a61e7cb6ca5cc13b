//! Downscaled pictures against the average of the area that each pixel covers, in linear light and
//! in f64.
//!
//! At 1/2, 1/4, … a pixel is one texel of a level that was averaged so, and may differ by 1 for its
//! rounding. In between, the GPU mixes the two nearest levels linearly: a pixel then sees somewhat
//! more than its area, or somewhat less, and shows detail softer than the average would.

use std::path::Path;

use framefence::Time;
use image::{Rgba, RgbaImage};

use crate::light::{linear_from_srgb, srgb_from_linear};
use crate::render::{
    Difference, at, picture, render_at, rotated, scaled, scene, transparent_scene,
};

/// The opaque picture at `width` × `height`, each pixel the average of its area.
pub(crate) fn area_average(source: &RgbaImage, width: u32, height: u32) -> RgbaImage {
    let weights = |from: u32, to: u32, index: u32| {
        let start = f64::from(index) * f64::from(from) / f64::from(to);
        let end = f64::from(index + 1) * f64::from(from) / f64::from(to);
        (0..from)
            .map(move |sample| {
                let covered = f64::from(sample + 1).min(end) - f64::from(sample).max(start);
                (sample, covered.max(0.0) / (end - start))
            })
            .filter(|&(_, weight)| weight > 0.0)
    };
    RgbaImage::from_fn(width, height, |x, y| {
        let mut light = [0.0; 3];
        for (row, weight_y) in weights(source.height(), height, y) {
            for (column, weight_x) in weights(source.width(), width, x) {
                let pixel = source.get_pixel(column, row);
                for (light, &code) in light.iter_mut().zip(&pixel.0) {
                    *light += weight_x * weight_y * linear_from_srgb(f64::from(code) / 255.0);
                }
            }
        }
        let [red, green, blue] = light.map(|light| (srgb_from_linear(light) * 255.0).round() as u8);
        Rgba([red, green, blue, 255])
    })
}

/// A photograph cut to 448 × 288 pixels, which halve evenly five times.
pub(crate) fn photograph() -> RgbaImage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets/chelsea.png");
    let whole = image::open(path).unwrap().into_rgba8();
    image::imageops::crop_imm(&whole, 0, 0, 448, 288).to_image()
}

fn downscaled(source: &RgbaImage, width: u32, height: u32) -> RgbaImage {
    let folder = tempfile::tempdir().unwrap();
    source.save(folder.path().join("source.png")).unwrap();
    let factor = |to: u32, from: u32| f64::from(to) / f64::from(from);
    let layer = scaled(
        factor(width, source.width()),
        factor(height, source.height()),
        picture("source.png"),
    );
    render_at(
        &scene(width, height, vec![layer]),
        folder.path(),
        Time::ZERO,
    )
}

#[test]
fn halvings_are_area_averages() {
    let photograph = photograph();
    for halvings in 1..=4 {
        let (width, height) = (448 >> halvings, 288 >> halvings);
        Difference::between(
            &downscaled(&photograph, width, height),
            &area_average(&photograph, width, height),
        )
        .assert_within(1, 0.1, format_args!("1/{}", 1 << halvings));
    }
}

#[test]
fn halvings_of_odd_sizes_are_area_averages() {
    let odd = image::imageops::crop_imm(&photograph(), 0, 0, 447, 287).to_image();
    Difference::between(&downscaled(&odd, 223, 143), &area_average(&odd, 223, 143)).assert_within(
        1,
        0.1,
        "447x287 to 223x143",
    );
}

#[test]
fn other_scales_are_near_area_averages() {
    let photograph = photograph();
    for (width, height) in [
        (300, 193),
        (190, 122),
        (150, 96),
        (99, 64),
        (40, 26),
        (448, 72),
        (61, 250),
        (448, 9),
    ] {
        let difference = Difference::between(
            &downscaled(&photograph, width, height),
            &area_average(&photograph, width, height),
        );
        difference.assert_within(48, 3.0, format_args!("{width}x{height}"));
    }
}

/// Stripes finer than a pixel keep the grey of half the light wherever they lie and however they
/// are turned: a picture that moves slowly does not shimmer.
#[test]
fn fine_detail_does_not_shimmer() {
    let folder = tempfile::tempdir().unwrap();
    let stripes = RgbaImage::from_fn(256, 256, |x, _| match x % 2 {
        0 => Rgba([255; 4]),
        _ => Rgba([0, 0, 0, 255]),
    });
    stripes.save(folder.path().join("stripes.png")).unwrap();
    let half_the_light = 188;
    for step in 0..8 {
        let moved = 32.0 + f64::from(step) / 8.0;
        let layer = rotated(
            f64::from(step) * 5.0,
            scaled(0.21, 0.21, picture("stripes.png")),
        );
        let frame = render_at(
            &scene(64, 64, vec![at(moved, moved, layer)]),
            folder.path(),
            Time::ZERO,
        );
        for (x, y) in (22..42).flat_map(|y| (22..42).map(move |x| (x, y))) {
            let grey = frame.get_pixel(x, y)[0];
            assert!(
                grey.abs_diff(half_the_light) <= 2,
                "{step} at {x},{y}: {grey}"
            );
        }
    }
}

/// What is transparent has no part in the colour of its neighbours.
#[test]
fn transparent_texels_do_not_bleed() {
    let folder = tempfile::tempdir().unwrap();
    let dots = RgbaImage::from_fn(64, 64, |x, y| match (x + y) % 2 {
        0 => Rgba([255, 0, 0, 255]),
        _ => Rgba([0, 255, 0, 0]),
    });
    dots.save(folder.path().join("dots.png")).unwrap();
    for scale in [0.23, 0.5, 1.0, 3.7] {
        let layer = scaled(scale, scale, picture("dots.png"));
        let frame = render_at(
            &transparent_scene(32, 32, vec![layer]),
            folder.path(),
            Time::ZERO,
        );
        for pixel in frame.pixels() {
            let [red, green, blue, alpha] = pixel.0;
            assert_eq!((green, blue), (0, 0), "at scale {scale}");
            assert!(red.abs_diff(alpha) <= 1, "at scale {scale}: {pixel:?}");
        }
    }
}
