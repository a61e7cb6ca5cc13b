//! The engine on DirectX 12: frames, waits, a host beside them, and the device's loss.

#![cfg(windows)]
#![allow(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::IntoFuture as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use framefence::fence::testing::dx12_fence;
use framefence::fence::{FenceBackend, Proof, SubmitError, WaitError};
use framefence::wgpu::hal::api::Dx12;
use framefence::{
    FrameError, FrameRequest, Gpu, GpuOptions, PendingFrame, Renderer, RendererOptions, Size,
    Stage, Time, wgpu,
};
use framefence_tests::{Pattern, gpu_with, wait_for, within};
use windows::Win32::Graphics::Direct3D12::{D3D12_FENCE_FLAG_NONE, ID3D12Fence};

const SIZE: Size = Size::new(61, 17);
/// Beside a busy host.
const FRAMES: u64 = 200;
const TIMEOUT: Duration = Duration::from_secs(200);
/// Shorter than any frame's deadline, so that a frame that waits for it fails its test.
const WATCHDOG: Duration = Duration::from_secs(150);

#[test]
fn frames_are_right_and_no_wait_makes_an_event_of_its_own() {
    let gpu = gpu();
    assert_eq!(gpu.info().fence, FenceBackend::Dx12Fence);
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 3);
        let mut in_flight = Vec::new();
        for number in 0..1_000 {
            in_flight.push(submit(&renderer, number));
            if in_flight.len() == 3 {
                Pattern::assert_shown(&in_flight.remove(0).wait().unwrap());
            }
        }
        for pending in in_flight {
            Pattern::assert_shown(&pollster::block_on(pending.into_future()).unwrap());
        }
        let fence = dx12_fence(gpu.fenced_queue()).unwrap();
        println!(
            "{:?}; {} events",
            gpu.fenced_queue().report(),
            fence.events_created()
        );
        assert_eq!(fence.events_created(), 1, "one thread waits");
    });
}

#[test]
fn two_handles_on_one_queue_share_its_fence_and_two_devices_do_not() {
    let gpu = gpu();
    let again = Gpu::from_host(
        gpu.instance().clone(),
        gpu.adapter().clone(),
        gpu.device().clone(),
        gpu.queue().clone(),
    )
    .unwrap();
    let raw = |gpu: &Gpu| dx12_fence(gpu.fenced_queue()).unwrap().raw().clone();
    assert_eq!(raw(&gpu), raw(&again));
    // The driver's device is the adapter's, and so the same one.
    assert_ne!(raw(&gpu), raw(&self::gpu()));
}

#[test]
fn frames_are_right_while_a_host_submits_in_a_loop() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let is_over = AtomicBool::new(false);
        let large = Large::new(gpu.device());
        let submitted = thread::scope(|threads| {
            let over = Over(&is_over);
            let host = [
                threads.spawn(|| submit_until(&is_over, &gpu, || None)),
                threads
                    .spawn(|| submit_until(&is_over, &gpu, || Some(large.copies(gpu.device(), 8)))),
            ];
            let renderer = renderer(&gpu, 2);
            for number in 0..FRAMES {
                Pattern::assert_shown(&submit(&renderer, number).wait().unwrap());
            }
            drop(over);
            gpu.device()
                .poll(wgpu::PollType::wait_indefinitely())
                .unwrap();
            host.map(|thread| thread.join().unwrap())
        });
        let report = gpu.fenced_queue().report();
        println!("{FRAMES} frames beside {submitted:?} submissions of a host; {report:?}");
        assert!(submitted.iter().all(|&count| count > FRAMES / 10));
    });
}

/// Submits as a host does, until it is over; says how often. Never has more than a few submissions in
/// the driver: nothing else would bound how long a frame waits behind them.
fn submit_until(
    is_over: &AtomicBool,
    gpu: &Gpu,
    commands: impl Fn() -> Option<wgpu::CommandBuffer>,
) -> u64 {
    let (give_back, places) = channel();
    for _ in 0..4 {
        give_back.send(()).unwrap();
    }
    let mut submitted = 0;
    while !is_over.load(Ordering::Relaxed) {
        places.recv().unwrap();
        gpu.queue().submit(commands());
        let give_back = give_back.clone();
        // The last ones come when nobody is there any more.
        gpu.queue()
            .on_submitted_work_done(move || _ = give_back.send(()));
        submitted += 1;
    }
    submitted
}

