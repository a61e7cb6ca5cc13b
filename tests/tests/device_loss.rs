//! A lost device ends every frame, before its deadline, and never with wrong pixels.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use framefence::{
    FrameError, FrameRequest, Gpu, PendingFrame, Renderer, RendererOptions, Size, Time,
};
use framefence_tests::{Gate, Host, Pattern, gpu, submit_gated, validation_messages, within};

const SIZE: Size = Size::new(16, 16);
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
