//! PNG files hold the pixels that were written, say how they are to be read, and replace files
//! only when they are complete.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use framefence::pixel::{
    AlphaMode, ColorRange, Transfer, straight_srgb16, unpremultiply, unpremultiply_srgb,
};
use framefence::{ColorSpec, FrameSink, Image, OutputFormat, Size};
use framefence_media::{FileSink, PngSink, SaveError, WriteError, save_png};
use tempfile::TempDir;

use crate::support::{frame, frame_rate, image, names_in, noise, picture};

/// Sizes with one row, one column, and neither even.
const SIZES: [Size; 5] = [
    Size::new(1, 1),
    Size::new(7, 1),
    Size::new(1, 5),
    Size::new(33, 17),
    Size::new(64, 64),
];

/// What a file says of itself.
fn info(path: &Path) -> ::png::Info<'static> {
    let file = BufReader::new(File::open(path).expect("a file"));
    let reader = ::png::Decoder::new(file).read_info().expect("a PNG file");
    reader.info().clone()
}

/// Saves `image` and hands back what a decoder reads, after checking size and colour tag.
fn saved(image: &Image) -> (image::DynamicImage, ::png::ColorType) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("saved.png");
    save_png(image, &path).expect("the image is written");
    let info = info(&path);
    assert_eq!(
        (info.width, info.height),
        (image.size().width, image.size().height)
    );
    assert!(info.srgb.is_some(), "the file is tagged as sRGB");
    (
        image::open(&path).expect("a whole PNG file"),
        info.color_type,
    )
}

#[test]
fn opaque_frames_become_rgb_whatever_their_order_size_and_stride() {
    for size in SIZES {
        for padding_bytes in [0, 4, 252] {
            for (format, alpha, value) in [
                (OutputFormat::Rgba8, AlphaMode::Premultiplied, 255),
                (OutputFormat::Rgba8Srgb, AlphaMode::Straight, 255),
                (OutputFormat::Bgra8, AlphaMode::Opaque, 17),
                (OutputFormat::Bgra8Srgb, AlphaMode::Premultiplied, 255),
            ] {
                let is_bgra = matches!(format, OutputFormat::Bgra8 | OutputFormat::Bgra8Srgb);
                let color = ColorSpec {
                    alpha,
                    ..ColorSpec::SRGB
                };
                let (decoded, color_type) =
                    saved(&image(format, color, size, padding_bytes, |x, y| {
                        let [r, g, b, _] = noise(x, y, 1);
                        if is_bgra {
                            [b, g, r, value]
                        } else {
                            [r, g, b, value]
                        }
                    }));
                assert_eq!(color_type, ::png::ColorType::Rgb);
                for (x, y, pixel) in decoded.to_rgb8().enumerate_pixels() {
                    assert_eq!(pixel.0, noise(x, y, 1)[..3], "{format} {size} at {x},{y}");
                }
            }
        }
    }
}

#[test]
fn translucent_frames_become_straight() {
    let size = Size::new(37, 41);
    let keep: fn([u8; 4]) -> [u8; 4] = |pixel| pixel;
    for (format, alpha, straighten) in [
        (
            OutputFormat::Rgba8,
            AlphaMode::Premultiplied,
            unpremultiply as fn([u8; 4]) -> [u8; 4],
        ),
        (
            OutputFormat::Rgba8Srgb,
            AlphaMode::Premultiplied,
            unpremultiply_srgb,
        ),
        (OutputFormat::Rgba8Srgb, AlphaMode::Straight, keep),
    ] {
        let color = ColorSpec {
            alpha,
            ..ColorSpec::SRGB
        };
        let (decoded, color_type) = saved(&image(format, color, size, 8, |x, y| noise(x, y, 2)));
        assert_eq!(color_type, ::png::ColorType::Rgba);
        for (x, y, pixel) in decoded.to_rgba8().enumerate_pixels() {
            assert_eq!(
                pixel.0,
                straighten(noise(x, y, 2)),
                "{format} {alpha:?} at {x},{y}"
            );
        }
    }
}

/// A half-transparent red, as each format holds it, is the same red in the file.
#[test]
fn half_transparent_red_stays_red() {
    let size = Size::new(1, 1);
    for (format, premultiplied) in [
        (OutputFormat::Rgba8, [128, 0, 0, 128]),
        (OutputFormat::Bgra8, [0, 0, 128, 128]),
        // The sRGB code of 128/255 in linear light.
        (OutputFormat::Rgba8Srgb, [188, 0, 0, 128]),
        (OutputFormat::Bgra8Srgb, [0, 0, 188, 128]),
    ] {
        let (decoded, _) = saved(&image(format, ColorSpec::SRGB, size, 0, |_, _| {
            premultiplied
        }));
        assert_eq!(
            decoded.to_rgba8().get_pixel(0, 0).0,
            [255, 0, 0, 128],
            "{format}"
        );
    }
}

