//! The engine's own way.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result};
use framefence::{
    FrameRequest, Gpu, PaintContext, Painter, PainterError, PendingFrame, Plane, Renderer,
    RendererOptions, Size, Time,
};

use crate::gradient;
use crate::strategy::Strategy;

/// Renders and reads back with a [`Renderer`].
pub struct Fence {
    renderer: Renderer,
    painter: Arc<Mutex<GradientPainter>>,
    size: Size,
    in_flight: VecDeque<PendingFrame>,
}

impl Fence {
    /// Frames of `size`, of which up to `depth` are in flight.
    ///
    /// # Errors
    ///
    /// If the renderer cannot be made.
    pub fn new(gpu: &Gpu, size: Size, depth: usize) -> Result<Self> {
        let painter = GradientPainter {
            pipeline: gradient::pipeline(gpu.device(), size),
        };
        Ok(Self {
            renderer: Renderer::new(gpu, RendererOptions::default().with_depth(depth))?,
            painter: Arc::new(Mutex::new(painter)),
            size,
            in_flight: VecDeque::with_capacity(depth),
        })
    }
}

impl Strategy for Fence {
    fn name(&self) -> &'static str {
        "fence"
    }

    fn start(&mut self, phase: u32) -> Result<()> {
        let request = FrameRequest::new(phase.into(), Time::ZERO, self.size);
        let pending = self.renderer.submit(&self.painter, request)?;
        self.in_flight.push_back(pending);
        Ok(())
    }

    fn deliver(&mut self, look: &mut dyn FnMut(Plane<'_>)) -> Result<()> {
        let pending = self
            .in_flight
            .pop_front()
            .context("no frame is in flight")?;
        let frame = pending.wait()?;
        look(frame.image().plane());
        Ok(())
    }
}

/// Draws the gradient; a frame's number is its phase.
struct GradientPainter {
    pipeline: wgpu::RenderPipeline,
}

impl Painter for GradientPainter {
    fn overwrites_targets(&self) -> bool {
        true
    }

    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        let phase = u32::try_from(context.view.number)?;
        let target = &context.targets.color().view;
        gradient::draw(context.encoder, &self.pipeline, target, phase);
        Ok(())
    }
}
