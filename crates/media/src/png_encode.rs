//! An image as PNG.

use std::io::{self, Write};

use framefence::pixel::{
    AlphaMode, ColorRange, MatrixCoefficients, Transfer, straight_srgb16, unpremultiply,
    unpremultiply_srgb,
};
use framefence::{Image, OutputFormat, Plane};
use half::f16;

use crate::WriteError;

/// How the rows of an image become rows of a PNG.
///
/// Colours are tagged as sRGB and alpha is straight, as PNG wants it. Images without a
/// translucent pixel are written without alpha.
#[derive(Clone, Copy)]
pub(crate) struct PngEncoding {
    pixels: Pixels,
    is_opaque: bool,
}

#[derive(Clone, Copy)]
enum Pixels {
    /// 8-bit grey.
    Grey,
    /// 8-bit R, G, B, A, or with red and blue exchanged, and the way to straight alpha.
    Color8 {
        is_bgra: bool,
        straighten: fn([u8; 4]) -> [u8; 4],
    },
    /// Half-floats of linear light, which become 16 bits.
    Half(AlphaMode),
    /// Floats of linear light, which become 16 bits.
    Float(AlphaMode),
}

impl PngEncoding {
    /// The encoding that suits `image`.
    pub(crate) fn of(image: &Image) -> Result<Self, WriteError> {
        let (format, color) = (image.format(), image.color());
        let unsupported = Err(WriteError::UnsupportedByPng { format, color });
        if color.matrix != MatrixCoefficients::Identity || color.range != ColorRange::Full {
            return unsupported;
        }
        let pixels = match (format, color.transfer) {
            (OutputFormat::R8, Transfer::Srgb) => Pixels::Grey,
            (
                OutputFormat::Rgba8
                | OutputFormat::Rgba8Srgb
                | OutputFormat::Bgra8
                | OutputFormat::Bgra8Srgb,
                Transfer::Srgb,
            ) => Pixels::Color8 {
                is_bgra: matches!(format, OutputFormat::Bgra8 | OutputFormat::Bgra8Srgb),
                straighten: straighten(format, color.alpha),
            },
            (OutputFormat::Rgba16F, Transfer::Linear) => Pixels::Half(color.alpha),
            (OutputFormat::Rgba32F, Transfer::Linear) => Pixels::Float(color.alpha),
            _ => return unsupported,
        };
        Ok(Self {
            pixels,
            is_opaque: color.alpha == AlphaMode::Opaque || pixels.are_opaque(&image.plane()),
        })
    }

    /// Writes `image`, the one that this encoding is of, to `output`.
    pub(crate) fn write(self, image: &Image, output: impl Write) -> io::Result<()> {
        self.write_png(image, output).map_err(|error| match error {
            png::EncodingError::IoError(source) => source,
            other => io::Error::other(other),
        })
    }

    fn write_png(self, image: &Image, output: impl Write) -> Result<(), png::EncodingError> {
        let size = image.size();
        let mut encoder = png::Encoder::new(output, size.width, size.height);
        encoder.set_color(match (self.pixels, self.is_opaque) {
            (Pixels::Grey, _) => png::ColorType::Grayscale,
            (_, true) => png::ColorType::Rgb,
            (_, false) => png::ColorType::Rgba,
        });
        encoder.set_depth(match self.pixels {
            Pixels::Grey | Pixels::Color8 { .. } => png::BitDepth::Eight,
            Pixels::Half(_) | Pixels::Float(_) => png::BitDepth::Sixteen,
        });
        // Photographs come out as small as with the default, in a tenth of its time or less.
        encoder.set_compression(png::Compression::Fast);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);

        let mut writer = encoder.write_header()?;
        let mut samples = Vec::new();
        for row in image.plane().rows() {
            self.convert_row(row, &mut samples);
        }
        // All at once: png's stream writer loses the kind of the system's errors.
        writer.write_image_data(&samples)?;
        writer.finish()
    }

    /// Appends the samples that PNG holds for `row`.
    fn convert_row(self, row: &[u8], samples: &mut Vec<u8>) {
        let channels = if self.is_opaque { 3 } else { 4 };
        match self.pixels {
            Pixels::Grey => samples.extend_from_slice(row),
            Pixels::Color8 {
                is_bgra,
                straighten,
            } => {
                for &[first, g, third, alpha] in row.as_chunks().0 {
                    let (r, b) = if is_bgra {
                        (third, first)
                    } else {
                        (first, third)
                    };
                    samples.extend_from_slice(&straighten([r, g, b, alpha])[..channels]);
                }
            }
            Pixels::Half(alpha) => {
                for pixel in row.as_chunks().0 {
                    push16(straight_srgb16(halves(pixel), alpha), channels, samples);
                }
            }
            Pixels::Float(alpha) => {
                for pixel in row.as_chunks().0 {
                    push16(straight_srgb16(floats(pixel), alpha), channels, samples);
                }
            }
        }
    }
}

impl Pixels {
    /// Whether every alpha is 1.
    fn are_opaque(self, plane: &Plane<'_>) -> bool {
        plane.rows().all(|row| match self {
            Self::Grey => true,
            Self::Color8 { .. } => row
                .as_chunks()
                .0
                .iter()
                .all(|&[_, _, _, alpha]| alpha == 255),
            Self::Half(_) => row
                .as_chunks()
                .0
                .iter()
                .all(|pixel| halves(pixel)[3] >= 1.0),
            Self::Float(_) => row
                .as_chunks()
                .0
                .iter()
                .all(|pixel| floats(pixel)[3] >= 1.0),
        })
    }
}

/// The way to straight alpha. In sRGB targets the GPU blends linear light and encodes the result,
/// so that is where alpha was multiplied in; in the others it was multiplied into the code values.
fn straighten(format: OutputFormat, alpha: AlphaMode) -> fn([u8; 4]) -> [u8; 4] {
    match (alpha, format) {
        (AlphaMode::Opaque | AlphaMode::Straight, _) => |pixel| pixel,
        (AlphaMode::Premultiplied, OutputFormat::Rgba8Srgb | OutputFormat::Bgra8Srgb) => {
            unpremultiply_srgb
        }
        (AlphaMode::Premultiplied, _) => unpremultiply,
    }
}

fn halves(pixel: &[u8; 8]) -> [f32; 4] {
    let channel = |index| f16::from_le_bytes([pixel[index], pixel[index + 1]]).to_f32();
    [channel(0), channel(2), channel(4), channel(6)]
}

fn floats(pixel: &[u8; 16]) -> [f32; 4] {
    let (channels, _) = pixel.as_chunks();
    std::array::from_fn(|index| f32::from_le_bytes(channels[index]))
}

/// Appends the first channels in PNG's byte order.
fn push16(pixel: [u16; 4], channels: usize, samples: &mut Vec<u8>) {
    for channel in &pixel[..channels] {
        samples.extend_from_slice(&channel.to_be_bytes());
    }
}
