//! Exports a scene to PNG, a PNG sequence, MP4 or Y4M.
//!
//! ```text
//! cargo run --release -p framefence-examples --example export -- SCENE.json --out film.mp4
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use framefence::{
    AdapterChoice, Frame, FrameRate, FrameRequest, FrameSink as _, Gpu, GpuInfo, GpuOptions,
    PendingFrame, Renderer, RendererOptions, Size,
};
use framefence_compositor::{Compositor, Scene};
use framefence_examples::args;
use framefence_examples::interrupt::Interrupt;
use framefence_examples::latency::{Latencies, Percentiles};
use framefence_examples::report::{self, JsonFile};
use framefence_media::FileSink;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use serde::Serialize;

/// An export is in no hurry: a frame is late by no fault of its own if the process was suspended
/// or many frames are ahead of it. A device that hangs is still given up.
const FRAME_TIMEOUT: Duration = Duration::from_secs(600);

/// Export a scene; the kind of output follows the extension of --out
///
/// `.mp4`: H.264 video. `.y4m`: uncompressed video. `.png` with `%05d` in the name: a picture of
/// each frame. `.png` without: the first frame asked for.
#[derive(Parser, Debug)]
struct Args {
    /// The scene, as JSON; image paths in it start at its folder
    scene: PathBuf,
    /// The file to write, or a pattern such as frames/%05d.png
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Size of the frames [default: the scene's canvas]
    #[arg(long, value_name = "WxH", value_parser = args::size)]
    size: Option<Size>,
    /// Frames per second [default: the scene's]
    #[arg(long, value_name = "N[/D]")]
    fps: Option<FrameRate>,
    /// Only these frames, from A up to but without B [default: all]
    #[arg(long, value_name = "A..B", value_parser = frame_range)]
    frames: Option<Range<u64>>,
    /// Frames in flight at a time
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=256))]
    depth: u16,
    /// The adapter whose name contains this, or `software` [default: the best]
    #[arg(long, value_name = "NAME|software", value_parser = args::adapter)]
    adapter: Option<AdapterChoice>,
    /// Also write adapter, frames, seconds and the stages' percentiles as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    report::exit_code(export(&Args::parse()))
}

fn export(args: &Args) -> Result<ExitCode> {
    let mut scene = Scene::load(&args.scene)?;
    scene.frame_rate = args.fps.unwrap_or(scene.frame_rate);
    let rate = scene.frame_rate;
    let size = args
        .size
        .unwrap_or(Size::new(scene.canvas.width, scene.canvas.height));
    let frames = frames_to_export(args.frames.clone(), scene.frame_count())?;
    let folder = args.scene.parent().unwrap_or(Path::new(""));
    refuse_to_replace_own_files(args, &scene, folder)?;

    let gpu =
        Gpu::open(&GpuOptions::default().with_adapter(args.adapter.clone().unwrap_or_default()))?;
    let compositor = Compositor::new(&gpu, scene, folder)?;
    for notice in compositor.font_notices() {
        report::say(format_args!("warning: {notice}"));
    }
    let painter = Arc::new(Mutex::new(compositor));
    let depth = usize::from(args.depth);
    let renderer = Renderer::new(&gpu, RendererOptions::default().with_depth(depth))?;
    let json = args.json.as_deref().map(JsonFile::create).transpose()?;
    let sink = FileSink::open(&args.out, rate)?;
    let limit = sink.frame_limit().unwrap_or(u64::MAX);
    let frames = frames.start..frames.end.min(frames.start.saturating_add(limit));

    let export = Export {
        renderer: &renderer,
        painter: &painter,
        interrupt: Interrupt::on_ctrl_c()?,
        rate,
        size,
    };
    let started = Instant::now();
    let mut stages = Stages::default();
    let progress = progress_bar(frames.end - frames.start);
    let written = export.run(frames.clone(), depth, sink, &mut stages, &progress);
    let wall_seconds = started.elapsed().as_secs_f64();
    progress.finish_and_clear();
    let files = match written? {
        End::Complete(files) => files,
        End::Interrupted { kept } => {
            report::say(interrupted(&kept));
            // What shells report of a program that Ctrl-C has ended.
            return Ok(ExitCode::from(130));
        }
    };

    let count = frames.end - frames.start;
    let report = Report {
        adapter: Adapter::new(gpu.info()),
        command: report::command(),
        size: size.to_string(),
        frame_rate: rate.to_string(),
        depth,
        frames: count,
        wall_seconds,
        fps: count as f64 / wall_seconds,
        stages: stages.percentiles(),
        files,
    };
    if let Some(json) = json {
        json.write(&report)?;
    }
    let noun = if count == 1 { "frame" } else { "frames" };
    report::say(format_args!(
        "{count} {noun} of {size} in {wall_seconds:.2} s ({:.1} fps) on {}",
        report.fps, report.adapter.name
    ));
    match &report.files[..] {
        [only] => report::say(format_args!("wrote {}", only.display())),
        files => report::say(format_args!("wrote {} files", files.len())),
    }
    Ok(ExitCode::SUCCESS)
}

