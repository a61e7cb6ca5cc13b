//! I420 against the equations of ITU-R BT.709-6 in `f64`, which share nothing with the packer.

use framefence_pixel::{
    AlphaMode, ChromaSiting, ColorRange, ColorSpec, I420Planes, MatrixCoefficients, OutputFormat,
    PackError, Plane, Size, Transfer, pack_i420,
};

/// Rows are this much longer than their pixels, and hold what must not be looked at.
const PADDING_BYTES: usize = 12;

/// A picture of R'G'B' code values.
struct Picture {
    size: Size,
    rgb: Vec<[u8; 3]>,
}

impl Picture {
    fn new(size: Size, color_at: impl Fn(u32, u32) -> [u8; 3]) -> Self {
        let rgb = (0..size.height)
            .flat_map(|y| (0..size.width).map(move |x| (x, y)))
            .map(|(x, y)| color_at(x, y))
            .collect();
        Self { size, rgb }
    }

    /// The colour at a place that is moved into the picture if it lies beyond its borders.
    fn clamped(&self, x: i64, y: i64) -> [f64; 3] {
        let x = x.clamp(0, i64::from(self.size.width) - 1);
        let y = y.clamp(0, i64::from(self.size.height) - 1);
        let index = y * i64::from(self.size.width) + x;
        self.rgb[index as usize].map(|value| f64::from(value) / 255.0)
    }

    /// The packed picture in padded rows, every alpha and every padding byte different.
    fn packed(&self, is_bgra: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in self.rgb.chunks(self.size.width as usize) {
            for &[r, g, b] in row {
                let alpha = bytes.len() as u8 ^ 0x55;
                bytes.extend(if is_bgra {
                    [b, g, r, alpha]
                } else {
                    [r, g, b, alpha]
                });
            }
            bytes.extend((0..PADDING_BYTES).map(|index| 0x81 ^ index as u8));
        }
        bytes
    }

    fn pack(&self, format: OutputFormat) -> Vec<u8> {
        let is_bgra = matches!(format, OutputFormat::Bgra8 | OutputFormat::Bgra8Srgb);
        let bytes = self.packed(is_bgra);
        let row_bytes = self.size.width as usize * 4;
        let plane = Plane {
            bytes: &bytes[..bytes.len() - PADDING_BYTES],
            stride_bytes: row_bytes + PADDING_BYTES,
            row_bytes,
            width: self.size.width,
            height: self.size.height,
        };
        let mut i420 = vec![0; I420Planes::len_bytes(self.size)];
        let planes = I420Planes::split(&mut i420, self.size);
        pack_i420(plane, format, ColorSpec::SRGB, planes).expect("a format that can be packed");
        i420
    }

    /// Luma, then blue, then red difference of every sample, unrounded.
    fn reference(&self) -> Vec<f64> {
        let luma = |[r, g, b]: [f64; 3]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let (width, height) = (i64::from(self.size.width), i64::from(self.size.height));
        let mut samples = Vec::new();
        for y in 0..height {
            for x in 0..width {
                samples.push(219.0 * luma(self.clamped(x, y)) + 16.0);
            }
        }
        // Co-sited with the even columns, between two rows.
        let filtered = |x: i64, y: i64| {
            let mut sum = [0.0; 3];
            for (column, weight) in [(x - 1, 0.25), (x, 0.5), (x + 1, 0.25)] {
                for row in [y, y + 1] {
                    let color = self.clamped(column, row);
                    for (sum, value) in sum.iter_mut().zip(color) {
                        *sum += weight * 0.5 * value;
                    }
                }
            }
            sum
        };
        for difference in [
            |[_, _, b]: [f64; 3], y: f64| (b - y) / 1.8556,
            |[r, _, _]: [f64; 3], y: f64| (r - y) / 1.5748,
        ] {
            for y in (0..height).step_by(2) {
                for x in (0..width).step_by(2) {
                    let color = filtered(x, y);
                    samples.push(224.0 * difference(color, luma(color)) + 128.0);
                }
            }
        }
        samples
    }
}

/// How far samples were from the reference.
#[derive(Default)]
struct Errors {
    samples: usize,
    unequal: usize,
}

impl Errors {
    fn compare(&mut self, picture: &Picture, format: OutputFormat) {
        let i420 = picture.pack(format);
        let reference = picture.reference();
        assert_eq!(i420.len(), reference.len());
        for (index, (&sample, exact)) in i420.iter().zip(reference).enumerate() {
            let error = (f64::from(sample) - exact.round()).abs();
            assert!(
                error <= 1.0,
                "sample {index} of {} is {sample}, exact {exact}",
                picture.size
            );
            self.samples += 1;
            self.unequal += usize::from(error != 0.0);
        }
    }

    fn assert_rare(&self) {
        assert!(
            self.unequal * 100 <= self.samples,
            "{} of {} samples are not equal to the reference",
            self.unequal,
            self.samples
        );
    }
}

/// Widths around the packer's blocks and vectors, heights with and without a last single row.
fn sizes() -> impl Iterator<Item = Size> {
    (1..=66)
        .chain(127..=130)
        .flat_map(|width| (1..=5).map(move |height| Size::new(width, height)))
}

fn hash(x: u32, y: u32) -> [u8; 3] {
    let word =
        (x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77)).wrapping_add(0x1656_67B1);
    let word = (word ^ word >> 15).wrapping_mul(0xC2B2_AE3D);
    let [r, g, b, _] = (word ^ word >> 13).to_le_bytes();
    [r, g, b]
}

