//! WebP files (RFC 9649).
//!
//! The decoder that the `image` crate uses decodes single pictures well. Animations it puts together
//! wrongly where frames that are to be cleared differ in size or in having alpha, and it allocates
//! whatever a chunk claims to hold. So the container is read here, and only pictures are decoded
//! there.

use std::io::Cursor;
use std::num::NonZeroU32;

use framefence::Size;
use image::codecs::webp::WebPDecoder;
use image::{DynamicImage, ImageDecoder};

use crate::frame_canvas::{FrameArea, FrameBlend, FrameCanvas, FrameDisposal};
use crate::image_error::{ImageProblem, MAX_ANIMATION_FRAMES};
use crate::picture::{AnimatedPicture, DecodedImage, Picture, check_frames};
use crate::timeline::Timeline;

/// A file whose chunks are all there, with the sizes they state not at odds.
#[derive(Debug)]
pub(crate) enum WebpFile<'a> {
    Still,
    Animated(WebpAnimation<'a>),
}

#[derive(Debug)]
pub(crate) struct WebpAnimation<'a> {
    size: Size,
    /// `None` is for ever.
    rounds: Option<NonZeroU32>,
    frames: Vec<Frame<'a>>,
}

/// The content of an `ANMF` chunk.
#[derive(Debug)]
struct Frame<'a> {
    area: FrameArea,
    delay_ms: u32,
    blend: FrameBlend,
    disposal: FrameDisposal,
    alpha: Option<Chunk<'a>>,
    /// `VP8 ` or `VP8L`.
    image: Chunk<'a>,
}

impl<'a> WebpFile<'a> {
    /// Reads the container, not the pixels.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, ImageProblem> {
        let mut chunks = Chunks(riff_content(bytes)?);
        let first = chunks.next().ok_or(ImageProblem::CutOff)??;
        if first.fourcc != *b"VP8X" {
            return Ok(Self::Still);
        }
        let header = ExtendedHeader::parse(first.data)?;
        if header.is_animated {
            WebpAnimation::parse(header.size, chunks).map(Self::Animated)
        } else {
            for chunk in chunks {
                require_bitstream_size(&chunk?, header.size)?;
            }
            Ok(Self::Still)
        }
    }
}

impl<'a> WebpAnimation<'a> {
    fn parse(size: Size, chunks: Chunks<'a>) -> Result<Self, ImageProblem> {
        let mut rounds = None;
        let mut frames = Vec::new();
        for chunk in chunks {
            let chunk = chunk?;
            match &chunk.fourcc {
                b"ANIM" => rounds = NonZeroU32::new(Fields(chunk.data).skip(4)?.u16()?),
                b"ANMF" if frames.len() == MAX_ANIMATION_FRAMES => {
                    return Err(ImageProblem::TooManyFrames);
                }
                b"ANMF" => frames.push(Frame::parse(chunk.data, size)?),
                _ => {}
            }
        }
        Ok(Self {
            size,
            rounds,
            frames,
        })
    }

    pub(crate) fn decode(self) -> Result<DecodedImage, ImageProblem> {
        let frame_sizes: Vec<_> = self.frames.iter().map(|frame| frame.area.size).collect();
        check_frames(self.size, &frame_sizes)?;
        let mut canvas = FrameCanvas::new(self.size);
        let frames: Result<_, ImageProblem> = self
            .frames
            .iter()
            .map(|frame| {
                let rgba = frame.decode()?;
                Ok(Picture {
                    size: self.size,
                    straight_rgba: canvas.show(&rgba, frame.area, frame.blend, frame.disposal),
                })
            })
            .collect();
        let delays_ms = self.frames.iter().map(|frame| frame.delay_ms);
        let timeline = Timeline::new(delays_ms, self.rounds);
        let frames = frames?;
        Ok(AnimatedPicture { frames, timeline }.into_decoded())
    }
}