/// The frames asked for, of those there are.
fn frames_to_export(asked: Option<Range<u64>>, count: u64) -> Result<Range<u64>> {
    let frames = asked.unwrap_or(0..count);
    ensure!(
        frames.end <= count,
        "--frames {}..{} reaches outside the scene, whose frames are 0..{count}",
        frames.start,
        frames.end
    );
    Ok(frames)
}

/// Refuses output that would take the place of the scene, of its files, or of other output.
fn refuse_to_replace_own_files(args: &Args, scene: &Scene, folder: &Path) -> Result<()> {
    let out = resolved(&args.out);
    let json = args.json.as_deref().map(resolved);
    ensure!(
        json.as_ref() != Some(&out),
        "--out and --json are the same file, {}",
        args.out.display()
    );
    let files = scene.files().into_iter().map(|file| folder.join(file));
    for source in std::iter::once(args.scene.clone()).chain(files) {
        let file = resolved(&source);
        for (option, output) in [("--out", Some(&out)), ("--json", json.as_ref())] {
            ensure!(
                output != Some(&file),
                "{option} would replace {}, of which the scene is made",
                source.display()
            );
        }
    }
    Ok(())
}

/// The path by which a file is compared with others; of one that is not there yet, its folder's
/// and its name.
fn resolved(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize()
        .ok()
        .or_else(in_folder)
        .unwrap_or_else(|| path.to_owned())
}

struct Export<'a> {
    renderer: &'a Renderer,
    painter: &'a Arc<Mutex<Compositor>>,
    interrupt: Interrupt,
    rate: FrameRate,
    size: Size,
}

enum End {
    /// All frames were written, to these files.
    Complete(Vec<PathBuf>),
    /// Ctrl-C came; these files are complete.
    Interrupted { kept: Vec<PathBuf> },
}

impl Export<'_> {
    /// Keeps `depth` frames in flight, and writes them in order as they arrive.
    fn run(
        &self,
        frames: Range<u64>,
        depth: usize,
        mut sink: FileSink,
        stages: &mut Stages,
        progress: &ProgressBar,
    ) -> Result<End> {
        let mut to_submit = frames;
        let mut in_flight = VecDeque::new();
        loop {
            while in_flight.len() < depth
                && let Some(number) = to_submit.next()
            {
                in_flight.push_back(self.submit(number)?);
            }
            let Some(pending) = in_flight.pop_front() else {
                break;
            };
            let number = pending.number();
            let arrived = self
                .interrupt
                .guard(pending.cancel_handle(), || pending.wait());
            if self.interrupt.came() {
                return Ok(End::Interrupted {
                    kept: complete_files(sink)?,
                });
            }
            let frame = arrived.with_context(|| format!("frame {number}"))?;
            let started = Instant::now();
            sink.write(&frame)
                .with_context(|| format!("frame {number}"))?;
            stages.record(&frame, started);
            progress.inc(1);
        }
        Ok(End::Complete(sink.finish()?))
    }

    fn submit(&self, number: u64) -> Result<PendingFrame> {
        let time = self.rate.time_of(number);
        let time = time.with_context(|| format!("frame {number} is too far from the start"))?;
        let request = FrameRequest::new(number, time, self.size).with_timeout(FRAME_TIMEOUT);
        self.renderer
            .submit(self.painter, request)
            .with_context(|| format!("frame {number}"))
    }
}

