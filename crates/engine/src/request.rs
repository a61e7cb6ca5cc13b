//! What is asked of a renderer.

use std::time::Duration;

use framefence_pixel::{OutputFormat, Size};
use framefence_readback::{Region, StagingLayout, Time, target_format};

use crate::Gpu;

/// One frame to be rendered: which, how large, and in which formats.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrameRequest {
    /// The frame's number, handed to the painter and given back with the frame.
    pub number: u64,
    /// The time that the frame shows.
    pub time: Time,
    /// The size of the full frame, in pixels.
    pub size: Size,
    /// The part of the full frame to render and deliver.
    pub region: Region,
    /// Delivered pixels for each pixel of the full frame. Only 1 is supported yet.
    pub scale: f32,
    /// What to deliver of it.
    pub outputs: Outputs,
    /// What to do when the painter says that something is still missing.
    pub when_missing: WhenMissing,
    /// How long after the request every wait for the frame ends; `None` for the adapter's default
    /// (`Gpu::default_timeout`).
    pub timeout: Option<Duration>,
}

/// The targets of a frame, delivered together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outputs {
    /// One colour target for each, in this order.
    pub colors: Vec<OutputFormat>,
    /// Whether depth is delivered as well. Not supported yet.
    pub depth: bool,
    /// Whether object ids are delivered as well. Not supported yet.
    pub ids: bool,
}

/// What to do when a painter says that something is still missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenMissing {
    /// End the frame with `FrameError::NotReady`.
    #[default]
    Fail,
    /// Paint what is there.
    Paint,
}

impl FrameRequest {
    /// The whole of frame `number`, which shows `time`, as [`OutputFormat::Rgba8`].
    #[must_use]
    pub fn new(number: u64, time: Time, size: Size) -> Self {
        Self {
            number,
            time,
            size,
            region: Region::whole(size),
            scale: 1.0,
            outputs: Outputs::color(OutputFormat::Rgba8),
            when_missing: WhenMissing::Fail,
            timeout: None,
        }
    }

    /// Delivers one image in `format` instead.
    #[must_use]
    pub fn with_format(mut self, format: OutputFormat) -> Self {
        self.outputs = Outputs::color(format);
        self
    }

    /// Delivers only `region` of the frame.
    #[must_use]
    pub fn with_region(mut self, region: Region) -> Self {
        self.region = region;
        self
    }

    /// Ends every wait for the frame `timeout` after the request.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl FrameRequest {
    /// Whether a renderer on `gpu` can do what is asked.
    pub(crate) fn check(&self, gpu: &Gpu) -> Result<(), RequestError> {
        let limits = gpu.device().limits();
        let Self {
            size,
            region,
            outputs,
            ..
        } = self;
        if size.is_empty() {
            return Err(RequestError::Empty { size: *size });
        }
        if !region.is_within(*size) {
            return Err(RequestError::Region {
                region: *region,
                size: *size,
            });
        }
        let limit = limits.max_texture_dimension_2d;
        if region.size.width > limit || region.size.height > limit {
            return Err(RequestError::TooLarge {
                size: region.size,
                limit,
            });
        }
        if self.scale != 1.0 {
            return Err(RequestError::Unsupported {
                what: "a scale other than 1",
            });
        }
        if outputs.depth || outputs.ids {
            return Err(RequestError::Unsupported {
                what: "depth and id outputs",
            });
        }
        self.check_outputs(gpu, &limits)
    }

