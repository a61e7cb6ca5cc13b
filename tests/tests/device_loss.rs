//! A lost device ends every frame, before its deadline, and never with wrong pixels.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::IntoFuture;
use std::iter;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use framefence::fence::{FencedQueue, SubmissionFence, SubmitError, WaitError};
use framefence::{
    FrameError, FrameRequest, Gpu, PendingFrame, Renderer, RendererOptions, Size, Time,
};
use framefence_tests::{Gate, Host, Pattern, gpu, submit_gated, validation_messages, within};

const SIZE: Size = Size::new(16, 16);
const THREADS: usize = 8;
const SHORT: Duration = Duration::from_millis(20);
/// Longer than a test takes.
const LONG: Duration = Duration::from_secs(600);
/// Far shorter than a gate lasts by itself.
const LIMIT: Duration = Duration::from_secs(5);
/// Shorter than any frame's deadline, so that a frame that waits for it fails its test.
const WATCHDOG: Duration = Duration::from_secs(50);

#[test]
fn a_device_destroyed_in_flight_ends_every_frame_right_or_as_lost() {
    for gpu in [gpu(), Host::new().gpu()] {
        within(WATCHDOG, move || {
            let renderer = renderer(&gpu, 4);
            let gate = Gate::closed(&gpu);
            let mut pending = vec![submit_gated(&renderer, &gate)];
            pending.extend((1..4).map(|number| submit(&renderer, number)));
            gpu.device().destroy();
            gate.open();
            for pending in pending {
                match pending.wait() {
                    Ok(frame) => Pattern::assert_shown(&frame),
                    Err(error) => assert_lost(&error),
                }
            }
            assert_all_further_are_lost(&gpu, &renderer);
        });
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_host_that_says_its_device_is_lost_ends_frames_that_the_gpu_still_has() {
    let gpu = Host::new().gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 4);
        let gate = Gate::closed(&gpu);
        let mut pending = vec![submit_gated(&renderer, &gate)];
        pending.extend((1..4).map(|number| submit(&renderer, number)));
        gpu.device().destroy();
        gpu.lost_marker()("the cable is out");
        for pending in pending {
            assert_lost(&pending.wait().unwrap_err());
        }
        assert_eq!(gpu.lost().as_deref(), Some("the cable is out"));
        assert_all_further_are_lost(&gpu, &renderer);
        gate.open();
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Its signal was carried away, and a software driver blocks the empty submission that is sent behind it:
/// the watching thread has it in hand until the GPU goes on.
#[test]
fn a_submission_that_is_about_to_be_watched_again_ends_when_the_device_is_lost() {
    let gpu = Host::new().gpu();
    within(WATCHDOG, move || {
        let gate = Gate::closed(&gpu);
        let host_submits = || {
            gpu.queue().submit([]);
        };
        let commands = iter::once_with(|| {
            thread::scope(|threads| threads.spawn(host_submits).join().unwrap());
            gate.commands(&gpu)
        });
        let fence = gpu.fenced_queue().submit(commands, LONG).unwrap();
        // The engine tells nobody that it takes a wait up again.
        while gpu.fenced_queue().report().rearmed == 0 {
            thread::yield_now();
        }
        gpu.lost_marker()("the cable is out");
        let end = fence.wait_until(Instant::now() + LIMIT);
        assert!(matches!(end, Err(WaitError::Lost(_))), "{end:?}");
        gate.open();
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_device_destroyed_while_8_threads_wait_for_frames_ends_each_right_or_as_lost() {
    for gpu in [gpu(), Host::new().gpu()] {
        within(WATCHDOG, move || {
            let renderer = Arc::new(renderer(&gpu, THREADS));
            let gate = Gate::closed(&gpu);
            let on_gpu = submit_gated(&renderer, &gate);
            let waiters: Vec<_> = (1..THREADS as u64)
                .map(|number| submit(&renderer, number))
                .chain([on_gpu])
                .map(|pending| thread::spawn(move || pending.wait()))
                .collect();
            gpu.device().destroy();
            gate.open();
            for waiter in waiters {
                match waiter.join().unwrap() {
                    Ok(frame) => Pattern::assert_shown(&frame),
                    Err(error) => assert_lost(&error),
                }
            }
            assert_all_further_are_lost(&gpu, &renderer);
        });
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A frame that the GPU never finishes tells nobody that its device was destroyed.
#[test]
fn waits_on_a_destroyed_device_end_at_their_deadlines_if_the_gpu_does_not_end() {
    for gpu in [gpu(), Host::new().gpu()] {
        within(WATCHDOG, move || {
            let renderer = renderer(&gpu, THREADS);
            let gate = Gate::closed(&gpu);
            let on_gpu = submit_gated(&renderer, &gate);
            gpu.device().destroy();
            let deadline = Instant::now() + SHORT;
            match on_gpu.wait_until(deadline) {
                Err(FrameError::Timeout { .. }) => assert!(Instant::now() >= deadline),
                Err(error) => assert_lost(&error),
                Ok(_) => panic!("a frame came through a closed gate"),
            }
            gate.open();
        });
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_device_destroyed_while_8_threads_wait_for_submissions_ends_each() {
    let gpus = [gpu(), gpu(), Host::new().gpu(), Host::new().gpu()];
    for (gpu, is_polled) in gpus.into_iter().zip([false, true, false, true]) {
        within(WATCHDOG, move || {
            let queue = queue(&gpu, is_polled);
            let gate = Gate::closed(&gpu);
            let fence = queue.submit([gate.commands(&gpu)], LONG).unwrap();
            let waiters = [(); THREADS].map(|()| wait_elsewhere(&fence));
            gpu.device().destroy();
            assert!(!fence.is_signaled(), "done behind a closed gate");
            gate.open();
            // Its work was done; wgpu may have said so before it said that the device is lost.
            for waiter in waiters {
                let end = waiter.join().unwrap();
                assert!(matches!(end, Ok(()) | Err(WaitError::Lost(_))), "{end:?}");
            }
            for _ in 0..5 {
                let end = queue.submit([], LONG);
                assert!(matches!(end, Err(SubmitError::Lost(_))), "{end:?}");
            }
            assert!(queue.lost().is_some());
        });
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_host_that_says_its_device_is_lost_ends_the_waits_of_8_threads_at_once() {
    within(WATCHDOG, || {
        for is_polled in [false, true] {
            let gpu = Host::new().gpu();
            let queue = queue(&gpu, is_polled);
            let gate = Gate::closed(&gpu);
            let fence = queue.submit([gate.commands(&gpu)], LONG).unwrap();
            let waiters = [(); THREADS].map(|()| wait_elsewhere(&fence));
            queue.lost_marker()("the cable is out");
            for waiter in waiters {
                let end = waiter.join().unwrap();
                assert!(matches!(end, Err(WaitError::Lost(_))), "{end:?}");
            }
            gate.open();
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn deadlines_of_zero_ask_and_those_beyond_any_limit_are_kept() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let polled = FencedQueue::polled(gpu.device(), gpu.queue()).unwrap();
        for queue in [gpu.fenced_queue(), &polled] {
            let gate = Gate::closed(&gpu);
            let mut fences = Vec::new();
            let fence = queue.submit([gate.commands(&gpu)], Duration::ZERO).unwrap();
            let end = fence.wait();
            assert!(matches!(end, Err(WaitError::Timeout { .. })), "{end:?}");
            let end = fence.wait_until(Instant::now());
            assert!(matches!(end, Err(WaitError::Timeout { .. })), "{end:?}");
            fences.push(fence);
            gate.open();
            for timeout in [Duration::MAX, Duration::from_nanos(u64::MAX)] {
                let gate = Gate::closed(&gpu);
                let fence = queue.submit([gate.commands(&gpu)], timeout).unwrap();
                let waiting = wait_elsewhere(&fence);
                let awaiting = {
                    let fence = fence.clone();
                    thread::spawn(move || pollster::block_on(fence.into_future()))
                };
                gate.open();
                assert_eq!(waiting.join().unwrap(), Ok(()));
                assert_eq!(awaiting.join().unwrap(), Ok(()));
                fences.push(fence);
            }
            for fence in fences {
                assert_eq!(fence.wait_until(Instant::now()), Ok(()));
            }
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn the_last_handle_on_a_device_waits_for_the_gpu_and_ends_every_wait() {
    within(WATCHDOG, || {
        for is_polled in [false, true] {
            let gpu = gpu();
            let gate = Gate::closed(&gpu);
            let queue = queue(&gpu, is_polled);
            let fence = queue.submit([gate.commands(&gpu)], LONG).unwrap();
            let waiters = [(); THREADS].map(|()| wait_elsewhere(&fence));
            let (gone, is_gone) = channel();
            let dropping = thread::spawn(move || {
                drop((gpu, queue));
                gone.send(()).unwrap();
            });
            let early = is_gone.recv_timeout(SHORT);
            assert!(early.is_err(), "the last handle went before the work");
            gate.open();
            dropping.join().unwrap();
            assert!(fence.is_signaled(), "the last handle went before the work");
            for waiter in waiters {
                assert_eq!(waiter.join().unwrap(), Ok(()));
            }
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

fn queue(gpu: &Gpu, is_polled: bool) -> FencedQueue {
    match is_polled {
        true => FencedQueue::polled(gpu.device(), gpu.queue()).unwrap(),
        false => gpu.fenced_queue().clone(),
    }
}

/// Waits for `fence` on a thread of its own.
fn wait_elsewhere(fence: &SubmissionFence) -> JoinHandle<Result<(), WaitError>> {
    let fence = fence.clone();
    thread::spawn(move || fence.wait())
}

fn assert_lost(error: &FrameError) {
    assert!(matches!(error, FrameError::DeviceLost(_)), "{error:?}");
    assert!(
        error.to_string().starts_with("the device was lost: "),
        "{error}"
    );
}

fn assert_all_further_are_lost(gpu: &Gpu, renderer: &Renderer) {
    for number in 10..15 {
        assert_lost(&submit(renderer, number).wait().unwrap_err());
    }
    assert!(gpu.lost().is_some());
}

fn renderer(gpu: &Gpu, depth: usize) -> Renderer {
    Renderer::new(gpu, RendererOptions::default().with_depth(depth)).unwrap()
}

fn submit(renderer: &Renderer, number: u64) -> PendingFrame {
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = FrameRequest::new(number, Time::ZERO, SIZE);
    renderer.submit(&painter, request).unwrap()
}