impl<'a> Frame<'a> {
    fn parse(data: &'a [u8], canvas: Size) -> Result<Self, ImageProblem> {
        let mut fields = Fields(data);
        let left = fields.u24()? * 2;
        let top = fields.u24()? * 2;
        let size = Size::new(fields.u24()? + 1, fields.u24()? + 1);
        let delay_ms = fields.u24()?;
        let flags = fields.u8()?;
        if left + size.width > canvas.width || top + size.height > canvas.height {
            return Err(ImageProblem::Malformed("a frame lies beyond its canvas"));
        }

        let (mut alpha, mut image) = (None, None);
        for chunk in Chunks(fields.0) {
            let chunk = chunk?;
            require_bitstream_size(&chunk, size)?;
            match &chunk.fourcc {
                b"ALPH" => alpha = Some(chunk),
                b"VP8 " | b"VP8L" => image = Some(chunk),
                _ => {}
            }
        }
        Ok(Self {
            area: FrameArea { left, top, size },
            delay_ms,
            blend: match flags & 0b10 {
                0 => FrameBlend::Over,
                _ => FrameBlend::Replace,
            },
            disposal: match flags & 0b01 {
                0 => FrameDisposal::Keep,
                _ => FrameDisposal::Clear,
            },
            alpha,
            image: image.ok_or(ImageProblem::Malformed("a frame has no picture in it"))?,
        })
    }

    /// The frame's pixels, as straight RGBA.
    fn decode(&self) -> Result<Vec<u8>, ImageProblem> {
        let decoder =
            WebPDecoder::new(Cursor::new(self.to_still_file())).map_err(ImageProblem::Decode)?;
        if decoder.dimensions() != (self.area.size.width, self.area.size.height) {
            return Err(ImageProblem::Malformed("a frame's sizes differ"));
        }
        let image = DynamicImage::from_decoder(decoder).map_err(ImageProblem::Decode)?;
        Ok(image.into_rgba8().into_raw())
    }

    /// A file with this frame as its only picture.
    fn to_still_file(&self) -> Vec<u8> {
        let mut content = b"WEBP".to_vec();
        if let Some(alpha) = &self.alpha {
            const HAS_ALPHA: u8 = 0x10;
            let Size { width, height } = self.area.size;
            let [width, height] = [width - 1, height - 1].map(u32::to_le_bytes);
            let header = [&[HAS_ALPHA, 0, 0, 0], &width[..3], &height[..3]].concat();
            push_chunk(&mut content, *b"VP8X", &header);
            push_chunk(&mut content, alpha.fourcc, alpha.data);
        }
        push_chunk(&mut content, self.image.fourcc, self.image.data);
        let mut file = Vec::with_capacity(content.len() + 8);
        push_chunk(&mut file, *b"RIFF", &content);
        file
    }
}

/// The content of a `VP8X` chunk.
struct ExtendedHeader {
    size: Size,
    is_animated: bool,
}

impl ExtendedHeader {
    fn parse(data: &[u8]) -> Result<Self, ImageProblem> {
        const ANIMATION: u8 = 0x02;
        let mut fields = Fields(data);
        let flags = fields.u8()?;
        let mut fields = fields.skip(3)?;
        Ok(Self {
            size: Size::new(fields.u24()? + 1, fields.u24()? + 1),
            is_animated: flags & ANIMATION != 0,
        })
    }
}

/// A decoder takes memory for the size that the bitstream states; it must be the size that was
/// checked.
fn require_bitstream_size(chunk: &Chunk<'_>, expected: Size) -> Result<(), ImageProblem> {
    let stated = match &chunk.fourcc {
        // RFC 6386, section 9.1: frame tag and start code, then 14 bits each and scaling.
        b"VP8 " => {
            let mut fields = Fields(chunk.data).skip(6)?;
            Size::new(fields.u16()? & 0x3fff, fields.u16()? & 0x3fff)
        }
        // RFC 9649, section 3.4: signature, then 14 bits each.
        b"VP8L" => {
            let mut fields = Fields(chunk.data).skip(1)?;
            let bits = fields.u16()? | fields.u16()? << 16;
            Size::new((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)
        }
        _ => return Ok(()),
    };
    if stated == expected {
        Ok(())
    } else {
        Err(ImageProblem::Malformed(
            "the size of a picture differs from that of its frame",
        ))
    }
}

/// A named part of a RIFF file.
#[derive(Clone, Copy, Debug)]
struct Chunk<'a> {
    fourcc: [u8; 4],
    data: &'a [u8],
}

