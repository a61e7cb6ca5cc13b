//! Texts in scenes.

use std::path::{Path, PathBuf};

use framefence::Time;
use framefence_compositor::{
    BlendSpace, Color, Compositor, Content, Crop, FontFamilies, FontFamily, FontProblem, Layer,
    Text, TextBackground, TextOutline, WordHighlight, WordTime,
};
use image::RgbaImage;

use crate::render::{at, faded, gpu, render, render_at, scene, transparent_scene};

fn text_layer(text: Text) -> Layer {
    Layer::new(Content::Text(Box::new(text)))
}

fn fonts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fonts")
}

fn emoji(text: &str, size: f64) -> Text {
    Text {
        font: FontFamilies(vec![FontFamily::File("NotoColorEmoji-subset.ttf".into())]),
        ..Text::new(text, size)
    }
}

/// Columns and rows from the first to the last that something is in.
fn ink(image: &RgbaImage) -> Option<[u32; 4]> {
    image
        .enumerate_pixels()
        .filter(|(_, _, pixel)| pixel[3] > 0)
        .map(|(x, y, _)| [x, y, x, y])
        .reduce(|[left, top, right, bottom], [x, y, ..]| {
            [left.min(x), top.min(y), right.max(x), bottom.max(y)]
        })
}

/// All that a text can have.
pub(crate) fn caption() -> Text {
    let seconds = |value| Time::from_ratio(value, 1);
    let background = |color: Color| TextBackground {
        color: color.into(),
        padding: [8.0, 4.0].into(),
        corner_radius: 6.0.into(),
    };
    Text {
        color: Color::rgb(255, 240, 200).into(),
        outline: Some(TextOutline {
            width: 2.0.into(),
            color: Color::rgb(30, 20, 80).into(),
        }),
        background: Some(background(Color::rgba(10, 90, 60, 160))),
        highlight: Some(WordHighlight {
            words: vec![
                WordTime {
                    start: seconds(0),
                    end: seconds(1),
                },
                WordTime {
                    start: seconds(1),
                    end: seconds(2),
                },
            ],
            color: Some(Color::rgb(255, 80, 30).into()),
            background: Some(background(Color::rgb(240, 220, 40))),
        }),
        ..Text::new("Hamburg fjord", 30.0)
    }
}

#[test]
fn a_text_lies_in_the_middle_of_its_box() {
    let layer = at(100.0, 50.0, text_layer(Text::new("HHHHH", 40.0)));
    let image = render(&transparent_scene(200, 100, vec![layer]));
    let [left, top, right, bottom] = ink(&image).unwrap();
    assert!((left + right).abs_diff(199) <= 1, "{left} to {right}");
    // Capitals of Inter are 0.727 em high.
    assert!((bottom - top + 1).abs_diff(29) <= 1, "{top} to {bottom}");
}

#[test]
fn every_part_is_drawn_in_its_order() {
    let image = render_at(
        &scene(260, 80, vec![at(130.0, 40.0, text_layer(caption()))]),
        Path::new(""),
        Time::ZERO,
    );
    let has = |color: [u8; 3]| image.pixels().filter(|pixel| pixel.0[..3] == color).count();
    // Outline, highlighted and other glyphs, the box of a word.
    for color in [[30, 20, 80], [255, 80, 30], [255, 240, 200], [240, 220, 40]] {
        assert!(has(color) > 20, "{color:?} {}", has(color));
    }
    // The box of the text over black: 160 / 255 of its colour.
    assert!(has([6, 56, 38]) > 100);
}

#[test]
fn a_faded_text_is_faded_as_one() {
    let parts = |opacity: f64| {
        let layer = faded(opacity, at(130.0, 40.0, text_layer(caption())));
        render(&scene(260, 80, vec![layer]))
    };
    let (full, half) = (parts(1.0), parts(0.5));
    for (full, half) in full.pixels().zip(half.pixels()) {
        for channel in 0..3 {
            let expected = f64::from(full[channel]) / 2.0;
            assert!(
                (f64::from(half[channel]) - expected).abs() <= 1.0,
                "{full:?} {half:?}"
            );
        }
    }
}

