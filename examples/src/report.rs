//! What examples say at their end: JSON files, errors.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Termination};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Serialize;
use tempfile::NamedTempFile;

/// Ends an example: an error becomes one line for the person who ran it, never a backtrace.
#[must_use]
pub fn exit_code(result: Result<impl Termination>) -> ExitCode {
    match result {
        Ok(end) => end.report(),
        Err(error) => {
            say(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to standard error, for the person who ran the example.
pub fn say(line: impl Display) {
    // Not `eprintln!`, which panics where standard error is full or its reader has gone: the work
    // is done all the same, and the exit status tells how it ended.
    let _ = writeln!(io::stderr(), "{line}");
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
    /// If `path` is taken by something else than a file, which would be replaced, such as a link or
    /// a device; if no file can have that name; or if the folder is not there or cannot be written
    /// to.
    pub fn create(path: &Path) -> Result<Self> {
        let no_file = || format!("no file can be made at {}", path.display());
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => bail!(
                "{} is a folder, a link or a device, not a file",
                path.display()
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(no_file),
        }
        // `Path::file_name` takes `report.json/` for `report.json`; a rename does not.
        let ends_in_name = path.file_name().is_some_and(|name| {
            let path = path.as_os_str().as_encoded_bytes();
            path.ends_with(name.as_encoded_bytes())
        });
        ensure!(
            ends_in_name,
            "{} names a folder, not a file",
            path.display()
        );
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        let partial = tempfile::Builder::new()
            .prefix(".partial-")
            .suffix(".json")
            .tempfile_in(folder)
            .with_context(no_file)?;
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
            let entries = fs::read_dir(folder.path())?;
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
        assert_eq!(fs::read_to_string(&path)?, "[\n  1,\n  2\n]\n");
        Ok(())
    }

    #[test]
    fn paths_that_cannot_be_written_are_refused_at_once() -> Result<()> {
        let folder = tempfile::tempdir()?;
        assert!(JsonFile::create(folder.path()).is_err());
        for name in ["missing/report.json", "report.json/", &"a".repeat(300)] {
            let path = folder.path().join(name);
            assert!(JsonFile::create(&path).is_err(), "{name}");
        }
        #[cfg(unix)]
        {
            // As `/dev/stdout` is one.
            let link = folder.path().join("link.json");
            std::os::unix::fs::symlink("/dev/null", &link)?;
            assert!(JsonFile::create(&link).is_err());
        }
        Ok(())
    }
}
