//! Y4M files as ffmpeg reads them.

use std::path::PathBuf;

use framefence::pixel::AlphaMode;
use framefence::{ColorSpec, FrameRate, FrameSink, Image, OutputFormat, Size};
use framefence_media::{WriteError, Y4mSink};
use tempfile::TempDir;

use crate::ffmpeg::{decode, probe};
use crate::support::{frame, frame_rate, image, names_in, noise, packed, picture};

const ENTRIES: &str = "codec_name,width,height,pix_fmt,color_range,chroma_location,r_frame_rate,\
                       avg_frame_rate,duration,nb_read_frames";

fn write(folder: &TempDir, rate: FrameRate, images: Vec<Image>) -> PathBuf {
    let path = folder.path().join("video.y4m");
    let mut sink = Y4mSink::create(&path, rate).expect("a sink");
    for (number, image) in (0..).zip(images) {
        sink.write(&frame(number, image))
            .expect("the frame is written");
        assert!(!path.exists(), "the video is not complete yet");
    }
    assert_eq!(sink.finish().expect("the video is complete"), path);
    assert_eq!(names_in(folder.path()), ["video.y4m"]);
    path
}

#[test]
fn ffprobe_finds_what_was_asked_for() {
    for (rate, size, frames, duration) in [
        ("30", Size::new(64, 36), 45, "1.500000"),
        ("30000/1001", Size::new(35, 21), 30, "1.001000"),
        ("24000/1001", Size::new(2, 2), 1, "0.041708"),
    ] {
        let folder = TempDir::new().expect("a folder");
        let images = (0..frames).map(|seed| picture(size, seed)).collect();
        let found = probe(&write(&folder, frame_rate(rate), images), ENTRIES);
        let ratio = if rate.contains('/') {
            rate.to_owned()
        } else {
            format!("{rate}/1")
        };
        for expected in [
            "codec_name=rawvideo".to_owned(),
            format!("width={}", size.width),
            format!("height={}", size.height),
            "pix_fmt=yuv420p".to_owned(),
            "color_range=tv".to_owned(),
            "chroma_location=left".to_owned(),
            format!("r_frame_rate={ratio}"),
            format!("avg_frame_rate={ratio}"),
            format!("duration={duration}"),
            format!("nb_read_frames={frames}"),
        ] {
            assert!(
                found.lines().any(|line| line == expected),
                "no {expected} in:\n{found}"
            );
        }
    }
}

#[test]
fn ffmpeg_decodes_the_planes_that_were_packed() {
    for size in [
        Size::new(1, 1),
        Size::new(35, 21),
        Size::new(64, 36),
        Size::new(131, 2),
    ] {
        let folder = TempDir::new().expect("a folder");
        let images: Vec<_> = (0..3).map(|seed| picture(size, seed)).collect();
        let expected: Vec<u8> = images.iter().flat_map(packed).collect();
        let path = write(&folder, frame_rate("25"), images);
        assert!(
            decode(&path, "null", "yuv420p") == expected,
            "planes of {size}"
        );
    }
}

#[test]
fn pure_colours_come_back_through_zimg() {
    let colors = [
        [255, 0, 0],
        [0, 255, 0],
        [0, 0, 255],
        [255, 255, 255],
        [0, 0, 0],
        [255, 255, 0],
        [128, 128, 128],
        [200, 60, 20],
        [13, 57, 201],
    ];
    let size = Size::new(16, 16);
    let images = colors
        .iter()
        .map(|&[r, g, b]| {
            image(OutputFormat::Bgra8Srgb, ColorSpec::SRGB, size, 0, |_, _| {
                [b, g, r, 255]
            })
        })
        .collect();
    let folder = TempDir::new().expect("a folder");
    let path = write(&folder, frame_rate("25"), images);
    let filter = "zscale=matrixin=709:rangein=limited:matrix=gbr:range=full,format=gbrp";
    let rgb = decode(&path, filter, "rgb24");
    assert_eq!(rgb.len(), colors.len() * 16 * 16 * 3);
    for (frame, color) in rgb.chunks(16 * 16 * 3).zip(colors) {
        for pixel in frame.chunks(3) {
            for (&found, expected) in pixel.iter().zip(color) {
                assert!(found.abs_diff(expected) <= 2, "{pixel:?} of {color:?}");
            }
        }
    }
}

#[test]
fn translucent_frames_are_over_black() {
    let size = Size::new(5, 5);
    let with_alpha = |alpha, mode| {
        let color = ColorSpec {
            alpha: mode,
            ..ColorSpec::SRGB
        };
        image(OutputFormat::Rgba8, color, size, 0, move |x, y| {
            let [r, g, b, _] = noise(x, y, 1);
            [r, g, b, alpha]
        })
    };
    let folder = TempDir::new().expect("a folder");
    let opaque = packed(&with_alpha(255, AlphaMode::Opaque));
    let path = write(
        &folder,
        frame_rate("25"),
        vec![with_alpha(99, AlphaMode::Premultiplied)],
    );
    assert_eq!(decode(&path, "null", "yuv420p"), opaque);
}

#[test]
fn frames_that_do_not_fit_are_refused_and_the_video_goes_on() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("video.y4m");
    let mut sink = Y4mSink::create(&path, frame_rate("25")).expect("a sink");
    let size = Size::new(4, 4);

    let grey = || image(OutputFormat::R8, ColorSpec::SRGB, size, 0, |_, _| [1]);
    let error = sink.write(&frame(0, grey())).expect_err("grey is not RGB");
    assert!(matches!(error, WriteError::UnsupportedByY4m(_)), "{error}");

    sink.write(&frame(1, picture(size, 1)))
        .expect("the frame is written");
    let error = sink
        .write(&frame(2, picture(Size::new(4, 5), 1)))
        .expect_err("another size");
    assert_eq!(
        error.to_string(),
        format!("frame 2 is 4x5, in a video of 4x4: {}", path.display())
    );
    sink.write(&frame(3, picture(size, 2)))
        .expect("the frame is written");
    sink.finish().expect("the video is complete");
    let expected = [packed(&picture(size, 1)), packed(&picture(size, 2))].concat();
    assert_eq!(decode(&path, "null", "yuv420p"), expected);
}

#[test]
fn a_video_that_is_not_finished_leaves_nothing() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("video.y4m");
    let mut sink = Y4mSink::create(&path, frame_rate("25")).expect("a sink");
    sink.write(&frame(0, picture(Size::new(4, 4), 1)))
        .expect("the frame is written");
    drop(sink);
    let empty = Y4mSink::create(&path, frame_rate("25")).expect("a sink");
    let error = empty.finish().expect_err("a video has a frame");
    assert!(matches!(error, WriteError::NoFrame { .. }), "{error}");
    assert!(names_in(folder.path()).is_empty());
}
