//! What a wait for a DirectX 12 fence costs, and how soon it wakes: the engine's beside wgpu-hal's.
//!
//! One thread waits for the next value of a fence, another signals it a little later. The two kinds of
//! wait take turns, so that whatever else the machine does hits both alike. Built for Windows; the
//! wgpu-hal is the one that it is built with, stock or patched (`vendor/wgpu-hal`).

use std::process::ExitCode;

use framefence_examples::report;

fn main() -> ExitCode {
    #[cfg(windows)]
    return report::exit_code(dx12::run());
    #[cfg(not(windows))]
    {
        report::say("error: there is DirectX 12 on Windows alone");
        ExitCode::FAILURE
    }
}

#[cfg(windows)]
#[allow(unsafe_code)]
mod dx12 {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;
    use std::time::{Duration, Instant};

    use anyhow::{Context as _, Result, ensure};
    use clap::Parser;
    use framefence::fence::testing::Dx12Fence;
    use framefence::{Gpu, GpuOptions};
    use framefence_examples::latency::Latencies;
    use wgpu::hal::Device as _;
    use wgpu::hal::api::Dx12;

    /// No wait takes this long.
    const TIMEOUT: Duration = Duration::from_secs(10);
    /// The waiter is given this long to fall asleep.
    const ASLEEP: Duration = Duration::from_millis(1);
    /// Signals that come before the wait, one by one.
    const READY: u64 = 1_000;

    /// Times waits for DirectX 12 fences.
    #[derive(Parser)]
    struct Args {
        /// Waits of each kind.
        #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
        waits: u64,
    }

    /// A fence and a way to wait for it.
    trait Waits: Sync {
        fn name(&self) -> &'static str;
        fn signal(&self, value: u64) -> Result<()>;
        /// Blocks until `value` is reached; `deadline` is [`TIMEOUT`] from now.
        fn wait(&self, value: u64, deadline: Instant) -> Result<()>;
    }

    impl Waits for Dx12Fence {
        fn name(&self) -> &'static str {
            "framefence"
        }

        fn signal(&self, value: u64) -> Result<()> {
            // SAFETY: the fence is alive.
            Ok(unsafe { self.raw().Signal(value) }?)
        }

        fn wait(&self, value: u64, deadline: Instant) -> Result<()> {
            let reached = Self::wait(self, value, deadline)?;
            ensure!(reached >= value, "a wake-up was lost");
            Ok(())
        }
    }

    struct HalFence {
        device: wgpu::Device,
        fence: wgpu::hal::dx12::Fence,
    }

    impl HalFence {
        fn new(device: &wgpu::Device) -> Result<Self> {
            // SAFETY: nothing is destroyed through the guard.
            let hal = unsafe { device.as_hal::<Dx12>() }.context("not a DirectX 12 device")?;
            // SAFETY: the device is alive.
            let fence = unsafe { hal.create_fence() }?;
            Ok(Self {
                device: device.clone(),
                fence,
            })
        }
    }

    impl Waits for HalFence {
        fn name(&self) -> &'static str {
            "wgpu-hal"
        }

        fn signal(&self, value: u64) -> Result<()> {
            // SAFETY: the fence is alive.
            Ok(unsafe { self.fence.raw_fence().Signal(value) }?)
        }

        fn wait(&self, value: u64, _deadline: Instant) -> Result<()> {
            // SAFETY: nothing is destroyed through the guard.
            let hal = unsafe { self.device.as_hal::<Dx12>() }.context("not a DirectX 12 device")?;
            // SAFETY: the fence is of this device, and alive.
            let is_reached = unsafe { hal.wait(&self.fence, value, Some(TIMEOUT)) }?;
            ensure!(is_reached, "a wake-up was lost");
            Ok(())
        }
    }

    pub(super) fn run() -> Result<()> {
        let args = Args::parse();
        let options = GpuOptions::default().with_backends(wgpu::Backends::DX12);
        let gpu = Gpu::open(&options)?;
        let ours = Dx12Fence::new(gpu.device(), gpu.queue())?;
        let hal = HalFence::new(gpu.device())?;
        // Wine 8 crashes when the last handle on a device goes.
        std::mem::forget(gpu.clone());

        let mut kinds = [Kind::new(&ours), Kind::new(&hal)];
        for value in 1..=args.waits {
            for kind in &mut kinds {
                kind.wake(value)?;
            }
        }
        let warm = ours.events_created();
        for value in args.waits + 1..=args.waits + READY {
            for kind in &mut kinds {
                kind.find_ready(value)?;
            }
        }
        for kind in &mut kinds {
            kind.wake(args.waits + READY + 1)?;
        }

        println!("adapter  {}", gpu.info().name);
        println!("driver   {}", gpu.info().driver);
        println!(
            "{} waits each, in milliseconds; ratios against {}\n",
            args.waits,
            hal.name()
        );
        println!(
            "{:<36}{:>9}{:>9}{:>9}{:>7}{:>7}",
            "", "p50", "p95", "p99", "p50", "p95"
        );
        let rows = [
            ("signal to waiter", kinds.each_ref().map(|kind| &kind.woken)),
            (
                "wait for what is there",
                kinds.each_ref().map(|kind| &kind.found),
            ),
        ];
        for (what, latencies) in rows {
            let [ours_times, hal_times] = latencies.map(Latencies::percentiles);
            for (fence, times) in [(ours.name(), ours_times), (hal.name(), hal_times)] {
                println!(
                    "{:<36}{:>9.4}{:>9.4}{:>9.4}{:>7.2}{:>7.2}",
                    format!("{what}, {fence}"),
                    times.p50_ms,
                    times.p95_ms,
                    times.p99_ms,
                    times.p50_ms / hal_times.p50_ms,
                    times.p95_ms / hal_times.p95_ms
                );
            }
        }
        println!(
            "\nkernel events created by framefence: {} in the first {} waits, {} in the {} after",
            warm,
            args.waits,
            ours.events_created() - warm,
            READY + 1
        );
        Ok(())
    }

    /// One kind of wait, and what it took.
    struct Kind<'a> {
        fence: &'a dyn Waits,
        woken: Latencies,
        found: Latencies,
    }

    impl<'a> Kind<'a> {
        fn new(fence: &'a dyn Waits) -> Self {
            Self {
                fence,
                woken: Latencies::new(),
                found: Latencies::new(),
            }
        }

        /// Times one wake-up: from before the signal until the waiter runs.
        fn wake(&mut self, value: u64) -> Result<()> {
            let fence = self.fence;
            let deadline = Instant::now() + TIMEOUT;
            let (begun, has_begun): (Sender<()>, Receiver<()>) = channel();
            let (signalled, woken) = thread::scope(|scope| {
                let waiter = scope.spawn(move || {
                    // Nobody is there to hear it if the other side has failed.
                    let _ = begun.send(());
                    fence.wait(value, deadline).map(|()| Instant::now())
                });
                // An error here means that the waiter has failed, which it will say.
                let _ = has_begun.recv();
                thread::sleep(ASLEEP);
                let signalled = Instant::now();
                let sent = fence.signal(value);
                let woken = waiter
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                sent.and_then(|()| Ok((signalled, woken?)))
            })?;
            self.woken.record(woken.duration_since(signalled));
            Ok(())
        }

        /// Times a wait for a value that is there.
        fn find_ready(&mut self, value: u64) -> Result<()> {
            self.fence.signal(value)?;
            let deadline = Instant::now() + TIMEOUT;
            let start = Instant::now();
            self.fence.wait(value, deadline)?;
            self.found.record(start.elapsed());
            Ok(())
        }
    }
}
