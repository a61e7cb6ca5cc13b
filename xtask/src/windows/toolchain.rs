//! The cargo that builds for Windows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use cargo_metadata::MetadataCommand;

use crate::build;
use crate::windows::test_program::{Hal, TestProgram};

/// What mingw links for and Wine runs.
const MINGW_TARGET: &str = "x86_64-pc-windows-gnu";

/// Whether what is for Windows is built with the cargo that runs this task, and runs on this machine.
/// Else it is built with Debian's Rust, whichever other runs this task. That has no standard library
/// for Windows, but the source of one.
pub(crate) const IS_NATIVE: bool = cfg!(windows);

/// What makes cargo build for Windows.
pub(crate) const FOR_WINDOWS: &[&str] = if IS_NATIVE {
    &[]
} else {
    &["--target", MINGW_TARGET]
};

/// How this machine builds for Windows.
pub(crate) struct Toolchain {
    /// For what is made here; away from the user's builds.
    folder: PathBuf,
}

impl Toolchain {
    pub(crate) fn of_this_machine() -> anyhow::Result<Self> {
        ensure!(
            IS_NATIVE || cfg!(target_os = "linux"),
            "what is for Windows is built on Windows or on Linux"
        );
        let workspace = MetadataCommand::new()
            .no_deps()
            .exec()
            .context("cargo does not say where its target folder is")?;
        Ok(Self {
            folder: workspace.target_directory.join("windows").into(),
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// `cargo check`, for the target that is yet to be said; with Debian's cargo, whose version is
    /// known to take the option, a warning is an error.
    pub(crate) fn check(&self) -> Command {
        let mut cargo = self.cargo("check");
        if !IS_NATIVE {
            cargo.args(["-Zwarnings", "--config", "build.warnings='deny'"]);
        }
        cargo
    }

    /// `cargo` with a command, for the target that is yet to be said.
    pub(crate) fn cargo(&self, command: &str) -> Command {
        if IS_NATIVE {
            let mut cargo = Command::new(build::cargo());
            cargo.arg(command);
            cargo
        } else {
            debian_cargo(command, &self.folder)
        }
    }

    /// Builds programs of tests/tests for Windows, with one hal or the other.
    pub(crate) fn build_tests(
        &self,
        names: &[&str],
        hal: &Hal,
    ) -> anyhow::Result<Vec<TestProgram>> {
        let mut cargo = self.cargo("test");
        cargo.args(["--no-run", "--package", "framefence-tests"]);
        for name in names {
            cargo.args(["--test", name]);
        }
        if let Hal::Patched(folder) = hal {
            replace_hal(&mut cargo, folder)?;
        }
        let programs = executables(cargo)?
            .into_iter()
            .map(|(name, path)| TestProgram::new(name, path, hal));
        Ok(programs.collect())
    }

    /// Builds an example for Windows, as fast as it gets.
    pub(crate) fn build_example(&self, name: &str) -> anyhow::Result<PathBuf> {
        let mut cargo = self.cargo("build");
        cargo.args(["--release", "--package", "framefence-examples"]);
        cargo.args(["--example", name]);
        let built = executables(cargo)?.into_iter().next();
        let (_, path) = built.with_context(|| format!("cargo built no example `{name}`"))?;
        Ok(path)
    }
}

/// Has `cargo` build for Windows; returns the name and path of each program.
fn executables(mut cargo: Command) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let output = cargo
        .args(FOR_WINDOWS)
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cargo does not start")?;
    ensure!(
        output.status.success(),
        "it does not build for Windows; cargo's messages are above"
    );
    let messages = String::from_utf8(output.stdout).context("cargo's messages are not text")?;
    build::executables(&messages)
}

/// Has `cargo` build with the hal in `folder`, in place of the one that is locked.
///
/// By an override, which leaves the lock file alone. A `[patch]` would change it, and cargo cannot be
/// told to keep the changed one elsewhere without the standard library's being ignored as well.
fn replace_hal(cargo: &mut Command, folder: &Path) -> anyhow::Result<()> {
    let folder = std::path::absolute(folder).context("the current folder is gone")?;
    let folder = folder
        .to_str()
        .context("the patched hal's path is not UTF-8")?;
    // A list of JSON is one of TOML, too.
    let paths = serde_json::json!([folder]);
    cargo.args(["--config", &format!("paths={paths}")]);
    Ok(())
}

fn debian_cargo(command: &str, target_dir: &Path) -> Command {
    let mut cargo = Command::new("/usr/bin/cargo");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_another_toolchain) {
            cargo.env_remove(name);
        }
    }
    cargo
        .env("PATH", "/usr/bin:/bin")
        .env("CARGO_TARGET_DIR", target_dir)
        .env(
            "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER",
            "x86_64-w64-mingw32-gcc-posix",
        )
        // A release of Rust builds a standard library only when it is told that it may.
        .env("RUSTC_BOOTSTRAP", "1")
        .args([command, "-Zbuild-std=std,panic_abort"])
        // It is not about speed here, and half of the time goes into optimising.
        .args(["--config", "profile.dev.opt-level=0"])
        .args(["--config", "profile.dev.package.'*'.opt-level=0"]);
    cargo
}

/// Whether a variable of this process was set by, or for, the cargo that runs it, and would lead
/// Debian's astray. Where packages come from stays as it is.
fn is_of_another_toolchain(name: &str) -> bool {
    let stays = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTRIES_",
        "CARGO_REGISTRY_",
        "CARGO_TERM_",
        "RUST_BACKTRACE",
        "RUST_LOG",
    ];
    let goes = ["CARGO", "RUST", "LD_LIBRARY_PATH"];
    goes.iter().any(|prefix| name.starts_with(prefix))
        && !stays.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_toolchain_is_kept_out_and_the_registry_is_not() {
        for name in [
            "CARGO",
            "CARGO_BUILD_TARGET",
            "CARGO_ENCODED_RUSTFLAGS",
            "LD_LIBRARY_PATH",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(is_of_another_toolchain(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_NET_OFFLINE", "HOME", "RUST_BACKTRACE"] {
            assert!(!is_of_another_toolchain(name), "{name}");
        }
    }
}
