//! Has a painter record a frame, whatever the painter does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use framefence_fence::capture_errors;
use framefence_pixel::OutputFormat;
use framefence_pool::Lease;
use framefence_readback::{FrameError, Target, TargetDescriptor, TargetPool, target_format};

use crate::Gpu;
use crate::painter::{
    ColorTarget, FrameView, PaintContext, Painter, PainterError, Readiness, SubmitOrder, Targets,
    TimeSpan,
};
use crate::request::{FrameRequest, WhenMissing};

/// A frame's commands without their readback, and the targets that they draw into.
pub(crate) struct Painted {
    pub(crate) encoder: wgpu::CommandEncoder,
    pub(crate) targets: Vec<Lease<TargetDescriptor, Target>>,
}

/// Has the commands of a frame recorded, whose request was checked.
pub(crate) fn paint(
    gpu: &Gpu,
    targets: &TargetPool,
    painter: &mut dyn Painter,
    request: &FrameRequest,
    order: SubmitOrder,
) -> Result<Painted, FrameError> {
    let (painted, error) = capture_errors(gpu.device(), || {
        prepare(gpu, painter, request)?;
        record(gpu, targets, painter, request, order)
    });
    match (painted, error) {
        // A painter's own error says more than what wgpu thought of its last call.
        (Ok(painted), Some(error)) => {
            discard(painted.targets);
            Err(FrameError::Rejected {
                reason: error.to_string(),
            })
        }
        (painted, _) => painted,
    }
}

/// Lets go of the targets of a frame that failed: a painter may have destroyed them.
pub(crate) fn discard(targets: Vec<Lease<TargetDescriptor, Target>>) {
    for target in targets {
        target.discard();
    }
}

fn prepare(gpu: &Gpu, painter: &mut dyn Painter, request: &FrameRequest) -> Result<(), FrameError> {
    let span = TimeSpan {
        start: request.time,
        end: request.time,
    };
    match guard(|| painter.prepare(gpu, span))? {
        Readiness::Missing(missing) if request.when_missing == WhenMissing::Fail => {
            Err(FrameError::NotReady { missing })
        }
        Readiness::Missing(_) | Readiness::Ready => Ok(()),
    }
}

fn record(
    gpu: &Gpu,
    targets: &TargetPool,
    painter: &mut dyn Painter,
    request: &FrameRequest,
    order: SubmitOrder,
) -> Result<Painted, FrameError> {
    let size = request.region.size;
    let mut leases = Vec::with_capacity(request.outputs.colors.len());
    let mut colors = Vec::with_capacity(request.outputs.colors.len());
    for &output in &request.outputs.colors {
        let format = texture_format(output)?;
        let target = targets.acquire(TargetDescriptor { size, format });
        colors.push(ColorTarget {
            view: target.view.clone(),
            format,
            output,
        });
        leases.push(target);
    }
    let label = wgpu::CommandEncoderDescriptor {
        label: Some("framefence frame"),
    };
    let mut encoder = gpu.device().create_command_encoder(&label);
    if !guard(|| Ok(painter.overwrites_targets()))? {
        clear(&mut encoder, &colors);
    }
    let mut context = PaintContext {
        gpu,
        encoder: &mut encoder,
        view: FrameView {
            number: request.number,
            time: request.time,
            full_size: request.size,
            region: request.region,
            scale: request.scale,
            tile_origin: [request.region.x, request.region.y],
            target_size: size,
        },
        targets: Targets {
            colors: &colors,
            depth: None,
            ids: None,
        },
        order,
    };
    if let Err(error) = guard(|| painter.paint(&mut context)) {
        discard(leases);
        return Err(error);
    }
    Ok(Painted {
        encoder,
        targets: leases,
    })
}

fn texture_format(output: OutputFormat) -> Result<wgpu::TextureFormat, FrameError> {
    let reason = || format!("{output} has no render target");
    target_format(output).ok_or_else(|| FrameError::Rejected { reason: reason() })
}

/// Clears every target to transparent black.
fn clear(encoder: &mut wgpu::CommandEncoder, colors: &[ColorTarget]) {
    let attachments: Vec<_> = colors
        .iter()
        .map(|color| {
            Some(wgpu::RenderPassColorAttachment {
                view: &color.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })
        })
        .collect();
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("framefence clear"),
        color_attachments: &attachments,
        ..Default::default()
    });
}

/// Calls a painter; a panic in it ends its frame, not the engine's thread.
fn guard<R>(call: impl FnOnce() -> Result<R, PainterError>) -> Result<R, FrameError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|source| FrameError::Painter { source }),
        Err(panic) => Err(FrameError::PainterPanicked {
            message: panic_message(&*panic),
        }),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a payload that is no text").to_owned()
}
