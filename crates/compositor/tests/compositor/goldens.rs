//! Each kind of layer and each property, compared with pictures of how it is meant to look.
//!
//! The goldens hold the delivered bytes, that is, premultiplied colours. No channel may differ by
//! more than 2 code values: one for the rounding of each of up to two blended layers, which the
//! GPU is free in; textures add half a value by the 8-bit weights of their filters. Run with
//! `FRAMEFENCE_BLESS=1` to write the pictures anew, then look at each one that changed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use framefence::Time;
use framefence_compositor::{Animated, Color, Easing, Keyframe, Layer, Scene};
use image::RgbaImage;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};

use crate::render::{
    Difference, at, faded, gradient, picture, render, render_at, rotated, scaled, scene, solid,
    test_card, transparent_scene,
};

const TOLERANCE: u8 = 2;
const MAX_GOLDEN_BYTES: u64 = 4096;

const RED: Color = Color::rgb(220, 40, 30);
const GREEN: Color = Color::rgb(40, 200, 80);
const BLUE: Color = Color::rgb(30, 60, 230);
const GOLD: Color = Color::rgb(240, 190, 40);

#[track_caller]
fn assert_golden(name: &str, actual: &RgbaImage) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens");
    let path = folder.join(name).with_extension("png");
    if env::var_os("FRAMEFENCE_BLESS").is_some_and(|value| value == "1") {
        let file = fs::File::create(&path).unwrap();
        let encoder =
            PngEncoder::new_with_quality(file, CompressionType::Best, FilterType::Adaptive);
        actual.write_with_encoder(encoder).unwrap();
    }
    let bytes = fs::read(&path)
        .unwrap_or_else(|error| panic!("{error}: {}; bless it first", path.display()));
    assert!(
        bytes.len() as u64 <= MAX_GOLDEN_BYTES,
        "{name} has {} bytes; goldens have at most {MAX_GOLDEN_BYTES}",
        bytes.len()
    );
    let expected = image::load_from_memory(&bytes).unwrap().into_rgba8();
    Difference::between(actual, &expected).assert_within(TOLERANCE, f64::from(TOLERANCE), name);
}

/// A folder with the picture `card.png` in it.
fn card_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.png");
    test_card(24, 16).save(&path).unwrap();
    (folder, "card.png".into())
}

fn keyframes<T: Copy>(frames: &[(i64, T, Easing)]) -> Animated<T> {
    Animated::Keyframes(
        frames
            .iter()
            .map(|&(seconds, value, easing)| Keyframe {
                time: Time::from_ratio(seconds, 1),
                value,
                easing,
            })
            .collect(),
    )
}

#[test]
fn solids() {
    let scene = scene(
        64,
        48,
        vec![
            at(20.0, 20.0, solid(24.0, 24.0, RED)),
            at(
                34.5,
                28.25,
                solid(30.0, 20.0, Color::rgba(30, 60, 230, 128)),
            ),
        ],
    );
    assert_golden("solids", &render(&scene));
}

#[test]
fn transparent_canvas() {
    let scene = transparent_scene(
        64,
        48,
        vec![
            at(20.0, 20.0, rotated(30.0, solid(24.0, 24.0, RED))),
            at(36.0, 28.0, solid(30.0, 20.0, Color::rgba(30, 60, 230, 128))),
        ],
    );
    assert_golden("transparent_canvas", &render(&scene));
}

#[test]
fn linear_gradients() {
    let diagonal = gradient(
        [60.0, 30.0],
        [0.0, 0.0],
        [1.0, 1.0],
        &[(0.0, RED), (0.3, GOLD), (1.0, BLUE)],
    );
    let fading = gradient(
        [50.0, 16.0],
        [0.2, 0.5],
        [0.8, 0.5],
        &[(0.0, GREEN), (1.0, Color::rgba(40, 200, 80, 0))],
    );
    let scene = scene(
        64,
        48,
        vec![
            at(32.0, 17.0, diagonal),
            at(32.0, 37.0, rotated(-8.0, fading)),
        ],
    );
    assert_golden("linear_gradients", &render(&scene));
}

