//! GIF files (GIF89a).

use std::num::{NonZeroU32, NonZeroU64};

use framefence::Size;
use gif::{ColorOutput, DecodeOptions, Decoder, DisposalMethod, MemoryLimit, Repeat};
use image::ImageFormat;
use image::error::{DecodingError, ImageError};

use crate::frame_canvas::{FrameArea, FrameBlend, FrameCanvas, FrameDisposal};
use crate::image_error::{ImageProblem, MAX_ANIMATION_FRAMES, MAX_DECODED_BYTES};
use crate::picture::{AnimatedPicture, DecodedImage, Picture, check_frames};
use crate::timeline::Timeline;

/// Decodes all frames. Where a frame is smaller than the canvas, what is beside it is transparent
/// or what earlier frames left there.
pub(crate) fn decode(bytes: &[u8]) -> Result<DecodedImage, ImageProblem> {
    survey(bytes)?;
    let mut decoder = open(bytes, DecodeOptions::new())?;
    let mut canvas = FrameCanvas::new(canvas_size(&decoder));
    let mut frames = Vec::new();
    let mut delays_ms = Vec::new();
    while let Some(frame) = decoder.next_frame_info().map_err(problem)? {
        let area = FrameArea {
            left: frame.left.into(),
            top: frame.top.into(),
            size: Size::new(frame.width.into(), frame.height.into()),
        };
        let disposal = match frame.dispose {
            DisposalMethod::Any | DisposalMethod::Keep => FrameDisposal::Keep,
            DisposalMethod::Background => FrameDisposal::Clear,
            DisposalMethod::Previous => FrameDisposal::Restore,
        };
        delays_ms.push(u32::from(frame.delay) * 10);
        let mut rgba = vec![0; decoder.buffer_size()];
        // The decoder has no answer to a frame without pixels; some programs write them.
        if !rgba.is_empty() {
            decoder.read_into_buffer(&mut rgba).map_err(problem)?;
        }
        frames.push(Picture {
            size: canvas_size(&decoder),
            straight_rgba: canvas.show(&rgba, area, FrameBlend::Over, disposal),
        });
    }
    let timeline = Timeline::new(delays_ms, rounds(decoder.repeat()));
    Ok(AnimatedPicture { frames, timeline }.into_decoded())
}

/// Reads the file without its pixels, to learn that it is whole and how much memory it will take.
fn survey(bytes: &[u8]) -> Result<(), ImageProblem> {
    let mut options = DecodeOptions::new();
    options.skip_frame_decoding(true);
    let mut decoder = open(bytes, options)?;
    let size = canvas_size(&decoder);
    let mut frame_sizes = Vec::new();
    while let Some(frame) = decoder.next_frame_info().map_err(problem)? {
        if frame_sizes.len() == MAX_ANIMATION_FRAMES {
            return Err(ImageProblem::TooManyFrames);
        }
        frame_sizes.push(Size::new(frame.width.into(), frame.height.into()));
    }
    check_frames(size, &frame_sizes)
}

fn open(bytes: &[u8], mut options: DecodeOptions) -> Result<Decoder<&[u8]>, ImageProblem> {
    const LIMIT: NonZeroU64 = NonZeroU64::new(MAX_DECODED_BYTES).expect("more than 0");

    options.set_color_output(ColorOutput::RGBA);
    options.set_memory_limit(MemoryLimit::Bytes(LIMIT));
    options.read_info(bytes).map_err(problem)
}

fn canvas_size(decoder: &Decoder<&[u8]>) -> Size {
    Size::new(decoder.width().into(), decoder.height().into())
}

/// The Netscape extension counts how often the frames are repeated after the first time; without
/// it they are played once.
fn rounds(repeat: Repeat) -> Option<NonZeroU32> {
    match repeat {
        Repeat::Infinite => None,
        Repeat::Finite(repeats) => Some(NonZeroU32::MIN.saturating_add(repeats.into())),
    }
}

fn problem(error: gif::DecodingError) -> ImageProblem {
    match error {
        gif::DecodingError::UnexpectedEof => ImageProblem::CutOff,
        error => ImageProblem::Decode(ImageError::Decoding(DecodingError::new(
            ImageFormat::Gif.into(),
            error,
        ))),
    }
}