/// The chunks in the bytes that are left.
struct Chunks<'a>(&'a [u8]);

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, ImageProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let chunk = split_chunk(self.0);
        self.0 = match &chunk {
            // Chunks start at even places.
            Ok((_, rest)) => rest,
            Err(_) => &[],
        };
        Some(chunk.map(|(chunk, _)| chunk))
    }
}

fn split_chunk(bytes: &[u8]) -> Result<(Chunk<'_>, &[u8]), ImageProblem> {
    let (&fourcc, rest) = bytes.split_first_chunk().ok_or(ImageProblem::CutOff)?;
    let (&length, rest) = rest.split_first_chunk().ok_or(ImageProblem::CutOff)?;
    let length = u32::from_le_bytes(length) as usize;
    let (data, rest) = rest.split_at_checked(length).ok_or(ImageProblem::CutOff)?;
    // Chunks of an odd length are followed by a byte of padding.
    let rest = rest.get(length % 2..).unwrap_or_default();
    Ok((Chunk { fourcc, data }, rest))
}

fn push_chunk(file: &mut Vec<u8>, fourcc: [u8; 4], data: &[u8]) {
    file.extend(fourcc);
    file.extend((data.len() as u32).to_le_bytes());
    file.extend(data);
    if !data.len().is_multiple_of(2) {
        file.push(0);
    }
}

/// The chunks of a file, without its header.
fn riff_content(bytes: &[u8]) -> Result<&[u8], ImageProblem> {
    let (riff, _) = split_chunk(bytes)?;
    riff.data.get(4..).ok_or(ImageProblem::CutOff)
}

