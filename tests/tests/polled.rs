//! The backend for devices without timelines, tried on one that has them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::IntoFuture;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use framefence::fence::{FenceBackend, FencedQueue, WaitError};
use framefence::wgpu;
use framefence_tests::{Gate, SharedMemory, gpu, validation_messages, within};

const TIMEOUT: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(20);
const WATCHDOG: Duration = Duration::from_secs(100);

#[test]
fn polled_submissions_are_done_when_they_say_so() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let queue = polled(&gpu);
        let memory = SharedMemory::new(&gpu, 4, 1, wgpu::BufferUsages::COPY_DST);
        for round in 0..50 {
            memory.write_first(round + 1);
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            encoder.clear_buffer(memory.buffer(), 0, None);
            let fence = queue.submit([encoder.finish()], TIMEOUT).unwrap();
            let end = match round % 2 {
                0 => fence.wait(),
                _ => pollster::block_on(fence.into_future()),
            };
            assert_eq!(end, Ok(()));
            assert_eq!(memory.read(), [0; 16]);
        }
        assert_eq!(queue.report().submissions, 50);
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn polled_waits_time_out_and_are_cancelled_while_the_gpu_is_at_work() {
    let gpu = gpu();
    within(WATCHDOG, move || {
        let queue = polled(&gpu);
        let gate = Gate::closed(&gpu);
        let fence = queue.submit([gate.commands(&gpu)], SHORT).unwrap();
        match fence.wait() {
            Err(WaitError::Timeout { waited }) => assert!(waited >= SHORT),
            other => panic!("{other:?}"),
        }
        let fence = Arc::new(fence);
        let waiter = {
            let fence = Arc::clone(&fence);
            thread::spawn(move || fence.wait_until(std::time::Instant::now() + TIMEOUT))
        };
        fence.cancel();
        assert_eq!(waiter.join().unwrap(), Err(WaitError::Cancelled));
        gate.open();
        queue.submit([], TIMEOUT).unwrap().wait().unwrap();
        assert_eq!(fence.wait(), Err(WaitError::Cancelled));
    });
    assert_eq!(validation_messages(), Vec::<String>::new());
}

fn polled(gpu: &framefence::Gpu) -> FencedQueue {
    let queue = FencedQueue::polled(gpu.device(), gpu.queue()).unwrap();
    assert_eq!(queue.backend(), FenceBackend::Polled);
    queue
}
