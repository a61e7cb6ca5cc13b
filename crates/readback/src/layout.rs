//! Where the images of one frame lie in its staging buffer.

use framefence_pixel::{OutputFormat, PlaneLayout, Size};

use crate::target::extent;

/// The places of a frame's images in one staging buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagingLayout {
    size: Size,
    images: Vec<PlaneLayout>,
    total_bytes: u64,
}

impl StagingLayout {
    /// One image of `size` for each of `formats`, rows padded as wgpu's copies ask.
    #[must_use]
    pub fn new(size: Size, formats: impl IntoIterator<Item = OutputFormat>) -> Self {
        let alignment = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize;
        let mut end = 0;
        let images = formats
            .into_iter()
            .map(|format| {
                let row_bytes = size.width as usize * format.bytes_per_pixel() as usize;
                let layout = PlaneLayout {
                    offset_bytes: end,
                    stride_bytes: row_bytes.next_multiple_of(alignment),
                    row_bytes,
                    width: size.width,
                    height: size.height,
                };
                end += layout.stride_bytes * size.height as usize;
                layout
            })
            .collect();
        Self {
            size,
            images,
            total_bytes: end as u64,
        }
    }

    /// The bytes of all images together.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The plane of each image, in order.
    #[must_use]
    pub fn images(&self) -> &[PlaneLayout] {
        &self.images
    }

    /// Records the copy of `texture` into the place of image `index` in `buffer`.
    ///
    /// # Panics
    ///
    /// If there is no such image.
    pub fn copy(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        index: usize,
        texture: &wgpu::Texture,
        buffer: &wgpu::Buffer,
    ) {
        let image = &self.images[index];
        // Rows fit 32 bits wherever a texture does: limits are 32-bit and a pixel is 16 bytes at
        // most; a wider row is refused by wgpu, which sees the saturated number.
        let bytes_per_row = u32::try_from(image.stride_bytes).unwrap_or(u32::MAX);
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: image.offset_bytes as u64,
                    bytes_per_row: Some(bytes_per_row),
                    rows_per_image: None,
                },
            },
            extent(self.size),
        );
    }
}
