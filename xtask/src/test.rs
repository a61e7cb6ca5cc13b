//! `cargo xtask test`.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::Args;
use xshell::Shell;

use crate::build;
use crate::needs::{self, InstallOptions, Need};

/// Run every test: unit, integration, doc
///
/// Makes sure that what the tests need is on the machine (a GPU driver, the Vulkan validation
/// layers, ffmpeg, Xvfb, OpenGL), then runs `cargo test --workspace` and ends with its status.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) install: InstallOptions,

    /// Passed to `cargo test`, for example `-- --test faults -- --nocapture`
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) cargo_test: Vec<OsString>,
}

/// Prepares the machine, runs the tests, and returns the status of `cargo test`.
pub(crate) fn run(shell: &Shell, options: &Options) -> anyhow::Result<ExitCode> {
    // The whole workspace's features, as in the test run, or the GPU stack would be built twice.
    let [gpu_probe] = build::examples(shell, &["--workspace"], ["gpu_probe"])?;
    let mut needs = vec![Need::GpuDriver { probe: &gpu_probe }, Need::Ffmpeg];
    if cfg!(target_os = "linux") {
        // The layers are Vulkan's, which is the backend of Linux alone; elsewhere a window takes no
        // server, and OpenGL is not tried.
        let opengl = Need::OpenGl { probe: &gpu_probe };
        needs.extend([Need::ValidationLayers, Need::Xvfb, opengl]);
    }
    needs::ensure(shell, &needs, &options.install)?;

    let status = Command::new(build::cargo())
        .args(["test", "--workspace"])
        .args(&options.cargo_test)
        .status()
        .context("`cargo test` does not start")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
