//! A host that shows its own window on the device that the engine renders on, and resizes it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod window;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use framefence::fence::capture_errors;
use framefence::{FrameRequest, Gpu, Renderer, RendererOptions, Size, Time, wgpu};
use framefence_tests::{Host, Pattern, validation_messages, within};

use window::Window;

const RESIZES: u64 = 200;
const DEPTH: usize = 3;
const FRAME: Size = Size::new(64, 64);
/// Rounds that every pixel of a frame runs, so that frames are in flight at any time.
const ITERATIONS: u32 = 2_000;
const WATCHDOG: Duration = Duration::from_secs(240);

/// Without the pause `Surface::configure` is refused when the engine submits meanwhile, and wgpu-hal
/// 30.0.2 has the driver wait for the device while its queue is in use, which Vulkan forbids and the
/// validation layers tell.
#[test]
fn a_window_is_resized_200_times_while_frames_are_rendered_on_its_device() {
    within(WATCHDOG, || {
        let host = Host::new();
        let gpu = host.gpu();
        let mut shown = Shown::open(&host);
        let is_over = AtomicBool::new(false);
        let (delivered, frames) = channel();
        thread::scope(|threads| {
            threads.spawn(|| render_until(&is_over, &gpu, &delivered));
            let _over = Over(&is_over);
            for number in 0..RESIZES {
                shown.window.resize(size(number));
                let pause = gpu.pause_submits().unwrap();
                shown.configure(number).unwrap();
                drop(pause);
                shown.draw(number);
                // Frames go on, so that one is on its way whenever the surface is configured.
                frames.recv_timeout(WATCHDOG).unwrap();
            }
        });
        shown.assert_is_seen(RESIZES - 1);
        let left = frames.try_iter().count() as u64;
        println!("{} frames during {RESIZES} resizes", RESIZES + left);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Renders frames one after the other, of which some are always in flight, and tells of each that is
/// there and right.
fn render_until(is_over: &AtomicBool, gpu: &Gpu, delivered: &Sender<u64>) {
    let options = RendererOptions::default().with_depth(DEPTH);
    let renderer = Renderer::new(gpu, options).unwrap();
    let painter = Arc::new(Mutex::new(Pattern::slow(ITERATIONS)));
    let mut in_flight = VecDeque::new();
    for number in 0.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let request = FrameRequest::new(number, Time::ZERO, FRAME);
        in_flight.push_back(renderer.submit(&painter, request).unwrap());
        if in_flight.len() == DEPTH {
            let oldest = in_flight.pop_front().unwrap();
            Pattern::assert_shown(&oldest.wait().unwrap());
            delivered.send(number).unwrap();
        }
    }
}

/// Ends the frames, also when the host panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A window with the surface of a host, on which the pattern is drawn.
struct Shown {
    host: Host,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    pattern: Pattern,
}

impl Shown {
    fn open(host: &Host) -> Self {
        let window = Arc::new(Window::open(size(0)));
        let surface = host.instance.create_surface(Arc::clone(&window)).unwrap();
        Self {
            host: host.clone(),
            window,
            surface,
            pattern: Pattern::default(),
        }
    }

    /// Gives the surface the size that the window has after `number` resizes.
    fn configure(&self, number: u64) -> Result<(), wgpu::Error> {
        let Size { width, height, .. } = size(number);
        let Host {
            adapter, device, ..
        } = &self.host;
        let config = self.surface.get_default_config(adapter, width, height);
        let config = wgpu::SurfaceConfiguration {
            format: wgpu::TextureFormat::Bgra8Unorm,
            ..config.unwrap()
        };
        let ((), error) = capture_errors(device, || self.surface.configure(device, &config));
        error.map_or(Ok(()), Err)
    }

    /// Shows the pattern of frame `number` in the whole of the window.
    fn draw(&mut self, number: u64) {
        let wgpu::CurrentSurfaceTexture::Success(texture) = self.surface.get_current_texture()
        else {
            panic!("resize {number}: the surface has no texture");
        };
        let view = texture.texture.create_view(&Default::default());
        let Host { device, queue, .. } = &self.host;
        let mut encoder = device.create_command_encoder(&Default::default());
        let place = (&view, texture.texture.format());
        self.pattern
            .draw(device, &mut encoder, place, [0, 0], number);
        queue.submit([encoder.finish()]);
        queue.present(texture);
    }

    /// Waits until the window shows frame `number`. The server tells nobody of what it shows, so it is
    /// asked until it does.
    fn assert_is_seen(&self, number: u64) {
        let Size { width, height, .. } = size(number);
        let is_seen = |pixels: &[u8]| {
            let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            places.zip(pixels.chunks(4)).all(|((x, y), pixel)| {
                let [red, green, blue, _] = Pattern::pixel(number, x, y);
                pixel[..3] == [blue, green, red]
            })
        };
        while !is_seen(&self.window.pixels(size(number))) {
            thread::yield_now();
        }
    }
}

/// The size of the window after so many resizes: never the one before.
fn size(number: u64) -> Size {
    let number = number as u32;
    Size::new(64 + number * 37 % 200, 48 + number * 53 % 150)
}
