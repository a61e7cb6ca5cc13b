//! What the engine promises and once did not keep.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use framefence::fence::FencedQueue;
use framefence::{
    FrameError, FrameRequest, PaintContext, PendingFrame, Renderer, RendererOptions, Size, Stage,
    Time, wgpu,
};
use framefence_tests::{Gate, Host, Pattern, gpu, validation_messages, wait_for, within};

const SIZE: Size = Size::new(64, 64);
const BYTES: u64 = 64 * 64 * 4;
const WATCHDOG: Duration = Duration::from_secs(20);

fn request(number: u64) -> FrameRequest {
    FrameRequest::new(number, Time::ZERO, SIZE)
}

fn submit(renderer: &Renderer, number: u64) -> PendingFrame {
    let painter = Arc::new(Mutex::new(Pattern::default()));
    renderer.submit(&painter, request(number)).unwrap()
}

/// Room for two small frames comes back at once; both waiters must go on.
#[test]
fn staging_memory_that_comes_back_wakes_all_who_fit() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let options = RendererOptions::default()
            .with_max_staging_bytes(2 * BYTES)
            .with_depth(4);
        let renderer = Arc::new(Renderer::new(&gpu, options).unwrap());
        let large = FrameRequest::new(0, Time::ZERO, Size::new(64, 128));
        let large = renderer
            .submit_now(&mut Pattern::default(), &large)
            .unwrap()
            .wait()
            .unwrap();
        let waiters = [1, 2].map(|number| {
            let renderer = Arc::clone(&renderer);
            thread::spawn(move || {
                let request = request(number).with_timeout(Duration::from_secs(3));
                let pending = renderer
                    .submit_now(&mut Pattern::default(), &request)
                    .unwrap();
                pending.wait()
            })
        });
        // Both are in flight now, and wait for memory now or soon.
        while renderer.stats().requested < 3 {
            thread::yield_now();
        }
        drop(large);
        let ends = waiters.map(|waiter| waiter.join().unwrap());
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A finished frame that nobody takes is held by a handle that can only cancel it.
#[test]
fn a_cancel_handle_holds_no_frames_memory() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        let pending = submit(&renderer, 0);
        let _handle = pending.cancel_handle();
        while !pending.is_finished() {
            thread::yield_now();
        }
        drop(pending);
        let next = submit(&renderer, 1).wait().unwrap();
        assert_eq!(
            renderer.stats().staging.live_count,
            1,
            "only {} is held",
            next.number()
        );
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A host that wants to change its painter must not wait for memory that it holds itself.
#[test]
fn a_painter_is_free_while_its_frame_waits_for_staging_memory() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let options = RendererOptions::default().with_max_staging_bytes(1);
        let renderer = Renderer::new(&gpu, options).unwrap();
        let held = submit(&renderer, 0).wait().unwrap();
        let painter = Arc::new(Mutex::new(Pattern::default()));
        let waiting = renderer.submit(&painter, request(1)).unwrap();
        wait_for(&waiting, Stage::StagingMemory);
        let is_free = painter.try_lock().is_ok();
        drop(held);
        waiting.wait().unwrap();
        assert!(is_free, "the painter is locked");
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Nobody wants the frame; it must make way.
#[test]
fn a_cancelled_frame_stops_waiting_for_staging_memory() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let options = RendererOptions::default()
            .with_max_staging_bytes(1)
            .with_depth(1);
        let renderer = Renderer::new(&gpu, options).unwrap();
        let held = submit(&renderer, 0).wait().unwrap();
        let unwanted = submit(&renderer, 1);
        wait_for(&unwanted, Stage::StagingMemory);
        drop(unwanted);
        let next = request(2).with_timeout(Duration::from_secs(2));
        let painter = Arc::new(Mutex::new(Pattern::default()));
        let end = renderer.submit(&painter, next).map(PendingFrame::wait);
        drop(held);
        assert!(
            matches!(
                end,
                Ok(Err(FrameError::Timeout {
                    waiting_for: Stage::StagingMemory,
                    ..
                }))
            ),
            "{end:?}"
        );
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// wgpu puts no restriction on callbacks; one that runs inside the engine's own submit finds the
/// submit lock held by its own thread.
#[test]
fn a_hosts_callback_may_submit_through_the_engine() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        gpu.queue().submit([]);
        let (host, called) = (gpu.clone(), Arc::new(AtomicBool::new(false)));
        let was_called = Arc::clone(&called);
        gpu.queue().on_submitted_work_done(move || {
            host.fenced_queue()
                .submit([], Duration::from_secs(5))
                .unwrap()
                .cancel();
            was_called.store(true, Ordering::SeqCst);
        });
        gpu.fenced_queue()
            .submit([], Duration::from_secs(5))
            .unwrap()
            .wait()
            .unwrap();
        assert!(called.load(Ordering::SeqCst));
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// The callback runs in a submit of the probe, on the thread that opens the queue.
#[test]
fn a_hosts_callback_may_open_the_queue_that_is_being_opened() {
    within(WATCHDOG, move || {
        let host = Host::new();
        host.queue.submit([]);
        let (opened, within_open) = channel();
        let again = host.clone();
        host.queue
            .on_submitted_work_done(move || opened.send(again.gpu()).unwrap());
        let gpu = host.gpu();
        let other = within_open.recv().unwrap();
        let fence = gpu.fenced_queue().submit([], Duration::from_secs(5));
        fence.unwrap().wait().unwrap();
        assert_eq!(gpu.fenced_queue().report().submissions, 1);
        assert_eq!(other.fenced_queue().report(), gpu.fenced_queue().report());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// The polled backend's wait runs a host's callbacks outside the net that catches their panics.
#[test]
fn a_panicking_callback_does_not_end_the_polled_backend() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let queue = FencedQueue::polled(gpu.device(), gpu.queue()).unwrap();
        let gate = Gate::closed(&gpu);
        let first = queue
            .submit([gate.commands(&gpu)], Duration::from_secs(5))
            .unwrap();
        // Runs in the watching thread's wait, together with the proof of the gate's submission.
        gpu.queue()
            .on_submitted_work_done(|| panic!("the host's own fault"));
        gate.open();
        first.wait().unwrap();
        let after = queue.submit([], Duration::from_secs(3)).unwrap();
        assert_eq!(after.wait(), Ok(()));
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// The same on Vulkan: the frames that were done in the same poll are not lost with the device.
#[test]
fn a_panicking_callback_of_a_host_costs_no_frame() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        for number in 0..20 {
            gpu.queue().submit([]);
            gpu.queue()
                .on_submitted_work_done(|| panic!("the host's own fault"));
            let end = submit(&renderer, number).wait();
            assert!(end.is_ok(), "{end:?}");
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Nor a submission whose proof is no map, for which there is nothing to look at in place of the
/// callback that the panic took along.
#[test]
fn a_panicking_callback_of_a_host_costs_no_submission() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let queue = gpu.fenced_queue();
        let target = Pattern::target(gpu.device(), SIZE, wgpu::TextureUsages::empty());
        let mut pattern = Pattern::slow(5_000);
        for number in 0..20 {
            // Still at work when ours comes behind it, so that one poll finds both done.
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            let place = (&target.create_view(&Default::default()), target.format());
            pattern.draw(gpu.device(), &mut encoder, place, [0, 0], number);
            gpu.queue().submit([encoder.finish()]);
            gpu.queue()
                .on_submitted_work_done(|| panic!("the host's own fault"));
            let fence = queue.submit([], Duration::from_secs(5)).unwrap();
            assert_eq!(fence.wait(), Ok(()));
        }
        assert_eq!(queue.lost(), None);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A poll that meets the unmap of the engine's canary leaves it mapped, and a mapped buffer refuses to be
/// mapped as one of a lost device does.
#[test]
fn a_device_that_is_well_is_not_taken_for_lost_while_a_host_polls() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let queue = FencedQueue::polled(gpu.device(), gpu.queue()).unwrap();
        let is_over = AtomicBool::new(false);
        let poll = || {
            while !is_over.load(Ordering::SeqCst) {
                gpu.device().poll(wgpu::PollType::Poll).unwrap();
            }
        };
        let lost = thread::scope(|threads| {
            (0..3).for_each(|_| drop(threads.spawn(poll)));
            let lost = (0..20_000).find_map(|_| queue.find_out_whether_lost());
            is_over.store(true, Ordering::SeqCst);
            lost
        });
        assert_eq!(lost, None);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Contract: a lost device ends every frame, those included that have not come to the GPU.
#[test]
fn a_lost_device_ends_frames_that_wait_for_their_turn() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let options = RendererOptions::default()
            .with_max_staging_bytes(1)
            .with_depth(2);
        let renderer = Renderer::new(&gpu, options).unwrap();
        let _held = submit(&renderer, 0).wait().unwrap();
        let waits_for_memory = submit(&renderer, 1);
        wait_for(&waits_for_memory, Stage::StagingMemory);
        let queued = submit(&renderer, 2);
        gpu.lost_marker()("the cable is out");
        for pending in [waits_for_memory, queued, submit(&renderer, 3)] {
            let end = pending.wait();
            assert!(matches!(end, Err(FrameError::DeviceLost(_))), "{end:?}");
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A painter can reach the texture behind its view, and destroy it; the pool must not lend it again.
#[test]
#[expect(clippy::disallowed_methods, reason = "the painter's own fault")]
fn a_painter_that_destroys_its_target_spoils_its_own_frame_only() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        let destroys = Arc::new(Mutex::new(|context: &mut PaintContext<'_>| {
            context.targets.color().view.texture().destroy();
            Ok(())
        }));
        let end = renderer.submit(&destroys, request(0)).unwrap().wait();
        assert!(matches!(end, Err(FrameError::Rejected { .. })), "{end:?}");
        for number in 1..4 {
            Pattern::assert_shown(&submit(&renderer, number).wait().unwrap());
        }
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}
