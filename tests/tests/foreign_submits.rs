//! A host that submits to the same queue carries signals away: the race that the engine's proof
//! closes is shown to lose without it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use framefence::fence::testing::set_proof_required;
use framefence::{FrameRequest, Gpu, Plane, Renderer, RendererOptions, Size, Time, wgpu};
use framefence_tests::{Pattern, SharedMemory, gpu, validation_messages, within};

/// A width whose rows need no padding.
const SIZE: Size = Size::new(64, 8);
const PIXELS: usize = SIZE.width as usize * SIZE.height as usize;
const FRAMES: u64 = 100;
/// Rounds that every pixel runs, so that a wait that ends early finds the frame unfinished.
const ITERATIONS: u32 = 10_000;
/// What the memory holds before the GPU writes it; no pixel of the pattern has these bytes.
const POISON: u32 = 0xA5A5_A5A5;
const TIMEOUT: Duration = Duration::from_secs(60);
const WATCHDOG: Duration = Duration::from_secs(300);

#[test]
fn the_signal_alone_loses_the_race_and_the_proof_wins_it() {
    let gpu = gpu();
    let [without_proof, with_proof] = [false, true].map(|proof| {
        let gpu = gpu.clone();
        set_proof_required(gpu.fenced_queue(), proof);
        within(WATCHDOG, move || {
            // The host's turn comes when the engine's signal is armed and its submission not made.
            let host_submits = || {
                gpu.queue().submit([]);
            };
            wrong_frames(&gpu, || {
                thread::scope(|threads| threads.spawn(host_submits).join().unwrap());
            })
        })
    });
    println!("wrong of {FRAMES}: {without_proof} without the proof, {with_proof} with it");
    assert!(without_proof >= FRAMES / 10, "the race was not there");
    assert_eq!(with_proof, 0);
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn submissions_and_frames_are_right_while_a_host_submits_in_a_loop() {
    let gpu = gpu();
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let host = gpu.clone();
    let wrong = within(WATCHDOG, move || {
        while_a_host_submits(&host, || {
            let painter = Arc::new(Mutex::new(Pattern::slow(ITERATIONS)));
            for number in 0..FRAMES {
                let request = FrameRequest::new(number, Time::ZERO, SIZE);
                let pending = renderer.submit(&painter, request).unwrap();
                Pattern::assert_shown(&pending.wait().unwrap());
            }
            wrong_frames(&host, || {})
        })
    });
    assert_eq!(wrong, 0);
    assert!(
        gpu.fenced_queue().report().rearmed > 0,
        "no signal was carried away"
    );
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Does `work` while two threads of a host submit to the device's queue, nothing and little.
fn while_a_host_submits<R>(gpu: &Gpu, work: impl FnOnce() -> R) -> R {
    let is_over = AtomicBool::new(false);
    let submit_until_over = |commands: &dyn Fn() -> Option<wgpu::CommandBuffer>| {
        while !is_over.load(Ordering::Relaxed) {
            gpu.queue().submit(commands());
        }
    };
    let short = || {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        encoder.insert_debug_marker("the host's");
        Some(encoder.finish())
    };
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| submit_until_over(&|| None));
            threads.spawn(|| submit_until_over(&short));
        }
        // Ends the host's threads also when `work` panics.
        let _over = Over(&is_over);
        work()
    })
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Has frames drawn and copied into memory that can be read at any time, reads them when their
/// fence says that they are done, and counts those that are not. `before_submit` is called between
/// the arming of each frame's signal and its submit.
fn wrong_frames(gpu: &Gpu, before_submit: impl Fn()) -> u64 {
    let mut painter = Pattern::slow(ITERATIONS);
    // Each frame has memory of its own, so that none is touched while the GPU may still write it.
    let memory: Vec<_> = (0..FRAMES)
        .map(|_| SharedMemory::new(gpu, PIXELS, POISON, wgpu::BufferUsages::COPY_DST))
        .collect();
    let target = gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: Some("drawn slowly"),
        size: wgpu::Extent3d {
            width: SIZE.width,
            height: SIZE.height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = target.create_view(&Default::default());
    let mut wrong = 0;
    for (number, memory) in (0..).zip(&memory) {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let place = (&view, target.format());
        painter.draw(gpu.device(), &mut encoder, place, [0, 0], number);
        copy(&mut encoder, &target, memory.buffer());
        let commands = iter::once_with(|| {
            before_submit();
            encoder.finish()
        });
        let fence = gpu.fenced_queue().submit(commands, TIMEOUT).unwrap();
        fence.wait().unwrap();
        let bytes = memory.read();
        let plane = Plane {
            bytes: &bytes,
            stride_bytes: SIZE.width as usize * 4,
            row_bytes: SIZE.width as usize * 4,
            width: SIZE.width,
            height: SIZE.height,
        };
        wrong += u64::from(Pattern::wrong_pixels(number, &plane) > 0);
    }
    wrong
}

fn copy(encoder: &mut wgpu::CommandEncoder, texture: &wgpu::Texture, buffer: &wgpu::Buffer) {
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(SIZE.width * 4),
                rows_per_image: None,
            },
        },
        texture.size(),
    );
}
