//! How long an application's own wgpu calls take while somebody else renders on its device.
//!
//! Two threads render long jobs on one device, several in flight each. Meanwhile one thread of the
//! host makes the calls that an application makes all day, and another submits small work. Each
//! call is timed; one that waits for somebody else's job takes as long as the rest of that job.
//!
//! The jobs are rendered in three ways, one after the other:
//!
//! * `fence`: by two of the engine's renderers;
//! * `poll-wait`: by threads that submit them and wait with `Device::poll(PollType::Wait)`;
//! * `no-wait`: by threads that submit them and wait for nothing of wgpu's, only for work-done
//!   callbacks, which the host's own polling runs.
//!
//! What is slow with `no-wait` is slow for every program: there the driver itself blocks. lavapipe
//! blocks each submit until the one before is done, and wgpu holds its locks for that time, so
//! that a host that submits beside long jobs stalls itself; `--host-submits off` leaves that out.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Parser, ValueEnum};
use framefence::{
    AdapterChoice, FrameRequest, Gpu, GpuInfo, GpuOptions, PaintContext, Painter, PainterError,
    Renderer, RendererOptions, Time,
};
use framefence_examples::args;
use framefence_examples::host::{CallTimes, HostThread};
use framefence_examples::latency::Percentiles;
use framefence_examples::long_job::{self, LongJob};
use framefence_examples::report::{self, JsonFile};
use serde::Serialize;

/// Threads that render.
const RENDERERS: usize = 2;

/// The host makes its calls once in this time, as the UI of a fast display does.
const CALL_PERIOD: Duration = Duration::from_millis(8);

/// How long a job may take, those that wait before it included.
const JOB_TIMEOUT: Duration = Duration::from_secs(120);

/// Times an application's own wgpu calls while somebody else renders on its device.
#[derive(Parser)]
struct Args {
    /// The ways to render, separated by commas; all unless given.
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', default_values = ["fence", "poll-wait", "no-wait"])]
    strategy: Vec<Kind>,
    /// How long each job takes at least, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=5_000))]
    job_ms: u64,
    /// Jobs in flight of each of the two renderers.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=8))]
    depth: u32,
    /// How long the host's calls are timed with each way to render, in seconds.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Small submits a second of another thread of the host, or `off`.
    #[arg(long, value_name = "N", default_value = "60", value_parser = host_submits)]
    host_submits: HostSubmits,
    /// The adapter: part of its name, or `software`; the best there is unless given.
    #[arg(long, value_name = "NAME", value_parser = args::adapter)]
    adapter: Option<AdapterChoice>,
    /// The graphics API: vulkan, dx12, metal or gl; the best there is unless given.
    #[arg(long, value_name = "API", value_parser = args::backend)]
    backend: Option<wgpu::Backends>,
    /// Write the results to this file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Kind {
    /// The engine's renderers.
    Fence,
    /// Threads that wait with `Device::poll(PollType::Wait)`.
    PollWait,
    /// Threads that wait for work-done callbacks alone.
    NoWait,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Fence => "fence",
            Self::PollWait => "poll-wait",
            Self::NoWait => "no-wait",
        }
    }
}

/// Submits a second; 0 is none.
#[derive(Clone, Copy)]
struct HostSubmits(u32);

fn host_submits(text: &str) -> Result<HostSubmits, String> {
    match (text, text.parse()) {
        ("off", _) => Ok(HostSubmits(0)),
        (_, Ok(rate @ 1..=1000)) => Ok(HostSubmits(rate)),
        _ => Err("give submits a second, 1 to 1000, or off".to_owned()),
    }
}

fn main() -> ExitCode {
    report::exit_code(run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let json = args.json.as_deref().map(JsonFile::create).transpose()?;
    let choice = args.adapter.clone().unwrap_or_default();
    let mut options = GpuOptions::default().with_adapter(choice);
    options.backends = args.backend;
    let gpu = Gpu::open(&options)?;
    let at_least = Duration::from_millis(args.job_ms);
    let job = LongJob::calibrate(gpu.device(), gpu.queue(), at_least)?;
    let mut report = Report::new(args, gpu.info(), &job);
    print!("{report}");

    let mut kinds = args.strategy.clone();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let outcome = time_host(kind, &gpu, &job, args)?;
        print!("\n{:<18}{outcome}", kind.name());
        report.strategies.insert(kind.name(), outcome);
    }
    if let Some(json) = json {
        json.write(&report)?;
    }
    Ok(())
}

