//! Frames that are known to be somewhere on their way.

use std::sync::{Arc, Mutex};
use std::thread;

use framefence::{FrameRequest, PendingFrame, Renderer, Size, Stage, Time};

use crate::Gate;

/// Frame 0, of 16 × 16 pixels, which the GPU has when this returns, and keeps until the gate is open.
///
/// # Panics
///
/// If the renderer does not take it.
pub fn submit_gated(renderer: &Renderer, gate: &Gate) -> PendingFrame {
    let painter = Arc::new(Mutex::new(gate.painter()));
    let request = FrameRequest::new(0, Time::ZERO, Size::new(16, 16));
    let pending = renderer.submit(&painter, request);
    let pending = pending.expect("a small frame is taken");
    wait_for(&pending, Stage::Gpu);
    pending
}

/// Returns when the frame has come to `stage`. The engine tells nobody of a stage that is reached, so
/// this asks until it is.
pub fn wait_for(pending: &PendingFrame, stage: Stage) {
    while pending.stage() != stage {
        thread::yield_now();
    }
}
