//! What draws a frame.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

use framefence_pixel::{OutputFormat, Size};
use framefence_readback::{Region, Time};

use crate::Gpu;

/// Draws one frame at a time: an application's own wgpu passes, or the compositor.
///
/// It is called for one frame at a time, on the renderer's thread, so a painter is `Send`; only
/// `Renderer::submit_now` calls it on the thread that asks.
///
/// A pipeline is built for the format of the target it draws into. That of each output is fixed
/// ([`target_format`](crate::target_format): [`OutputFormat::Rgba8`] is drawn into `Rgba8Unorm`),
/// so pipelines can be made ahead, or kept by [`ColorTarget::format`] when they are first needed.
///
/// What a painter writes with `wgpu::Queue::write_buffer` reaches the GPU before the next submit
/// of anyone on the device. The engine submits right after `paint`, so writes made there reach
/// their own frame; a host that writes to a painter's resources from another thread may reach an
/// earlier frame than it meant. Such hosts use `Renderer::submit_now`.
pub trait Painter: Send {
    /// Called before frames within `span` are painted, so that sources can decode ahead.
    ///
    /// Says what is not there yet: an exporter and a snapshot wait for it, a preview may go on.
    ///
    /// # Errors
    ///
    /// Whatever makes the frames impossible to paint; it ends the frame it was asked for.
    fn prepare(&mut self, gpu: &Gpu, span: TimeSpan) -> Result<Readiness, PainterError> {
        let _ = (gpu, span);
        Ok(Readiness::Ready)
    }

    /// Whether `paint` writes every pixel of every target. If not, the engine clears the targets
    /// to transparent black first, so that no frame shows through in another.
    ///
    /// A painter that clears them itself overwrites them. One whose draws cover them attaches them
    /// with `wgpu::LoadOp::Load`: clearing as well costs a pass over the target, a good part of a
    /// simple frame on a software adapter.
    fn overwrites_targets(&self) -> bool {
        false
    }

    /// Records the frame's commands into `context.encoder`.
    ///
    /// Pipelines draw into targets of [`ColorTarget::format`], whose place in the full frame
    /// [`FrameView`] tells.
    ///
    /// # Errors
    ///
    /// Whatever makes the frame impossible to paint; it ends this frame and no other.
    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError>;
}

impl<F> Painter for F
where
    F: FnMut(&mut PaintContext<'_>) -> Result<(), PainterError> + Send,
{
    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        self(context)
    }
}

/// A painter's own error; the frame's waiter receives it as it is.
pub type PainterError = Box<dyn Error + Send + Sync>;

/// Whether all that a painter needs is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Readiness {
    /// All of it.
    Ready,
    /// These things, named for a person to read, are still loading.
    Missing(Vec<String>),
}

/// A stretch of time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    /// The first time in it.
    pub start: Time,
    /// The last time in it; the same as `start` for a single frame.
    pub end: Time,
}

/// What a painter records into, and for which frame.
#[derive(Debug)]
#[non_exhaustive]
pub struct PaintContext<'a> {
    /// The device to create resources on, its queue to write them with.
    pub gpu: &'a Gpu,
    /// Where the frame's commands go. The engine adds the readback and submits it.
    pub encoder: &'a mut wgpu::CommandEncoder,
    /// Which frame, and which part of it.
    pub view: FrameView,
    /// Where to draw.
    pub targets: Targets<'a>,
    /// Which frames the frame is submitted in order with.
    pub order: SubmitOrder,
}

/// Frames that are submitted in the order in which they are painted: those of one renderer's thread,
/// and those of `Renderer::submit_now`.
///
/// Frames of different orders may overtake each other between `paint` and their submission. What a
/// painter has recorded for a frame of one order, another order's frame must not rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubmitOrder(u64);

impl SubmitOrder {
    /// That of `submit_now`, in which nobody else can have the painter until it has submitted.
    pub(crate) const NOW: Self = Self(0);

    /// That of another thread.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Which frame is to be drawn, and which part of it.
///
/// The pixel `p` of a target shows the position `(p + tile_origin) / scale` of the full frame.
/// Coverage and sampling are to be derived from that integer position, not from values that are
/// interpolated across a draw: only so is a frame the same whole and in tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrameView {
    /// The frame's number.
    pub number: u64,
    /// The time it shows.
    pub time: Time,
    /// The size of the full frame, in pixels.
    pub full_size: Size,
    /// The part of the full frame that was asked for.
    pub region: Region,
    /// Target pixels for each pixel of the full frame; 1 unless a scaled frame was asked for.
    pub scale: f32,
    /// The position of the targets' first pixel in the scaled full frame. A frame that is
    /// rendered in tiles is painted once a tile.
    pub tile_origin: [u32; 2],
    /// The size of the targets, in pixels.
    pub target_size: Size,
}

/// The textures that a frame is drawn into, all of the same size.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Targets<'a> {
    /// One target for each colour output of the request, in its order; at least one.
    pub colors: &'a [ColorTarget],
    /// The depth attachment, where the request asks for depth.
    pub depth: Option<&'a wgpu::TextureView>,
    /// The target for object ids (`R32Uint`), where the request asks for ids.
    pub ids: Option<&'a wgpu::TextureView>,
}

impl<'a> Targets<'a> {
    /// The first colour target, the only one of most frames.
    #[must_use]
    pub fn color(&self) -> &'a ColorTarget {
        &self.colors[0]
    }
}

/// One colour target.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ColorTarget {
    /// The view to attach.
    pub view: wgpu::TextureView,
    /// The view's texture format, which pipelines must be built for.
    pub format: wgpu::TextureFormat,
    /// The format in which the pixels will be delivered.
    pub output: OutputFormat,
}