#[test]
fn noise_is_exact() {
    let mut errors = Errors::default();
    for size in sizes() {
        let picture = Picture::new(size, |x, y| hash(x + size.width * 7, y + size.height * 131));
        errors.compare(&picture, OutputFormat::Rgba8);
        errors.compare(&picture, OutputFormat::Bgra8Srgb);
    }
    errors.assert_rare();
}

#[test]
fn ramps_are_exact() {
    let mut errors = Errors::default();
    for size in sizes() {
        let steep = Picture::new(size, |x, y| {
            let value = |speed: u32| ((x + y) * speed % 256) as u8;
            [value(1), value(3), 255 - value(2)]
        });
        errors.compare(&steep, OutputFormat::Rgba8Srgb);
        let full = Picture::new(size, |x, _| [(x * 255 / size.width) as u8; 3]);
        errors.compare(&full, OutputFormat::Bgra8);
    }
    errors.assert_rare();
}

#[test]
fn saturated_edges_are_exact() {
    let corner = |index: u32| [0, 1, 2].map(|bit| if index >> bit & 1 == 1 { 255 } else { 0 });
    let mut errors = Errors::default();
    for size in sizes() {
        for period in 1..=3 {
            let picture = Picture::new(size, |x, y| corner((x / period * 5 + y / period * 3) % 8));
            errors.compare(&picture, OutputFormat::Rgba8);
            errors.compare(&picture, OutputFormat::Bgra8);
        }
    }
    errors.assert_rare();
}

#[test]
fn every_grey_is_exact_and_without_chroma() {
    let picture = Picture::new(Size::new(256, 2), |x, _| [x as u8; 3]);
    let mut i420 = picture.pack(OutputFormat::Rgba8);
    let planes = I420Planes::split(&mut i420, picture.size);
    for (value, luma) in planes.y[..256].iter().enumerate() {
        assert_eq!(
            f64::from(*luma),
            (16.0 + 219.0 * value as f64 / 255.0).round()
        );
    }
    // Neighbours of a grey ramp differ, but never in chroma.
    assert!(
        planes
            .cb
            .iter()
            .chain(planes.cr.iter())
            .all(|&sample| sample == 128)
    );
}

/// The digital values of 100 % colour bars, as broadcast handbooks list them.
#[test]
fn colour_bars_have_their_known_values() {
    for (rgb, expected) in [
        ([255, 255, 255], [235, 128, 128]),
        ([255, 255, 0], [219, 16, 138]),
        ([0, 255, 255], [188, 154, 16]),
        ([0, 255, 0], [173, 42, 26]),
        ([255, 0, 255], [78, 214, 230]),
        ([255, 0, 0], [63, 102, 240]),
        ([0, 0, 255], [32, 240, 118]),
        ([0, 0, 0], [16, 128, 128]),
    ] {
        let picture = Picture::new(Size::new(1, 1), |_, _| rgb);
        assert_eq!(picture.pack(OutputFormat::Rgba8), expected, "{rgb:?}");
    }
}

#[test]
fn the_result_says_what_was_done() {
    let pixel = [10, 20, 30, 40];
    let plane = Plane {
        bytes: &pixel,
        stride_bytes: 4,
        row_bytes: 4,
        width: 1,
        height: 1,
    };
    let mut i420 = [0; 3];
    let mut pack = |format, color| {
        pack_i420(
            plane,
            format,
            color,
            I420Planes::split(&mut i420, Size::new(1, 1)),
        )
    };
    let color = pack(OutputFormat::Rgba8, ColorSpec::SRGB).expect("sRGB is R'G'B'");
    assert_eq!(color.matrix, MatrixCoefficients::Bt709);
    assert_eq!(color.range, ColorRange::Limited);
    assert_eq!(color.siting, ChromaSiting::Left);
    assert_eq!(color.alpha, AlphaMode::Opaque);
    assert_eq!(
        color.transfer,
        Transfer::Srgb,
        "code values were not re-encoded"
    );

    for format in [
        OutputFormat::R8,
        OutputFormat::Rgba16F,
        OutputFormat::Rgba32F,
    ] {
        let refused = pack(format, format.default_color());
        assert_eq!(refused, Err(PackError::Format { format }));
    }
    for color in [
        ColorSpec {
            alpha: AlphaMode::Straight,
            ..ColorSpec::SRGB
        },
        ColorSpec {
            range: ColorRange::Limited,
            ..ColorSpec::SRGB
        },
        ColorSpec {
            matrix: MatrixCoefficients::Bt709,
            ..ColorSpec::SRGB
        },
        ColorSpec::LINEAR_BT709,
    ] {
        assert_eq!(
            pack(OutputFormat::Bgra8, color),
            Err(PackError::Color { color })
        );
    }
}

#[test]
fn a_picture_without_pixels_has_no_samples() {
    for size in [Size::new(0, 0), Size::new(0, 3)] {
        let picture = Plane {
            bytes: &[],
            stride_bytes: 0,
            row_bytes: 0,
            width: size.width,
            height: size.height,
        };
        let planes = I420Planes::split(&mut [], size);
        pack_i420(picture, OutputFormat::Rgba8, ColorSpec::SRGB, planes).expect("nothing to do");
    }
}
