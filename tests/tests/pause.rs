//! The pause that a host takes to have the device for itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use framefence::fence::{PauseError, SubmitError};
use framefence::{
    FrameError, FrameRequest, Gpu, PendingFrame, Renderer, RendererOptions, Size, Stage, Time, wgpu,
};
use framefence_tests::{Gate, Pattern, gpu, submit_gated, validation_messages, wait_for, within};

const SIZE: Size = Size::new(16, 16);
/// A deadline that passes while what it is for cannot go on.
const SHORT: Duration = Duration::from_millis(20);
/// Longer than a test takes.
const LONG: Duration = Duration::from_secs(600);
/// Shorter than the default timeouts, so that what waits for one fails its test.
const WATCHDOG: Duration = Duration::from_secs(50);

#[test]
fn a_pause_waits_for_the_gpu_and_holds_nothing_back_when_it_gives_up() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu);
        let gate = Gate::closed(&gpu);
        let on_gpu = submit_gated(&renderer, &gate);
        match gpu.fenced_queue().pause(SHORT) {
            Err(PauseError { in_driver, waited }) => {
                assert_eq!(in_driver, 1);
                assert!(waited >= SHORT);
            }
            Ok(_) => panic!("paused with a frame on the GPU"),
        }
        gate.open();
        Pattern::assert_shown(&on_gpu.wait().unwrap());
        Pattern::assert_shown(&submit(&renderer, 1, LONG).wait().unwrap());
        drop(gpu.pause_submits().unwrap());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn frames_are_held_back_by_a_pause_and_go_on_after_it() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu);
        let pause = gpu.pause_submits().unwrap();
        let before = gpu.fenced_queue().report();
        let held_back = [0, 1].map(|number| submit(&renderer, number, LONG));
        wait_for(&held_back[0], Stage::Driver);
        // The host goes on all the same.
        gpu.queue().submit([]);
        gpu.device()
            .poll(wgpu::PollType::wait_indefinitely())
            .unwrap();
        assert_eq!(gpu.fenced_queue().report(), before);
        assert_eq!(held_back[0].stage(), Stage::Driver);

        drop(pause);
        for pending in held_back {
            Pattern::assert_shown(&pending.wait().unwrap());
        }
        let after = gpu.fenced_queue().report();
        assert_eq!(after.submissions, before.submissions + 2);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn deadlines_pass_in_a_pause_and_the_last_of_two_pauses_counts() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu);
        let pauses = [(); 2].map(|()| gpu.pause_submits().unwrap());
        let before = gpu.fenced_queue().report();
        for pause in pauses {
            match submit(&renderer, 0, SHORT).wait() {
                Err(FrameError::Timeout {
                    waiting_for: Stage::Driver,
                    waited,
                }) => assert!(waited >= SHORT),
                other => panic!("{other:?}"),
            }
            match gpu.fenced_queue().submit([], SHORT) {
                Err(SubmitError::Paused { waited }) => assert!(waited >= SHORT),
                other => panic!("{other:?}"),
            }
            assert_eq!(gpu.fenced_queue().report(), before);
            drop(pause);
        }
        Pattern::assert_shown(&submit(&renderer, 1, LONG).wait().unwrap());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn renderer_and_gpu_go_down_in_a_pause() {
    within(WATCHDOG, || {
        let gpu = gpu();
        let renderer = renderer(&gpu);
        let pause = gpu.pause_submits().unwrap();
        let held_back = submit(&renderer, 0, SHORT);
        wait_for(&held_back, Stage::Driver);
        drop(renderer);
        drop(gpu);
        let end = held_back.wait();
        assert!(matches!(end, Err(FrameError::Timeout { .. })), "{end:?}");
        drop(pause);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_lost_device_ends_what_a_pause_holds_back() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu);
        let _pause = gpu.pause_submits().unwrap();
        let held_back = submit(&renderer, 0, LONG);
        wait_for(&held_back, Stage::Driver);
        let submitting = {
            let gpu = gpu.clone();
            thread::spawn(move || gpu.fenced_queue().submit([], LONG))
        };
        gpu.lost_marker()("the cable is out");
        let end = held_back.wait();
        assert!(matches!(end, Err(FrameError::DeviceLost(_))), "{end:?}");
        let end = submitting.join().unwrap();
        assert!(matches!(end, Err(SubmitError::Lost(_))), "{end:?}");
        // It waits for its thread, which the pause held back.
        drop(renderer);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// A host's callback on the watching thread is not made to wait for the driver, but for a pause that has
/// found it empty.
#[test]
fn what_a_hosts_callback_submits_in_a_pause_comes_after_it() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let gate = Gate::closed(&gpu);
        let commands = gate.commands(&gpu);
        let first = gpu.fenced_queue().submit([commands], LONG).unwrap();
        let (paused, is_paused) = channel();
        let (submitted, fence) = channel();
        let host = gpu.clone();
        // Runs behind the engine's own callback of the same submission, which ends it.
        gpu.queue().on_submitted_work_done(move || {
            is_paused.recv().unwrap();
            let fence = host.fenced_queue().submit([], LONG);
            submitted.send(fence).unwrap();
        });
        gate.open();
        let pause = gpu.pause_submits().unwrap();
        assert_eq!(first.wait(), Ok(()));
        let before = gpu.fenced_queue().report();
        paused.send(()).unwrap();
        let in_pause = fence.recv_timeout(SHORT);
        assert!(in_pause.is_err(), "submitted in the pause");
        assert_eq!(gpu.fenced_queue().report(), before);
        drop(pause);
        assert_eq!(fence.recv().unwrap().unwrap().wait(), Ok(()));
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// It holds up what would empty the driver, so a wait for that would not end before its deadline.
#[test]
fn a_hosts_callback_is_refused_a_pause_while_the_driver_is_at_work() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let queue = gpu.fenced_queue();
        let gate = Gate::closed(&gpu);
        gpu.queue().submit([]);
        let (asked, paused) = channel();
        let host = gpu.clone();
        // It runs in the submit that comes now, or on the watching thread.
        gpu.queue().on_submitted_work_done(move || {
            let pause = host.fenced_queue().pause(LONG).map(drop);
            asked.send(pause.map_err(|error| error.in_driver)).unwrap();
        });
        let fence = queue.submit([gate.commands(&gpu)], LONG).unwrap();
        gate.open();
        assert_eq!(fence.wait(), Ok(()));
        assert_eq!(paused.recv().unwrap(), Err(1));
        drop(gpu.pause_submits().unwrap());
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

fn renderer(gpu: &Gpu) -> Renderer {
    Renderer::new(gpu, RendererOptions::default()).unwrap()
}

fn submit(renderer: &Renderer, number: u64, timeout: Duration) -> PendingFrame {
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = FrameRequest::new(number, Time::ZERO, SIZE).with_timeout(timeout);
    renderer.submit(&painter, request).unwrap()
}
