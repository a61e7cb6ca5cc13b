//! What wgpu refuses ends in its own words, and harms nothing that comes after.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "what careless painters do")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use framefence::fence::SubmitError;
use framefence::fence::testing::set_proof_required;
use framefence::{
    FrameError, FrameRequest, Gpu, PaintContext, Painter, PainterError, Renderer, RendererOptions,
    Size, Time, wgpu,
};
use framefence_tests::{Gate, Host, Pattern, gpu, validation_messages, within};

const SIZE: Size = Size::new(16, 16);
const TIMEOUT: Duration = Duration::from_secs(60);
const WATCHDOG: Duration = Duration::from_secs(120);

/// What a painter does wrong.
#[derive(Clone, Copy, Debug)]
enum Mistake {
    /// A copy beyond the end of a buffer.
    InvalidCommand,
    /// A buffer that was destroyed before it was used.
    DestroyedBefore,
    /// A buffer that is destroyed between recording and submit.
    DestroyedAfter,
    /// A texture larger than any device takes.
    InvalidResource,
}

/// Paints the pattern, and makes its mistake in the frames of odd numbers.
struct Clumsy {
    pattern: Pattern,
    mistake: Mistake,
}

impl Painter for Clumsy {
    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        self.pattern.paint(context)?;
        if context.view.number.is_multiple_of(2) {
            return Ok(());
        }
        let buffer = buffer(context.gpu);
        match self.mistake {
            Mistake::InvalidCommand => context.encoder.clear_buffer(&buffer, 0, Some(1 << 20)),
            Mistake::DestroyedBefore => {
                buffer.destroy();
                context.encoder.clear_buffer(&buffer, 0, None);
            }
            Mistake::DestroyedAfter => {
                context.encoder.clear_buffer(&buffer, 0, None);
                buffer.destroy();
            }
            Mistake::InvalidResource => drop(context.gpu.device().create_texture(
                &wgpu::TextureDescriptor {
                    label: Some("far too large"),
                    size: wgpu::Extent3d {
                        width: u32::MAX,
                        height: 1,
                        depth_or_array_layers: 1,
                    },
                    mip_level_count: 1,
                    sample_count: 1,
                    dimension: wgpu::TextureDimension::D2,
                    format: wgpu::TextureFormat::Rgba8Unorm,
                    usage: wgpu::TextureUsages::COPY_DST,
                    view_formats: &[],
                },
            )),
        }
        Ok(())
    }
}

#[test]
fn a_frame_that_wgpu_refuses_says_why_and_the_next_is_right() {
    for (mistake, words) in [
        (Mistake::InvalidCommand, "overrun"),
        (Mistake::DestroyedBefore, "has been destroyed"),
        (Mistake::DestroyedAfter, "has been destroyed"),
        (Mistake::InvalidResource, "4294967295"),
    ] {
        // A host that has set no handler: an error that no scope caught would panic.
        let gpu = Host::new().gpu();
        within(WATCHDOG, move || {
            refuse_every_other_frame(&gpu, mistake, words);
        });
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

fn refuse_every_other_frame(gpu: &Gpu, mistake: Mistake, words: &str) {
    let renderer = Renderer::new(gpu, RendererOptions::default()).unwrap();
    let painter = Arc::new(Mutex::new(Clumsy {
        pattern: Pattern::default(),
        mistake,
    }));
    for number in 0..20 {
        let request = FrameRequest::new(number, Time::ZERO, SIZE);
        let end = renderer.submit(&painter, request).unwrap().wait();
        if number.is_multiple_of(2) {
            Pattern::assert_shown(&end.unwrap());
            continue;
        }
        match end {
            Err(FrameError::Rejected { reason }) => {
                assert!(reason.contains(words), "{mistake:?}: {reason}");
            }
            other => panic!("{mistake:?}: {other:?}"),
        }
    }
    assert_eq!(
        (renderer.stats().delivered, renderer.stats().failed),
        (10, 10)
    );
    assert_eq!(gpu.lost(), None);
}

#[test]
fn a_refused_submission_leaves_no_signal_behind() {
    let gpu = gpu();
    // The proof would hide a signal that comes early.
    set_proof_required(gpu.fenced_queue(), false);
    within(WATCHDOG, move || {
        let queue = gpu.fenced_queue();
        for _ in 0..10 {
            let before = queue.report().submissions;
            match queue.submit([of_a_destroyed_buffer(&gpu)], TIMEOUT) {
                Err(SubmitError::Refused { reason }) => {
                    assert!(reason.contains("has been destroyed"), "{reason}");
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(queue.report().submissions, before);

            // The host's submission, which would carry such a signal, comes first; it must not end
            // the engine's, which the gate keeps on the GPU.
            gpu.queue().submit([]);
            let gate = Gate::closed(&gpu);
            let fence = queue.submit([gate.commands(&gpu)], TIMEOUT).unwrap();
            assert!(!fence.is_signaled(), "{:?}", fence.wait());
            gate.open();
            fence.wait().unwrap();
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

fn of_a_destroyed_buffer(gpu: &Gpu) -> wgpu::CommandBuffer {
    let buffer = buffer(gpu);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.clear_buffer(&buffer, 0, None);
    buffer.destroy();
    encoder.finish()
}

fn buffer(gpu: &Gpu) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("cleared"),
        size: 256,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
