//! Files that appear under their name only when they are complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{OpenError, WriteError};

/// A temporary file beside the final one. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct NewFile {
    temporary: NamedTempFile,
    path: PathBuf,
    contents: Contents,
}

#[derive(Debug)]
enum Contents {
    Empty,
    /// Fit to appear under the final name.
    Whole,
    /// A write failed or is going on.
    Broken,
}

impl NewFile {
    /// A new, empty file that will replace whatever file is at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, OpenError> {
        // The target of a link that cannot be looked at does not matter: the link is replaced.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(OpenError::NotAFile {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            temporary: create_beside(path)?,
            path: path.to_owned(),
            contents: Contents::Empty,
        })
    }

    /// The path under which the file will appear.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether something was written and all of it went well.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.contents, Contents::Whole)
    }

    /// Lets `write` append something that leaves the file whole, unless a write failed before.
    pub(crate) fn append(
        &mut self,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        self.append_made(|file, path| {
            write(file).map_err(|source| WriteError::Io {
                path: path.to_owned(),
                source,
            })
        })
    }

    /// As [`append`](Self::append), where what is written has to be made first, and that may fail
    /// too. `write` is given the final path, for its errors.
    pub(crate) fn append_made(
        &mut self,
        write: impl FnOnce(&File, &Path) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        if matches!(self.contents, Contents::Broken) {
            return Err(WriteError::Broken {
                path: self.path.clone(),
            });
        }
        self.contents = Contents::Broken;
        write(self.temporary.as_file(), &self.path)?;
        self.contents = Contents::Whole;
        Ok(())
    }

    /// Makes the file appear, complete and on disk, under its name.
    pub(crate) fn persist(self) -> Result<PathBuf, WriteError> {
        let Self {
            temporary,
            path,
            contents,
        } = self;
        match contents {
            Contents::Whole => {}
            Contents::Empty => return Err(WriteError::NoFrame { path }),
            Contents::Broken => return Err(WriteError::Broken { path }),
        }
        // Without this, a power cut after the rename could leave an empty file under the name.
        let persisted = temporary
            .as_file()
            .sync_all()
            .and_then(|()| temporary.persist(&path).map_err(|error| error.error));
        match persisted {
            Ok(_) => Ok(path),
            Err(source) => Err(WriteError::Io { path, source }),
        }
    }
}

/// Checks that files can be created in the folder of `path`, and that one can have its name.
pub(crate) fn check_writable(path: &Path) -> Result<(), OpenError> {
    create_beside(path).map(drop)
}

/// A temporary file that can be renamed to `path`.
fn create_beside(path: &Path) -> Result<NamedTempFile, OpenError> {
    let temporary = create_temporary(folder_of(path))?;
    // `Path::file_name` takes `film.y4m/` and `film.y4m/.` for `film.y4m`; a rename does not.
    let ends_in_name = path.file_name().is_some_and(|name| {
        let path = path.as_os_str().as_encoded_bytes();
        path.ends_with(name.as_encoded_bytes())
    });
    if !ends_in_name {
        return Err(OpenError::FolderName {
            path: path.to_owned(),
        });
    }
    match fs::symlink_metadata(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(OpenError::UnusableName {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(temporary),
    }
}

/// The folder that a file of this path is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn create_temporary(folder: &Path) -> Result<NamedTempFile, OpenError> {
    if !folder.is_dir() {
        return Err(OpenError::NoFolder {
            folder: folder.to_owned(),
        });
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".framefence-").suffix(".part");
    // Temporary files are private by default, but this one becomes an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
        .tempfile_in(folder)
        .map_err(|source| OpenError::CreateFile {
            folder: folder.to_owned(),
            source,
        })
}
