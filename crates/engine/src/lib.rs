//! Renders frames off screen with wgpu and hands over the pixels the moment the GPU has finished
//! them.
//!
//! A [`Painter`] draws; a [`Renderer`] has it called on a thread of its own, submits what it
//! recorded with a fence of that submission's own, and resolves the [`PendingFrame`] when wgpu has
//! proved the work done. The [`Frame`] lends the bytes that the GPU wrote.
//!
//! ```no_run
//! use std::sync::{Arc, Mutex};
//!
//! use framefence::{FrameRequest, Gpu, GpuOptions, PaintContext, Renderer, RendererOptions, Size, Time};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gpu = Gpu::open(&GpuOptions::default())?;
//! let renderer = Renderer::new(&gpu, RendererOptions::default())?;
//! let painter = Arc::new(Mutex::new(|_: &mut PaintContext<'_>| Ok(())));
//! let request = FrameRequest::new(0, Time::ZERO, Size::new(640, 360));
//! let frame = renderer.submit(&painter, request)?.wait()?;
//! assert_eq!(frame.image().plane().row(0).len(), 640 * 4);
//! # Ok(())
//! # }
//! ```
//!
//! wgpu itself is re-exported as [`wgpu`], so that a painter uses the same version.

#![forbid(unsafe_code)]

mod flight;
mod gpu;
mod paint;
mod painter;
mod renderer;
mod request;
mod sink;
mod stats;

pub use framefence_fence as fence;
pub use framefence_fence::{PauseError, SubmitPause};
pub use framefence_pixel as pixel;
pub use framefence_pixel::{AlphaMode, ColorSpec, OutputFormat, Plane, Size};
pub use framefence_pool::{HostPool, PoolReport, PooledBytes};
pub use framefence_readback::{
    CancelHandle, Frame, FrameError, FrameMemory, FrameRate, Image, ParseFrameRateError,
    PendingFrame, Region, Stage, Time, Timings, target_format,
};
pub use gpu::{AdapterChoice, Gpu, GpuInfo, GpuOptions, OpenError};
pub use painter::{
    ColorTarget, FrameView, PaintContext, Painter, PainterError, Readiness, SubmitOrder, Targets,
    TimeSpan,
};
pub use renderer::{Renderer, RendererOptions};
pub use request::{FrameRequest, Outputs, RequestError, WhenMissing};
pub use sink::FrameSink;
pub use stats::{Percentiles, Stats};
pub use wgpu;
