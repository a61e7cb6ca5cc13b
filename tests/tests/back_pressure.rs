//! Frames that are held keep their memory, and those that need it wait, but not for ever.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use framefence::{
    Frame, FrameError, FrameRequest, Gpu, PaintContext, Painter, PainterError, PendingFrame,
    Renderer, RendererOptions, RequestError, Size, Stage, Time,
};
use framefence_tests::{Gate, Pattern, gpu, validation_messages, within};

const SIZE: Size = Size::new(64, 64);
const FRAME_BYTES: u64 = 64 * 64 * 4;
/// A deadline that passes while its frame cannot go on.
const SHORT: Duration = Duration::from_millis(20);
const WATCHDOG: Duration = Duration::from_secs(120);

#[test]
fn full_staging_memory_times_a_frame_out_and_a_dropped_frame_lets_the_next_go_on() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = with_staging(&gpu, 2, 3);
        let mut held: Vec<Frame> = (0..2).map(|number| render(&renderer, number)).collect();

        match submit(&renderer, 2, Some(SHORT)).wait() {
            Err(FrameError::Timeout {
                waiting_for: Stage::StagingMemory,
                waited,
            }) => assert!(waited >= SHORT),
            other => panic!("{other:?}"),
        }

        let waiting = submit(&renderer, 3, None);
        while waiting.stage() != Stage::StagingMemory {
            thread::yield_now();
        }
        let waiter = thread::spawn(move || waiting.wait());
        drop(held.swap_remove(0));
        let frame = waiter.join().unwrap().unwrap();
        assert_eq!(frame.number(), 3);
        Pattern::assert_shown(&frame);
        Pattern::assert_shown(&held[0]);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn one_frame_is_possible_however_little_staging_memory_is_allowed() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let options = RendererOptions::default().with_max_staging_bytes(1);
        let renderer = Renderer::new(&gpu, options).unwrap();
        for number in 0..3 {
            drop(render(&renderer, number));
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_renderer_as_deep_as_it_may_be_refuses_a_frame_after_its_deadline() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        for depth in 1..=3 {
            let renderer = with_staging(&gpu, 16, depth);
            let (held, release) = Held::new();
            let in_flight: Vec<_> = (0..depth as u64)
                .map(|number| renderer.submit(&held, request(number, None)).unwrap())
                .collect();
            let painter = Arc::new(Mutex::new(Pattern::default()));
            match renderer.submit(&painter, request(9, Some(SHORT))) {
                Err(RequestError::Full {
                    depth: reported,
                    waited,
                }) => {
                    assert_eq!(reported, depth);
                    assert!(waited >= SHORT);
                }
                other => panic!("{other:?}"),
            }
            // A frame that waits for room gets it when another ends.
            let waiter = {
                let painter = Arc::clone(&painter);
                thread::spawn(move || {
                    let pending = renderer.submit(&painter, request(10, None)).unwrap();
                    pending.wait().unwrap()
                })
            };
            for _ in 0..depth {
                release.send(()).unwrap();
            }
            Pattern::assert_shown(&waiter.join().unwrap());
            for pending in in_flight {
                pending.wait().unwrap();
            }
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn depth_1_renders_frame_after_frame_while_the_one_before_is_held() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = with_staging(&gpu, 2, 1);
        let mut held = render(&renderer, 0);
        for number in 1..50 {
            // Released only when the next is there.
            let next = render(&renderer, number);
            Pattern::assert_shown(&held);
            held = next;
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn held_frames_are_unchanged_while_a_hundred_others_are_rendered() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = with_staging(&gpu, 8, 3);
        let held: Vec<Frame> = (1000..1006)
            .map(|number| render(&renderer, number))
            .collect();
        for number in 0..100 {
            drop(render(&renderer, number));
        }
        held.iter().for_each(Pattern::assert_shown);
        // What was not held was used again and again.
        assert!(renderer.stats().staging.made <= 8);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_frame_waits_for_those_in_the_driver_only_until_its_deadline() {
    let gpu = gpu();
    // A driver that takes any number lets each wait on the GPU.
    let waits_for = match gpu.info().driver_capacity {
        Some(_) => Stage::Driver,
        None => Stage::Gpu,
    };
    within(WATCHDOG, move || {
        let renderer = with_staging(&gpu, 16, 8);
        drop(render(&renderer, 0));
        let gate = Gate::closed(&gpu);
        let gated = Arc::new(Mutex::new(gate.painter()));
        let in_driver = renderer.submit(&gated, request(1, None)).unwrap();
        let ends: Vec<_> = (2..6)
            .map(|number| submit(&renderer, number, Some(SHORT)))
            .map(PendingFrame::wait)
            .collect();
        let waited_for_it = |end: &Result<Frame, FrameError>| match end {
            Err(FrameError::Timeout { waiting_for, .. }) => *waiting_for == waits_for,
            _ => false,
        };
        assert!(ends.iter().any(waited_for_it), "{ends:?}");
        gate.open();
        Pattern::assert_shown(&in_driver.wait().unwrap());
        Pattern::assert_shown(&render(&renderer, 7));
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A renderer whose frames may hold the memory of `frames` frames.
fn with_staging(gpu: &Gpu, frames: u64, depth: usize) -> Renderer {
    let options = RendererOptions::default()
        .with_max_staging_bytes(frames * FRAME_BYTES)
        .with_depth(depth);
    Renderer::new(gpu, options).unwrap()
}

fn request(number: u64, timeout: Option<Duration>) -> FrameRequest {
    let request = FrameRequest::new(number, Time::ZERO, SIZE);
    match timeout {
        Some(timeout) => request.with_timeout(timeout),
        None => request,
    }
}

fn submit(renderer: &Renderer, number: u64, timeout: Option<Duration>) -> PendingFrame {
    let painter = Arc::new(Mutex::new(Pattern::default()));
    renderer.submit(&painter, request(number, timeout)).unwrap()
}

fn render(renderer: &Renderer, number: u64) -> Frame {
    let frame = submit(renderer, number, None).wait().unwrap();
    assert_eq!(frame.number(), number);
    Pattern::assert_shown(&frame);
    frame
}

/// Draws nothing, and lets each frame go on only when it is told to.
struct Held {
    released: Receiver<()>,
}

impl Held {
    fn new() -> (Arc<Mutex<Self>>, Sender<()>) {
        let (release, released) = channel();
        (Arc::new(Mutex::new(Self { released })), release)
    }
}

impl Painter for Held {
    fn paint(&mut self, _: &mut PaintContext<'_>) -> Result<(), PainterError> {
        Ok(self.released.recv()?)
    }
}
