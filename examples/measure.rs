//! Renders the same frames in several ways, in turn, and compares how long each takes.
//!
//! The job is a full-screen gradient in RGBA8 (`shaders/measure_gradient.wgsl`), drawn off screen
//! and read back. A frame's latency runs from the call that starts it to the moment the CPU can
//! read its bytes; looking at them is not part of it. Before anything is timed, every strategy
//! delivers a frame that is checked whole, and all must have delivered the same bytes; of the
//! timed frames a few pixels are checked.
//!
//! The strategies take turns, so that whatever else the machine does hits all of them alike: one
//! frame each at depth 1; at a higher depth a burst of frames each, of which that many are in
//! flight at a time.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use framefence::{AdapterChoice, Gpu, GpuInfo, GpuOptions, Size};
use framefence_examples::args;
use framefence_examples::fence::Fence;
use framefence_examples::fresh::Fresh;
use framefence_examples::gradient::{self, BYTES_PER_PIXEL, PHASES};
use framefence_examples::latency::{Latencies, Percentiles};
use framefence_examples::raw_vulkan::RawVulkan;
use framefence_examples::report::{self, JsonFile};
use framefence_examples::strategy::Strategy;
use serde::Serialize;

/// Renders the same frames in several ways, in turn, and compares how long each takes.
#[derive(Parser)]
struct Args {
    /// Size of the frames in pixels.
    #[arg(long, value_name = "WxH", default_value = "1920x1080", value_parser = args::size)]
    size: Size,
    /// Frames to time with each strategy.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Frames that each strategy delivers first, untimed.
    #[arg(long, value_name = "N", default_value_t = 50)]
    warmup: u32,
    /// Frames in flight.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: u32,
    /// The strategies to time, separated by commas; all unless given.
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', default_values = ["fence", "fresh", "raw-vulkan"])]
    strategy: Vec<Kind>,
    /// The adapter: part of its name, or `software`; the best there is unless given.
    #[arg(long, value_name = "NAME", value_parser = args::adapter)]
    adapter: Option<AdapterChoice>,
    /// Write the results to this file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Kind {
    /// The engine's renderer.
    Fence,
    /// wgpu with a new staging buffer each frame, waited for with `Device::poll`, copied out.
    Fresh,
    /// Vulkan without wgpu: prerecorded commands, memory that stays mapped.
    RawVulkan,
}