#[cfg(test)]
mod tests {
    use framefence::Time;
    use gif::{Encoder, Frame};
    use proptest::prelude::*;

    use super::*;

    const PALETTE: [u8; 9] = [255, 0, 0, 0, 255, 0, 0, 0, 255];
    const RED: [u8; 4] = [255, 0, 0, 255];
    const GREEN: [u8; 4] = [0, 255, 0, 255];
    const CLEAR: [u8; 4] = [0; 4];

    /// A frame of one colour of the palette.
    fn frame(left: u16, top: u16, width: u16, height: u16, color: u8) -> Frame<'static> {
        Frame {
            left,
            top,
            width,
            height,
            buffer: vec![color; usize::from(width) * usize::from(height)].into(),
            ..Frame::default()
        }
    }

    fn file(width: u16, height: u16, repeat: Option<Repeat>, frames: &[Frame<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, width, height, &PALETTE).unwrap();
        if let Some(repeat) = repeat {
            encoder.set_repeat(repeat).unwrap();
        }
        for frame in frames {
            encoder.write_frame(frame).unwrap();
        }
        drop(encoder);
        bytes
    }

    fn animated(bytes: &[u8]) -> AnimatedPicture {
        match decode(bytes).unwrap() {
            DecodedImage::Animated(animation) => animation,
            DecodedImage::Still(picture) => panic!("one picture of {}", picture.size),
        }
    }

    fn pixels(picture: &Picture) -> &[[u8; 4]] {
        picture.straight_rgba.as_chunks().0
    }

    fn message(bytes: &[u8]) -> String {
        format!("{:#}", anyhow::Error::new(decode(bytes).unwrap_err()))
    }

    #[test]
    fn frames_are_put_together_as_the_file_says() {
        let mut small = frame(1, 0, 1, 1, 1);
        small.dispose = DisposalMethod::Background;
        let mut whole = frame(0, 0, 3, 1, 1);
        whole.dispose = DisposalMethod::Previous;
        let mut through = frame(0, 0, 3, 1, 2);
        through.transparent = Some(2);
        let animation = animated(&file(
            3,
            1,
            None,
            &[frame(0, 0, 2, 1, 0), small, whole, through],
        ));
        let shown: Vec<_> = animation.frames.iter().map(pixels).collect();
        assert_eq!(
            shown,
            [
                [RED, RED, CLEAR],
                [RED, GREEN, CLEAR],
                [GREEN, GREEN, GREEN],
                [RED, CLEAR, CLEAR],
            ]
        );
    }

    #[test]
    fn delays_are_hundredths_of_seconds_and_repeats_come_on_top() {
        let mut frames = [frame(0, 0, 1, 1, 0), frame(0, 0, 1, 1, 1)];
        frames[0].delay = 7;
        frames[1].delay = 0;
        let frame_at = |repeat, time_ms| {
            animated(&file(1, 1, repeat, &frames))
                .timeline
                .frame_at(Time::from_ratio(time_ms, 1000))
        };
        // 70 ms and 100 ms a round.
        for (repeat, rounds) in [(None, 1), (Some(Repeat::Finite(2)), 3)] {
            assert_eq!(frame_at(repeat, rounds * 170 - 101), 0);
            assert_eq!(frame_at(repeat, rounds * 170 - 100), 1);
            assert_eq!(frame_at(repeat, rounds * 170 + 1), 1);
        }
        assert_eq!(frame_at(Some(Repeat::Infinite), 170 * 1_000_000), 0);
    }

    #[test]
    fn a_file_of_one_frame_is_a_still_picture() {
        let bytes = file(2, 1, Some(Repeat::Infinite), &[frame(0, 0, 1, 1, 0)]);
        let DecodedImage::Still(picture) = decode(&bytes).unwrap() else {
            panic!("one frame does not move");
        };
        assert_eq!(pixels(&picture), [RED, CLEAR]);
    }

    #[test]
    fn a_thousand_frames_are_all_there() {
        let frames: Vec<_> = (0..1000).map(|n| frame(0, 0, 2, 2, n as u8 % 2)).collect();
        let animation = animated(&file(2, 2, None, &frames));
        assert_eq!(animation.frames.len(), 1000);
        assert_eq!(pixels(&animation.frames[998]), [RED; 4]);
        assert_eq!(pixels(&animation.frames[999]), [GREEN; 4]);
    }

    #[test]
    fn frames_beyond_the_canvas_are_cut_off() {
        let animation = animated(&file(
            2,
            1,
            None,
            &[frame(1, 0, 4, 4, 0), frame(60_000, 60_000, 2, 2, 1)],
        ));
        assert_eq!(pixels(&animation.frames[0]), [CLEAR, RED]);
        assert_eq!(pixels(&animation.frames[1]), [CLEAR, RED]);
    }

    #[test]
    fn frames_without_pixels_change_nothing() {
        let whole = file(2, 1, None, &[frame(0, 0, 2, 1, 0), frame(0, 0, 2, 1, 1)]);
        // The second image descriptor: separator, left, top, width, height.
        let descriptor = [0x2c, 0, 0, 0, 0, 2, 0, 1, 0];
        let second = whole
            .windows(descriptor.len())
            .rposition(|bytes| bytes == descriptor)
            .unwrap();
        for (width, height) in [(0, 1), (2, 0), (0, 0)] {
            let mut bytes = whole.clone();
            bytes[second + 5] = width;
            bytes[second + 7] = height;
            let animation = animated(&bytes);
            assert_eq!(pixels(&animation.frames[1]), [RED, RED]);
        }
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_refused() {
        let bytes = file(
            4,
            4,
            Some(Repeat::Infinite),
            &[frame(0, 0, 4, 4, 0), frame(1, 1, 2, 2, 1)],
        );
        animated(&bytes);
        for length in 0..bytes.len() {
            assert_eq!(message(&bytes[..length]), "its end is missing", "{length}");
        }
    }

    #[test]
    fn a_canvas_without_pixels_or_frames_is_refused() {
        for (width, height) in [(0, 1), (1, 0)] {
            let bytes = file(width, height, None, &[frame(0, 0, 1, 1, 0)]);
            assert_eq!(message(&bytes), "there is no picture in it");
        }
        // The header, the palette of four colours and the trailer.
        let mut empty = file(1, 1, None, &[frame(0, 0, 1, 1, 0)]);
        empty.splice(13 + 12.., [0x3b]);
        decode(&empty).unwrap_err();
    }

    /// Files of some hundred bytes; their pixels are never decoded.
    #[test]
    fn what_would_fill_the_memory_is_refused() {
        let claim = |canvas: u16, frame_side: u16, frames: usize| {
            let mut bytes = file(canvas, canvas, None, &vec![frame(0, 0, 1, 1, 0); frames]);
            let descriptor = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0];
            let side = frame_side.to_le_bytes();
            for start in 0..bytes.len() - descriptor.len() {
                if bytes[start..].starts_with(&descriptor) {
                    bytes[start + 5..start + 7].copy_from_slice(&side);
                    bytes[start + 7..start + 9].copy_from_slice(&side);
                }
            }
            message(&bytes)
        };
        let one_frame = "its 65535x65535 pixels take 17179344900 bytes when decoded; at most 536870912 are allowed";
        assert_eq!(claim(65_535, 1, 1), one_frame);
        assert_eq!(claim(1, 65_535, 1), one_frame);
        assert_eq!(
            claim(1000, 1, 200),
            "its 200 frames of 1000x1000 pixels take 800000000 bytes when decoded; at most 536870912 are allowed"
        );
        assert_eq!(claim(1, 1, 10_001), "it has more than 10000 frames");
    }

    proptest! {
        /// Whatever is wrong in a file, an answer comes.
        #[test]
        fn damaged_files_give_a_picture_or_an_error(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let frames = [frame(0, 0, 4, 4, 0), frame(1, 1, 2, 2, 1)];
            let mut bytes = file(4, 4, Some(Repeat::Infinite), &frames);
            for (place, value) in damage {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            let _ = decode(&bytes);
        }
    }
}
