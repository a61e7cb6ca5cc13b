//! What examples say at their end: JSON files, errors.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use tempfile::NamedTempFile;

/// Ends an example: an error becomes one line for the person who ran it, never a backtrace.
#[must_use]
pub fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The command line that this process was started with, for a report to say how it came about.
#[must_use]
pub fn command() -> String {
    let words: Vec<_> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ")
}

/// A JSON file that is yet to be written. Opened before the work that it reports on, so that a
/// path that cannot be written is found out at once; the file appears under its name only when it
/// is complete.
#[derive(Debug)]
pub struct JsonFile {
    path: PathBuf,
    partial: NamedTempFile,
}

impl JsonFile {
    /// Opens a file beside `path`, to be renamed to it.
    ///
    /// # Errors
    ///
    /// If `path` is a folder, or in one that is not there or cannot be written to.
    pub fn create(path: &Path) -> Result<Self> {
        ensure!(!path.is_dir(), "{} is a folder, not a file", path.display());
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        let partial = tempfile::Builder::new()
            .prefix(".partial-")
            .suffix(".json")
            .tempfile_in(folder)
            .with_context(|| format!("no file can be made at {}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            partial,
        })
    }

    /// Writes `report` and gives the file its name.
    ///
    /// # Errors
    ///
    /// If the disk does not take it; nothing is left under the name then.
    pub fn write(self, report: &impl Serialize) -> Result<()> {
        let Self { path, mut partial } = self;
        (|| -> Result<()> {
            serde_json::to_writer_pretty(&mut partial, report)?;
            writeln!(partial)?;
            partial.persist(&path)?;
            Ok(())
        })()
        .with_context(|| format!("writing {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_complete() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("report.json");
        let names = || -> Result<Vec<_>> {
            let entries = std::fs::read_dir(folder.path())?;
            Ok(entries
                .map(|entry| entry.map(|e| e.file_name()))
                .collect::<Result<_, _>>()?)
        };

        drop(JsonFile::create(&path)?);
        assert!(names()?.is_empty());

        let file = JsonFile::create(&path)?;
        assert!(!path.exists());
        file.write(&[1, 2])?;
        assert_eq!(names()?, ["report.json"]);
        assert_eq!(std::fs::read_to_string(&path)?, "[\n  1,\n  2\n]\n");
        Ok(())
    }

    #[test]
    fn paths_that_cannot_be_written_are_refused_at_once() -> Result<()> {
        let folder = tempfile::tempdir()?;
        assert!(JsonFile::create(folder.path()).is_err());
        assert!(JsonFile::create(&folder.path().join("missing/report.json")).is_err());
        Ok(())
    }
}
