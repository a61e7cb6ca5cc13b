//! A test program that was built for Windows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use shared_child::SharedChild;

/// A program that takes longer hangs. Each takes seconds, but the machine may be busy.
const DEADLINE: Duration = Duration::from_secs(300);

/// The wgpu-hal that a program is built with.
#[derive(Clone, Debug)]
pub(crate) enum Hal {
    /// The one that is locked.
    Stock,
    /// The one in this folder, with the patches of vendor/wgpu-hal.
    Patched(PathBuf),
}

/// A test program, to be run in whatever runs programs for Windows here.
#[derive(Debug)]
pub(crate) struct TestProgram {
    name: String,
    path: PathBuf,
    /// What the program takes `FRAMEFENCE_HAL` for.
    hal: &'static str,
}

impl TestProgram {
    pub(crate) fn new(name: String, path: PathBuf, hal: &Hal) -> Self {
        let hal = match hal {
            Hal::Stock => "stock",
            Hal::Patched(_) => "patched",
        };
        Self { name, path, hal }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the program by `command`, which starts it, and prints what it had to say.
    ///
    /// That goes through a file in `logs`. A pipe would be inherited by what Wine starts besides, and
    /// then not end with the program.
    pub(crate) fn run(
        &self,
        mut command: Command,
        arguments: &[String],
        logs: &Path,
    ) -> anyhow::Result<()> {
        let Self { name, hal, .. } = self;
        println!("\n{name}, with the {hal} wgpu-hal:");
        let log = logs.join(format!("{name}-{hal}.log"));
        let writer = fs::create_dir_all(logs)
            .and_then(|()| File::create(&log))
            .with_context(|| format!("{} cannot be written", log.display()))?;
        command
            // One after the other, so that they do not wait for each other's threads.
            .args(["--test-threads=1", "--nocapture"])
            .args(arguments)
            .env("FRAMEFENCE_HAL", hal)
            .stdin(Stdio::null())
            .stdout(writer.try_clone().context("the log file is lost")?)
            .stderr(writer);
        let child =
            SharedChild::spawn(&mut command).with_context(|| format!("{name} does not start"))?;
        let ended = child.wait_timeout(DEADLINE);
        if !matches!(ended, Ok(Some(_))) {
            child
                .kill()
                .with_context(|| format!("{name} cannot be stopped"))?;
            child
                .wait()
                .with_context(|| format!("{name} does not end"))?;
        }
        // Wine writes what a Windows console would show, whatever its encoding.
        let output = fs::read(&log).with_context(|| format!("{} is gone", log.display()))?;
        println!("{}", String::from_utf8_lossy(&output));
        match ended.with_context(|| format!("{name} cannot be waited for"))? {
            None => bail!(
                "{name} ({hal} hal) was not over after {DEADLINE:?}; see its last words above"
            ),
            Some(status) => ensure!(status.success(), "{name} ({hal} hal) ended with {status}"),
        }
        Ok(())
    }
}
