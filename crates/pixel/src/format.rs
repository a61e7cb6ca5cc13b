use crate::{ColorSpec, PlaneLayout, Size};

/// The pixel format in which a frame is delivered.
///
/// Channel order is memory order: the first channel named lies at the lowest address. Multi-byte
/// channels are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputFormat {
    /// 8-bit R, G, B, A; the bytes are what the painter wrote.
    Rgba8,
    /// 8-bit R, G, B, A; the painter writes linear light and the GPU encodes it with the sRGB
    /// transfer function.
    Rgba8Srgb,
    /// 8-bit B, G, R, A; the bytes are what the painter wrote.
    Bgra8,
    /// 8-bit B, G, R, A; the painter writes linear light and the GPU encodes it with the sRGB
    /// transfer function.
    Bgra8Srgb,
    /// Half-float R, G, B, A, 8 bytes a pixel.
    Rgba16F,
    /// Single-float R, G, B, A, 16 bytes a pixel.
    Rgba32F,
    /// One 8-bit channel.
    R8,
}

impl OutputFormat {
    /// Every format, in declaration order.
    pub const ALL: [Self; 7] = [
        Self::Rgba8,
        Self::Rgba8Srgb,
        Self::Bgra8,
        Self::Bgra8Srgb,
        Self::Rgba16F,
        Self::Rgba32F,
        Self::R8,
    ];

    /// The format's name on a command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rgba8 => "rgba8",
            Self::Rgba8Srgb => "rgba8-srgb",
            Self::Bgra8 => "bgra8",
            Self::Bgra8Srgb => "bgra8-srgb",
            Self::Rgba16F => "rgba16f",
            Self::Rgba32F => "rgba32f",
            Self::R8 => "r8",
        }
    }

    /// Bytes of one pixel in each plane of the format.
    #[must_use]
    pub fn bytes_per_pixel(self) -> u32 {
        match self {
            Self::Rgba8 | Self::Rgba8Srgb | Self::Bgra8 | Self::Bgra8Srgb => 4,
            Self::Rgba16F => 8,
            Self::Rgba32F => 16,
            Self::R8 => 1,
        }
    }

    /// The planes of an image of `size`, rows packed tightly, one plane after another.
    #[must_use]
    pub fn tight_planes(self, size: Size) -> Vec<PlaneLayout> {
        let stride_bytes = size.width as usize * self.bytes_per_pixel() as usize;
        vec![PlaneLayout {
            offset_bytes: 0,
            stride_bytes,
            row_bytes: stride_bytes,
            width: size.width,
            height: size.height,
        }]
    }

    /// The colour description that samples of this format have unless the request says otherwise:
    /// sRGB for the 8-bit formats, linear light for the float formats.
    #[must_use]
    pub fn default_color(self) -> ColorSpec {
        match self {
            Self::Rgba8 | Self::Rgba8Srgb | Self::Bgra8 | Self::Bgra8Srgb | Self::R8 => {
                ColorSpec::SRGB
            }
            Self::Rgba16F | Self::Rgba32F => ColorSpec::LINEAR_BT709,
        }
    }
}

impl std::fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
