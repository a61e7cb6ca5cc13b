//! The export example, as a person runs it.

#![allow(
    clippy::unwrap_used,
    reason = "the helpers of tests may panic as the tests may"
)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// 320x180, 10 frames.
const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/small.json");
/// The film of `cargo xtask demo`.
const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo.json");
/// A picture.
const ASTRONAUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/astronaut.png");

#[test]
fn a_sequence_is_the_same_at_every_depth() {
    let folder = TempDir::new().unwrap();
    let export_at = |depth: &str| {
        let pattern = folder.path().join(format!("{depth}-%02d.png"));
        succeeds(&[SMALL, "--out", path(&pattern), "--depth", depth]);
        (0..10)
            .map(|number| fs::read(folder.path().join(format!("{depth}-{number:02}.png"))).unwrap())
            .collect::<Vec<_>>()
    };
    let at_1 = export_at("1");
    assert_eq!(export_at("2"), at_1);
    assert_eq!(export_at("4"), at_1);
    assert_ne!(at_1[0], at_1[9], "the scene moves");
}

#[test]
fn a_frame_is_the_same_alone() {
    let folder = TempDir::new().unwrap();
    let all = folder.path().join("all-%d.png");
    let only = folder.path().join("only.png");
    succeeds(&[SMALL, "--out", path(&all)]);
    succeeds(&[SMALL, "--out", path(&only), "--frames", "7..9"]);
    assert_eq!(
        fs::read(only).unwrap(),
        fs::read(folder.path().join("all-7.png")).unwrap()
    );
}

/// A real decoder shows the poster where the film does: only the encoder's losses and the chroma at
/// half the size are between them, which is 39.6 dB at 1920×1080 and 37.1 dB at this size, where
/// edges are a larger part of the picture.
#[test]
fn the_film_decodes_to_the_poster() {
    let folder = TempDir::new().unwrap();
    let [film, poster] = ["film.mp4", "poster.png"].map(|name| folder.path().join(name));
    for out in [&film, &poster] {
        succeeds(&[
            DEMO,
            "--out",
            path(out),
            "--frames",
            "141..142",
            "--size",
            "640x360",
        ]);
    }
    let pixels = |file: &Path| {
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-i", path(file), "-frames:v", "1"]);
        ffmpeg.args(["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]);
        let output = ffmpeg.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let (decoded, expected) = (pixels(&film), pixels(&poster));
    assert_eq!(decoded.len(), 640 * 360 * 3);
    let squares = decoded.iter().zip(&expected);
    let squares = squares.map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2));
    let mean_square = squares.sum::<f64>() / expected.len() as f64;
    let psnr_db = 10.0 * (255.0 * 255.0 / mean_square).log10();
    assert!(psnr_db > 36.0, "{psnr_db:.2} dB");
}

#[test]
fn a_font_that_is_missing_is_said_and_replaced() {
    let folder = TempDir::new().unwrap();
    let scene = folder.path().join("scene.json");
    let text = r#"{"version": 1, "canvas": {"width": 64, "height": 32}, "frame_rate": 25, "duration": 1,
        "layers": [{"content": {"text": {"text": "Hello", "size": 20, "font": "No Such Family"}}}]}"#;
    fs::write(&scene, text).unwrap();
    let out = folder.path().join("out.png");
    let output = export(&[path(&scene), "--out", path(&out)])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && out.exists(), "{said}");
    assert!(
        said.contains("warning: ") && said.contains("No Such Family"),
        "{said}"
    );
}

#[test]
fn the_report_counts_what_was_written() {
    let folder = TempDir::new().unwrap();
    let film = folder.path().join("film.y4m");
    let report = folder.path().join("report.json");
    let json = path(&report);
    succeeds(&[
        SMALL,
        "--out",
        path(&film),
        "--fps",
        "60000/1001",
        "--size",
        "64x36",
        "--json",
        json,
    ]);
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    // 2/5 s are 23.98 frames, and the last one starts before the end.
    assert_eq!(report["frames"], 24);
    assert_eq!(report["frame_rate"], "60000/1001");
    assert_eq!(report["size"], "64x36");
    assert_eq!(report["files"], serde_json::json!([film]));
    assert_eq!(report["stages"]["gpu"]["count"], 24);
    let header = BufReader::new(fs::File::open(&film).unwrap())
        .lines()
        .next()
        .unwrap();
    assert!(header.is_ok_and(|header| header.starts_with("YUV4MPEG2 W64 H36 F60000:1001")));
}

