//! What is written about scenes is true: the guide, its pictures and scenes, and the JSON Schema.

#![allow(
    clippy::unwrap_used,
    reason = "the helpers of tests may panic as the tests may"
)]

mod guide;
#[path = "../../examples/docs_images/pictures.rs"]
#[expect(dead_code, reason = "the example also writes the pictures")]
mod pictures;
mod schema;

use std::fs;
use std::path::{Path, PathBuf};

/// A file or folder of the repository.
fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files in a folder of the repository whose names end in `.extension`, in order.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(in_repository(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == extension))
        .collect();
    files.sort();
    files
}

/// The scenes of the guide and of the examples.
fn scenes() -> Vec<PathBuf> {
    [
        files("docs/scenes", "json"),
        files("examples/assets", "json"),
    ]
    .concat()
}