    fn check_outputs(&self, gpu: &Gpu, limits: &wgpu::Limits) -> Result<(), RequestError> {
        let formats = &self.outputs.colors;
        if formats.is_empty() || formats.len() > limits.max_color_attachments as usize {
            let limit = limits.max_color_attachments;
            return Err(RequestError::OutputCount {
                given: formats.len(),
                limit,
            });
        }
        let mut needed = 0_u32;
        for &format in formats {
            let drawable = target_format(format).filter(|target| {
                let features = target.guaranteed_format_features(gpu.device().features());
                features
                    .allowed_usages
                    .contains(wgpu::TextureUsages::RENDER_ATTACHMENT)
            });
            let Some(target) = drawable else {
                return Err(RequestError::Format {
                    format,
                    nearest: OutputFormat::Rgba8,
                });
            };
            // As WebGPU counts attachment bytes: each format at its alignment.
            let alignment = target.target_component_alignment().unwrap_or(1);
            let cost = target.target_pixel_byte_cost().unwrap_or(0);
            needed = needed.next_multiple_of(alignment) + cost;
        }
        let limit = limits.max_color_attachment_bytes_per_sample;
        if needed > limit {
            return Err(RequestError::OutputBytes { needed, limit });
        }
        let layout = StagingLayout::new(self.region.size, formats.iter().copied());
        let (needed_bytes, limit_bytes) = (layout.total_bytes(), limits.max_buffer_size);
        if needed_bytes > limit_bytes {
            return Err(RequestError::TooManyBytes {
                needed_bytes,
                limit_bytes,
            });
        }
        Ok(())
    }
}

impl Outputs {
    /// One colour target.
    #[must_use]
    pub fn color(format: OutputFormat) -> Self {
        Self::colors([format])
    }

    /// Several colour targets, drawn in one pass and delivered together.
    #[must_use]
    pub fn colors(formats: impl IntoIterator<Item = OutputFormat>) -> Self {
        Self {
            colors: formats.into_iter().collect(),
            depth: false,
            ids: false,
        }
    }
}

/// A request that a renderer does not take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// There is no pixel in the frame.
    #[error("a frame of {size} has no pixels")]
    Empty {
        /// The size asked for.
        size: Size,
    },
    /// A target would be larger than the device allows.
    #[error("a target of {size} is too large: this device allows up to {limit} pixels a side")]
    TooLarge {
        /// The size asked for.
        size: Size,
        /// The device's `max_texture_dimension_2d`.
        limit: u32,
    },
    /// The frame needs a larger staging buffer than the device allows.
    #[error(
        "a frame of {needed_bytes} bytes is too large: this device allows buffers of up to {limit_bytes} bytes"
    )]
    TooManyBytes {
        /// Bytes of the frame's images, padding included.
        needed_bytes: u64,
        /// The device's `max_buffer_size`.
        limit_bytes: u64,
    },
    /// The region has no pixel or reaches beyond the frame.
    #[error("the region {region} does not lie within a frame of {size}")]
    Region {
        /// The region asked for.
        region: Region,
        /// The frame's size.
        size: Size,
    },
    /// The number of colour outputs is none, or more than the device allows.
    #[error("{given} colour outputs were asked for: this device allows 1 to {limit}")]
    OutputCount {
        /// The number asked for.
        given: usize,
        /// The device's `max_color_attachments`.
        limit: u32,
    },
    /// The outputs of one frame need more bytes a pixel than the device allows.
    #[error("the outputs need {needed} bytes a pixel: this device allows {limit}")]
    OutputBytes {
        /// Bytes a pixel of all outputs together, as the device counts them.
        needed: u32,
        /// The device's `max_color_attachment_bytes_per_sample`.
        limit: u32,
    },
    /// This device cannot draw into a target of this format.
    #[error("this device cannot draw {format}; {nearest} is supported everywhere")]
    Format {
        /// The format asked for.
        format: OutputFormat,
        /// A format that can be had instead.
        nearest: OutputFormat,
    },
    /// Something that requests can say but the engine cannot do yet.
    #[error("not supported yet: {what}")]
    Unsupported {
        /// What it is.
        what: &'static str,
    },
    /// As many frames as the renderer's depth were in flight until the deadline.
    #[error("{depth} frames were still in flight after {waited:?}")]
    Full {
        /// The renderer's depth.
        depth: usize,
        /// How long was waited.
        waited: Duration,
    },
}
