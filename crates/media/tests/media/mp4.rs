//! MP4 files as ffmpeg and another reader of the format read them.

use std::ffi::OsStr;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Duration;

use framefence::pixel::AlphaMode;
use framefence::{ColorSpec, FrameRate, FrameSink, Image, OutputFormat, Size};
use framefence_media::{Mp4Options, Mp4Sink, OpenError, WriteError};
use mp4_atom::{Any, Codec, Colr, ReadFrom as _};
use tempfile::TempDir;

use crate::ffmpeg::{decode, output, probe};
use crate::support::{frame, frame_rate, image, names_in, noise, packed, picture};

const ENTRIES: &str = "codec_name,codec_tag_string,profile,level,width,height,pix_fmt,color_range,\
                       color_space,color_transfer,color_primaries,chroma_location,has_b_frames,\
                       sample_aspect_ratio,r_frame_rate,avg_frame_rate,start_time,time_base,\
                       duration_ts,nb_frames,nb_read_frames";

/// A picture like a photograph or a film: smooth shades, a few edges, and a little grain, all of
/// which move on with `time`.
fn scene(size: Size, time: u32) -> Image {
    image(OutputFormat::Rgba8, ColorSpec::SRGB, size, 0, |x, y| {
        let wave = |period: f32, phase: f32| {
            let along = (x + 2 * time) as f32 / period + y as f32 / (1.7 * period);
            (110.0 + 90.0 * (along + phase).sin()) as u8
        };
        let grain = noise(x, y, time)[0] >> 6;
        let [r, g, b] = [wave(37.0, 0.0), wave(53.0, 1.0), wave(29.0, 2.0)];
        if (x + time) / 40 % 3 == 1 && y / 30 % 2 == 1 {
            [230, 230 - b / 4, 40, 255]
        } else {
            [r, g + grain, b, 255]
        }
    })
}

fn scenes(size: Size, count: u32) -> Vec<Image> {
    (0..count).map(|time| scene(size, time)).collect()
}

fn write(folder: &TempDir, rate: &str, options: Mp4Options, images: Vec<Image>) -> PathBuf {
    let path = folder.path().join("video.mp4");
    let mut sink = Mp4Sink::create(&path, frame_rate(rate), options).expect("a sink");
    for (number, image) in (0..).zip(images) {
        sink.write(&frame(number, image))
            .expect("the frame is written");
        assert!(!path.exists(), "the video is not complete yet");
    }
    assert_eq!(sink.finish().expect("the video is complete"), path);
    assert_eq!(names_in(folder.path()), ["video.mp4"]);
    path
}

/// Peak signal-to-noise ratio of samples of 8 bits, in dB.
fn psnr(found: &[u8], expected: &[u8]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let squares = found
        .iter()
        .zip(expected)
        .map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2));
    let mean = squares.sum::<f64>() / found.len() as f64;
    10.0 * (255.0_f64.powi(2) / mean).log10()
}

#[test]
fn ffprobe_finds_what_was_asked_for() {
    for (rate, size, frames, level, duration) in [
        ("25", Size::new(640, 360), 50, 30, 50),
        ("30000/1001", Size::new(62, 34), 31, 10, 31_031),
        ("60", Size::new(1920, 1080), 2, 42, 2),
        ("1/2", Size::new(16, 16), 3, 10, 6),
        ("24000/1001", Size::new(198, 30), 1, 10, 1001),
    ] {
        let folder = TempDir::new().expect("a folder");
        let images = scenes(size, frames);
        let path = write(&folder, rate, Mp4Options::default(), images);
        let found = probe(&path, ENTRIES);
        let (numerator, denominator) = rate.split_once('/').unwrap_or((rate, "1"));
        for expected in [
            "codec_name=h264".to_owned(),
            "codec_tag_string=avc1".to_owned(),
            "profile=Constrained Baseline".to_owned(),
            format!("level={level}"),
            format!("width={}", size.width),
            format!("height={}", size.height),
            "pix_fmt=yuv420p".to_owned(),
            "color_range=tv".to_owned(),
            "color_space=bt709".to_owned(),
            "color_transfer=bt709".to_owned(),
            "color_primaries=bt709".to_owned(),
            "chroma_location=left".to_owned(),
            "has_b_frames=0".to_owned(),
            "sample_aspect_ratio=1:1".to_owned(),
            format!("r_frame_rate={numerator}/{denominator}"),
            format!("avg_frame_rate={numerator}/{denominator}"),
            "start_time=0.000000".to_owned(),
            format!("time_base=1/{numerator}"),
            format!("duration_ts={duration}"),
            format!("nb_frames={frames}"),
            format!("nb_read_frames={frames}"),
        ] {
            assert!(
                found.lines().any(|line| line == expected),
                "no {expected} at {rate} fps in:\n{found}"
            );
        }
    }
}