/// Times the host's calls while jobs are rendered in the way of `kind`.
fn time_host(kind: Kind, gpu: &Gpu, job: &LongJob, args: &Args) -> Result<Outcome> {
    let stop = Arc::new(Stop::default());
    let host = HostThread::new(gpu.device(), gpu.queue());
    let render = || match kind {
        Kind::Fence => render_fenced(gpu, job, args.depth, &stop),
        Kind::PollWait => render_polled(gpu, job, args.depth, &stop),
        Kind::NoWait => render_unwaited(gpu, job, args.depth, &stop),
    };
    let outcome = thread::scope(|scope| {
        let renderers = [(); RENDERERS].map(|()| scope.spawn(|| stop.when_over(render)));
        let submitter = scope.spawn(|| stop.when_over(|| submit(&host, args.host_submits, &stop)));
        let calls = stop.when_over(|| call(&host, Duration::from_secs(args.seconds), &stop));

        let jobs = renderers.into_iter().map(join).sum::<Result<u32>>();
        let mut calls = calls?;
        calls.extend(join(submitter));
        Ok(Outcome {
            jobs: jobs?,
            calls: calls.percentiles(),
        })
    });
    // What is still in flight must not slow the next way down.
    gpu.device().poll(wgpu::PollType::Wait {
        submission_index: None,
        timeout: Some(JOB_TIMEOUT),
    })?;
    outcome
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Renders jobs with a renderer of the engine's until `stop`; says how many were delivered.
fn render_fenced(gpu: &Gpu, job: &LongJob, depth: u32, stop: &Stop) -> Result<u32> {
    let renderer = Renderer::new(gpu, RendererOptions::default().with_depth(depth as usize))?;
    let painter = Arc::new(Mutex::new(JobPainter(job.clone())));
    let request = FrameRequest::new(0, Time::ZERO, long_job::SIZE)
        .with_format(long_job::FORMAT)
        .with_timeout(JOB_TIMEOUT);
    let mut in_flight = VecDeque::new();
    let mut delivered = 0;
    while !stop.is_over() {
        while in_flight.len() < depth as usize {
            in_flight.push_back(renderer.submit(&painter, request.clone())?);
        }
        if let Some(oldest) = in_flight.pop_front() {
            oldest.wait()?;
            delivered += 1;
        }
    }
    Ok(delivered)
}

struct JobPainter(LongJob);

impl Painter for JobPainter {
    fn overwrites_targets(&self) -> bool {
        true
    }

    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        self.0
            .record(context.encoder, &context.targets.color().view);
        Ok(())
    }
}

/// Renders jobs until `stop`, waiting for each with `poll`; says how many were done.
fn render_polled(gpu: &Gpu, job: &LongJob, depth: u32, stop: &Stop) -> Result<u32> {
    let (device, queue) = (gpu.device(), gpu.queue());
    let target = long_job::target(device);
    let mut in_flight = VecDeque::new();
    let mut done = 0;
    while !stop.is_over() {
        while in_flight.len() < depth as usize {
            in_flight.push_back(job.submit(device, queue, &target));
        }
        device.poll(wgpu::PollType::Wait {
            submission_index: in_flight.pop_front(),
            timeout: Some(JOB_TIMEOUT),
        })?;
        done += 1;
    }
    Ok(done)
}

/// Renders jobs until `stop`, as many at a time as callbacks leave room for; says how many were
/// done.
fn render_unwaited(gpu: &Gpu, job: &LongJob, depth: u32, stop: &Arc<Stop>) -> Result<u32> {
    let (device, queue) = (gpu.device(), gpu.queue());
    let target = long_job::target(device);
    let done = Arc::new(AtomicUsize::new(0));
    let mut submitted = 0;
    while !stop.wait_while(|| submitted - done.load(Ordering::Relaxed) >= depth as usize) {
        job.submit(device, queue, &target);
        submitted += 1;
        let (done, stop) = (Arc::clone(&done), Arc::clone(stop));
        queue.on_submitted_work_done(move || {
            done.fetch_add(1, Ordering::Relaxed);
            stop.wake();
        });
    }
    Ok(done.load(Ordering::Relaxed) as u32)
}

