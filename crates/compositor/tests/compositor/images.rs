//! Pictures in scenes against the `image` crate: what it decodes, crops and resizes.

use std::path::Path;

use framefence::Time;
use framefence_compositor::{BlendSpace, Crop, Fit, FitMode, Layer};
use image::imageops::{self, FilterType};
use image::{Rgba, RgbaImage};

use crate::downscaling::{area_average, photograph};
use crate::render::{
    Difference, at, picture, render_at, scaled, test_card, transparent_scene, with,
};

/// The layer with its top left corner there.
fn from(x: f64, y: f64, layer: Layer) -> Layer {
    with(at(x, y, layer), |layer| layer.anchor = [0.0, 0.0].into())
}

fn fitted(mode: FitMode, width: u32, height: u32, layer: Layer) -> Layer {
    with(layer, |layer| {
        layer.fit = Some(Fit {
            size: Some([width, height].map(f64::from).into()),
            mode,
        });
    })
}

/// `part` on nothing, with its top left corner at `x`, `y`.
fn alone(width: u32, height: u32, part: &RgbaImage, x: i64, y: i64) -> RgbaImage {
    let mut alone = RgbaImage::new(width, height);
    imageops::replace(&mut alone, part, x, y);
    alone
}

/// A folder with the photograph in it and the test card.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    photograph().save(folder.path().join("photo.png")).unwrap();
    test_card(40, 28)
        .save(folder.path().join("card.png"))
        .unwrap();
    folder
}

fn draw(folder: &Path, width: u32, height: u32, layer: Layer) -> RgbaImage {
    render_at(
        &transparent_scene(width, height, vec![layer]),
        folder,
        Time::ZERO,
    )
}

/// Whatever the format, an opaque picture at its own size is what was decoded, to the byte. In linear
/// light it is the GPU that decodes texels, which it may do wrong by half a code value: Mesa's
/// software rasteriser comes near enough to that for the dither to show it.
#[test]
fn pictures_at_their_own_size_are_as_decoded() {
    let folder = folder();
    let card = test_card(41, 27);
    card.save(folder.path().join("lossless.webp")).unwrap();
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets");
    let paths = [
        folder.path().join("photo.png"),
        folder.path().join("card.png"),
        folder.path().join("lossless.webp"),
        assets.join("rocket.jpg"),
        assets.join("coffee.png"),
    ];
    for path in paths {
        let decoded = image::open(&path).unwrap().into_rgba8();
        for space in [BlendSpace::Srgb, BlendSpace::Linear] {
            for (x, y) in [(0, 0), (-7, 5), (3, -11)] {
                let layer = from(f64::from(x), f64::from(y), picture(&path));
                let (width, height) = decoded.dimensions();
                let mut scene = transparent_scene(width, height, vec![layer]);
                scene.blend_space = space;
                let drawn = render_at(&scene, Path::new(""), Time::ZERO);
                let expected = alone(width, height, &decoded, x.into(), y.into());
                let largest_apart = match space {
                    BlendSpace::Srgb => 0,
                    _ => 1,
                };
                Difference::between(&drawn, &expected).assert_within(
                    largest_apart,
                    0.5,
                    format_args!("{} at {x},{y} in {space:?}", path.display()),
                );
            }
        }
    }
}

/// Rounded once as the alpha is multiplied in, and once as the frame is delivered.
#[test]
fn translucent_pictures_are_as_decoded_with_their_alpha_multiplied_in() {
    let folder = tempfile::tempdir().unwrap();
    let glass = RgbaImage::from_fn(64, 64, |x, y| {
        Rgba([
            x as u8 * 4,
            y as u8 * 4,
            255 - x as u8 * 4,
            (x * y / 16) as u8,
        ])
    });
    for name in ["glass.png", "glass.webp"] {
        glass.save(folder.path().join(name)).unwrap();
        let drawn = draw(folder.path(), 64, 64, picture(name));
        for (drawn, straight) in drawn.pixels().zip(glass.pixels()) {
            let alpha = f64::from(straight[3]) / 255.0;
            assert_eq!(drawn[3], straight[3]);
            for channel in 0..3 {
                let expected = f64::from(straight[channel]) * alpha;
                assert!(
                    (f64::from(drawn[channel]) - expected).abs() <= 1.0,
                    "{name}: {straight:?} became {drawn:?}"
                );
            }
        }
    }
}

/// Where the cuts fall between pixels of the picture.
#[test]
fn crops_are_to_the_byte() {
    let folder = folder();
    let photograph = photograph();
    for [left, top, right, bottom] in [[64, 32, 128, 96], [1, 0, 0, 287], [447, 0, 0, 0]] {
        let layer = with(from(5.0, 3.0, picture("photo.png")), |layer| {
            layer.crop = Some(Crop {
                left: (f64::from(left) / 448.0).into(),
                top: (f64::from(top) / 288.0).into(),
                right: (f64::from(right) / 448.0).into(),
                bottom: (f64::from(bottom) / 288.0).into(),
            });
        });
        let (width, height) = (448 - left - right, 288 - top - bottom);
        let expected = imageops::crop_imm(&photograph, left, top, width, height).to_image();
        let drawn = draw(folder.path(), 460, 300, layer);
        let expected = alone(460, 300, &expected, 5, 3);
        assert!(drawn == expected, "{left}, {top}, {right}, {bottom}");
    }
}

