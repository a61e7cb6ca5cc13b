//! The same input gives the same bytes, however many frames are in flight.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use framefence::{Frame, FrameRequest, Gpu, Renderer, RendererOptions, Size};
use framefence_compositor::{Compositor, Scene};
use framefence_tests::{gpu, validation_messages, within};

const WATCHDOG: Duration = Duration::from_secs(200);

#[test]
fn a_scene_gives_the_same_bytes_twice_at_every_depth() {
    let gpu = gpu();
    let frames = within(WATCHDOG, move || {
        let first = render_scene(&gpu, 1);
        for depth in [1, 2, 4] {
            for run in 0..2 {
                let again = render_scene(&gpu, depth);
                assert_eq!(first.len(), again.len());
                let differ = first
                    .iter()
                    .zip(&again)
                    .position(|(one, other)| one != other);
                assert_eq!(
                    differ, None,
                    "a frame of run {run} at depth {depth} differs"
                );
            }
        }
        first
    });
    assert_eq!(frames.len(), 10);
    let moves = frames.windows(2).all(|pair| pair[0] != pair[1]);
    assert!(moves, "a scene in which nothing moves would prove little");
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// The bytes of each frame of the small example scene.
fn render_scene(gpu: &Gpu, depth: usize) -> Vec<Vec<u8>> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/assets");
    let scene = Scene::load(assets.join("small.json")).unwrap();
    let (frames, rate) = (scene.frame_count(), scene.frame_rate);
    let size = Size::new(scene.canvas.width, scene.canvas.height);
    let compositor = Arc::new(Mutex::new(Compositor::new(gpu, scene, assets).unwrap()));
    let options = RendererOptions::default().with_depth(depth);
    let renderer = Renderer::new(gpu, options).unwrap();

    let mut in_flight = VecDeque::new();
    let mut finished = Vec::new();
    for number in 0..frames {
        if in_flight.len() == depth {
            finished.extend(in_flight.pop_front());
        }
        let request = FrameRequest::new(number, rate.time_of(number).unwrap(), size);
        in_flight.push_back(renderer.submit(&compositor, request).unwrap());
    }
    finished.extend(in_flight);
    { finished.into_iter() }
        .map(|pending| bytes(&pending.wait().unwrap()))
        .collect()
}

fn bytes(frame: &Frame) -> Vec<u8> {
    frame.image().plane().rows().flatten().copied().collect()
}
