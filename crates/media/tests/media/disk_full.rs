//! Writes that the system refuses half-way, as it does when a disk is full.
//!
//! Each test runs itself again in a process that may not write files beyond a few KiB (`ulimit
//! -f`), where the kernel really fails the write that reaches the limit.

use std::env;
use std::error::Error;
use std::io;
use std::path::Path;
use std::process::Command;

use framefence::{FrameSink, Size};
use framefence_media::{FileSink, WriteError};
use tempfile::TempDir;

use crate::support::{frame, frame_rate, names_in, picture};

/// The folder to write to, in the process that has the limit.
const FOLDER: &str = "FRAMEFENCE_TEST_LIMITED_FOLDER";

/// Runs `test` in a folder, in a process that may not write more than 64 KiB to one file (32 KiB
/// where the shell counts blocks of 512 bytes), and hands back the names of the files left.
fn limited(name: &str, test: impl FnOnce(&Path)) -> Vec<String> {
    if let Some(folder) = env::var_os(FOLDER) {
        test(Path::new(&folder));
        return names_in(Path::new(&folder));
    }
    let folder = TempDir::new().expect("a folder");
    let output = Command::new("sh")
        // With the signal ignored, the write fails instead.
        .args([
            "-c",
            r#"trap "" XFSZ; ulimit -f 64; exec "$0" --exact "$1""#,
        ])
        .arg(env::current_exe().expect("this test"))
        .arg(format!("disk_full::{name}"))
        .env(FOLDER, folder.path())
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    names_in(folder.path())
}

#[track_caller]
fn assert_refused_by_the_system(error: &WriteError, path: &Path) {
    assert!(matches!(error, WriteError::Io { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        format!("cannot write {}", path.display())
    );
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    let kind = source.map(io::Error::kind);
    assert_eq!(kind, Some(io::ErrorKind::FileTooLarge), "{source:?}");
}

/// Noise, whose PNG file is as large as its pixels.
const LARGE: Size = Size::new(256, 256);
const SMALL: Size = Size::new(32, 32);

#[test]
fn a_png_that_does_not_fit_leaves_nothing_even_if_finished() {
    let left = limited(
        "a_png_that_does_not_fit_leaves_nothing_even_if_finished",
        |folder| {
            let path = folder.join("a.png");
            let mut sink = FileSink::open(&path, frame_rate("25")).expect("a sink");
            let error = sink
                .write(&frame(0, picture(LARGE, 1)))
                .expect_err("beyond the limit");
            assert_refused_by_the_system(&error, &path);
            let error = sink
                .write(&frame(1, picture(SMALL, 1)))
                .expect_err("behind half a file");
            assert!(matches!(error, WriteError::Broken { .. }), "{error}");
            let error = sink.finish().expect_err("half a file");
            assert!(matches!(error, WriteError::Broken { .. }), "{error}");
        },
    );
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_video_that_does_not_fit_leaves_nothing_even_if_finished() {
    let left = limited(
        "a_video_that_does_not_fit_leaves_nothing_even_if_finished",
        |folder| {
            does_not_fit(&folder.join("a.y4m"));
            #[cfg(feature = "h264")]
            does_not_fit(&folder.join("a.mp4"));
        },
    );
    assert!(left.is_empty(), "{left:?}");
}

fn does_not_fit(path: &Path) {
    let mut sink = FileSink::open(path, frame_rate("25")).expect("a sink");
    let error = (0..100)
        .find_map(|number| {
            sink.write(&frame(number, picture(SMALL, 1 + number as u32)))
                .err()
        })
        .expect("beyond the limit");
    assert_refused_by_the_system(&error, path);
    let error = sink
        .write(&frame(100, picture(SMALL, 1)))
        .expect_err("a gap in the video");
    assert!(matches!(error, WriteError::Broken { .. }), "{error}");
    let error = sink.finish().expect_err("half a frame at the end");
    assert!(matches!(error, WriteError::Broken { .. }), "{error}");
}

/// The index, which is written last, does not fit: the pictures do to the byte.
#[cfg(feature = "h264")]
#[test]
fn a_video_whose_index_does_not_fit_leaves_nothing() {
    let name = "a_video_whose_index_does_not_fit_leaves_nothing";
    let left = limited(name, |folder| {
        let path = folder.join("a.mp4");
        let fitting = frames_that_fit(&path);
        let mut sink = FileSink::open(&path, frame_rate("25")).expect("a sink");
        for number in 0..fitting {
            sink.write(&frame(number, picture(SMALL, number as u32)))
                .expect("within the limit");
        }
        let error = sink.finish().expect_err("beyond the limit");
        assert_refused_by_the_system(&error, &path);
    });
    assert!(left.is_empty(), "{left:?}");
}

/// How many frames can be written, if the file needed no more than them.
#[cfg(feature = "h264")]
fn frames_that_fit(path: &Path) -> u64 {
    let mut sink = FileSink::open(path, frame_rate("25")).expect("a sink");
    (0..1000)
        .find(|&number| {
            sink.write(&frame(number, picture(SMALL, number as u32)))
                .is_err()
        })
        .expect("beyond the limit")
}

#[test]
fn a_sequence_keeps_the_files_before_the_one_that_does_not_fit() {
    let left = limited(
        "a_sequence_keeps_the_files_before_the_one_that_does_not_fit",
        |folder| {
            let mut sink = FileSink::open(folder.join("%d.png"), frame_rate("25")).expect("a sink");
            sink.write(&frame(0, picture(SMALL, 1)))
                .expect("within the limit");
            let error = sink
                .write(&frame(1, picture(LARGE, 1)))
                .expect_err("beyond the limit");
            assert_refused_by_the_system(&error, &folder.join("1.png"));
        },
    );
    assert_eq!(left, ["0.png"]);
}
