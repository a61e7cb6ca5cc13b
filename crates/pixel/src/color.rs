use std::fmt;

/// How the numbers of an image are to be read as colours.
///
/// Names and code points follow ITU-T H.273, so that a sink can copy them into a stream's tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorSpec {
    /// Chromaticities of the primaries and the white point.
    pub primaries: Primaries,
    /// The curve between light and code values.
    pub transfer: Transfer,
    /// The equations between R'G'B' and luma and chroma.
    pub matrix: MatrixCoefficients,
    /// Whether code values use the full range of their type.
    pub range: ColorRange,
    /// Where subsampled chroma samples lie; without meaning where chroma is not subsampled.
    pub siting: ChromaSiting,
    /// How colour and alpha are related.
    pub alpha: AlphaMode,
}

impl ColorSpec {
    /// Full-range sRGB (IEC 61966-2-1), premultiplied alpha.
    pub const SRGB: Self = Self {
        primaries: Primaries::Bt709,
        transfer: Transfer::Srgb,
        matrix: MatrixCoefficients::Identity,
        range: ColorRange::Full,
        siting: ChromaSiting::Left,
        alpha: AlphaMode::Premultiplied,
    };

    /// Linear light with BT.709 primaries, premultiplied alpha.
    pub const LINEAR_BT709: Self = Self {
        transfer: Transfer::Linear,
        ..Self::SRGB
    };

    /// What players assume of untagged HD video: BT.709, limited range, chroma sited left.
    pub const BT709_LIMITED: Self = Self {
        primaries: Primaries::Bt709,
        transfer: Transfer::Bt709,
        matrix: MatrixCoefficients::Bt709,
        range: ColorRange::Limited,
        siting: ChromaSiting::Left,
        alpha: AlphaMode::Opaque,
    };
}

impl fmt::Display for ColorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let primaries = match self.primaries {
            Primaries::Bt709 => "BT.709 primaries",
        };
        let transfer = match self.transfer {
            Transfer::Srgb => "sRGB transfer",
            Transfer::Bt709 => "BT.709 transfer",
            Transfer::Linear => "linear light",
        };
        let matrix = match self.matrix {
            MatrixCoefficients::Identity => "RGB",
            MatrixCoefficients::Bt709 => "BT.709 Y'CbCr",
        };
        let range = match self.range {
            ColorRange::Limited => "limited range",
            ColorRange::Full => "full range",
        };
        let alpha = match self.alpha {
            AlphaMode::Opaque => "opaque",
            AlphaMode::Premultiplied => "premultiplied alpha",
            AlphaMode::Straight => "straight alpha",
        };
        write!(f, "{matrix}, {primaries}, {transfer}, {range}, {alpha}")
    }
}

/// Colour primaries (ITU-T H.273, table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Primaries {
    /// BT.709 and sRGB.
    Bt709,
}

/// Transfer characteristics (ITU-T H.273, table 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transfer {
    /// IEC 61966-2-1.
    Srgb,
    /// BT.709.
    Bt709,
    /// Linear light.
    Linear,
}

/// Matrix coefficients (ITU-T H.273, table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatrixCoefficients {
    /// R'G'B' as it is.
    Identity,
    /// BT.709: Kr = 0.2126, Kb = 0.0722.
    Bt709,
}

/// Whether code values use the whole range of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorRange {
    /// 8-bit luma 16–235, chroma 16–240.
    Limited,
    /// 0–255.
    Full,
}

/// Where a subsampled chroma sample lies among its luma samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChromaSiting {
    /// Horizontally on the left luma column, vertically between two rows (MPEG-2, H.264 default).
    Left,
}

/// How an image's colour channels are related to its alpha channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlphaMode {
    /// Alpha is 1 everywhere or without meaning.
    Opaque,
    /// Colour has been multiplied by alpha.
    Premultiplied,
    /// Colour has not been multiplied by alpha (PNG).
    Straight,
}