#[test]
fn one_translucent_pixel_in_the_last_place_is_enough() {
    let size = Size::new(5, 3);
    let (decoded, color_type) = saved(&image(
        OutputFormat::Rgba8,
        ColorSpec::SRGB,
        size,
        4,
        |x, y| {
            if (x, y) == (4, 2) {
                [0; 4]
            } else {
                [9, 9, 9, 255]
            }
        },
    ));
    assert_eq!(color_type, ::png::ColorType::Rgba);
    assert_eq!(decoded.to_rgba8().get_pixel(4, 2).0, [0; 4]);
    assert_eq!(decoded.to_rgba8().get_pixel(0, 0).0, [9, 9, 9, 255]);
}

#[test]
fn one_channel_becomes_grey() {
    for size in SIZES {
        let (decoded, color_type) = saved(&image(
            OutputFormat::R8,
            ColorSpec::SRGB,
            size,
            3,
            |x, y| [noise(x, y, 3)[0]],
        ));
        assert_eq!(color_type, ::png::ColorType::Grayscale);
        for (x, y, pixel) in decoded.to_luma8().enumerate_pixels() {
            assert_eq!(pixel.0, [noise(x, y, 3)[0]]);
        }
    }
}

#[test]
fn linear_floats_become_16_bit_srgb() {
    let size = Size::new(9, 5);
    let linear = |x: u32, y: u32| {
        let [r, g, b, a] = noise(x, y, 4).map(|value| f32::from(value) / 200.0);
        [r, g, b, a]
    };
    let half = |value: f32| half::f16::from_f32(value);
    let halves = image(
        OutputFormat::Rgba16F,
        ColorSpec::LINEAR_BT709,
        size,
        8,
        |x, y| {
            let [r, g, b, a] = linear(x, y).map(|value| half(value).to_le_bytes());
            [r[0], r[1], g[0], g[1], b[0], b[1], a[0], a[1]]
        },
    );
    let floats = image(
        OutputFormat::Rgba32F,
        ColorSpec::LINEAR_BT709,
        size,
        16,
        |x, y| float_bytes(linear(x, y)),
    );
    for (image, expected) in [
        (
            halves,
            &(|x, y| linear(x, y).map(|value| half(value).to_f32())) as &dyn Fn(u32, u32) -> _,
        ),
        (floats, &linear),
    ] {
        let (decoded, color_type) = saved(&image);
        assert_eq!(color_type, ::png::ColorType::Rgba);
        assert_eq!(decoded.color(), image::ColorType::Rgba16);
        for (x, y, pixel) in decoded.to_rgba16().enumerate_pixels() {
            assert_eq!(
                pixel.0,
                straight_srgb16(expected(x, y), AlphaMode::Premultiplied)
            );
        }
    }
}

fn float_bytes(channels: [f32; 4]) -> [u8; 16] {
    let channels = channels.map(f32::to_le_bytes);
    std::array::from_fn(|index| channels[index / 4][index % 4])
}

#[test]
fn opaque_floats_become_16_bit_rgb() {
    let pixel = float_bytes([1.0, 0.0, 0.214_041_14, 1.0]);
    let image = image(
        OutputFormat::Rgba32F,
        ColorSpec::LINEAR_BT709,
        Size::new(2, 2),
        0,
        |_, _| pixel,
    );
    let (decoded, color_type) = saved(&image);
    assert_eq!(color_type, ::png::ColorType::Rgb);
    assert_eq!(decoded.to_rgb16().get_pixel(1, 1).0, [65535, 0, 32768]);
}