#[test]
fn gradient_stops() {
    let stops = |start, end, stops: &[(f64, Color)]| gradient([60.0, 10.0], start, end, stops);
    let scene = scene(
        64,
        48,
        vec![
            // A jump at equal offsets.
            at(
                32.0,
                7.0,
                stops(
                    [0.0, 0.5],
                    [1.0, 0.5],
                    &[(0.0, RED), (0.5, GOLD), (0.5, BLUE), (1.0, GREEN)],
                ),
            ),
            // An offset below the one before counts as equal to it.
            at(
                32.0,
                18.0,
                stops(
                    [0.0, 0.5],
                    [1.0, 0.5],
                    &[(0.0, RED), (0.7, GOLD), (0.2, BLUE)],
                ),
            ),
            // Colours go on before the first stop and after the last one.
            at(
                32.0,
                29.0,
                stops([0.3, 0.5], [0.7, 0.5], &[(0.25, RED), (0.75, BLUE)]),
            ),
            // A line without length has the last colour.
            at(
                32.0,
                40.0,
                stops([0.5, 0.5], [0.5, 0.5], &[(0.0, RED), (1.0, GREEN)]),
            ),
        ],
    );
    assert_golden("gradient_stops", &render(&scene));
}

#[test]
fn images() {
    let (folder, card) = card_folder();
    let scene = scene(
        64,
        48,
        vec![
            at(14.0, 10.0, picture(&card)),
            at(44.0, 14.0, scaled(1.5, 1.5, picture(&card))),
            at(14.0, 34.0, scaled(0.5, 0.5, picture(&card))),
            at(42.0, 36.0, rotated(25.0, picture(&card))),
        ],
    );
    assert_golden("images", &render_at(&scene, folder.path(), Time::ZERO));
}

#[test]
fn positions() {
    // Half and quarter pixels spread over two columns and rows.
    let scene = scene(
        64,
        48,
        vec![
            at(10.0, 10.0, solid(8.0, 8.0, RED)),
            at(30.5, 10.0, solid(8.0, 8.0, GREEN)),
            at(50.25, 10.75, solid(8.0, 8.0, GOLD)),
            at(0.0, 48.0, solid(20.0, 20.0, BLUE)),
            at(64.0, 40.0, solid(30.0, 6.0, GOLD)),
            solid(6.0, 6.0, Color::WHITE),
        ],
    );
    assert_golden("positions", &render(&scene));
}

#[test]
fn anchors() {
    let anchored = |x: f64, y: f64, color| Layer {
        anchor: [x, y].into(),
        ..at(32.0, 24.0, rotated(10.0, solid(18.0, 12.0, color)))
    };
    let scene = scene(
        64,
        48,
        vec![
            anchored(0.0, 0.0, RED),
            anchored(1.0, 1.0, GREEN),
            anchored(1.2, -0.3, BLUE),
            anchored(-0.3, 1.4, GOLD),
        ],
    );
    assert_golden("anchors", &render(&scene));
}

#[test]
fn scales() {
    let (folder, card) = card_folder();
    let scene = scene(
        64,
        48,
        vec![
            at(16.0, 12.0, scaled(-1.0, 1.0, picture(&card))),
            at(48.0, 12.0, scaled(1.0, -1.0, picture(&card))),
            at(20.0, 36.0, rotated(10.0, scaled(1.4, 0.6, picture(&card)))),
            at(52.0, 36.0, scaled(0.5, 2.0, solid(20.0, 8.0, GOLD))),
            at(32.0, 24.0, scaled(0.0, 9.0, solid(20.0, 8.0, RED))),
        ],
    );
    assert_golden("scales", &render_at(&scene, folder.path(), Time::ZERO));
}

#[test]
fn rotations() {
    let turned = |x, y, degrees, color| at(x, y, rotated(degrees, solid(18.0, 6.0, color)));
    let scene = scene(
        64,
        48,
        vec![
            turned(12.0, 12.0, 30.0, RED),
            turned(32.0, 12.0, -45.0, GREEN),
            turned(52.0, 12.0, 90.0, GOLD),
            turned(12.0, 36.0, 725.0, BLUE),
            turned(32.0, 36.0, 180.5, RED),
            at(52.0, 36.0, rotated(20.0, solid(0.5, 20.0, Color::WHITE))),
        ],
    );
    assert_golden("rotations", &render(&scene));
}

#[test]
fn opacities() {
    let (folder, card) = card_folder();
    let sky = gradient(
        [20.0, 20.0],
        [0.0, 0.0],
        [0.0, 1.0],
        &[(0.0, RED), (1.0, BLUE)],
    );
    let scene = scene(
        64,
        48,
        vec![
            at(32.0, 24.0, solid(64.0, 6.0, Color::WHITE)),
            at(12.0, 24.0, faded(0.5, solid(20.0, 20.0, GREEN))),
            at(36.0, 24.0, faded(0.25, picture(&card))),
            at(54.0, 24.0, faded(0.75, sky)),
            faded(0.0, solid(64.0, 48.0, RED)),
        ],
    );
    assert_golden("opacities", &render_at(&scene, folder.path(), Time::ZERO));
}

