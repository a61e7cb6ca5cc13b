//! `cargo xtask docs-images`.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};
use clap::Args;
use xshell::Shell;

use crate::build;
use crate::needs::{self, InstallOptions, Need};

/// Draw the pictures of docs/scene.md from the scenes in docs/scenes
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Write nothing: fail where a picture is not what its scene shows
    #[arg(long)]
    pub(crate) check: bool,

    /// Only the pictures of these names [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) install: InstallOptions,
}

/// Prepares the machine and draws.
pub(crate) fn run(shell: &Shell, options: &Options) -> anyhow::Result<ExitCode> {
    // The whole workspace's features, as in the tests, or the GPU stack would be built twice.
    let [gpu_probe, docs_images] =
        build::examples(shell, &["--workspace"], ["gpu_probe", "docs_images"])?;
    let driver = Need::GpuDriver { probe: &gpu_probe };
    needs::ensure(shell, &[driver], &options.install)?;

    let status = Command::new(docs_images)
        .args(options.check.then_some("--check"))
        .args(&options.names)
        .status()
        .context("the program that draws does not start")?;
    ensure!(status.success(), "drawing ended with {status}");
    Ok(ExitCode::SUCCESS)
}
