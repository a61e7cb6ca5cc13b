//! Pictures from files.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use framefence::Size;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::gif_file;
use crate::image_error::{ImageProblem, MAX_DECODED_BYTES};
use crate::timeline::Timeline;
use crate::webp_file::WebpFile;

/// A decoded picture, upright.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) size: Size,
    /// RGBA, sRGB-encoded, alpha not multiplied in; rows packed tightly.
    pub(crate) straight_rgba: Vec<u8>,
}

/// Pictures of one size that are shown one after another; at least two.
#[derive(Debug)]
pub(crate) struct AnimatedPicture {
    pub(crate) frames: Vec<Picture>,
    pub(crate) timeline: Timeline,
}

/// What an image file holds.
#[derive(Debug)]
pub(crate) enum DecodedImage {
    Still(Picture),
    Animated(AnimatedPicture),
}

impl DecodedImage {
    /// Decodes a PNG, JPEG, WebP or GIF file, by its content rather than its name.
    ///
    /// Still pictures are turned upright as their EXIF orientation says. Colour profiles are not
    /// applied: the samples are taken as sRGB. Of an animated PNG file the still picture is taken
    /// that every PNG reader shows.
    pub(crate) fn load(path: &Path) -> Result<Self, ImageProblem> {
        let metadata = path.metadata().map_err(ImageProblem::Read)?;
        if !metadata.is_file() {
            return Err(ImageProblem::NotAFile);
        }
        if metadata.len() == 0 {
            return Err(ImageProblem::Empty);
        }
        if metadata.len() > MAX_DECODED_BYTES {
            return Err(ImageProblem::FileTooLarge {
                file_bytes: metadata.len(),
            });
        }
        decode(&fs::read(path).map_err(ImageProblem::Read)?)
    }
}

impl AnimatedPicture {
    pub(crate) fn size(&self) -> Size {
        self.frames[0].size
    }

    /// An animation, or the still picture that a single frame is.
    pub(crate) fn into_decoded(mut self) -> DecodedImage {
        match self.frames.len() {
            1 => DecodedImage::Still(self.frames.remove(0)),
            _ => DecodedImage::Animated(self),
        }
    }
}

/// Refuses an animation that has no frames, or such that would take too much memory.
///
/// Each frame is kept as a whole canvas; one that is larger than the canvas takes its own size while
/// it is decoded.
pub(crate) fn check_frames(canvas: Size, frame_sizes: &[Size]) -> Result<(), ImageProblem> {
    let frames = frame_sizes.len();
    if frames == 0 || canvas.width == 0 || canvas.height == 0 {
        return Err(ImageProblem::NoPicture);
    }
    let rgba_bytes = |size: &Size| u64::from(size.width) * u64::from(size.height) * 4;
    let largest = frame_sizes
        .iter()
        .copied()
        .chain([canvas])
        .max_by_key(rgba_bytes);
    let size = largest.unwrap_or(canvas);
    let needed_bytes = frame_sizes
        .iter()
        .map(|frame| rgba_bytes(frame).max(rgba_bytes(&canvas)))
        .fold(0, u64::saturating_add);
    match frames {
        _ if needed_bytes <= MAX_DECODED_BYTES => Ok(()),
        1 => Err(ImageProblem::TooLarge { size, needed_bytes }),
        _ => Err(ImageProblem::AnimationTooLarge {
            frames,
            size,
            needed_bytes,
        }),
    }
}

fn decode(bytes: &[u8]) -> Result<DecodedImage, ImageProblem> {
    let format = image::guess_format(bytes).map_err(|_| ImageProblem::UnsupportedFormat)?;
    match format {
        ImageFormat::Gif => gif_file::decode(bytes),
        ImageFormat::WebP => match WebpFile::parse(bytes)? {
            WebpFile::Animated(animation) => animation.decode(),
            WebpFile::Still => decode_still(bytes, format),
        },
        ImageFormat::Jpeg if !has_end_of_image(bytes) => Err(ImageProblem::CutOff),
        ImageFormat::Png | ImageFormat::Jpeg => decode_still(bytes, format),
        _ => Err(ImageProblem::UnsupportedFormat),
    }
}

