//! Frames are awaited on any executor, and no runtime's end hangs on them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::{Future, IntoFuture};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use framefence::{
    Frame, FrameError, FrameRequest, PendingFrame, Renderer, RendererOptions, Size, Time,
};
use framefence_tests::{Gate, Pattern, gpu, submit_gated, validation_messages, within};
use tokio::runtime::{Builder, Runtime};

const SIZE: Size = Size::new(16, 16);
const WATCHDOG: Duration = Duration::from_secs(100);

#[test]
fn frames_are_awaited_on_any_executor() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        for (number, runtime) in (0..).zip(runtimes()) {
            let frame = runtime.block_on(submit(&renderer, number).into_future());
            Pattern::assert_shown(&frame.unwrap());
        }
        let frame = pollster::block_on(submit(&renderer, 9).into_future());
        Pattern::assert_shown(&frame.unwrap());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn many_tasks_of_one_runtime_await_their_frames() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Arc::new(Renderer::new(&gpu, RendererOptions::default()).unwrap());
        let [runtime, _] = runtimes();
        let tasks: Vec<_> = (0..100)
            .map(|number| runtime.spawn(submit(&renderer, number).into_future()))
            .collect();
        for (number, task) in (0..).zip(tasks) {
            let frame = runtime.block_on(task).unwrap().unwrap();
            assert_eq!(frame.number(), number);
            Pattern::assert_shown(&frame);
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn dropping_a_runtime_does_not_wait_for_its_frames() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        for runtime in runtimes() {
            let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
            let gate = Gate::closed(&gpu);
            let pending = submit_gated(&renderer, &gate);
            let (polled, was_polled) = std::sync::mpsc::channel();
            runtime.spawn(async move {
                let mut frame = pending.into_future();
                poll_once(&mut frame);
                polled.send(()).unwrap();
                frame.await
            });
            runtime.block_on(tokio::task::yield_now());
            was_polled.recv().unwrap();
            drop(runtime);
            // The frame's flight has no end yet: the GPU still has it.
            assert_eq!(
                (renderer.stats().delivered, renderer.stats().abandoned),
                (0, 0)
            );
            gate.open();
            assert_recovered(&renderer);
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn dropping_a_future_cancels_its_frame_and_its_memory_comes_back() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        let gate = Gate::closed(&gpu);
        let mut frame = submit_gated(&renderer, &gate).into_future();
        poll_once(&mut frame);
        assert_eq!(renderer.stats().staging.live_count, 1);
        drop(frame);
        gate.open();
        assert_recovered(&renderer);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_cancelled_frame_ends_while_the_gpu_still_has_it() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        let gate = Gate::closed(&gpu);
        let pending = submit_gated(&renderer, &gate);
        let handle = pending.cancel_handle();
        let waiter = thread::spawn(move || pending.wait());
        handle.cancel();
        assert!(matches!(waiter.join().unwrap(), Err(FrameError::Cancelled)));
        assert_eq!(renderer.stats().abandoned, 0);
        gate.open();
        assert_recovered(&renderer);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn an_awaited_frame_times_out_while_the_gpu_still_has_it() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        let gate = Gate::closed(&gpu);
        let timeout = Duration::from_millis(50);
        let request = FrameRequest::new(0, Time::ZERO, SIZE).with_timeout(timeout);
        let painter = Arc::new(Mutex::new(gate.painter()));
        let pending = renderer.submit(&painter, request).unwrap();
        match pollster::block_on(pending.into_future()) {
            Err(FrameError::Timeout { waited, .. }) => assert!(waited >= timeout),
            other => panic!("{other:?}"),
        }
        assert_eq!(renderer.stats().abandoned, 0);
        gate.open();
        assert_recovered(&renderer);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A runtime of several threads, and one of the current thread.
fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap(),
        Builder::new_current_thread().build().unwrap(),
    ]
}

fn submit(renderer: &Renderer, number: u64) -> PendingFrame {
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = FrameRequest::new(number, Time::ZERO, SIZE);
    renderer.submit(&painter, request).unwrap()
}

/// Asserts that the next frame is right, and that the one that was abandoned holds nothing.
fn assert_recovered(renderer: &Renderer) {
    let frame = submit(renderer, 5).wait().unwrap();
    Pattern::assert_shown(&frame);
    assert_eq!(renderer.stats().abandoned, 1);
    let last = submit(renderer, 6).wait().unwrap();
    assert_eq!(
        renderer.stats().staging.live_count,
        2,
        "of two frames that are held"
    );
    drop((frame, last));
}

type FrameFuture = Pin<Box<dyn Future<Output = Result<Frame, FrameError>> + Send>>;

fn poll_once(frame: &mut FrameFuture) {
    let polled = pin!(frame).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
}
