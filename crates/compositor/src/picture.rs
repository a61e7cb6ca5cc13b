//! Pictures from files.

use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use framefence::Size;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

/// The most memory that one decoded picture may take: 134 million pixels of RGBA.
///
/// A file of a few kilobytes can claim to hold any size; this is checked before memory is taken.
pub const MAX_DECODED_BYTES: u64 = 512 << 20;

/// A decoded picture, upright.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) size: Size,
    /// RGBA, sRGB-encoded, alpha not multiplied in; rows packed tightly.
    pub(crate) straight_rgba: Vec<u8>,
}

/// An image file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the image {}", path.display())]
pub struct LoadImageError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: ImageProblem,
}

/// What is wrong with an image file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageProblem {
    /// It is not there or cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// It is a directory, a pipe or a device.
    #[error("it is not a file")]
    NotAFile,
    /// It has no bytes.
    #[error("it is empty")]
    Empty,
    /// It is of another format than those that are supported.
    #[error("it is neither PNG nor JPEG")]
    UnsupportedFormat,
    /// It is damaged or cut off.
    #[error("it cannot be decoded")]
    Decode(#[source] ImageError),
    /// It is a JPEG file whose end is missing.
    #[error("its end is missing")]
    CutOff,
    /// The file is larger than any picture that would be allowed.
    #[error("its file has {file_bytes} bytes; at most {MAX_DECODED_BYTES} are allowed")]
    FileTooLarge {
        /// The size of the file.
        file_bytes: u64,
    },
    /// Its pixels would take more memory than is allowed.
    #[error(
        "its {size} pixels take {needed_bytes} bytes when decoded; at most {MAX_DECODED_BYTES} are allowed"
    )]
    TooLarge {
        /// The size that the file states.
        size: Size,
        /// The memory that its pixels take.
        needed_bytes: u64,
    },
    /// The GPU has no memory left for it.
    #[error("the GPU has no memory left for its {size} pixels")]
    OutOfGpuMemory {
        /// The picture's size.
        size: Size,
    },
}

impl Picture {
    /// Decodes a PNG or JPEG file, by its content rather than its name, and turns it upright as its
    /// EXIF orientation says. Colour profiles are not applied: the samples are taken as sRGB.
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

fn decode(bytes: &[u8]) -> Result<Picture, ImageProblem> {
    let format = image::guess_format(bytes).map_err(|_| ImageProblem::UnsupportedFormat)?;
    if !matches!(format, ImageFormat::Png | ImageFormat::Jpeg) {
        return Err(ImageProblem::UnsupportedFormat);
    }
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
    if format == ImageFormat::Jpeg && !has_end_of_image(bytes) {
        return Err(ImageProblem::CutOff);
    }
    let orientation = decoder.orientation().map_err(ImageProblem::Decode)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(ImageProblem::Decode)?;
    image.apply_orientation(orientation);
    let image = image.into_rgba8();
    Ok(Picture {
        size: Size::new(image.width(), image.height()),
        straight_rgba: image.into_raw(),
    })
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
        match Picture::load(&path) {
            Ok(picture) => panic!("a picture of {} came out", picture.size),
            Err(problem) => message(problem),
        }
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
        assert_eq!(problem(b"GIF89a"), "it is neither PNG nor JPEG");
        assert_eq!(problem(b"\x89PN"), "it is neither PNG nor JPEG");
        assert_eq!(problem(&[0; 4096]), "it is neither PNG nor JPEG");
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            message(Picture::load(folder.path()).unwrap_err()),
            "it is not a file"
        );
        let missing = message(Picture::load(&folder.path().join("none.png")).unwrap_err());
        assert!(
            missing.starts_with("it cannot be read: No such file"),
            "{missing}"
        );
    }

    #[test]
    fn a_picture_that_is_cut_off_is_refused() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg] {
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
            let picture = Picture::load(&path).unwrap();
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
