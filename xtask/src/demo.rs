//! `cargo xtask demo`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde::Deserialize;
use xshell::{Cmd, Shell, cmd};

use crate::build;
use crate::needs::{self, InstallOptions, Need};

/// Export the demo scene to DIR/demo.mp4 and DIR/poster.png
///
/// Makes sure that a GPU driver is there (on Debian and Ubuntu it installs Mesa's software Vulkan
/// driver where none opens), builds the export example, runs it, and sums up what came out.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder for the files, made if missing
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    pub(crate) install: InstallOptions,
}

/// The frame of the demo scene that is its poster: all cards have come to rest.
const POSTER_FRAME: u64 = 141;

/// Prepares the machine, exports, and prints the summary.
pub(crate) fn run(shell: &Shell, options: &Options) -> anyhow::Result<ExitCode> {
    let [gpu_probe, export] = build::examples(
        shell,
        &[
            "--release",
            "--package",
            "xtask",
            "--package",
            "framefence-examples",
        ],
        ["gpu_probe", "export"],
    )?;
    let driver = Need::GpuDriver { probe: &gpu_probe };
    needs::ensure(shell, &[driver], &options.install)?;

    let out = &options.out;
    shell
        .create_dir(out)
        .context("the folder for the files cannot be made")?;
    let film = out.join("demo.mp4");
    let poster = out.join("poster.png");
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("examples/assets/demo.json");
    let scratch = shell.create_temp_dir()?;
    let report = scratch.path().join("export.json");

    finish(
        cmd!(shell, "{export} {scene} --out {film} --json {report}"),
        &film,
    )?;
    let report: Report = serde_json::from_str(&shell.read_file(&report)?)
        .context("the export's --json is not what this task reads")?;

    let frames = format!("{POSTER_FRAME}..{}", POSTER_FRAME + 1);
    finish(
        cmd!(shell, "{export} {scene} --out {poster} --frames {frames}"),
        &poster,
    )?;

    let mut files = Vec::new();
    for path in [film, poster] {
        let metadata = std::fs::metadata(&path)
            .with_context(|| format!("the export left no {}", path.display()))?;
        files.push((path, metadata.len()));
    }
    println!("\n{}", summary(&report, &files)?);
    Ok(ExitCode::SUCCESS)
}

/// Runs an export on this terminal, with its progress bar, until it has ended.
fn finish(export: Cmd<'_>, file: &Path) -> anyhow::Result<()> {
    let status = Command::from(export)
        .status()
        .context("the export does not start")?;
    ensure!(
        status.success(),
        "no {} was made: the export ended with {status}",
        file.display()
    );
    Ok(())
}

/// What the demo reads of the export example's `--json`.
#[derive(Deserialize)]
struct Report {
    adapter: Adapter,
    frames: u64,
    size: String,
    wall_seconds: f64,
    fps: f64,
    stages: BTreeMap<String, Percentiles>,
}

#[derive(Deserialize)]
struct Adapter {
    name: String,
    driver: String,
    backend: String,
    software: bool,
}

#[derive(Deserialize)]
struct Percentiles {
    p50_ms: f64,
    p95_ms: f64,
}

/// One screen: the machine, the speed, and the files with their sizes in bytes.
fn summary(report: &Report, files: &[(PathBuf, u64)]) -> anyhow::Result<String> {
    let Report {
        adapter,
        frames,
        size,
        wall_seconds,
        fps,
        stages,
    } = report;
    let readback = stages
        .get("render_readback")
        .context("the export did not time `render_readback`")?;
    let kind = if adapter.software {
        "software"
    } else {
        "hardware"
    };

    let mut rows = vec![
        (
            "adapter".to_owned(),
            format!("{} ({}, {kind})", adapter.name, adapter.backend),
        ),
        ("driver".to_owned(), adapter.driver.clone()),
        (
            "frames".to_owned(),
            format!("{frames} of {size} in {wall_seconds:.1} s"),
        ),
        (
            "render + readback".to_owned(),
            format!(
                "p50 {:.2} ms, p95 {:.2} ms",
                readback.p50_ms, readback.p95_ms
            ),
        ),
        ("export".to_owned(), format!("{fps:.1} fps")),
    ];
    for (path, bytes) in files {
        let mebibytes = *bytes as f64 / (1024.0 * 1024.0);
        rows.push((path.display().to_string(), format!("{mebibytes:.1} MiB")));
    }

    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let lines: Vec<_> = rows
        .iter()
        .map(|(label, value)| format!("  {label:<width$}  {value}"))
        .collect();
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{
        "adapter": { "name": "llvmpipe", "driver": "Mesa 22.3.6", "backend": "vulkan", "software": true },
        "frames": 240, "wall_seconds": 12.04, "fps": 19.93, "size": "1920x1080",
        "stages": {
            "gpu": { "p50_ms": 2.0, "p95_ms": 2.5, "p99_ms": 3.0, "max_ms": 4.0 },
            "render_readback": { "p50_ms": 3.214, "p95_ms": 4.4, "p99_ms": 5.0, "max_ms": 9.0 }
        },
        "files": ["out/demo.mp4"]
    }"#;

    #[test]
    fn the_summary_says_what_the_export_measured() {
        let report = serde_json::from_str(REPORT).expect("a report");
        let files = [
            (PathBuf::from("out/demo.mp4"), 3 * 1024 * 1024),
            (PathBuf::from("out/poster.png"), 1_500_000),
        ];
        assert_eq!(
            summary(&report, &files).expect("a summary"),
            [
                "  adapter            llvmpipe (vulkan, software)",
                "  driver             Mesa 22.3.6",
                "  frames             240 of 1920x1080 in 12.0 s",
                "  render + readback  p50 3.21 ms, p95 4.40 ms",
                "  export             19.9 fps",
                "  out/demo.mp4       3.0 MiB",
                "  out/poster.png     1.4 MiB",
            ]
            .join("\n")
        );
    }

    #[test]
    fn a_report_without_the_readback_is_an_error() {
        let report =
            serde_json::from_str(&REPORT.replace("render_readback", "other")).expect("a report");
        let error = summary(&report, &[]).expect_err("no such stage");
        assert!(error.to_string().contains("render_readback"), "{error}");
    }
}
