//! Folders that are written as a whole, or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use walkdir::WalkDir;

/// Puts the folder that `write` makes, somewhere in the temporary one it is given, at `into`.
///
/// What is at `into` is replaced only if it holds a file `ours`, which has to tell it from folders
/// of the user's. It keeps its files, and their times, where the new ones are equal.
pub(super) fn replace(
    into: &Path,
    ours: &str,
    write: impl FnOnce(&Path) -> anyhow::Result<PathBuf>,
) -> anyhow::Result<()> {
    let there = match fs::read_dir(into) {
        Ok(mut entries) => {
            let empty = entries.next().is_none();
            ensure!(
                empty || into.join(ours).is_file(),
                "the folder is neither empty nor of an earlier run, and so not replaced: {}",
                into.display()
            );
            true
        }
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => {
            return Err(error).with_context(|| format!("cannot be used: {}", into.display()));
        }
    };

    // Beside `into`, and so on the same file system: what is complete only takes a new name.
    let parent = into.parent().context("the root cannot be written to")?;
    fs::create_dir_all(parent)
        .with_context(|| format!("cannot be created: {}", parent.display()))?;
    let temporary = tempfile::Builder::new()
        .prefix(".vendor-")
        .tempdir_in(parent)
        .with_context(|| format!("no temporary folder in {}", parent.display()))?;
    let new = write(temporary.path())?;

    if there && contents(into)? == contents(&new)? {
        return Ok(());
    }
    let old = temporary.path().join("old");
    if there {
        rename(into, &old)?;
    }
    rename(&new, into).inspect_err(|_| {
        if there && let Err(error) = rename(&old, into) {
            eprintln!("what was there is gone: {error:#}");
        }
    })
}

/// Every file below `folder`, with its path from there.
pub(super) fn contents(folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in WalkDir::new(folder) {
        let entry = entry.with_context(|| format!("cannot be listed: {}", folder.display()))?;
        if !entry.file_type().is_dir() {
            let bytes = fs::read(entry.path())
                .with_context(|| format!("cannot be read: {}", entry.path().display()))?;
            let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            files.insert(path.to_owned(), bytes);
        }
    }
    Ok(files)
}

/// The names in `folder`, sorted.
pub(super) fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let list = || -> std::io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    };
    list().with_context(|| format!("cannot be listed: {}", folder.display()))
}

fn rename(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::rename(from, to).with_context(|| {
        let (from, to) = (from.display(), to.display());
        format!("{from} cannot be renamed to {to}")
    })
}
