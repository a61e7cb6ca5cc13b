//! A finished frame and the images in it.

use std::time::Duration;

use framefence_pixel::{ColorSpec, OutputFormat, Plane, PlaneLayout, Size};
use framefence_pool::{HostPool, PooledBytes};

use crate::staging::StagedBytes;
use crate::time::Time;

/// A frame that the GPU has finished: one image for each output that was asked for.
///
/// The images lend the memory that the GPU wrote; dropping the frame gives it back. To keep pixels
/// longer, copy them: [`Image::to_owned`] into pooled memory, [`Plane::copy_to`] into your own.
/// `Send` and `Sync`: it may be read from several threads and dropped on any.
#[derive(Debug)]
pub struct Frame {
    number: u64,
    time: Time,
    images: Vec<Image>,
    timings: Timings,
}

impl Frame {
    /// A frame of the given images, in the order of the request's outputs.
    ///
    /// # Panics
    ///
    /// If `images` is empty.
    #[must_use]
    pub fn new(number: u64, time: Time, images: Vec<Image>, timings: Timings) -> Self {
        assert!(!images.is_empty(), "a frame has at least one image");
        Self {
            number,
            time,
            images,
            timings,
        }
    }

    /// The frame's number, as its request gave it.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The time that the frame shows, as its request gave it.
    #[must_use]
    pub fn time(&self) -> Time {
        self.time
    }

    /// The images in the order of the request's outputs; at least one.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The first image, the only one of most frames.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.images[0]
    }

    /// How long each stage of the frame took.
    #[must_use]
    pub fn timings(&self) -> Timings {
        self.timings
    }
}

/// How long a frame spent in each stage between its request and its delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// From the request until its painter was called.
    pub queued: Duration,
    /// The painter's recording and the engine's own.
    pub paint: Duration,
    /// Waiting for staging memory, and until the driver could take the submission.
    pub wait: Duration,
    /// The submit call.
    pub submit: Duration,
    /// From the submit's return until wgpu reported the work as done.
    pub gpu: Duration,
}

impl Timings {
    /// What the frame itself took, without its waits behind other frames.
    #[must_use]
    pub fn render_readback(&self) -> Duration {
        self.paint + self.submit + self.gpu
    }

    /// From the request until the frame could be delivered.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.queued + self.wait + self.render_readback()
    }
}

/// One image of a frame: its format, its colours and the memory of its planes.
#[derive(Debug)]
pub struct Image {
    format: OutputFormat,
    color: ColorSpec,
    size: Size,
    planes: Vec<PlaneLayout>,
    memory: FrameMemory,
}

/// Who owns the bytes of an image.
#[derive(Debug)]
pub enum FrameMemory {
    /// A mapped staging buffer, lent; it goes back to its ring when the image is dropped.
    Staged(StagedBytes),
    /// Memory of the CPU, pooled or the caller's own.
    Owned(PooledBytes),
}

impl FrameMemory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Staged(staged) => staged.bytes(),
            Self::Owned(owned) => owned,
        }
    }
}

impl Image {
    /// An image over `memory`, whose planes lie where `planes` says.
    ///
    /// # Panics
    ///
    /// If a plane reaches beyond `memory`.
    #[must_use]
    pub fn new(
        format: OutputFormat,
        color: ColorSpec,
        size: Size,
        planes: Vec<PlaneLayout>,
        memory: FrameMemory,
    ) -> Self {
        let length = memory.bytes().len();
        for plane in &planes {
            assert!(
                plane.offset_bytes + plane.len_bytes() <= length,
                "{plane:?} reaches beyond {length} bytes"
            );
        }
        Self {
            format,
            color,
            size,
            planes,
            memory,
        }
    }

    /// The pixel format.
    #[must_use]
    pub fn format(&self) -> OutputFormat {
        self.format
    }

    /// How the samples are to be read as colours.
    #[must_use]
    pub fn color(&self) -> ColorSpec {
        self.color
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The planes, in the format's order.
    pub fn planes(&self) -> impl ExactSizeIterator<Item = Plane<'_>> {
        let bytes = self.memory.bytes();
        self.planes
            .iter()
            .map(move |layout| Plane::new(bytes, layout))
    }

    /// The first plane, the only one of the packed formats.
    ///
    /// # Panics
    ///
    /// Never: every format has at least one plane.
    #[must_use]
    pub fn plane(&self) -> Plane<'_> {
        Plane::new(self.memory.bytes(), &self.planes[0])
    }

    /// A copy in pooled CPU memory, rows packed tightly, that is independent of the GPU's memory.
    #[must_use]
    pub fn to_owned(&self, pool: &HostPool) -> Self {
        let planes = self.format.tight_planes(self.size);
        let len = planes
            .iter()
            .map(|plane| plane.offset_bytes + plane.len_bytes())
            .max();
        let mut bytes = pool.acquire(len.unwrap_or(0));
        for (plane, layout) in self.planes().zip(&planes) {
            let rows = bytes[layout.offset_bytes..].chunks_exact_mut(layout.stride_bytes);
            for (row, copy) in plane.rows().zip(rows) {
                copy.copy_from_slice(row);
            }
        }
        Self {
            planes,
            memory: FrameMemory::Owned(bytes),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owned_copy_has_no_padding() {
        let pool = HostPool::default();
        let size = Size::new(2, 3);
        let padded = PlaneLayout {
            offset_bytes: 4,
            stride_bytes: 12,
            row_bytes: 8,
            width: 2,
            height: 3,
        };
        let mut memory = pool.acquire(4 + padded.len_bytes());
        for (index, byte) in memory.iter_mut().enumerate() {
            *byte = index as u8;
        }
        let color = OutputFormat::Rgba8.default_color();
        let memory = FrameMemory::Owned(memory);
        let image = Image::new(OutputFormat::Rgba8, color, size, vec![padded], memory);

        let owned = image.to_owned(&pool);
        let expected: Vec<u8> = (4..12).chain(16..24).chain(28..36).collect();
        assert_eq!(owned.plane().bytes, expected);
        assert_eq!(owned.plane().stride_bytes, 8);
    }

    #[test]
    #[should_panic(expected = "reaches beyond")]
    fn planes_must_lie_in_the_memory() {
        let size = Size::new(2, 2);
        let memory = FrameMemory::Owned(HostPool::default().acquire(15));
        let planes = OutputFormat::Rgba8.tight_planes(size);
        let color = OutputFormat::Rgba8.default_color();
        let _ = Image::new(OutputFormat::Rgba8, color, size, planes, memory);
    }
}