#[test]
fn waits_keep_their_deadlines_and_can_be_cancelled_while_the_gpu_is_at_work() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let gate = Gate::closed(&gpu);
        let short = Duration::from_micros(300);
        let fence = gpu.fenced_queue().submit([], short).unwrap();
        match fence.wait() {
            Err(WaitError::Timeout { waited }) => assert!(waited >= short),
            other => panic!("{other:?}"),
        }
        let past = Instant::now();
        assert!(matches!(
            fence.wait_until(past),
            Err(WaitError::Timeout { .. })
        ));
        // Longer than Windows can wait at a time.
        let for_ever = gpu.fenced_queue().submit([], Duration::MAX).unwrap();
        let waiter = {
            let fence = fence.clone();
            thread::spawn(move || fence.wait_until(past + TIMEOUT))
        };
        fence.cancel();
        assert_eq!(waiter.join().unwrap(), Err(WaitError::Cancelled));
        assert!(!for_ever.is_signaled());
        gate.open();
        assert_eq!(for_ever.wait(), Ok(()));
        assert_eq!(for_ever.wait_until(past), Ok(()));
    });
}

/// wgpu's own wait lets a host's `destroy` stall behind the GPU's work; that of the engine does not.
#[test]
fn a_host_destroys_while_a_frame_is_waited_for() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 1);
        let gate = Gate::closed(&gpu);
        let pending = submit(&renderer, 7);
        wait_for(&pending, Stage::Gpu);
        let waiter = thread::spawn(move || pending.wait());
        for _ in 0..100 {
            Large::new(gpu.device()).from.destroy();
        }
        assert!(!waiter.is_finished());
        gate.open();
        Pattern::assert_shown(&waiter.join().unwrap().unwrap());
    });
}

#[test]
fn a_removed_device_ends_every_frame_as_lost_and_lends_none() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 4);
        Pattern::assert_shown(&submit(&renderer, 0).wait().unwrap());
        let gate = Gate::closed(&gpu);
        let waiters: Vec<_> = (1..4)
            .map(|number| {
                let pending = submit(&renderer, number);
                thread::spawn(move || pending.wait())
            })
            .collect();
        // What the driver does with every fence of a removed device.
        let fence = dx12_fence(gpu.fenced_queue()).unwrap().raw().clone();
        // SAFETY: the fence is alive.
        unsafe { fence.Signal(u64::MAX) }.unwrap();
        for waiter in waiters {
            assert_lost(&waiter.join().unwrap().unwrap_err());
        }
        assert!(gpu.lost().is_some());
        assert_lost(&submit(&renderer, 10).wait().unwrap_err());
        gate.open();
    });
}

/// wgpu takes a removed device's fences for those of finished work, and so calls back.
#[test]
fn a_callback_of_wgpus_is_not_believed_once_the_device_is_removed() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let fenced = gpu.fenced_queue();
        // The watching thread must not be the first to notice: it is kept busy in a callback.
        let (is_busy, watch_is_busy) = channel();
        let (let_go, may_go_on) = channel::<()>();
        let keep_busy = move |_| {
            is_busy
                .send(thread::current().name().map(str::to_owned))
                .unwrap();
            may_go_on.recv().unwrap();
        };
        let deadline = Instant::now() + TIMEOUT;
        fenced.submit_then([], Proof::WorkDone, deadline, keep_busy);
        let busy = watch_is_busy.recv().unwrap();
        assert_eq!(busy.as_deref(), Some("framefence-watch"));

        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let (sender, end) = channel();
        fenced.submit_then([], Proof::Map(&buffer), deadline, move |done| {
            sender.send(done.map(drop)).unwrap();
        });
        let fence = dx12_fence(fenced).unwrap().raw().clone();
        // SAFETY: the fence is alive.
        unsafe { fence.Signal(u64::MAX) }.unwrap();
        gpu.device().poll(wgpu::PollType::Poll).unwrap();
        let end = end.recv().unwrap();
        assert!(matches!(end, Err(SubmitError::Lost(_))), "{end:?}");
        assert!(gpu.lost().is_some());
        let_go.send(()).unwrap();
    });
}