/// Reads little-endian numbers one after another.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn skip(self, byte_count: usize) -> Result<Self, ImageProblem> {
        self.0
            .get(byte_count..)
            .map(Self)
            .ok_or(ImageProblem::CutOff)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], ImageProblem> {
        let (&bytes, rest) = self.0.split_first_chunk().ok_or(ImageProblem::CutOff)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8, ImageProblem> {
        self.bytes().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u32, ImageProblem> {
        self.bytes().map(|bytes| u16::from_le_bytes(bytes).into())
    }

    fn u24(&mut self) -> Result<u32, ImageProblem> {
        let [low, middle, high] = self.bytes()?;
        Ok(u32::from_le_bytes([low, middle, high, 0]))
    }
}

#[cfg(test)]
mod tests {
    use framefence::Time;
    use image::codecs::webp::WebPEncoder;
    use image::{ExtendedColorType, Rgba, RgbaImage};
    use proptest::prelude::*;

    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const GREEN: [u8; 4] = [0, 255, 0, 255];
    const CLEAR: [u8; 4] = [0; 4];

    const BLEND: u8 = 0;
    const REPLACE: u8 = 2;
    const DISPOSE: u8 = 1;

    /// A lossy picture of 16 × 16 pixels, all but exactly (0, 255, 0), as libwebp writes it.
    const LOSSY_GREEN: &[u8] = include_bytes!("../tests/images/green_lossy.webp");

    /// The picture's chunk in a still file.
    fn image_chunk(still: &[u8]) -> &[u8] {
        &still[12..]
    }

    fn lossless(width: u32, height: u32, color: [u8; 4]) -> Vec<u8> {
        let image = RgbaImage::from_pixel(width, height, Rgba(color));
        let mut bytes = Vec::new();
        WebPEncoder::new_lossless(&mut bytes)
            .encode(&image, width, height, ExtendedColorType::Rgba8)
            .unwrap();
        image_chunk(&bytes).to_vec()
    }

    fn extended_header(flags: u8, width: u32, height: u32) -> Vec<u8> {
        let [width, height] = [width - 1, height - 1].map(u32::to_le_bytes);
        [&[flags, 0, 0, 0], &width[..3], &height[..3]].concat()
    }

    /// An `ANMF` chunk's content; `left` and `top` are even.
    fn frame(
        (left, top): (u32, u32),
        (width, height): (u32, u32),
        delay_ms: u32,
        flags: u8,
        image: &[u8],
    ) -> Vec<u8> {
        let mut data = Vec::new();
        for field in [left / 2, top / 2, width - 1, height - 1, delay_ms] {
            data.extend(&field.to_le_bytes()[..3]);
        }
        data.push(flags);
        data.extend(image);
        data
    }

    fn file(width: u32, height: u32, rounds: u16, frames: &[Vec<u8>]) -> Vec<u8> {
        let mut content = b"WEBP".to_vec();
        push_chunk(
            &mut content,
            *b"VP8X",
            &extended_header(0x12, width, height),
        );
        // A background colour, which is not drawn.
        let animation = [&[9, 9, 9, 255][..], &rounds.to_le_bytes()].concat();
        push_chunk(&mut content, *b"ANIM", &animation);
        for frame in frames {
            push_chunk(&mut content, *b"ANMF", frame);
        }
        let mut file = Vec::new();
        push_chunk(&mut file, *b"RIFF", &content);
        file
    }

    fn decode(bytes: &[u8]) -> Result<DecodedImage, ImageProblem> {
        match WebpFile::parse(bytes)? {
            WebpFile::Animated(animation) => animation.decode(),
            WebpFile::Still => panic!("the file is animated"),
        }
    }

    fn animated(bytes: &[u8]) -> AnimatedPicture {
        match decode(bytes).unwrap() {
            DecodedImage::Animated(animation) => animation,
            DecodedImage::Still(picture) => panic!("one picture of {}", picture.size),
        }
    }

    fn shown(bytes: &[u8]) -> Vec<Vec<[u8; 4]>> {
        let pixels = |picture: &Picture| picture.straight_rgba.as_chunks().0.to_vec();
        animated(bytes).frames.iter().map(pixels).collect()
    }

    #[track_caller]
    fn assert_refused(bytes: &[u8], expected: &str) {
        let error = anyhow::Error::new(decode(bytes).unwrap_err());
        assert_eq!(format!("{error:#}"), expected);
    }

    #[test]
    fn frames_are_put_together_as_the_file_says() {
        let glass = [0, 255, 0, 128];
        let bytes = file(
            4,
            1,
            0,
            &[
                frame((0, 0), (3, 1), 40, BLEND, &lossless(3, 1, RED)),
                frame((2, 0), (1, 1), 40, BLEND | DISPOSE, &lossless(1, 1, glass)),
                frame((0, 0), (1, 1), 40, REPLACE, &lossless(1, 1, glass)),
            ],
        );
        let half = [127, 128, 0, 255];
        assert_eq!(
            shown(&bytes),
            [
                [RED, RED, RED, CLEAR],
                [RED, RED, half, CLEAR],
                [glass, RED, CLEAR, CLEAR],
            ]
        );
    }

    /// A frame without alpha after one that is to be cleared, both smaller than the canvas: where
    /// the decoder's own animation goes wrong.
    #[test]
    fn a_lossy_frame_leaves_the_rest_of_the_canvas_alone() {
        let bytes = file(
            18,
            16,
            0,
            &[
                frame((16, 0), (2, 16), 40, DISPOSE, &lossless(2, 16, RED)),
                frame((0, 0), (16, 16), 40, BLEND, image_chunk(LOSSY_GREEN)),
            ],
        );
        let [first, second] = &shown(&bytes)[..] else {
            panic!("two frames");
        };
        for (row, (first, second)) in first.chunks(18).zip(second.chunks(18)).enumerate() {
            assert_eq!(first, [[CLEAR; 16].as_slice(), &[RED; 2]].concat(), "{row}");
            assert_eq!(second[16..], [CLEAR; 2], "{row}");
            for pixel in &second[..16] {
                for (given, expected) in pixel.iter().zip(GREEN) {
                    assert!(given.abs_diff(expected) <= 3, "{row}: {pixel:?}");
                }
            }
        }
    }

    /// An uncompressed alpha plane: one byte that says so, then a byte a pixel.
    #[test]
    fn a_lossy_frame_has_the_alpha_of_its_own_chunk() {
        let mut image = Vec::new();
        let alpha: Vec<u8> = (0..=255).collect();
        push_chunk(&mut image, *b"ALPH", &[&[0], &alpha[..]].concat());
        image.extend(image_chunk(LOSSY_GREEN));
        let lossy = frame((0, 0), (16, 16), 40, REPLACE, &image);
        let bytes = file(16, 16, 0, &[lossy.clone(), lossy]);
        let frames = shown(&bytes);
        let alphas: Vec<_> = frames[1].iter().map(|pixel| pixel[3]).collect();
        assert_eq!(alphas, alpha);
    }

    #[test]
    fn delays_are_milliseconds_and_rounds_are_counted() {
        let frames = [
            frame((0, 0), (1, 1), 33, BLEND, &lossless(1, 1, RED)),
            frame((0, 0), (1, 1), 0, BLEND, &lossless(1, 1, GREEN)),
        ];
        let frame_at = |rounds, time_ms| {
            animated(&file(1, 1, rounds, &frames))
                .timeline
                .frame_at(Time::from_ratio(time_ms, 1000))
        };
        // 33 ms and 100 ms a round.
        assert_eq!([frame_at(2, 132), frame_at(2, 133)], [1, 0]);
        assert_eq!([frame_at(2, 265), frame_at(2, 266)], [1, 1]);
        assert_eq!([frame_at(0, 266), frame_at(0, 133_033)], [0, 1]);
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_refused() {
        let bytes = file(
            16,
            16,
            0,
            &[
                frame((0, 0), (16, 16), 40, BLEND, image_chunk(LOSSY_GREEN)),
                frame((0, 0), (1, 1), 40, BLEND, &lossless(1, 1, RED)),
            ],
        );
        animated(&bytes);
        for length in 0..bytes.len() {
            assert_refused(&bytes[..length], "its end is missing");
        }
        // Chunks that end too early, in a file that does not.
        for length in 8..bytes.len() - 8 {
            let mut riff = bytes[..length].to_vec();
            riff[4..8].copy_from_slice(&(length as u32 - 8).to_le_bytes());
            if let Ok(file) = WebpFile::parse(&riff) {
                match file {
                    WebpFile::Animated(animation) => assert!(animation.frames.len() < 2),
                    WebpFile::Still => panic!("{length}"),
                }
            }
        }
    }

    #[test]
    fn sizes_that_contradict_each_other_are_refused() {
        let red = lossless(2, 2, RED);
        assert_refused(
            &file(4, 4, 0, &[frame((4, 0), (2, 2), 40, BLEND, &red)]),
            "it is malformed: a frame lies beyond its canvas",
        );
        for image in [&red[..], image_chunk(LOSSY_GREEN)] {
            assert_refused(
                &file(4, 4, 0, &[frame((0, 0), (4, 4), 40, BLEND, image)]),
                "it is malformed: the size of a picture differs from that of its frame",
            );
        }
        assert_refused(
            &file(4, 4, 0, &[frame((0, 0), (4, 4), 40, BLEND, &[])]),
            "it is malformed: a frame has no picture in it",
        );
        let mut still = b"WEBP".to_vec();
        push_chunk(&mut still, *b"VP8X", &extended_header(0, 9, 9));
        still.extend(&red);
        let mut bytes = Vec::new();
        push_chunk(&mut bytes, *b"RIFF", &still);
        assert!(matches!(
            WebpFile::parse(&bytes),
            Err(ImageProblem::Malformed(_))
        ));
    }

    #[test]
    fn what_would_fill_the_memory_is_refused() {
        let small = frame((0, 0), (1, 1), 40, BLEND, &lossless(1, 1, RED));
        assert_refused(
            &file(60_000, 60_000, 0, std::slice::from_ref(&small)),
            "its 60000x60000 pixels take 14400000000 bytes when decoded; at most 536870912 are allowed",
        );
        assert_refused(
            &file(1000, 1000, 0, &vec![small.clone(); 200]),
            "its 200 frames of 1000x1000 pixels take 800000000 bytes when decoded; at most 536870912 are allowed",
        );
        assert_refused(
            &file(1, 1, 0, &vec![small; 10_001]),
            "it has more than 10000 frames",
        );
        assert_refused(&file(1, 1, 0, &[]), "there is no picture in it");
    }

    proptest! {
        /// Whatever is wrong in a file, an answer comes.
        #[test]
        fn damaged_files_give_a_picture_or_an_error(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let mut bytes = file(
                16,
                16,
                0,
                &[
                    frame((0, 0), (16, 16), 40, BLEND, image_chunk(LOSSY_GREEN)),
                    frame((2, 2), (3, 3), 40, DISPOSE, &lossless(3, 3, RED)),
                ],
            );
            for (place, value) in damage {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            if let Ok(WebpFile::Animated(animation)) = WebpFile::parse(&bytes) {
                let _ = animation.decode();
            }
        }
    }
}