/// Bilinear, as `image` has it: a GPU weighs texels in steps of 1/256, which comes to half a code
/// value along each axis, and each result is rounded.
#[test]
fn enlarged_pictures_are_bilinear() {
    let folder = folder();
    for (width, height) in [(80, 56), (120, 28), (100, 70), (53, 91), (400, 280)] {
        let scale = |to: u32, from: u32| f64::from(to) / f64::from(from);
        let layer = scaled(scale(width, 40), scale(height, 28), picture("card.png"));
        let drawn = draw(folder.path(), width, height, layer);
        let expected = imageops::resize(&test_card(40, 28), width, height, FilterType::Triangle);
        Difference::between(&drawn, &expected).assert_within(
            2,
            0.5,
            format_args!("{width}x{height}"),
        );
    }
}

#[test]
fn fits_are_resized_pictures_in_the_middle_of_their_box() {
    let folder = folder();
    let card = test_card(40, 28);
    let resized = |width, height| imageops::resize(&card, width, height, FilterType::Triangle);
    let cut = |whole: &RgbaImage, x, y, width, height| {
        imageops::crop_imm(whole, x, y, width, height).to_image()
    };
    let cases = [
        (FitMode::Contain, (120, 120), resized(120, 84), (0, 18)),
        (FitMode::Contain, (160, 56), resized(80, 56), (40, 0)),
        (
            FitMode::Cover,
            (84, 84),
            cut(&resized(120, 84), 18, 0, 84, 84),
            (0, 0),
        ),
        (
            FitMode::Cover,
            (80, 30),
            cut(&resized(80, 56), 0, 13, 80, 30),
            (0, 0),
        ),
        (FitMode::Fill, (120, 56), resized(120, 56), (0, 0)),
        (FitMode::Fill, (40, 84), resized(40, 84), (0, 0)),
    ];
    for (mode, (width, height), expected, (x, y)) in cases {
        let layer = fitted(mode, width, height, from(6.0, 4.0, picture("card.png")));
        let drawn = draw(folder.path(), 180, 140, layer);
        let expected = alone(180, 140, &expected, 6 + x, 4 + y);
        Difference::between(&drawn, &expected).assert_within(
            2,
            0.5,
            format_args!("{mode:?} in {width}x{height}"),
        );
    }
}

/// At halvings, which are averages of areas in linear light; rounded once more.
#[test]
fn fits_into_smaller_boxes_are_area_averages() {
    let folder = folder();
    let photograph = photograph();
    let halved = |width, height| area_average(&photograph, width, height);
    let cut = |whole: &RgbaImage, x, y, width, height| {
        imageops::crop_imm(whole, x, y, width, height).to_image()
    };
    let cases = [
        (FitMode::Contain, (112, 112), halved(112, 72), (0, 20)),
        (
            FitMode::Cover,
            (100, 72),
            cut(&halved(112, 72), 6, 0, 100, 72),
            (0, 0),
        ),
        (FitMode::Fill, (224, 144), halved(224, 144), (0, 0)),
    ];
    for (mode, (width, height), expected, (x, y)) in cases {
        let layer = fitted(mode, width, height, from(6.0, 4.0, picture("photo.png")));
        let drawn = draw(folder.path(), 240, 160, layer);
        let expected = alone(240, 160, &expected, 6 + x, 4 + y);
        Difference::between(&drawn, &expected).assert_within(
            1,
            0.1,
            format_args!("{mode:?} in {width}x{height}"),
        );
    }
}

/// A crop comes before the fit: what remains of the picture is fitted.
#[test]
fn what_is_left_by_a_crop_is_fitted() {
    let folder = folder();
    let layer = with(from(0.0, 0.0, picture("card.png")), |layer| {
        layer.crop = Some(Crop {
            left: 0.5.into(),
            ..Crop::default()
        });
    });
    let drawn = draw(
        folder.path(),
        60,
        84,
        fitted(FitMode::Contain, 60, 84, layer),
    );
    let right = imageops::crop_imm(&test_card(40, 28), 20, 0, 20, 28).to_image();
    let expected = imageops::resize(&right, 60, 84, FilterType::Triangle);
    // At the cut a filter sees the picture beyond it, of which `image` has nothing.
    let is_away_from_the_cut = |x, _| x > 1;
    Difference::where_(&drawn, &expected, is_away_from_the_cut).assert_within(2, 0.5, "inside");
}