#[test]
fn colours_that_png_would_misstate_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("refused.png");
    for color in [
        ColorSpec::LINEAR_BT709,
        ColorSpec {
            transfer: Transfer::Bt709,
            ..ColorSpec::SRGB
        },
        ColorSpec {
            range: ColorRange::Limited,
            ..ColorSpec::SRGB
        },
    ] {
        let image = image(OutputFormat::Rgba8, color, Size::new(1, 1), 0, |_, _| {
            [1, 2, 3, 255]
        });
        let error = save_png(&image, &path).expect_err("PNG is tagged as sRGB");
        assert!(
            matches!(error, SaveError::Write(WriteError::UnsupportedByPng { .. })),
            "{error}"
        );
    }
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn the_first_frame_is_written_when_finished_and_not_before() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("first.png");
    let mut sink = PngSink::create(&path).expect("a sink");
    for number in 5..8 {
        let image = picture(Size::new(8, 8), number);
        sink.write(&frame(number.into(), image))
            .expect("the frame is taken");
        assert!(!path.exists());
    }
    assert_eq!(sink.finish().expect("the file is complete"), path);
    let decoded = image::open(&path).expect("a PNG file").to_rgb8();
    assert_eq!(decoded.get_pixel(3, 4).0, noise(3, 4, 5)[..3]);
    assert_eq!(names_in(folder.path()), ["first.png"]);
}

#[test]
fn a_sequence_is_named_by_frame_number() {
    let folder = TempDir::new().expect("a folder");
    let pattern = folder.path().join("100%%_%03d.PNG");
    let mut sink = FileSink::open(pattern, frame_rate("25")).expect("a sink");
    assert_eq!(sink.frame_limit(), None);
    assert!(names_in(folder.path()).is_empty());
    for number in [9, 10, 1000] {
        let image = picture(Size::new(3, 2), number as u32);
        sink.write(&frame(number, image))
            .expect("the frame is written");
    }
    let names = ["100%_009.PNG", "100%_010.PNG", "100%_1000.PNG"];
    assert_eq!(names_in(folder.path()), names);
    let paths = sink.finish().expect("all files are complete");
    assert_eq!(paths, names.map(|name| folder.path().join(name)));
    for (path, number) in paths.iter().zip([9, 10, 1000]) {
        let decoded = image::open(path).expect("a PNG file").to_rgb8();
        assert_eq!(decoded.get_pixel(2, 1).0, noise(2, 1, number)[..3]);
    }
}

#[test]
fn a_dropped_sequence_keeps_its_complete_files() {
    let folder = TempDir::new().expect("a folder");
    let pattern = folder.path().join("%d.png");
    let mut sink = FileSink::open(pattern, frame_rate("25")).expect("a sink");
    sink.write(&frame(1, picture(Size::new(3, 2), 1)))
        .expect("the frame is written");
    drop(sink);
    assert_eq!(names_in(folder.path()), ["1.png"]);
}

#[test]
fn dropping_or_finishing_without_a_frame_leaves_an_existing_file_alone() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("kept.png");
    fs::write(&path, "old").expect("a file");

    let mut dropped = PngSink::create(&path).expect("a sink");
    dropped
        .write(&frame(0, picture(Size::new(3, 2), 1)))
        .expect("the frame is taken");
    drop(dropped);
    let error = PngSink::create(&path)
        .expect("a sink")
        .finish()
        .expect_err("nothing to finish");
    assert!(matches!(error, WriteError::NoFrame { .. }), "{error}");

    assert_eq!(fs::read(&path).expect("a file"), b"old");
    assert_eq!(names_in(folder.path()), ["kept.png"]);
}

#[test]
fn a_name_that_is_taken_meanwhile_is_an_error() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("taken.png");
    let mut sink = PngSink::create(&path).expect("a sink");
    sink.write(&frame(0, picture(Size::new(3, 2), 1)))
        .expect("the frame is taken");
    fs::create_dir(&path).expect("a folder");
    let error = sink.finish().expect_err("a file does not replace a folder");
    assert!(matches!(error, WriteError::Io { .. }), "{error}");
    assert_eq!(names_in(folder.path()), ["taken.png"]);
}

#[test]
fn an_existing_file_is_replaced() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("replaced.png");
    fs::write(&path, vec![7; 100_000]).expect("a file");
    save_png(&picture(Size::new(3, 2), 1), &path).expect("the image is written");
    assert_eq!(info(&path).width, 3);
    assert_eq!(names_in(folder.path()), ["replaced.png"]);
}

#[cfg(unix)]
#[test]
fn files_have_ordinary_permissions() {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().expect("a folder");
    let [saved, ordinary] = ["saved.png", "ordinary"].map(|name| folder.path().join(name));
    save_png(&picture(Size::new(3, 2), 1), &saved).expect("the image is written");
    File::create(&ordinary).expect("a file");
    let mode = |path| fs::metadata(path).expect("a file").permissions().mode();
    assert_eq!(mode(saved), mode(ordinary));
}
