//! What a path asks for, and what is refused before a frame is rendered.

use std::fs;
use std::path::Path;

use framefence::FrameSink as _;
use framefence_media::{FileSink, OpenError};
use tempfile::TempDir;

use crate::support::{frame_rate, names_in};

fn open(path: impl AsRef<Path>) -> Result<FileSink, OpenError> {
    FileSink::open(path, frame_rate("25"))
}

/// The error of a path that is refused, whose message ends with `last`.
#[track_caller]
fn refused(path: &Path, last: &Path) -> OpenError {
    let error = open(path).expect_err("the path is refused");
    let message = error.to_string();
    assert!(message.ends_with(&last.display().to_string()), "{message}");
    assert!(!message.contains('\n'), "{message}");
    error
}

#[test]
fn the_extension_picks_the_sink() {
    let folder = TempDir::new().expect("a folder");
    let in_folder = |name: &str| open(folder.path().join(name));
    for name in ["a.png", "a.b.png", "A.PNG", "a.y4m.png"] {
        assert!(matches!(in_folder(name), Ok(FileSink::Png(_))), "{name}");
    }
    for name in ["%d.png", "a_%05d.Png", "%%%d.png"] {
        assert!(
            matches!(in_folder(name), Ok(FileSink::PngSequence(_))),
            "{name}"
        );
    }
    for name in ["a.y4m", "a.Y4M", "100%.y4m"] {
        assert!(matches!(in_folder(name), Ok(FileSink::Y4m(_))), "{name}");
    }
    #[cfg(feature = "h264")]
    for name in ["a.mp4", "a.MP4", "%d.mp4"] {
        assert!(matches!(in_folder(name), Ok(FileSink::Mp4(_))), "{name}");
    }
    assert!(
        names_in(folder.path()).is_empty(),
        "sinks without frames leave nothing"
    );
}

#[test]
fn only_one_frame_is_of_use_to_a_single_png() {
    let folder = TempDir::new().expect("a folder");
    let limit = |name: &str| {
        open(folder.path().join(name))
            .expect("a sink")
            .frame_limit()
    };
    assert_eq!(limit("a.png"), Some(1));
    assert_eq!(limit("%d.png"), None);
    assert_eq!(limit("a.y4m"), None);
}

#[test]
fn unknown_extensions_are_told_the_known_ones() {
    let folder = TempDir::new().expect("a folder");
    for name in ["a", "a.mov", "png", ".png", "a.png.txt", "a.png "] {
        let path = folder.path().join(name);
        let error = refused(&path, &path);
        assert!(
            matches!(error, OpenError::UnknownExtension { .. }),
            "{error}"
        );
        assert!(error.to_string().contains(".png, .y4m or .mp4"), "{error}");
    }
    let error = refused(Path::new(""), Path::new(""));
    assert!(
        matches!(error, OpenError::UnknownExtension { .. }),
        "{error}"
    );
}

#[cfg(not(feature = "h264"))]
#[test]
fn a_program_without_h264_says_what_it_lacks() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("a.mp4");
    let error = refused(&path, &path);
    assert!(
        matches!(error, OpenError::FeatureDisabled { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("`h264`"), "{error}");
}

#[cfg(feature = "h264")]
#[test]
fn a_frame_rate_beyond_h264_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let open = |rate| FileSink::open(folder.path().join("a.mp4"), frame_rate(rate));
    assert!(matches!(open("60"), Ok(FileSink::Mp4(_))));
    assert!(matches!(open("60001/1000"), Err(OpenError::H264Limit(_))));
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn a_name_that_is_no_pattern_is_named() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("frame_%s.png");
    let error = refused(&path, &path);
    assert!(matches!(error, OpenError::NamePattern(_)), "{error}");
}

#[test]
fn the_folder_has_to_exist() {
    let folder = TempDir::new().expect("a folder");
    let missing = folder.path().join("missing");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    for name in ["a.png", "%d.png", "a.y4m"] {
        for parent in [&missing, &file] {
            let error = refused(&parent.join(name), parent);
            assert!(matches!(error, OpenError::NoFolder { .. }), "{error}");
        }
    }
    assert_eq!(names_in(folder.path()), ["file"]);
}

#[test]
fn a_folder_or_a_device_is_not_replaced() {
    let folder = TempDir::new().expect("a folder");
    for name in ["a.png", "a.y4m", "no_extension"] {
        let path = folder.path().join(name);
        fs::create_dir(&path).expect("a folder");
        let error = refused(&path, &path);
        assert!(matches!(error, OpenError::NotAFile { .. }), "{error}");
    }
    #[cfg(unix)]
    {
        let path = folder.path().join("null.png");
        std::os::unix::fs::symlink("/dev/null", &path).expect("a link");
        let error = refused(&path, &path);
        assert!(matches!(error, OpenError::NotAFile { .. }), "{error}");
    }
}

#[test]
fn a_name_that_no_file_can_have_is_refused() {
    let folder = TempDir::new().expect("a folder");
    for name in ["a.png/", "%d.png/", "a.y4m/", "a.y4m/."] {
        let path = folder.path().join(name);
        let error = refused(&path, &path);
        assert!(matches!(error, OpenError::FolderName { .. }), "{error}");
    }
    for name in ["a.png", "%d.png", "a.y4m"] {
        let path = folder.path().join("a".repeat(300) + name);
        let error = refused(&path, &path);
        assert!(matches!(error, OpenError::UnusableName { .. }), "{error}");
    }
}

/// `/proc` takes no files, not even from root.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_refused_with_the_reason() {
    for name in ["a.png", "%d.png", "a.y4m"] {
        let error = refused(&Path::new("/proc").join(name), Path::new("/proc"));
        assert!(matches!(error, OpenError::CreateFile { .. }), "{error}");
        let source = std::error::Error::source(&error);
        assert!(source.is_some_and(<dyn std::error::Error>::is::<std::io::Error>));
    }
}

#[test]
fn a_name_without_a_folder_is_in_the_current_one() {
    // Opened and dropped only: the current folder is the package's own.
    assert!(matches!(open("unfinished.y4m"), Ok(FileSink::Y4m(_))));
    assert!(matches!(
        open("unfinished_%d.png"),
        Ok(FileSink::PngSequence(_))
    ));
    assert!(
        names_in(Path::new("."))
            .iter()
            .all(|name| !name.contains("framefence-"))
    );
}