/// `/dev/full` takes nothing, as a full disk.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_said_loses_no_report() {
    let folder = TempDir::new().unwrap();
    let (out, report) = (
        folder.path().join("out.png"),
        folder.path().join("report.json"),
    );
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let arguments = [SMALL, "--out", path(&out), "--json", path(&report)];
    let status = export(&arguments).stderr(full()).status().unwrap();
    assert!(status.success());
    assert_eq!(names_in(folder.path()), ["out.png", "report.json"]);

    let arguments = ["/does/not/exist.json", "--out", path(&out)];
    let status = export(&arguments).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn what_cannot_be_done_is_one_error_and_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, contents: &str| {
        let file = folder.path().join(name);
        fs::write(&file, contents).unwrap();
        path(&file).to_owned()
    };
    let scene = |layers: &str| {
        format!(
            r#"{{"version": 1, "canvas": {{"width": 8, "height": 8}}, "frame_rate": 25, "duration": 1, "layers": [{layers}]}}"#
        )
    };
    let out = folder.path().join("out.png");
    let (out, missing) = (path(&out), folder.path().join("none/out.png"));
    let no_json = file("text.json", "not json");
    let unknown = file(
        "unknown.json",
        &scene(r#"{"content": {"solid": {"colour": 1}}}"#),
    );
    let empty_image = file("empty.png", "");
    let empty = file(
        "empty.json",
        &scene(&format!(
            r#"{{"content": {{"image": {{"path": "{empty_image}"}}}}}}"#
        )),
    );
    let whole = folder.path().join("whole.png");
    fs::copy(ASTRONAUT, &whole).unwrap();
    let whole = path(&whole);
    let with_image = file(
        "image.json",
        &scene(r#"{"content": {"image": {"path": "whole.png"}}}"#),
    );
    let (around, dotted) = (
        folder.path().join("./whole.png"),
        folder.path().join("./out.png"),
    );
    let film = folder.path().join("film.mp4");
    let film = path(&film);
    let slashed = format!("{out}/");
    let long = folder.path().join("a".repeat(300) + ".png");
    let folder_path = path(folder.path());
    let before = names_in(folder.path());

    for (arguments, says) in [
        (vec!["/does/not/exist.json", "--out", out], "exist.json"),
        (vec![folder_path, "--out", out], "a folder"),
        (vec![&no_json, "--out", out], "text.json"),
        (vec![&unknown, "--out", out], "layers[0].content"),
        (vec![&empty, "--out", out], "empty.png"),
        (vec![SMALL, "--out", path(&missing)], "none"),
        (vec![SMALL, "--out", folder_path], folder_path),
        (vec![SMALL, "--out", "film.avi"], ".mp4"),
        (vec![SMALL, "--out", "/proc/out.png"], "the folder /proc"),
        (vec![SMALL, "--out", "%d-%d.png"], "%d-%d.png"),
        (vec![SMALL, "--out", out, "--frames", "5..11"], "0..10"),
        (vec![SMALL, "--out", out, "--frames", "5..5"], "A below B"),
        (vec![SMALL, "--out", out, "--size", "0x9"], "WxH"),
        (vec![SMALL, "--out", out, "--size", "99999x9"], "16384"),
        (vec![SMALL, "--out", out, "--fps", "0"], "N/D"),
        (vec![SMALL, "--out", film, "--fps", "61"], "at most 60"),
        (vec![SMALL, "--out", film, "--size", "33x20"], "32x20"),
        (vec![SMALL, "--out", out, "--depth", "0"], "depth"),
        (vec![SMALL, "--out", out, "--depth", "257"], "256"),
        (vec![SMALL, "--out", &slashed], "out.png/"),
        (vec![SMALL, "--out", path(&long)], "aaa.png"),
        (vec![&with_image, "--out", whole], "--out would replace"),
        (
            vec![&with_image, "--out", path(&around)],
            "--out would replace",
        ),
        (
            vec![&with_image, "--out", out, "--json", whole],
            "--json would replace",
        ),
        (
            vec![&with_image, "--out", out, "--json", &with_image],
            "image.json",
        ),
        (
            vec![SMALL, "--out", out, "--json", path(&dotted)],
            "the same file",
        ),
        (
            vec![SMALL, "--out", out, "--json", folder_path],
            folder_path,
        ),
        (
            vec![SMALL, "--out", out, "--adapter", "no such"],
            "llvmpipe",
        ),
        (
            vec![SMALL, "--out", out, "--json", "/none/report.json"],
            "folder /none",
        ),
    ] {
        let output = export(&arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        let count = errors
            .lines()
            .filter(|line| line.starts_with("error: "))
            .count();
        assert_eq!(count, 1, "{arguments:?} says {errors}");
        assert!(errors.contains(says), "{arguments:?} says {errors}");
        assert!(!errors.contains("panicked"), "{arguments:?} says {errors}");
        assert_eq!(
            names_in(folder.path()),
            before,
            "{arguments:?} left something"
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_complete() {
    let folder = TempDir::new().unwrap();
    let pattern = folder.path().join("%04d.png");
    // Long enough not to end by itself.
    let arguments = [SMALL, "--out", path(&pattern), "--fps", "90000"];
    let output = interrupted_after(&folder.path().join("0003.png"), &arguments);
    assert_eq!(output.status.code(), Some(130));
    let errors = String::from_utf8_lossy(&output.stderr);
    let kept = names_in(folder.path());
    assert!(kept.iter().all(|name| name.ends_with(".png")), "{kept:?}");
    assert!(
        errors.contains(&format!("kept {} files", kept.len())),
        "{errors}"
    );
    // Each of them is whole.
    for name in kept {
        let bytes = fs::read(folder.path().join(&name)).unwrap();
        assert!(bytes.ends_with(b"IEND\xae\x42\x60\x82"), "{name}");
    }
}

/// Interrupts an export as soon as it has written `file`.
#[cfg(unix)]
fn interrupted_after(file: &Path, arguments: &[&str]) -> std::process::Output {
    let child = export(arguments).stderr(Stdio::piped()).spawn().unwrap();
    // The folder cannot tell when the file appears, so it is looked for again and again.
    while !file.exists() {
        std::thread::yield_now();
    }
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
    child.wait_with_output().unwrap()
}

fn succeeds(arguments: &[&str]) {
    let output = export(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} says {errors}");
}

/// The example, which cargo builds beside the tests of its package.
fn export(arguments: &[&str]) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let example = profile
        .join("examples")
        .join("export")
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        example.exists(),
        "{} is not there: run `cargo build -p framefence-examples --example export` first",
        example.display()
    );
    let mut command = Command::new(example);
    command.args(arguments).stdin(Stdio::null());
    command
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn names_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