/// Submits small work at the given rate until `stop`.
fn submit(host: &HostThread, rate: HostSubmits, stop: &Stop) -> CallTimes {
    let mut times = CallTimes::default();
    if let Some(period) = Duration::from_secs(1).checked_div(rate.0) {
        while !stop.wait(period) {
            host.submit(&mut times);
        }
    } else {
        stop.wait_while(|| true);
    }
    times
}

/// Makes the host's calls for as long as `time` says, or until `stop`.
fn call(host: &HostThread, time: Duration, stop: &Stop) -> Result<CallTimes> {
    let begin = Instant::now();
    let mut times = CallTimes::default();
    while begin.elapsed() < time && !stop.wait(CALL_PERIOD) {
        host.call_all(&mut times)?;
    }
    Ok(times)
}

/// Tells threads that one of them is over, so that the others end as well.
#[derive(Default)]
struct Stop {
    over: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Does `work` and stops the others when it is over, however it ends.
    fn when_over<T>(&self, work: impl FnOnce() -> T) -> T {
        struct OnDrop<'a>(&'a Stop);
        impl Drop for OnDrop<'_> {
            fn drop(&mut self) {
                *self.0.lock() = true;
                self.0.changed.notify_all();
            }
        }
        let _on_drop = OnDrop(self);
        work()
    }

    fn is_over(&self) -> bool {
        *self.lock()
    }

    /// Waits for `time`; says whether it is over.
    fn wait(&self, time: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), time, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits as long as `condition` holds, looking again on each [`wake`](Self::wake); says
    /// whether it is over.
    fn wait_while(&self, condition: impl Fn() -> bool) -> bool {
        let waited = self
            .changed
            .wait_while(self.lock(), |over| !*over && condition());
        *waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // Taken so that nobody is between looking at the condition and waiting.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is printed and written.
#[derive(Serialize)]
struct Report {
    adapter: String,
    driver: String,
    backend: String,
    command: String,
    /// How long a job took when nothing else ran.
    job_ms: f64,
    renderers: usize,
    depth: u32,
    host_submits_per_second: u32,
    strategies: BTreeMap<&'static str, Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    /// Jobs that were rendered meanwhile.
    jobs: u32,
    calls: BTreeMap<&'static str, Percentiles>,
}

impl Report {
    fn new(args: &Args, gpu: &GpuInfo, job: &LongJob) -> Self {
        Self {
            adapter: gpu.name.clone(),
            driver: gpu.driver.clone(),
            backend: gpu.backend.to_string(),
            command: report::command(),
            job_ms: job.duration().as_secs_f64() * 1e3,
            renderers: RENDERERS,
            depth: args.depth,
            host_submits_per_second: args.host_submits.0,
            strategies: BTreeMap::new(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "adapter  {}", self.adapter)?;
        writeln!(f, "driver   {}, {}", self.driver, self.backend)?;
        writeln!(
            f,
            "{} renderers, {} jobs of {:.0} ms in flight each; {} host submits a second; the host's calls in milliseconds",
            self.renderers, self.depth, self.job_ms, self.host_submits_per_second
        )?;
        if self.host_submits_per_second > 0 {
            writeln!(
                f,
                "a driver that blocks in submit stalls the host's calls behind the host's own submits, whoever renders: compare --host-submits off"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>7}{:>10}{:>10}{:>10}{:>10}   ({} jobs done)",
            "calls", "p50", "p95", "p99", "max", self.jobs
        )?;
        for (call, times) in &self.calls {
            writeln!(
                f,
                "{call:<18}{:>7}{:>10.3}{:>10.3}{:>10.3}{:>10.3}",
                times.count, times.p50_ms, times.p95_ms, times.p99_ms, times.max_ms
            )?;
        }
        Ok(())
    }
}
