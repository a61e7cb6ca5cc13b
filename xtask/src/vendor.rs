//! `cargo xtask vendor`: the patches of `vendor/`, applied and compiled.

mod application;
mod folder;
mod queue;
#[cfg(test)]
mod tests;
mod upstream;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use cargo_metadata::{Metadata, MetadataCommand};
use clap::{Args, Subcommand};

use crate::build;
use queue::Queue;

/// Where the patches lie in the repository, and the result in cargo's target folder.
const WGPU_HAL: &str = "vendor/wgpu-hal";

/// Apply our patches to the locked wgpu-hal, or check that they hold
///
/// The engine itself needs none of them. They are for a program's own waits with DirectX 12:
/// vendor/wgpu-hal/README.md says what each one mends.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the patched wgpu-hal, and say how a program is built with it
    Apply {
        /// Folder to write; one that an earlier run wrote is replaced [default: vendor/wgpu-hal
        /// in cargo's target folder]
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },

    /// Apply the patches, and compile the result where there is a toolchain for Windows
    Check,
}

/// Does what `options` ask for.
pub(crate) fn run(options: &Options) -> anyhow::Result<ExitCode> {
    match &options.action {
        Action::Apply { into } => {
            let workspace = workspace()?;
            let default = || workspace.target_directory.join(WGPU_HAL).into();
            // Now: where the current folder itself is replaced, there is none afterwards.
            let into = absolute(&into.clone().unwrap_or_else(default))?;
            let queue = apply(&workspace, &into)?;
            println!("{}", application::advice(&queue, &into));
        }
        Action::Check => check(&workspace()?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes wgpu-hal with all patches into `into`, or leaves it as it is.
pub(crate) fn apply(workspace: &Metadata, into: &Path) -> anyhow::Result<Queue> {
    let queue = Queue::read(workspace.workspace_root.join(WGPU_HAL).as_std_path())?;
    let archive = queue.upstream.archive(workspace)?;
    queue.apply(&archive, &absolute(into)?)?;
    Ok(queue)
}

/// Applies the patches and compiles a program that is built with them.
fn check(workspace: &Metadata) -> anyhow::Result<()> {
    let folder = workspace.target_directory.join("vendor/check");
    let patched = folder.join("wgpu-hal");
    let queue = apply(workspace, patched.as_std_path())?;
    println!(
        "All {} patches fit {}.",
        queue.patches.len(),
        queue.upstream
    );
    application::compile_for_windows(
        workspace,
        &queue,
        patched.as_std_path(),
        folder.join("application").as_std_path(),
    )
}

/// The workspace with its dependencies; those of this machine, or cargo would fetch the others'.
pub(crate) fn workspace() -> anyhow::Result<Metadata> {
    let flags = ["--filter-platform", "host-tuple"].map(str::to_owned);
    MetadataCommand::new()
        .cargo_path(build::cargo())
        .other_options(flags)
        .exec()
        .context("`cargo metadata` does not describe the workspace")
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("no absolute path for {}", path.display()))
}