fn main() -> ExitCode {
    report::exit_code(run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let json = args.json.as_deref().map(JsonFile::create).transpose()?;
    let choice = args.adapter.clone().unwrap_or_default();
    let gpu = Gpu::open(&GpuOptions::default().with_adapter(choice))?;
    ensure_fits(&gpu.device().limits(), args.size)?;
    println!("adapter  {} ({})", gpu.info().name, gpu.info().backend);
    println!("driver   {}", gpu.info().driver);

    let mut contestants = contestants(args, &gpu)?;
    check_whole_frames(&mut contestants)?;
    take_turns(&mut contestants, args.warmup, args.depth)?;
    for contestant in &mut contestants {
        contestant.times = Times::default();
    }
    take_turns(&mut contestants, args.frames, args.depth)?;

    let report = Report::new(args, gpu.info(), &contestants);
    print!("{report}");
    if let Some(json) = json {
        json.write(&report)?;
    }
    Ok(())
}

/// Refuses a size before the first frame does.
fn ensure_fits(limits: &wgpu::Limits, size: Size) -> Result<()> {
    let side = limits.max_texture_dimension_2d;
    ensure!(
        size.width.max(size.height) <= side,
        "{size} is too large: this adapter renders up to {side} pixels a side"
    );
    let bytes = u64::from(size.width) * u64::from(size.height) * u64::from(BYTES_PER_PIXEL);
    ensure!(
        bytes <= limits.max_buffer_size,
        "{size} is too large: its {bytes} bytes exceed this adapter's longest buffer, {} bytes",
        limits.max_buffer_size
    );
    Ok(())
}

/// A strategy and what it has been timed at.
struct Contestant {
    strategy: Box<dyn Strategy>,
    times: Times,
}

#[derive(Default)]
struct Times {
    latencies: Latencies,
    /// Frames delivered in `busy`.
    frames: u32,
    /// From the start to the end of its turns, giving memory back included.
    busy: Duration,
}

fn contestants(args: &Args, gpu: &Gpu) -> Result<Vec<Contestant>> {
    let mut kinds = args.strategy.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let (size, depth) = (args.size, args.depth as usize);
    let strategy = |kind| -> Result<Box<dyn Strategy>> {
        Ok(match kind {
            Kind::Fence => Box::new(Fence::new(gpu, size, depth)?),
            Kind::Fresh => Box::new(Fresh::new(gpu.device(), gpu.queue(), size)),
            Kind::RawVulkan => Box::new(RawVulkan::new(&gpu.adapter().get_info(), size, depth)?),
        })
    };
    let contestant = |kind| {
        Ok(Contestant {
            strategy: strategy(kind)?,
            times: Times::default(),
        })
    };
    kinds.into_iter().map(contestant).collect()
}

/// Has every strategy deliver a frame that is right in every pixel and the same as the others'.
fn check_whole_frames(contestants: &mut [Contestant]) -> Result<()> {
    let phase = PHASES - 1;
    let mut first: Option<(&str, Vec<u8>)> = None;
    for Contestant { strategy, .. } in contestants {
        let name = strategy.name();
        let mut bytes = Vec::new();
        let mut checked = Ok(());
        strategy.start(phase)?;
        strategy.deliver(&mut |pixels| {
            checked = gradient::check(pixels, phase);
            bytes = pixels.rows().flatten().copied().collect();
        })?;
        checked.with_context(|| format!("{name} delivered a wrong frame"))?;
        let (first, expected) = first.get_or_insert_with(|| (name, bytes.clone()));
        ensure!(
            bytes == *expected,
            "{name} and {first} delivered different bytes"
        );
    }
    Ok(())
}

/// Times `frames` frames of each strategy, a turn of each in every round.
fn take_turns(contestants: &mut [Contestant], frames: u32, depth: u32) -> Result<()> {
    // A burst of a few times the depth spends most of its time with the pipeline full.
    let burst = if depth == 1 { 1 } else { 8 * depth };
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    for first in (0..frames).step_by(burst as usize) {
        for &index in &order {
            contestants[index].take_turn(first..frames.min(first + burst), depth)?;
        }
        // Another one begins, and backwards, so that none always follows the same other one.
        order.rotate_left(1);
        order.reverse();
    }
    Ok(())
}

impl Contestant {
    /// Times the frames of one turn, up to `depth` of them in flight.
    fn take_turn(&mut self, frames: Range<u32>, depth: u32) -> Result<()> {
        let Self { strategy, times } = self;
        let name = strategy.name();
        let turn = Instant::now();
        let mut in_flight = VecDeque::with_capacity(depth as usize);
        let mut unstarted = frames.map(|frame| frame % PHASES);
        loop {
            while in_flight.len() < depth as usize
                && let Some(phase) = unstarted.next()
            {
                in_flight.push_back((phase, Instant::now()));
                strategy.start(phase)?;
            }
            let Some((phase, started)) = in_flight.pop_front() else {
                break;
            };
            let mut checked = Ok(());
            strategy.deliver(&mut |pixels| {
                times.latencies.record(started.elapsed());
                checked = gradient::spot_check(pixels, phase);
            })?;
            checked.with_context(|| format!("{name} delivered a wrong frame"))?;
            times.frames += 1;
        }
        times.busy += turn.elapsed();
        Ok(())
    }
}

/// What is printed and written.
#[derive(Serialize)]
struct Report {
    adapter: String,
    driver: String,
    command: String,
    size: String,
    frames: u32,
    warmup: u32,
    depth: u32,
    strategies: BTreeMap<&'static str, Outcome>,
    /// Relative to raw-vulkan, where that took part.
    ratios: BTreeMap<&'static str, Ratios>,
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    latency: Percentiles,
    fps: f64,
}

#[derive(Serialize)]
struct Ratios {
    p50: f64,
    p95: f64,
}

impl Report {
    fn new(args: &Args, gpu: &GpuInfo, contestants: &[Contestant]) -> Self {
        let strategies: BTreeMap<_, _> = contestants
            .iter()
            .map(|Contestant { strategy, times }| {
                let outcome = Outcome {
                    latency: times.latencies.percentiles(),
                    fps: f64::from(times.frames) / times.busy.as_secs_f64(),
                };
                (strategy.name(), outcome)
            })
            .collect();
        let limit = strategies.get(RawVulkan::NAME).map(|limit| limit.latency);
        let ratios = strategies.iter().filter_map(|(&name, outcome)| {
            let ratios = Ratios {
                p50: outcome.latency.p50_ms / limit?.p50_ms,
                p95: outcome.latency.p95_ms / limit?.p95_ms,
            };
            Some((name, ratios))
        });
        Self {
            adapter: gpu.name.clone(),
            driver: gpu.driver.clone(),
            command: report::command(),
            size: args.size.to_string(),
            frames: args.frames,
            warmup: args.warmup,
            depth: args.depth,
            ratios: ratios.collect(),
            strategies,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} frames of {}, RGBA8, after {} to warm up, {} in flight; milliseconds, and ratios to {}\n",
            self.frames,
            self.size,
            self.warmup,
            self.depth,
            RawVulkan::NAME
        )?;
        writeln!(
            f,
            "{:<12}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
            "strategy", "p50", "p95", "p99", "max", "x p50", "x p95", "fps"
        )?;
        for (name, Outcome { latency, fps }) in &self.strategies {
            let ratio = |of: fn(&Ratios) -> f64| {
                let ratios = self.ratios.get(name);
                ratios.map_or_else(|| "-".to_owned(), |ratios| format!("{:.2}", of(ratios)))
            };
            writeln!(
                f,
                "{name:<12}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{:>9}{:>9}{fps:>9.1}",
                latency.p50_ms,
                latency.p95_ms,
                latency.p99_ms,
                latency.max_ms,
                ratio(|ratios| ratios.p50),
                ratio(|ratios| ratios.p95),
            )?;
        }
        Ok(())
    }
}