/// Measured on these pictures: 46.2 dB for luma, 46.7 dB for chroma, at the worst frame.
#[test]
fn every_frame_decodes_to_what_was_packed() {
    let size = Size::new(320, 180);
    let images = scenes(size, 60);
    let expected: Vec<_> = images.iter().map(packed).collect();
    let folder = TempDir::new().expect("a folder");
    let path = write(&folder, "30", Mp4Options::default(), images);
    let decoded = decode(&path, "null", "yuv420p");
    let luma_len = (size.width * size.height) as usize;
    let frames = decoded.chunks(luma_len * 3 / 2);
    assert_eq!(frames.len(), expected.len());
    for (number, (frame, expected)) in frames.zip(&expected).enumerate() {
        let (luma, chroma) = frame.split_at(luma_len);
        let (expected_luma, expected_chroma) = expected.split_at(luma_len);
        let [luma, chroma] = [psnr(luma, expected_luma), psnr(chroma, expected_chroma)];
        assert!(
            luma > 45.0 && chroma > 45.0,
            "{luma:.1} and {chroma:.1} dB in frame {number}"
        );
    }
}

#[test]
fn the_quantizer_trades_bytes_for_fidelity() {
    let size = Size::new(320, 180);
    let made: Vec<(u64, f64)> = [10, 20, 35]
        .map(|quantizer| {
            let images = scenes(size, 4);
            let expected: Vec<u8> = images.iter().flat_map(packed).collect();
            let folder = TempDir::new().expect("a folder");
            let options = Mp4Options::default().with_quantizer(quantizer);
            let path = write(&folder, "30", options, images);
            let len = fs::metadata(&path).expect("the file").len();
            (len, psnr(&decode(&path, "null", "yuv420p"), &expected))
        })
        .to_vec();
    assert!(
        made.windows(2)
            .all(|pair| pair[0].0 > pair[1].0 && pair[0].1 > pair[1].1 + 3.0),
        "bytes and dB of ever coarser quantizers: {made:?}"
    );
}

/// White noise and black-and-white noise, which no picture outdoes, at the finest quantizer.
#[test]
fn noise_of_the_finest_quantizer_is_encoded() {
    let size = Size::new(640, 360);
    let mut images: Vec<_> = (0..3).map(|seed| picture(size, seed)).collect();
    images.extend((0..3).map(|seed| {
        image(
            OutputFormat::Rgba8,
            ColorSpec::SRGB,
            size,
            0,
            move |x, y| {
                let [r, g, b, _] =
                    noise(x, y, seed).map(|byte| if byte & 1 == 0 { 0 } else { 255 });
                [r, g, b, 255]
            },
        )
    }));
    let expected: Vec<u8> = images.iter().flat_map(packed).collect();
    let folder = TempDir::new().expect("a folder");
    let options = Mp4Options::default().with_quantizer(*Mp4Options::QUANTIZERS.start());
    let path = write(&folder, "25", options, images);
    let found = psnr(&decode(&path, "null", "yuv420p"), &expected);
    assert!(found > 48.0, "{found:.1} dB");
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
    let size = Size::new(32, 16);
    let images = colors
        .iter()
        .map(|&[r, g, b]| {
            image(OutputFormat::Bgra8Srgb, ColorSpec::SRGB, size, 0, |_, _| {
                [b, g, r, 255]
            })
        })
        .collect();
    let folder = TempDir::new().expect("a folder");
    let path = write(&folder, "25", Mp4Options::default(), images);
    // What matrix and range the samples are of, zscale is told by the file.
    let rgb = decode(&path, "zscale=matrix=gbr:range=full,format=gbrp", "rgb24");
    assert_eq!(rgb.len(), colors.len() * 32 * 16 * 3);
    for (frame, color) in rgb.chunks(32 * 16 * 3).zip(colors) {
        for pixel in frame.chunks(3) {
            for (&found, expected) in pixel.iter().zip(color) {
                assert!(found.abs_diff(expected) <= 3, "{pixel:?} of {color:?}");
            }
        }
    }
}