#[test]
fn a_device_destroyed_while_8_threads_wait_ends_every_wait() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 4);
        let gate = Gate::closed(&gpu);
        let frames: Vec<_> = (0..4)
            .map(|number| {
                let pending = submit(&renderer, number);
                thread::spawn(move || pending.wait())
            })
            .collect();
        let fences: Vec<_> = (0..4)
            .map(|_| {
                let fence = gpu.fenced_queue().submit([], TIMEOUT).unwrap();
                thread::spawn(move || fence.wait())
            })
            .collect();
        gpu.device().destroy();
        gate.open();
        for frame in frames {
            match frame.join().unwrap() {
                Ok(frame) => Pattern::assert_shown(&frame),
                Err(error) => assert_lost(&error),
            }
        }
        for fence in fences {
            let end = fence.join().unwrap();
            assert!(matches!(end, Ok(()) | Err(WaitError::Lost(_))), "{end:?}");
        }
        assert_lost(&submit(&renderer, 10).wait().unwrap_err());
        assert!(gpu.lost().is_some());
    });
}

#[test]
fn a_pause_waits_for_the_gpu_and_keeps_frames_back() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let renderer = renderer(&gpu, 2);
        let gate = Gate::closed(&gpu);
        let first = submit(&renderer, 1);
        wait_for(&first, Stage::Gpu);
        let pausing = {
            let gpu = gpu.clone();
            thread::spawn(move || gpu.pause_submits())
        };
        gate.open();
        let pause = pausing.join().unwrap().unwrap();
        Pattern::assert_shown(&first.wait().unwrap());
        let made = gpu.fenced_queue().report().submissions;
        let second = submit(&renderer, 2);
        assert_eq!(gpu.fenced_queue().report().submissions, made);
        drop(pause);
        Pattern::assert_shown(&second.wait().unwrap());
    });
}

fn gpu() -> Gpu {
    gpu_with(&GpuOptions::default().with_backends(wgpu::Backends::DX12))
}

fn renderer(gpu: &Gpu, depth: usize) -> Renderer {
    Renderer::new(gpu, RendererOptions::default().with_depth(depth)).unwrap()
}

fn submit(renderer: &Renderer, number: u64) -> PendingFrame {
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = FrameRequest::new(number, Time::ZERO, SIZE).with_timeout(TIMEOUT);
    renderer.submit(&painter, request).unwrap()
}

fn assert_lost(error: &FrameError) {
    assert!(matches!(error, FrameError::DeviceLost(_)), "{error:?}");
}

/// Keeps the queue from going on until it is opened, by being dropped at the latest.
struct Gate(ID3D12Fence);

impl Gate {
    fn closed(gpu: &Gpu) -> Self {
        // SAFETY: the guard is only used to reach the device and its queue.
        let hal = unsafe { gpu.device().as_hal::<Dx12>() }.unwrap();
        // SAFETY: the device is alive.
        let fence: ID3D12Fence =
            unsafe { hal.raw_device().CreateFence(0, D3D12_FENCE_FLAG_NONE) }.unwrap();
        // SAFETY: queue and fence are of one device. A queue may wait for any fence.
        unsafe { hal.raw_queue().Wait(&fence, 1) }.unwrap();
        Self(fence)
    }

    fn open(self) {}
}

impl Drop for Gate {
    fn drop(&mut self) {
        // SAFETY: the fence is alive.
        unsafe { self.0.Signal(1) }.unwrap();
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Two buffers that take a while to copy.
struct Large {
    from: wgpu::Buffer,
    to: wgpu::Buffer,
}

impl Large {
    fn new(device: &wgpu::Device) -> Self {
        let buffer = || {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("large"),
                size: 8 << 20,
                usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Self {
            from: buffer(),
            to: buffer(),
        }
    }

    fn copies(&self, device: &wgpu::Device, times: u32) -> wgpu::CommandBuffer {
        let mut encoder = device.create_command_encoder(&Default::default());
        for _ in 0..times {
            encoder.copy_buffer_to_buffer(&self.from, 0, &self.to, 0, self.from.size());
        }
        encoder.finish()
    }
}