/// The in point is seen, the out point is not.
#[test]
fn times() {
    let seen = |x: f64, in_point: i64, out_point: Option<i64>| Layer {
        in_point: Time::from_ratio(in_point, 25),
        out_point: out_point.map(|frame| Time::from_ratio(frame, 25)),
        ..at(x, 24.0, solid(8.0, 30.0, GOLD))
    };
    let layers = vec![
        seen(6.0, 0, Some(10)),
        seen(18.0, 0, Some(11)),
        seen(30.0, 10, None),
        seen(42.0, 11, None),
        seen(54.0, 0, None),
    ];
    let scene = scene(64, 48, layers);
    let frame = render_at(&scene, Path::new(""), Time::from_ratio(10, 25));
    assert_golden("times", &frame);
}

/// One row for each easing, from left to right; a mark for each tenth of the time.
#[test]
fn easings() {
    let easings = [
        Easing::Hold,
        Easing::Linear,
        Easing::Ease,
        Easing::EaseIn,
        Easing::EaseOut,
        Easing::EaseInOut,
        Easing::CubicBezier([0.3, 1.8, 0.7, -0.8]),
    ];
    let mut canvas = RgbaImage::new(64, 48);
    for tenth in 0..=10 {
        let layers = (0..)
            .zip(easings)
            .map(|(row, easing)| Layer {
                position: Some(keyframes(&[
                    (0, [8.0, 4.5 + 6.5 * f64::from(row)], easing),
                    (1, [56.0, 4.5 + 6.5 * f64::from(row)], Easing::Hold),
                ])),
                ..solid(2.0, 5.0, Color::rgba(255, 220, 120, 255))
            })
            .collect();
        let frame = render_at(
            &transparent_scene(64, 48, layers),
            Path::new(""),
            Time::from_ratio(tenth, 10),
        );
        for (sum, pixel) in canvas.iter_mut().zip(frame.iter()) {
            *sum = (*sum).max(*pixel);
        }
    }
    assert_golden("easings", &canvas);
}

/// Every animated property, half-way.
#[test]
fn keyframed_properties() {
    let linear = Easing::Linear;
    let moving = Layer {
        position: Some(keyframes(&[
            (0, [0.0, 0.0], linear),
            (1, [32.0, 28.0], linear),
        ])),
        anchor: keyframes(&[(0, [0.0, 0.0], linear), (1, [1.0, 1.0], linear)]),
        scale: keyframes(&[(0, [1.0, 1.0], linear), (1, [3.0, 2.0], linear)]),
        rotation: keyframes(&[(0, 0.0, linear), (1, 90.0, linear)]),
        opacity: keyframes(&[(0, 0.6, linear), (1, 1.0, linear)]),
        ..solid(10.0, 6.0, GOLD)
    };
    let mut fading = gradient(
        [28.0, 40.0],
        [0.0, 0.0],
        [0.0, 1.0],
        &[(0.0, RED), (1.0, BLUE)],
    );
    if let framefence_compositor::Content::LinearGradient(gradient) = &mut fading.content {
        gradient.size = Some(keyframes(&[
            (0, [20.0, 40.0], linear),
            (1, [36.0, 40.0], linear),
        ]));
        gradient.end = keyframes(&[(0, [0.0, 1.0], linear), (1, [1.0, 0.0], linear)]);
        gradient.stops[0].color = keyframes(&[(0, RED, linear), (1, GREEN, linear)]);
        gradient.stops[1].offset = keyframes(&[(0, 1.0, linear), (1, 0.6, linear)]);
    }
    let mut scene = scene(64, 48, vec![moving, at(46.0, 24.0, fading)]);
    scene.canvas.background = keyframes(&[(0, Color::BLACK, linear), (1, Color::WHITE, linear)]);
    let frame = render_at(&scene, Path::new(""), Time::from_ratio(1, 2));
    assert_golden("keyframed_properties", &frame);
}

#[test]
fn small_scene() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets");
    let scene = Scene::load(assets.join("small.json")).unwrap();
    let frame = render_at(&scene, &assets, Time::from_ratio(1, 5));
    // A quarter of the size keeps the golden small.
    let small = image::imageops::thumbnail(&frame, 40, 22);
    assert_golden("small_scene", &small);
}