#[test]
fn translucent_frames_are_over_black() {
    let size = Size::new(32, 32);
    let written = |alpha, mode| {
        let color = ColorSpec {
            alpha: mode,
            ..ColorSpec::SRGB
        };
        let image = image(OutputFormat::Rgba8, color, size, 0, move |x, y| {
            let [r, g, b, _] = noise(x, y, 1);
            [r, g, b, alpha]
        });
        let folder = TempDir::new().expect("a folder");
        fs::read(write(&folder, "25", Mp4Options::default(), vec![image])).expect("the file")
    };
    assert!(
        written(255, AlphaMode::Opaque) == written(99, AlphaMode::Premultiplied),
        "premultiplied colours are taken as they are"
    );
}

#[test]
fn the_same_frames_give_the_same_bytes() {
    let written = || {
        let folder = TempDir::new().expect("a folder");
        let images = scenes(Size::new(320, 180), 20);
        fs::read(write(&folder, "25", Mp4Options::default(), images)).expect("the file")
    };
    assert!(written() == written());
}

/// Presentation time in units of the time base, and whether decoding can begin there, of each
/// packet in the order of the file.
fn packets(path: &Path) -> Vec<(u64, bool)> {
    let mut arguments = ["-show_entries", "packet=pts,dts,flags", "-of", "csv=p=0"]
        .map(OsStr::new)
        .to_vec();
    arguments.push(path.as_os_str());
    let text = String::from_utf8(output("ffprobe", &arguments)).expect("text");
    let packet = |line: &str| {
        let fields: Vec<_> = line.split(',').collect();
        let [pts, dts, flags] = fields[..] else {
            panic!("three fields: {line}");
        };
        assert_eq!(pts, dts, "shown in the order of decoding");
        (pts.parse().expect("a time"), flags.starts_with('K'))
    };
    text.lines().map(packet).collect()
}

fn key_frames(path: &Path) -> Vec<usize> {
    let packets = packets(path).into_iter().enumerate();
    packets
        .filter(|(_, (_, is_key_frame))| *is_key_frame)
        .map(|(index, _)| index)
        .collect()
}

#[test]
fn frames_last_exactly_as_long_as_the_rate_says() {
    let folder = TempDir::new().expect("a folder");
    let images = scenes(Size::new(64, 64), 70);
    let path = write(&folder, "30000/1001", Mp4Options::default(), images);
    let times: Vec<u64> = packets(&path).into_iter().map(|(time, _)| time).collect();
    let expected: Vec<u64> = (0..70).map(|number| number * 1001).collect();
    assert_eq!(times, expected);
}

#[test]
fn key_frames_come_in_time_and_at_cuts() {
    let size = Size::new(64, 64);
    let made = |options: Mp4Options, images: Vec<Image>| {
        let folder = TempDir::new().expect("a folder");
        key_frames(&write(&folder, "10", options, images))
    };
    let still = |count| -> Vec<Image> { (0..count).map(|_| scene(size, 0)).collect() };

    assert_eq!(made(Mp4Options::default(), still(45)), [0, 20, 40]);
    let every = |interval| Mp4Options::default().with_key_frame_interval(interval);
    assert_eq!(
        made(every(Duration::from_millis(550)), still(13)),
        [0, 6, 12]
    );
    assert_eq!(made(every(Duration::ZERO), still(3)), [0, 1, 2]);
    assert_eq!(made(every(Duration::MAX), still(30)), [0]);

    let mut cut = still(18);
    cut.extend((0..8).map(|_| picture(size, 1)));
    assert_eq!(made(every(Duration::MAX), cut), [0, 18]);
}