fn decode_still(bytes: &[u8], format: ImageFormat) -> Result<DecodedImage, ImageProblem> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(ImageProblem::Decode)?;

    let (width, height) = decoder.dimensions();
    // What the decoder delivers, or the RGBA made of it, whichever is larger.
    let needed_bytes = decoder
        .total_bytes()
        .max(u64::from(width) * u64::from(height) * 4);
    if needed_bytes > MAX_DECODED_BYTES {
        return Err(ImageProblem::TooLarge {
            size: Size::new(width, height),
            needed_bytes,
        });
    }
    let orientation = decoder.orientation().map_err(ImageProblem::Decode)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(ImageProblem::Decode)?;
    image.apply_orientation(orientation);
    let image = image.into_rgba8();
    Ok(DecodedImage::Still(Picture {
        size: Size::new(image.width(), image.height()),
        straight_rgba: image.into_raw(),
    }))
}

/// Whether a JPEG file goes on to its end-of-image marker (ITU-T T.81, B.1.1). The decoder paints
/// what is missing grey and says nothing.
fn has_end_of_image(jpeg: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xda;
    const END_OF_IMAGE: [u8; 2] = [0xff, 0xd9];

    // Segments before the first scan are stepped over by their lengths: a thumbnail in one of them
    // has an end of its own. In the scan's data the marker's bytes can mean nothing else.
    let mut rest = jpeg.get(2..).unwrap_or_default();
    while let [0xff, marker, high, low, ..] = *rest {
        let length = usize::from(u16::from_be_bytes([high, low]));
        rest = rest.get(2 + length..).unwrap_or_default();
        if marker == START_OF_SCAN {
            break;
        }
    }
    rest.windows(2).any(|pair| pair == END_OF_IMAGE)
}

#[cfg(test)]
mod tests {
    use image::codecs::jpeg::JpegEncoder;
    use image::{ExtendedColorType, Rgb, RgbImage};

    use super::*;

    /// What is wrong with a file of these bytes, as a program prints it.
    fn problem(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture");
        fs::write(&path, bytes).unwrap();
        message(DecodedImage::load(&path).expect_err("no picture should come out"))
    }

    fn message(problem: ImageProblem) -> String {
        format!("{:#}", anyhow::Error::new(problem))
    }

