//! On DirectX 12 nobody's wake-up is stolen, and a removed device is not taken for finished work.
//!
//! First the fault is shown: where all waiters share one event that resets itself, a wake-up reaches
//! the wrong thread, and the right one sleeps on beside a fence that has long been signalled.
//!
//! What is expected of wgpu-hal's waits depends on which one this is built with, stock or with the
//! patches of `vendor/wgpu-hal`: see [`Hal`].

#![cfg(windows)]
#![allow(unsafe_code)]

mod gpu;
mod hal_fence;
mod our_fence;
mod race;
mod shared_event;

use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use framefence_tests::within;

use crate::gpu::Dx12Gpu;
use crate::hal_fence::HalFence;
use crate::our_fence::OurFence;
use crate::race::{Contestant as _, WAITERS_PER_GROUP, Woken, race};
use crate::shared_event::SharedEvent;

/// How long a wait is given that must be woken. Only one that is not takes so long.
const LONG: Duration = Duration::from_secs(10);

/// A test that takes this long hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The wgpu-hal that this is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hal {
    Stock,
    Patched,
}

impl Hal {
    /// As `FRAMEFENCE_HAL` says, which `cargo xtask windows test` sets.
    fn in_use() -> Self {
        match std::env::var("FRAMEFENCE_HAL").as_deref() {
            Err(_) | Ok("stock") => Self::Stock,
            Ok("patched") => Self::Patched,
            Ok(other) => panic!("FRAMEFENCE_HAL is `stock` or `patched`, not `{other}`"),
        }
    }
}

#[test]
fn one_event_for_all_waiters_misses_wakeups() {
    let gpu = Dx12Gpu::open();
    // Either a wake-up comes at once or never.
    let timeout = Duration::from_millis(50);
    let tally = within(LIMIT, move || race(&SharedEvent::new(&gpu), timeout));
    println!("one event for all waiters: {tally}");
    assert!(
        tally.missed > 0,
        "a test that cannot see the fault proves nothing"
    );
}

#[test]
fn waits_of_the_hal_miss_no_wakeup() {
    let gpu = Dx12Gpu::open();
    let tally = within(LIMIT, move || race(&HalFence::new(&gpu), LONG));
    println!("waits of the {:?} hal: {tally}", Hal::in_use());
    assert_eq!(tally.missed, 0);
}

#[test]
fn our_waits_miss_no_wakeup_and_make_no_more_events_than_there_are_waiters() {
    let gpu = Dx12Gpu::open();
    let (tally, events) = within(LIMIT, move || {
        let fence = OurFence::new(&gpu);
        let tally = race(&fence, LONG);
        (tally, fence.events_created())
    });
    println!("our waits: {tally}, {events} events");
    assert_eq!(tally.missed, 0);
    assert!(events <= WAITERS_PER_GROUP);
}

/// Each call waits for the queue to be idle, so all must come back. The stock hal has one event for all
/// calls, and signals their values in any order: it relies on its caller to keep them apart.
#[test]
fn waits_for_idle_side_by_side_come_back() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 2_000;

    let hal = Hal::in_use();
    let limit = match hal {
        // Some call hangs in the first rounds, so it need not be waited for long.
        Hal::Stock => Duration::from_secs(1),
        Hal::Patched => LONG,
    };
    let gpu = Dx12Gpu::open();
    let all_begin = Arc::new(Barrier::new(THREADS));
    let (report, reports) = channel();
    for _ in 0..THREADS {
        let (gpu, all_begin, report) = (gpu.clone(), Arc::clone(&all_begin), report.clone());
        // Never joined: one that hangs holds on to its thread until the process ends.
        thread::spawn(move || {
            for _ in 0..ROUNDS {
                all_begin.wait();
                gpu.wait_for_idle();
                if report.send(()).is_err() {
                    return;
                }
            }
        });
    }
    let comes_back = |_: &usize| (0..THREADS).all(|_| reports.recv_timeout(limit).is_ok());
    let came_back = (0..ROUNDS).take_while(comes_back).count();

    println!("waits for idle of the {hal:?} hal: {came_back} of {ROUNDS} rounds came back");
    match hal {
        Hal::Stock => assert!(came_back < ROUNDS, "mended: the patch can be dropped"),
        Hal::Patched => assert_eq!(came_back, ROUNDS),
    }
}

/// A removed device sets all its fences to `u64::MAX`, and so does this test.
#[test]
fn the_patched_hal_reports_a_removed_device_as_lost() {
    let fence = HalFence::new(&Dx12Gpu::open());
    let nothing_to_tell = || {};
    fence.signal(1);
    assert_eq!(fence.wait(1, LONG, &nothing_to_tell), Woken::Reached);
    assert_eq!(fence.value(), Ok(1));

    fence.signal(u64::MAX);
    let waited = fence.wait(2, LONG, &nothing_to_tell);
    let value = fence.value();
    match Hal::in_use() {
        Hal::Stock => assert_eq!((waited, value), (Woken::Reached, Ok(u64::MAX))),
        Hal::Patched => {
            assert_eq!(waited, Woken::DeviceLost);
            assert_eq!(value, Err(framefence::wgpu::hal::DeviceError::Lost));
        }
    }
}

#[test]
fn our_fence_reports_a_removed_device_as_lost() {
    let fence = OurFence::new(&Dx12Gpu::open());
    let nothing_to_tell = || {};
    fence.signal(1);
    assert_eq!(fence.wait(1, LONG, &nothing_to_tell), Woken::Reached);
    fence.signal(u64::MAX);
    assert_eq!(fence.wait(2, LONG, &nothing_to_tell), Woken::DeviceLost);
    assert_eq!(fence.wait(1, LONG, &nothing_to_tell), Woken::DeviceLost);
}

#[test]
fn our_waits_are_as_long_as_they_are_asked_to_be() {
    let fence = OurFence::new(&Dx12Gpu::open());
    for timeout in [Duration::ZERO, Duration::from_micros(300)] {
        let begun = Instant::now();
        assert_eq!(fence.wait(1, timeout, &|| {}), Woken::TimedOut);
        assert!(begun.elapsed() >= timeout);
    }
}

/// Less than a millisecond is not nothing.
#[test]
fn the_patched_hal_waits_out_short_timeouts() {
    const WAITS: usize = 50;
    const TIMEOUT: Duration = Duration::from_micros(900);

    let fence = HalFence::new(&Dx12Gpu::open());
    let early = (0..WAITS)
        .filter(|_| {
            let begun = Instant::now();
            assert_eq!(fence.wait(1, TIMEOUT, &|| {}), Woken::TimedOut);
            begun.elapsed() < TIMEOUT
        })
        .count();
    let hal = Hal::in_use();
    println!("waits of the {hal:?} hal for {TIMEOUT:?}: {early} of {WAITS} ended early");
    match hal {
        Hal::Stock => assert!(early > 0, "mended: the patch can be dropped"),
        Hal::Patched => assert_eq!(early, 0),
    }
}
