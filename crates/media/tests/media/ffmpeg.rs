//! What ffmpeg and ffprobe, which every test machine has, find in a file.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What a program of the ffmpeg package prints. It has no complaint.
pub(crate) fn output(program: &str, arguments: &[&OsStr]) -> Vec<u8> {
    let output = Command::new(program)
        .args(["-v", "error"])
        .args(arguments)
        .output()
        .expect("ffmpeg and ffprobe are installed; on Debian: apt-get install ffmpeg");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{program} failed: {errors}"
    );
    output.stdout
}

/// The `entries` that ffprobe finds for the stream, all frames counted, one `name=value` a line.
pub(crate) fn probe(path: &Path, entries: &str) -> String {
    let entries = format!("stream={entries}");
    let arguments = [
        "-count_frames",
        "-show_entries",
        &entries,
        "-of",
        "default=noprint_wrappers=1",
    ];
    let mut arguments = arguments.map(OsStr::new).to_vec();
    arguments.push(path.as_os_str());
    String::from_utf8(output("ffprobe", &arguments)).expect("text")
}

/// All frames as ffmpeg decodes them, after `filter`, in `pixel_format`.
pub(crate) fn decode(path: &Path, filter: &str, pixel_format: &str) -> Vec<u8> {
    let rest = [
        "-vf",
        filter,
        "-pix_fmt",
        pixel_format,
        "-f",
        "rawvideo",
        "-",
    ];
    let mut arguments = vec![OsStr::new("-i"), path.as_os_str()];
    arguments.extend(rest.map(OsStr::new));
    output("ffmpeg", &arguments)
}