#[test]
fn a_player_that_seeks_finds_the_frame() {
    let size = Size::new(64, 64);
    let folder = TempDir::new().expect("a folder");
    let path = write(&folder, "10", Mp4Options::default(), scenes(size, 50));
    let all = decode(&path, "null", "yuv420p");
    let frame_len = all.len() / 50;
    for (seconds, number) in [("2.0", 20), ("3.7", 37), ("4.9", 49)] {
        let before = ["-ss", seconds, "-i"].map(OsStr::new);
        let after = [
            "-frames:v",
            "1",
            "-pix_fmt",
            "yuv420p",
            "-f",
            "rawvideo",
            "-",
        ]
        .map(OsStr::new);
        let arguments = [&before[..], &[path.as_os_str()], &after[..]].concat();
        assert!(
            output("ffmpeg", &arguments) == all[number * frame_len..][..frame_len],
            "frame {number} at {seconds} s"
        );
    }
}

#[test]
fn the_index_comes_first_and_says_what_the_stream_says() {
    let size = Size::new(320, 180);
    let folder = TempDir::new().expect("a folder");
    let path = write(&folder, "25", Mp4Options::default(), scenes(size, 60));
    let bytes = fs::read(&path).expect("the file");
    let mut reader = Cursor::new(&bytes);
    let boxes: Vec<Any> = std::iter::from_fn(|| Option::<Any>::read_from(&mut reader).transpose())
        .collect::<Result<_, _>>()
        .expect("whole boxes");
    let [Any::Ftyp(_), Any::Moov(movie), Any::Mdat(media)] = &boxes[..] else {
        panic!("ftyp, moov and mdat, not {boxes:?}");
    };

    let table = &movie.trak[0].mdia.minf.stbl;
    let [Codec::Avc1(entry)] = &table.stsd.codecs[..] else {
        panic!("one sample entry: {:?}", table.stsd);
    };
    assert_eq!((entry.visual.width, entry.visual.height), (320, 180));
    assert_eq!(
        entry.colr,
        Some(Colr::Nclx {
            colour_primaries: 1,
            transfer_characteristics: 1,
            matrix_coefficients: 1,
            full_range_flag: false,
        })
    );
    let sps = &entry.avcc.sequence_parameter_sets[0];
    assert_eq!(sps[0], 0x67, "a sequence parameter set");
    assert_eq!(
        sps[1..4],
        [
            entry.avcc.avc_profile_indication,
            entry.avcc.profile_compatibility,
            entry.avcc.avc_level_indication
        ]
    );

    // Parameter sets stand in the index alone: each sample is one slice behind its length.
    let slices = slices(&media.data);
    let kinds: Vec<u8> = slices.iter().map(|(_, kind)| *kind).collect();
    let mut expected = [NON_KEY_FRAME; 60];
    expected[0] = KEY_FRAME;
    expected[50] = KEY_FRAME;
    assert_eq!(kinds, expected);

    // A chunk begins with each key frame.
    let media_start = bytes.len() - media.data.len();
    let offsets = &table.stco.as_ref().expect("32-bit offsets").entries;
    let starts = [0, 50].map(|index| (media_start + slices[index].0) as u32);
    assert_eq!(offsets[..], starts);
}

/// Types of NAL units.
const NON_KEY_FRAME: u8 = 1;
const KEY_FRAME: u8 = 5;

/// Offset and type of each NAL unit of media data.
fn slices(media: &[u8]) -> Vec<(usize, u8)> {
    let mut slices = Vec::new();
    let mut rest = media;
    while let Some((length, units)) = rest.split_first_chunk::<4>() {
        slices.push((media.len() - rest.len(), units[0] & 0x1F));
        rest = &units[u32::from_be_bytes(*length) as usize..];
    }
    slices
}