    fn encoded(image: &RgbImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn noise(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            let value = (x * 7919 + y * 104_729) % 251;
            Rgb([value as u8, (value * 3) as u8, (value * 5) as u8])
        })
    }

    #[test]
    fn a_file_without_a_picture_is_refused() {
        assert_eq!(problem(b""), "it is empty");
        for bytes in [&b"BM"[..], b"\x89PN", &[0; 4096]] {
            assert_eq!(problem(bytes), "it is not a PNG, JPEG, WebP or GIF file");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            message(DecodedImage::load(folder.path()).unwrap_err()),
            "it is not a file"
        );
        let missing = message(DecodedImage::load(&folder.path().join("none.png")).unwrap_err());
        assert!(
            missing.starts_with("it cannot be read: No such file"),
            "{missing}"
        );
    }

    #[test]
    fn a_picture_that_is_cut_off_is_refused() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let bytes = encoded(&noise(64, 64), format);
            for length in [20, bytes.len() / 2, bytes.len() - 8] {
                let problem = problem(&bytes[..length]);
                assert!(
                    problem.starts_with("it cannot be decoded: ")
                        || problem == "its end is missing",
                    "{format:?} of {length} bytes: {problem}"
                );
            }
        }
    }

    #[test]
    fn a_damaged_png_is_refused() {
        let mut bytes = encoded(&noise(64, 64), ImageFormat::Png);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        assert!(problem(&bytes).starts_with("it cannot be decoded: "));
    }

    /// A few hundred bytes that claim to be 60,000 pixels wide and high.
    #[test]
    fn a_picture_that_would_fill_the_memory_is_refused() {
        let mut png = encoded(&noise(4, 4), ImageFormat::Png);
        png[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        png[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let checksum = crc32(&png[12..29]);
        png[29..33].copy_from_slice(&checksum.to_be_bytes());

        let mut jpeg = encoded(&noise(4, 4), ImageFormat::Jpeg);
        let frame = jpeg
            .windows(2)
            .position(|marker| marker == [0xff, 0xc0])
            .unwrap();
        jpeg[frame + 5..frame + 7].copy_from_slice(&60_000_u16.to_be_bytes());
        jpeg[frame + 7..frame + 9].copy_from_slice(&60_000_u16.to_be_bytes());

        for bytes in [png, jpeg] {
            assert_eq!(
                problem(&bytes),
                "its 60000x60000 pixels take 14400000000 bytes when decoded; at most 536870912 are allowed"
            );
        }
    }

    /// The checksum of PNG chunks (PNG specification, annex D).
    fn crc32(bytes: &[u8]) -> u32 {
        let mut remainder = u32::MAX;
        for &byte in bytes {
            remainder ^= u32::from(byte);
            for _ in 0..8 {
                let carry = remainder & 1;
                remainder = (remainder >> 1) ^ (carry * 0xedb8_8320);
            }
        }
        !remainder
    }

    /// EXIF says which sides of the upright picture the stored rows and columns start at.
    #[test]
    fn every_exif_orientation_comes_out_upright() {
        let (width, height) = (48, 32);
        let upright = RgbImage::from_fn(width, height, |x, y| {
            match (x < width / 2, y < height / 2) {
                (true, true) => Rgb([220, 30, 30]),
                (false, true) => Rgb([30, 220, 30]),
                (true, false) => Rgb([30, 30, 220]),
                (false, false) => Rgb([220, 220, 220]),
            }
        });
        let (right, bottom) = (width - 1, height - 1);
        let stored = |orientation: u8| {
            let (columns, rows) = match orientation {
                1..=4 => (width, height),
                _ => (height, width),
            };
            RgbImage::from_fn(columns, rows, |x, y| {
                let (x, y) = match orientation {
                    1 => (x, y),
                    2 => (right - x, y),
                    3 => (right - x, bottom - y),
                    4 => (x, bottom - y),
                    5 => (y, x),
                    6 => (right - y, x),
                    7 => (right - y, bottom - x),
                    _ => (y, bottom - x),
                };
                *upright.get_pixel(x, y)
            })
        };
        let folder = tempfile::tempdir().unwrap();
        for orientation in 1..=8 {
            let path = folder.path().join(format!("{orientation}.jpg"));
            fs::write(
                &path,
                jpeg_with_orientation(&stored(orientation), orientation),
            )
            .unwrap();
            let DecodedImage::Still(picture) = DecodedImage::load(&path).unwrap() else {
                panic!("a JPEG file has one picture");
            };
            assert_eq!(picture.size, Size::new(width, height), "{orientation}");
            for (pixel, expected) in picture.straight_rgba.chunks_exact(4).zip(upright.pixels()) {
                for (channel, expected) in pixel.iter().zip(expected.0) {
                    // Quality 100 rounds colours by a few code values.
                    assert!(channel.abs_diff(expected) <= 6, "{orientation}");
                }
            }
        }
    }

    fn jpeg_with_orientation(image: &RgbImage, orientation: u8) -> Vec<u8> {
        let mut jpeg = Vec::new();
        JpegEncoder::new_with_quality(&mut jpeg, 100)
            .encode(
                image,
                image.width(),
                image.height(),
                ExtendedColorType::Rgb8,
            )
            .unwrap();
        #[rustfmt::skip]
        let exif = [
            0xff, 0xe1, 0, 34, // APP1 and its length
            b'E', b'x', b'i', b'f', 0, 0,
            b'I', b'I', 42, 0, 8, 0, 0, 0, // TIFF header, little-endian
            1, 0, // one entry: tag 0x0112, one SHORT
            0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0,
            0, 0, 0, 0, // no further directory
        ];
        let start_of_image = 2;
        jpeg.splice(start_of_image..start_of_image, exif);
        jpeg
    }
}
