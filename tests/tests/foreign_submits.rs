//! A host that submits to the same queue carries signals away: the race that the engine's proof
//! closes is shown to lose without it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use framefence::fence::testing::set_proof_required;
use framefence::fence::{FenceBackend, FencedQueue};
use framefence::{FrameRequest, Gpu, Plane, Renderer, RendererOptions, Size, Time, wgpu};
use framefence_tests::{Gate, Pattern, SharedMemory, gpu, validation_messages, within};

/// A width whose rows need no padding.
const SIZE: Size = Size::new(64, 8);
const PIXELS: usize = SIZE.width as usize * SIZE.height as usize;
const FRAMES: u64 = 100;
/// Frames while a host submits in a loop, each of which may lose its signal at another moment.
const FRAMES_AT_LENGTH: u64 = 200;
/// Rounds that every pixel runs, so that a wait that ends early finds the frame unfinished.
const ITERATIONS: u32 = 10_000;
/// The same for a host's submission that takes several frames' time.
const LONG_ITERATIONS: u32 = 20_000;
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
            wrong_frames(&gpu, gpu.fenced_queue(), FRAMES, || {
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
            for number in 0..FRAMES_AT_LENGTH {
                let request = FrameRequest::new(number, Time::ZERO, SIZE);
                let pending = renderer.submit(&painter, request).unwrap();
                Pattern::assert_shown(&pending.wait().unwrap());
            }
            wrong_frames(&host, host.fenced_queue(), FRAMES_AT_LENGTH, || {})
        })
    });
    let report = gpu.fenced_queue().report();
    println!("{report:?}");
    assert_eq!(wrong, 0);
    assert!(report.rearmed > 0, "no signal was carried away");
    // However much the host submits, a wait is taken up again once.
    assert!(report.rearmed <= report.submissions);
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// The polled backend has no signal that could be carried away: it is right without the proof.
#[test]
fn polled_submissions_are_right_while_a_host_submits_in_a_loop() {
    let gpu = gpu();
    let wrong = within(WATCHDOG, move || {
        let queue = FencedQueue::polled(gpu.device(), gpu.queue()).unwrap();
        while_a_host_submits(&gpu, || {
            [true, false].map(|proof| {
                set_proof_required(&queue, proof);
                wrong_frames(&gpu, &queue, FRAMES, || {})
            })
        })
    });
    assert_eq!(wrong, [0, 0]);
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A wait whose signal was carried away is taken up again behind what stood in the queue at that
/// moment, and not behind what a host submits later.
#[test]
fn a_wait_does_not_wait_for_what_a_host_submits_after_it() {
    const ROUNDS: usize = 5;
    /// Far longer than a round takes whose wait does not wait for the host.
    const ROUND: Duration = Duration::from_secs(10);
    let gpu = gpu();
    let ended_first = within(WATCHDOG, move || {
        let carried_away = gpu.fenced_queue();
        let polled = FencedQueue::polled(gpu.device(), gpu.queue()).unwrap();
        [carried_away, &polled].map(|queue| {
            let rounds = (0..ROUNDS).filter(|_| ends_before_what_comes_later(&gpu, queue, ROUND));
            rounds.count()
        })
    });
    let [carried_away, polled] = ended_first;
    assert_eq!(polled, ROUNDS);
    // Of a round in which the host comes between the engine's decision to submit again and that
    // submission, which nobody can see, the wait does not end first.
    assert!(carried_away >= ROUNDS - 1, "{carried_away} of {ROUNDS}");
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Whether the wait for a submission ends while one that a host has made after it is still kept on the
/// GPU.
fn ends_before_what_comes_later(gpu: &Gpu, queue: &FencedQueue, limit: Duration) -> bool {
    let ours = Gate::closed(gpu);
    let rearmed = queue.report().rearmed;
    let commands = iter::once_with(|| {
        thread::scope(|threads| threads.spawn(|| gpu.queue().submit([])).join().unwrap());
        ours.commands(gpu)
    });
    let fence = queue.submit(commands, TIMEOUT).unwrap();
    if queue.backend() != FenceBackend::Polled {
        // The engine tells nobody that it takes a wait up again.
        while queue.report().rearmed == rearmed {
            thread::yield_now();
        }
    }
    let later = Gate::closed(gpu);
    let commands = later.commands(gpu);
    thread::scope(|threads| {
        let (begun, has_begun) = channel();
        // On a thread of its own: a software driver may take it only when ours is done.
        threads.spawn(move || {
            begun.send(()).unwrap();
            gpu.queue().submit([commands])
        });
        has_begun.recv().unwrap();
        ours.open();
        let ended = fence.wait_until(Instant::now() + limit);
        later.open();
        fence.wait().unwrap();
        ended.is_ok()
    })
}

/// Does `work` while threads of a host submit to the device's queue: nothing, little, and work that
/// takes longer than a frame of ours.
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
    let target = Target::new(gpu);
    let painter = Mutex::new(Pattern::slow(LONG_ITERATIONS));
    let long = || {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let mut painter = painter.lock().unwrap();
        painter.draw(gpu.device(), &mut encoder, target.place(), [0, 0], 0);
        Some(encoder.finish())
    };
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| submit_until_over(&|| None));
            threads.spawn(|| submit_until_over(&short));
        }
        threads.spawn(|| submit_until_over(&long));
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
fn wrong_frames(gpu: &Gpu, queue: &FencedQueue, frames: u64, before_submit: impl Fn()) -> u64 {
    let mut painter = Pattern::slow(ITERATIONS);
    // Each frame has memory of its own, so that none is touched while the GPU may still write it.
    let memory: Vec<_> = (0..frames)
        .map(|_| SharedMemory::new(gpu, PIXELS, POISON, wgpu::BufferUsages::COPY_DST))
        .collect();
    let target = Target::new(gpu);
    let mut wrong = 0;
    for (number, memory) in (0..).zip(&memory) {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        painter.draw(gpu.device(), &mut encoder, target.place(), [0, 0], number);
        copy(&mut encoder, &target.texture, memory.buffer());
        let commands = iter::once_with(|| {
            before_submit();
            encoder.finish()
        });
        let fence = queue.submit(commands, TIMEOUT).unwrap();
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

/// What is drawn into.
struct Target {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

impl Target {
    fn new(gpu: &Gpu) -> Self {
        let texture = Pattern::target(gpu.device(), SIZE, wgpu::TextureUsages::COPY_SRC);
        Self {
            view: texture.create_view(&Default::default()),
            texture,
        }
    }

    fn place(&self) -> (&wgpu::TextureView, wgpu::TextureFormat) {
        (&self.view, self.texture.format())
    }
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
