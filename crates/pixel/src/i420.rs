//! Packed 8-bit R'G'B' to planar Y'CbCr 4:2:0.

use crate::{
    AlphaMode, ChromaSiting, ColorRange, ColorSpec, MatrixCoefficients, OutputFormat, Plane, Size,
    Transfer,
};

/// Writes `picture` as 8-bit planar Y'CbCr 4:2:0 (I420), and says how its colours are to be read.
///
/// - The equations are those of ITU-R BT.709-6, items 3.2 to 3.4: its luma and colour-difference
///   weights, limited range (luma 16–235, chroma 16–240), rounded to nearest. Samples are within
///   one code value of the exact result, and all but a few in a thousand are equal to it.
/// - R'G'B' values are taken as they are: the picture keeps its transfer function.
/// - Chroma is sited left, as in MPEG-2 and H.264 by default: at the column of every even luma
///   sample, filtered by [1 2 1]/4 horizontally, and halfway between two rows, whose mean it is.
///   At the borders the last column or row counts again.
/// - I420 has no alpha. The picture is composited over black, which for premultiplied colours
///   means that they are taken as they are.
///
/// Integer arithmetic throughout: the same picture gives the same bytes on every machine. Takes
/// no memory of its own.
///
/// # Errors
///
/// If `picture` is not 8-bit R'G'B', or its colours are straight, linear or not of full range.
///
/// # Panics
///
/// If `planes` are not those of a picture of this size, or a row of `picture` holds fewer than
/// four bytes a pixel.
pub fn pack_i420(
    picture: Plane<'_>,
    format: OutputFormat,
    color: ColorSpec,
    planes: I420Planes<'_>,
) -> Result<ColorSpec, PackError> {
    let is_convertible = color.transfer != Transfer::Linear
        && color.matrix == MatrixCoefficients::Identity
        && color.range == ColorRange::Full
        && color.alpha != AlphaMode::Straight;
    match format {
        OutputFormat::Rgba8
        | OutputFormat::Rgba8Srgb
        | OutputFormat::Bgra8
        | OutputFormat::Bgra8Srgb
            if !is_convertible =>
        {
            return Err(PackError::Color { color });
        }
        OutputFormat::Rgba8 | OutputFormat::Rgba8Srgb => pack_rows::<0, 2>(picture, planes),
        OutputFormat::Bgra8 | OutputFormat::Bgra8Srgb => pack_rows::<2, 0>(picture, planes),
        OutputFormat::Rgba16F | OutputFormat::Rgba32F | OutputFormat::R8 => {
            return Err(PackError::Format { format });
        }
    }
    Ok(ColorSpec {
        matrix: MatrixCoefficients::Bt709,
        range: ColorRange::Limited,
        siting: ChromaSiting::Left,
        alpha: AlphaMode::Opaque,
        ..color
    })
}

/// A picture that cannot be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The picture's format is not one of packed 8-bit R'G'B'.
    #[error("Y'CbCr 4:2:0 is made from rgba8, rgba8-srgb, bgra8 or bgra8-srgb, not from {format}")]
    Format {
        /// The picture's format.
        format: OutputFormat,
    },
    /// The picture's colours are described in a way that the equations do not cover.
    #[error(
        "Y'CbCr 4:2:0 is made from gamma-encoded full-range R'G'B' with premultiplied or opaque \
         alpha, not from {color}"
    )]
    Color {
        /// The picture's colour description.
        color: ColorSpec,
    },
}

/// Where the planes of an I420 picture are written: rows packed tightly, chroma of
/// [`chroma_size`](Self::chroma_size).
#[derive(Debug)]
pub struct I420Planes<'a> {
    /// Luma.
    pub y: &'a mut [u8],
    /// Blue difference.
    pub cb: &'a mut [u8],
    /// Red difference.
    pub cr: &'a mut [u8],
}

impl<'a> I420Planes<'a> {
    /// The size of each chroma plane of a picture of `size`: half of it, rounded up.
    #[must_use]
    pub fn chroma_size(size: Size) -> Size {
        Size::new(size.width.div_ceil(2), size.height.div_ceil(2))
    }