#[test]
fn the_largest_and_the_longest_frames_are_encoded() {
    for size in [
        Size::new(4096, 2304),
        Size::new(8688, 16),
        Size::new(16, 8688),
    ] {
        let folder = TempDir::new().expect("a folder");
        let image = image(OutputFormat::Rgba8, ColorSpec::SRGB, size, 0, |x, y| {
            [x as u8, y as u8, (x / 256 + y / 256) as u8, 255]
        });
        let expected = packed(&image);
        let path = write(&folder, "30", Mp4Options::default(), vec![image]);
        let found = psnr(&decode(&path, "null", "yuv420p"), &expected);
        assert!(found > 42.0, "{found:.1} dB at {size}");
    }
}

#[test]
fn what_no_video_can_be_is_refused_before_the_first_frame() {
    let folder = TempDir::new().expect("a folder");
    let create = |rate: FrameRate, options: Mp4Options| {
        let path = folder.path().join("video.mp4");
        Mp4Sink::create(path, rate, options).expect_err("refused")
    };
    let error = create(frame_rate("61"), Mp4Options::default());
    assert!(matches!(error, OpenError::H264Limit(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "H.264 video at 61 fps cannot be made: OpenH264 takes at most 60"
    );
    for quantizer in [9, 52] {
        let options = Mp4Options::default().with_quantizer(quantizer);
        let error = create(frame_rate("25"), options);
        assert_eq!(
            error.to_string(),
            format!("the quantizer {quantizer} is none of 10 to 51")
        );
    }
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn frames_that_do_not_fit_are_refused_and_the_video_goes_on() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("video.mp4");
    let mut sink = Mp4Sink::create(&path, frame_rate("60"), Mp4Options::default()).expect("a sink");
    let size = Size::new(32, 48);

    for (size, reason) in [
        (Size::new(33, 48), "4:2:0 takes even sides, such as 32x48"),
        (Size::new(32, 14), "each side takes at least 16 pixels"),
        (Size::new(9000, 16), "8688x16 would fit"),
    ] {
        let error = sink
            .write(&frame(0, picture(size, 1)))
            .expect_err("no such video");
        assert!(matches!(error, WriteError::H264Limit(_)), "{error:?}");
        assert!(error.to_string().ends_with(reason), "{error}");
    }
    let grey = image(OutputFormat::R8, ColorSpec::SRGB, size, 0, |_, _| [1]);
    let error = sink.write(&frame(0, grey)).expect_err("grey is not RGB");
    assert!(matches!(error, WriteError::UnsupportedByMp4(_)), "{error}");

    sink.write(&frame(1, scene(size, 1)))
        .expect("the frame is written");
    let error = sink
        .write(&frame(2, picture(Size::new(48, 32), 1)))
        .expect_err("another size");
    assert_eq!(
        error.to_string(),
        format!("frame 2 is 48x32, in a video of 32x48: {}", path.display())
    );
    sink.write(&frame(3, scene(size, 2)))
        .expect("the frame is written");
    sink.finish().expect("the video is complete");
    let expected = [packed(&scene(size, 1)), packed(&scene(size, 2))].concat();
    let found = psnr(&decode(&path, "null", "yuv420p"), &expected);
    assert!(found > 42.0, "{found:.1} dB");
}

#[test]
fn a_video_that_is_not_finished_leaves_nothing() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("video.mp4");
    let create = || Mp4Sink::create(&path, frame_rate("25"), Mp4Options::default());
    let mut sink = create().expect("a sink");
    sink.write(&frame(0, picture(Size::new(16, 16), 1)))
        .expect("the frame is written");
    drop(sink);
    let error = create()
        .expect("a sink")
        .finish()
        .expect_err("a video has a frame");
    assert!(matches!(error, WriteError::NoFrame { .. }), "{error}");
    assert!(names_in(folder.path()).is_empty());
}
