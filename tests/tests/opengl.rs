//! The polled backend on a device that has nothing else: OpenGL ES, as Mesa renders it on the CPU.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use framefence::fence::{FenceBackend, WaitError};
use framefence::{FrameRequest, Gpu, Renderer, RendererOptions, Size, Time, wgpu};
use framefence_tests::{Pattern, within};

/// wgpu gives up a wait for OpenGL after 2.1 s, whatever it was asked.
const LIMIT: Duration = Duration::from_millis(2_200);
const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(600);
const WATCHDOG: Duration = Duration::from_secs(100);

#[test]
fn frames_of_an_opengl_device_are_right() {
    within(WATCHDOG, || {
        let gpu = opengl();
        let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
        let painter = Arc::new(Mutex::new(Pattern::default()));
        for number in 0..50 {
            let request = FrameRequest::new(number, Time::ZERO, Size::new(64, 64));
            let frame = renderer.submit(&painter, request).unwrap().wait();
            Pattern::assert_shown(&frame.unwrap());
        }
    });
}

/// The work is made longer until a wait for it has outlasted the limit; each wait, on either side of it,
/// ends with the work.
#[test]
fn a_wait_for_opengl_outlasts_its_limit_and_keeps_its_deadline() {
    within(WATCHDOG, || {
        let gpu = opengl();
        let queue = gpu.fenced_queue();
        let draw = Draw::new(&gpu);
        let mut times = 1;
        loop {
            let fence = queue.submit([draw.commands(&gpu, times)], LONG).unwrap();
            let submitted = Instant::now();
            let early = fence.wait_until(submitted + SHORT);
            fence.wait().unwrap();
            let waited = submitted.elapsed();
            println!("{times} draws: {waited:?}");
            if waited > LIMIT {
                assert!(matches!(early, Err(WaitError::Timeout { .. })), "{early:?}");
                break;
            }
            times *= 2;
        }
        assert_eq!(queue.lost(), None);
    });
}

fn opengl() -> Gpu {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::GL;
    let instance = wgpu::Instance::new(descriptor);
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
        .expect("these tests need OpenGL ES, such as Mesa's llvmpipe");
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: adapter.limits(),
        ..Default::default()
    }))
    .expect("the adapter gives a device");
    let gpu = Gpu::from_host(instance, adapter, device, queue).unwrap();
    assert_eq!(gpu.info().fence, FenceBackend::Polled);
    gpu
}

/// Work that is not read back, so that its submit does not wait for it.
struct Draw {
    pattern: Mutex<Pattern>,
    target: wgpu::Texture,
}

impl Draw {
    fn new(gpu: &Gpu) -> Self {
        let size = Size::new(128, 128);
        let target = Pattern::target(gpu.device(), size, wgpu::TextureUsages::empty());
        Self {
            // llvmpipe ends a loop after 65,536 rounds.
            pattern: Mutex::new(Pattern::slow(50_000)),
            target,
        }
    }

    fn commands(&self, gpu: &Gpu, times: u64) -> wgpu::CommandBuffer {
        let view = self.target.create_view(&Default::default());
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let mut pattern = self.pattern.lock().unwrap();
        for number in 0..times {
            let place = (&view, self.target.format());
            pattern.draw(gpu.device(), &mut encoder, place, [0, 0], number);
        }
        encoder.finish()
    }
}