#[test]
fn a_crop_cuts_a_text_off_and_nothing_else_does() {
    let mut layer = at(130.0, 40.0, text_layer(caption()));
    let whole = render(&transparent_scene(260, 80, vec![layer.clone()]));
    layer.crop = Some(Crop {
        left: 0.5.into(),
        ..Crop::default()
    });
    layer.anchor = [0.0, 0.5].into();
    layer.position = Some([130.0, 40.0].into());
    let cropped = render(&transparent_scene(260, 80, vec![layer]));
    let [left, top, _, bottom] = ink(&cropped).unwrap();
    assert_eq!(left, 130);
    // 36 pixels of line, without the padding that reaches beyond it.
    assert_eq!((top, bottom), (22, 57));
    for (x, y, pixel) in cropped.enumerate_pixels() {
        let is_inside = (131..230).contains(&x) && (23..57).contains(&y) && pixel[3] > 0;
        if is_inside {
            let apart = pixel.0.iter().zip(whole.get_pixel(x, y).0);
            let apart = apart.map(|(a, b)| a.abs_diff(b)).max();
            assert!(apart <= Some(1), "{x},{y}");
        }
    }
}

#[test]
fn emoji_keep_their_colours_in_either_space() {
    let draw = |space| {
        let mut scene = scene(
            100,
            100,
            vec![at(50.0, 50.0, text_layer(emoji("👍", 80.0)))],
        );
        scene.blend_space = space;
        render_at(&scene, &fonts(), Time::ZERO)
    };
    let (srgb, linear) = (draw(BlendSpace::Srgb), draw(BlendSpace::Linear));
    let yellow = |image: &RgbaImage| {
        let is_yellow =
            |pixel: &&image::Rgba<u8>| pixel[0] > 200 && pixel[1] > 150 && pixel[2] < 120;
        image.pixels().filter(is_yellow).count()
    };
    assert!(yellow(&srgb) > 500, "{}", yellow(&srgb));
    // Where the picture is opaque, the space makes no difference but for rounding.
    let center = |image: &RgbaImage| image.get_pixel(50, 55).0;
    for (srgb, linear) in center(&srgb).into_iter().zip(center(&linear)) {
        assert!(srgb.abs_diff(linear) <= 1);
    }
}

#[test]
fn fonts_that_are_missing_are_named_and_replaced() {
    let missing = Text {
        font: FontFamilies(vec![
            FontFamily::Name("No Such Family".into()),
            FontFamily::File("missing.ttf".into()),
        ]),
        ..Text::new("Hello", 40.0)
    };
    let layers = |text| vec![at(100.0, 50.0, text_layer(text))];
    let scene = transparent_scene(200, 100, layers(missing));
    let compositor = Compositor::new(gpu(), scene.clone(), "").unwrap();
    let [name, file] = compositor.font_notices() else {
        panic!("{:?}", compositor.font_notices());
    };
    assert!(name.asked.contains("No Such Family"), "{name}");
    assert_eq!(name.reason, FontProblem::NotInstalled);
    assert!(
        file.asked.contains("missing.ttf") && file.used.contains("Inter"),
        "{file}"
    );
    let bundled = transparent_scene(200, 100, layers(Text::new("Hello", 40.0)));
    assert!(render(&scene) == render(&bundled));
}

#[test]
fn a_hundred_thousand_characters_are_drawn() {
    let text = Text {
        width: Some(380.0.into()),
        ..Text::new("Lorem ipsum dolor sit amet, ".repeat(3600), 12.0)
    };
    let mut layer = at(200.0, 0.0, text_layer(text));
    layer.anchor = [0.5, 0.5].into();
    let image = render(&transparent_scene(400, 300, vec![layer]));
    let covered = image.pixels().filter(|pixel| pixel[3] > 128).count();
    assert!(covered > 400 * 300 / 20, "{covered}");
}
