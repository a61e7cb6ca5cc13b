//! Renders frames off screen with wgpu and hands over the pixels the moment the GPU has finished
//! them.

mod gpu;
mod painter;
mod sink;

pub use framefence_pixel as pixel;
pub use framefence_pixel::{AlphaMode, ColorSpec, OutputFormat, Plane, Size};
pub use framefence_pool::{HostPool, PoolReport, PooledBytes};
pub use framefence_readback::{
    Frame, FrameMemory, FrameRate, Image, ParseFrameRateError, Region, Time, Timings,
};
pub use gpu::Gpu;
pub use painter::{
    ColorTarget, FrameView, PaintContext, Painter, PainterError, Readiness, Targets, TimeSpan,
};
pub use sink::FrameSink;
pub use wgpu;