/// The files of an unfinished export that are complete; what is not is dropped.
fn complete_files(sink: FileSink) -> Result<Vec<PathBuf>> {
    match sink {
        FileSink::PngSequence(pictures) => Ok(pictures.finish()?),
        _ => Ok(Vec::new()),
    }
}

fn interrupted(kept: &[PathBuf]) -> String {
    match kept {
        [] => "interrupted: nothing was kept".to_owned(),
        [only] => format!("interrupted: kept {}, which is complete", only.display()),
        [first, .., last] => format!(
            "interrupted: kept {} files that are complete, {} to {}",
            kept.len(),
            first.display(),
            last.display()
        ),
    }
}

fn progress_bar(frames: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{wide_bar} {pos}/{len} frames, {fps} fps, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.with_key("fps", |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A bar that cannot be written is none; there is nobody to tell.
        let _ = write!(out, "{:.1}", state.per_sec());
    });
    ProgressBar::new(frames).with_style(style)
}

/// The durations of each stage over all frames.
#[derive(Default)]
struct Stages {
    queued: Latencies,
    paint: Latencies,
    wait: Latencies,
    submit: Latencies,
    gpu: Latencies,
    render_readback: Latencies,
    write: Latencies,
}

impl Stages {
    fn record(&mut self, frame: &Frame, write_started: Instant) {
        let timings = frame.timings();
        self.queued.record(timings.queued);
        self.paint.record(timings.paint);
        self.wait.record(timings.wait);
        self.submit.record(timings.submit);
        self.gpu.record(timings.gpu);
        self.render_readback.record(timings.render_readback());
        self.write.record(write_started.elapsed());
    }

    fn percentiles(&self) -> StagePercentiles {
        StagePercentiles {
            queued: self.queued.percentiles(),
            paint: self.paint.percentiles(),
            wait: self.wait.percentiles(),
            submit: self.submit.percentiles(),
            gpu: self.gpu.percentiles(),
            render_readback: self.render_readback.percentiles(),
            write: self.write.percentiles(),
        }
    }
}

/// Reads `A..B`, for clap.
fn frame_range(text: &str) -> Result<Range<u64>, String> {
    let parsed = text
        .split_once("..")
        .and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
    parsed
        .filter(|frames: &Range<u64>| !frames.is_empty())
        .ok_or_else(|| "give frame numbers as A..B, A below B, such as 0..30".to_owned())
}

/// What `--json` writes.
#[derive(Serialize)]
struct Report {
    adapter: Adapter,
    command: String,
    size: String,
    frame_rate: String,
    depth: usize,
    frames: u64,
    wall_seconds: f64,
    fps: f64,
    stages: StagePercentiles,
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct StagePercentiles {
    queued: Percentiles,
    paint: Percentiles,
    wait: Percentiles,
    submit: Percentiles,
    gpu: Percentiles,
    render_readback: Percentiles,
    write: Percentiles,
}

#[derive(Serialize)]
struct Adapter {
    name: String,
    driver: String,
    backend: String,
    software: bool,
}

impl Adapter {
    fn new(info: &GpuInfo) -> Self {
        Self {
            name: info.name.clone(),
            driver: info.driver.clone(),
            backend: info.backend.to_string(),
            software: info.software,
        }
    }
}
