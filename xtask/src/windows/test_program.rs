//! A test program that was built for Windows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use shared_child::SharedChild;

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
    /// One that is not over after `deadline` is stopped, and has failed.
    ///
    /// What it says goes through a file in `logs`. A pipe would be inherited by what Wine starts
    /// besides, and then not end with the program.
    pub(crate) fn run(
        &self,
        mut command: Command,
        arguments: &[String],
        logs: &Path,
        deadline: Duration,
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
        let ended = child.wait_timeout(deadline);
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
                "{name} ({hal} hal) was not over after {deadline:?}; its last words are above"
            ),
            Some(status) => ensure!(status.success(), "{name} ({hal} hal) ended with {status}"),
        }
        Ok(())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn run(script: &str, deadline: Duration) -> (anyhow::Result<()>, String) {
        let logs = tempfile::tempdir().unwrap();
        let program = TestProgram::new("script".to_owned(), "sh".into(), &Hal::Stock);
        let mut shell = Command::new(program.path());
        shell.args(["-c", script]);
        let result = program.run(shell, &[], logs.path(), deadline);
        let said = fs::read_to_string(logs.path().join("script-stock.log")).unwrap();
        (result, said)
    }

    #[test]
    fn a_program_that_hangs_is_stopped_and_named() {
        let (result, said) = run(
            "echo last words; exec sleep 1000",
            Duration::from_millis(200),
        );
        let error = result.unwrap_err().to_string();
        assert!(
            error.starts_with("script (stock hal) was not over after 200ms"),
            "{error}"
        );
        assert_eq!(said, "last words\n");
    }

    #[test]
    fn a_program_ends_as_it_says_and_is_told_of_the_hal() {
        let minute = Duration::from_secs(60);
        let (result, said) = run("echo $FRAMEFENCE_HAL", minute);
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(said, "stock\n");

        let (result, _) = run("exit 3", minute);
        let error = result.unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
    }
}