    /// Bytes of all three planes of a picture of `size`.
    #[must_use]
    pub fn len_bytes(size: Size) -> usize {
        samples(size) + 2 * samples(Self::chroma_size(size))
    }

    /// The planes of a picture of `size`, one after another in `memory`.
    ///
    /// # Panics
    ///
    /// If `memory` is not of [`len_bytes`](Self::len_bytes).
    #[must_use]
    pub fn split(memory: &'a mut [u8], size: Size) -> Self {
        assert_eq!(
            memory.len(),
            Self::len_bytes(size),
            "bytes of an I420 picture of {size}"
        );
        let (y, chroma) = memory.split_at_mut(samples(size));
        let (cb, cr) = chroma.split_at_mut(samples(Self::chroma_size(size)));
        Self { y, cb, cr }
    }
}

fn samples(size: Size) -> usize {
    size.width as usize * size.height as usize
}

/// Packs a picture whose pixels have red at byte `R`, green at byte 1 and blue at byte `B`.
fn pack_rows<const R: usize, const B: usize>(picture: Plane<'_>, planes: I420Planes<'_>) {
    let I420Planes { y: luma, cb, cr } = planes;
    let size = Size::new(picture.width, picture.height);
    let chroma_size = I420Planes::chroma_size(size);
    assert_eq!(luma.len(), samples(size), "luma samples of {size}");
    assert_eq!(cb.len(), samples(chroma_size), "Cb samples of {size}");
    assert_eq!(cr.len(), samples(chroma_size), "Cr samples of {size}");
    if size.is_empty() {
        return;
    }
    let width = size.width as usize;
    let pixels = |y: u32| &picture.row(y).as_chunks::<4>().0[..width];

    for (y, luma) in (0..size.height).zip(luma.chunks_exact_mut(width)) {
        luma_row::<R, B>(pixels(y), luma);
    }
    let chroma_width = chroma_size.width as usize;
    let cb_rows = cb.chunks_exact_mut(chroma_width);
    let cr_rows = cr.chunks_exact_mut(chroma_width);
    for ((top, cb), cr) in (0..size.height).step_by(2).zip(cb_rows).zip(cr_rows) {
        let bottom = (top + 1).min(size.height - 1);
        chroma_row::<R, B>(pixels(top), pixels(bottom), cb, cr);
    }
}

fn luma_row<const R: usize, const B: usize>(pixels: &[[u8; 4]], luma: &mut [u8]) {
    for (pixel, y) in pixels.iter().zip(luma) {
        *y = LUMA.apply(pixel[R].into(), pixel[1].into(), pixel[B].into());
    }
}

/// Chroma samples that are made at a time: enough for vector code, few enough for the stack.
const BLOCK: usize = 64;

/// Writes one row of chroma from two rows of pixels.
///
/// Two channels share each `u32`, 16 bits each, so that four pixels at a time go through the
/// filter without being taken apart; their weighted sums stay below 8 × 256.
fn chroma_row<const R: usize, const B: usize>(
    top: &[[u8; 4]],
    bottom: &[[u8; 4]],
    cb: &mut [u8],
    cr: &mut [u8],
) {
    // Vertical sums of one block of columns, after that of the column to its left.
    let mut even = [0; 2 * BLOCK + 1];
    let mut odd = [0; 2 * BLOCK + 1];
    (even[2 * BLOCK], odd[2 * BLOCK]) = sum_channels(top[0], bottom[0]);

    let blocks = top.chunks(2 * BLOCK).zip(bottom.chunks(2 * BLOCK));
    let chroma_blocks = cb.chunks_mut(BLOCK).zip(cr.chunks_mut(BLOCK));
    for ((top, bottom), (cb, cr)) in blocks.zip(chroma_blocks) {
        let columns = top.len();
        even[0] = even[2 * BLOCK];
        odd[0] = odd[2 * BLOCK];
        let sums = even[1..].iter_mut().zip(&mut odd[1..]);
        for ((top, bottom), (even, odd)) in top.iter().zip(bottom).zip(sums) {
            (*even, *odd) = sum_channels(*top, *bottom);
        }
        if columns % 2 == 1 {
            even[columns + 1] = even[columns];
            odd[columns + 1] = odd[columns];
        }

        let sums = smoothed(&even).zip(smoothed(&odd));
        for ((even, odd), (cb, cr)) in sums.zip(cb.iter_mut().zip(cr)) {
            let channels = [even & 0xFFFF, odd & 0xFFFF, even >> 16];
            let (r, g, b) = (channels[R], channels[1], channels[B]);
            *cb = BLUE_DIFFERENCE.apply(r as i32, g as i32, b as i32);
            *cr = RED_DIFFERENCE.apply(r as i32, g as i32, b as i32);
        }
    }
}

