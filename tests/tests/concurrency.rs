//! Many threads, many frames, and half of the frames disturbed on their way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use framefence::{
    CancelHandle, Frame, FrameError, FrameRequest, PendingFrame, Renderer, RendererOptions,
    RequestError, Size, Stage, Time,
};
use framefence_tests::{Pattern, gpu, validation_messages, within};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

const THREADS: u64 = 8;
const FRAMES_PER_THREAD: u64 = 20_000;
const SIZE: Size = Size::new(8, 8);
/// Rounds that every pixel runs, so that a frame takes long enough to be disturbed in flight.
const ITERATIONS: u32 = 500;
/// No deadline and no cancel comes later than this after its frame was asked for: about as long
/// as a frame takes with those before it.
const LATEST_DISTURBANCE: Duration = Duration::from_millis(4);
/// Far beyond what a slow machine needs for all frames.
const WATCHDOG: Duration = Duration::from_secs(450);

/// How the frames of one thread ended.
#[derive(Debug, Default)]
struct Ends {
    delivered: HashSet<u64>,
    timed_out: u64,
    /// Of those, the ones that the GPU had.
    timed_out_on_gpu: u64,
    cancelled: u64,
    /// Dropped on their way, so that their end was not seen.
    dropped: u64,
    /// Not taken on: the renderer was full until their deadline.
    refused: u64,
}

#[test]
fn each_of_160_000_frames_on_8_threads_is_right_or_ends_in_a_stated_error() {
    let gpu = gpu();
    // One that all threads fit into, and one in which they queue for room.
    let renderers = [8, 2].map(|depth| {
        let options = RendererOptions::default().with_depth(depth);
        Arc::new(Renderer::new(&gpu, options).unwrap())
    });

    let workers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let renderers = renderers.clone();
            move || render_frames(thread, &renderers)
        })
        .collect();
    let ends: Vec<Ends> = within(WATCHDOG, || {
        let threads: Vec<_> = workers.into_iter().map(thread::spawn).collect();
        let ends = threads.into_iter().map(|thread| thread.join().unwrap());
        ends.collect()
    });
    // A last frame behind all others: when it is there, each of them has come to its end.
    for renderer in &renderers {
        let painter = Arc::new(Mutex::new(Pattern::default()));
        let last = FrameRequest::new(0, Time::ZERO, SIZE);
        Pattern::assert_shown(&renderer.submit(&painter, last).unwrap().wait().unwrap());
    }

    let total = |count: fn(&Ends) -> u64| ends.iter().map(count).sum::<u64>();
    let delivered = total(|ends| ends.delivered.len() as u64);
    let timed_out = total(|ends| ends.timed_out);
    let on_gpu = total(|ends| ends.timed_out_on_gpu);
    let cancelled = total(|ends| ends.cancelled);
    let dropped = total(|ends| ends.dropped);
    let refused = total(|ends| ends.refused);
    let frames = THREADS * FRAMES_PER_THREAD;
    println!(
        "{frames} frames: {delivered} delivered, {timed_out} timed out ({on_gpu} of them on the \
         GPU), {cancelled} cancelled, {dropped} dropped, {refused} not taken on; {:?}",
        gpu.fenced_queue().report()
    );
    assert_eq!(
        delivered + timed_out + cancelled + dropped + refused,
        frames
    );
    assert!(
        timed_out + cancelled >= frames / 5,
        "too few ended in flight"
    );
    assert!(timed_out > frames / 50, "too few timed out");
    assert!(on_gpu > frames / 1000, "too few timed out on the GPU");
    assert!(cancelled > frames / 50, "too few were cancelled");
    assert!(delivered >= frames / 4, "too few were delivered");

    let stats = renderers.map(|renderer| renderer.stats());
    let sum = |count: fn(&framefence::Stats) -> u64| stats.iter().map(count).sum::<u64>();
    let last_ones = stats.len() as u64;
    assert_eq!(sum(|stats| stats.requested), frames - refused + last_ones);
    assert_eq!(sum(|stats| stats.failed), 0);
    assert_eq!(
        sum(|stats| stats.delivered + stats.abandoned),
        sum(|stats| stats.requested)
    );
    assert_eq!(validation_messages(), Vec::<String>::new());
}

fn render_frames(thread: u64, renderers: &[Arc<Renderer>; 2]) -> Ends {
    let mut random = SmallRng::seed_from_u64(thread);
    let painters = [(); 2].map(|()| Arc::new(Mutex::new(Pattern::slow(ITERATIONS))));
    let (to_cancel, handles) = channel::<(CancelHandle, u32)>();
    let canceller = thread::spawn(move || {
        for (handle, yields) in handles {
            (0..yields).for_each(|_| thread::yield_now());
            handle.cancel();
        }
    });
    let mut ends = Ends::default();
    for index in 0..FRAMES_PER_THREAD {
        let number = thread * FRAMES_PER_THREAD + index;
        let which = random.random_range(0..2);
        let mut request = FrameRequest::new(number, Time::ZERO, SIZE);
        let disturbance = random.random_range(0..100);
        let deadline = random.random_range(Duration::ZERO..LATEST_DISTURBANCE);
        if disturbance < 15 {
            request = request.with_timeout(deadline);
        }
        let pending = match renderers[which].submit(&painters[which], request) {
            Ok(pending) => pending,
            Err(RequestError::Full { .. }) => {
                ends.refused += 1;
                continue;
            }
            Err(error) => panic!("frame {number}: {error}"),
        };
        let end = match disturbance {
            0..8 => pending.wait(),
            8..15 => pollster::block_on(pending.into_future()),
            15..30 => pending.wait_until(Instant::now() + deadline),
            30..45 => cancel_elsewhere(pending, &to_cancel, random.random_range(0..4)),
            45..50 => {
                drop(pending);
                ends.dropped += 1;
                continue;
            }
            50..55 => {
                poll_once_and_drop(pending);
                ends.dropped += 1;
                continue;
            }
            55..75 => pollster::block_on(pending.into_future()),
            _ => pending.wait(),
        };
        ends.count(number, end);
    }
    drop(to_cancel);
    canceller.join().unwrap();
    ends
}

impl Ends {
    fn count(&mut self, number: u64, end: Result<Frame, FrameError>) {
        match end {
            Ok(frame) => {
                assert_eq!(frame.number(), number);
                Pattern::assert_shown(&frame);
                assert!(self.delivered.insert(number), "frame {number} came twice");
            }
            Err(FrameError::Timeout { waiting_for, .. }) => {
                self.timed_out += 1;
                self.timed_out_on_gpu += u64::from(waiting_for == Stage::Gpu);
            }
            Err(FrameError::Cancelled) => self.cancelled += 1,
            Err(error) => panic!("frame {number}: {error}"),
        }
    }
}

fn cancel_elsewhere(
    pending: PendingFrame,
    to_cancel: &Sender<(CancelHandle, u32)>,
    yields: u32,
) -> Result<Frame, FrameError> {
    to_cancel.send((pending.cancel_handle(), yields)).unwrap();
    pending.wait()
}

fn poll_once_and_drop(pending: PendingFrame) {
    let mut future = pin!(pending.into_future());
    let _ = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
}