/// The sums of two pixels' channels: the first in the low and the third in the high half of one
/// word, the second and the fourth in those of the other.
fn sum_channels(top: [u8; 4], bottom: [u8; 4]) -> (u32, u32) {
    const EVEN: u32 = 0x00FF_00FF;
    let (top, bottom) = (u32::from_le_bytes(top), u32::from_le_bytes(bottom));
    (
        (top & EVEN) + (bottom & EVEN),
        ((top >> 8) & EVEN) + ((bottom >> 8) & EVEN),
    )
}

/// Every other column of a block with its neighbours, weighted 1 2 1.
fn smoothed(sums: &[u32; 2 * BLOCK + 1]) -> impl Iterator<Item = u32> {
    let before = sums[..2 * BLOCK].as_chunks::<2>().0;
    let after = sums[1..].as_chunks::<2>().0;
    before
        .iter()
        .zip(after)
        .map(|([left, center], [_, right])| left + 2 * center + right)
}

/// Luma weights of BT.709-6, item 3.2.
const KR: f64 = 0.2126;
const KG: f64 = 0.7152;
const KB: f64 = 0.0722;

/// Item 3.2, quantised by item 3.4: 219 Y' + 16.
const LUMA: Equation = Equation::new([KR, KG, KB], 219.0 / 255.0, 16);

/// What the filter's weights 1 2 1 over two rows add up to.
const CHROMA_WEIGHT: f64 = 8.0;
const CHROMA_GAIN: f64 = 224.0 / 255.0 / CHROMA_WEIGHT;

/// Item 3.3, quantised by item 3.4: 224 (B' − Y') / 1.8556 + 128.
const BLUE_DIFFERENCE: Equation = Equation::new([-KR, -KG, 1.0 - KB], CHROMA_GAIN / 1.8556, 128);

/// Item 3.3, quantised by item 3.4: 224 (R' − Y') / 1.5748 + 128.
const RED_DIFFERENCE: Equation = Equation::new([1.0 - KR, -KG, -KB], CHROMA_GAIN / 1.5748, 128);

/// One row of a colour matrix in fixed point, its offset with the half that rounds to nearest.
struct Equation {
    weights: [i32; 3],
    offset: i32,
}

impl Equation {
    /// As many as leave room for 255 in an `i32`.
    const FRACTION_BITS: u32 = 22;

    const fn new(weights: [f64; 3], gain: f64, offset: i32) -> Self {
        const fn fixed(value: f64) -> i32 {
            (value * (1 << Equation::FRACTION_BITS) as f64).round() as i32
        }
        let [r, g, b] = weights;
        Self {
            weights: [fixed(r * gain), fixed(g * gain), fixed(b * gain)],
            offset: (offset << Self::FRACTION_BITS) + (1 << (Self::FRACTION_BITS - 1)),
        }
    }

    /// The result for sums that the equation's gain was made for; always within 16–240.
    #[inline]
    const fn apply(&self, r: i32, g: i32, b: i32) -> u8 {
        let [r_weight, g_weight, b_weight] = self.weights;
        let sum = r_weight * r + g_weight * g + b_weight * b + self.offset;
        (sum >> Self::FRACTION_BITS) as u8
    }
}
