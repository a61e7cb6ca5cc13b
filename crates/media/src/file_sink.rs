use std::path::{Path, PathBuf};

use framefence::{Frame, FrameRate, FrameSink};

#[cfg(feature = "h264")]
use crate::{Mp4Options, Mp4Sink};
use crate::{OpenError, PngSequenceSink, PngSink, WriteError, Y4mSink};

/// A sink of the kind that a path asks for.
#[derive(Debug)]
#[must_use = "a sink that is not finished may leave no file"]
#[non_exhaustive]
pub enum FileSink {
    /// One PNG file of the first frame.
    Png(PngSink),
    /// A PNG file of each frame.
    PngSequence(PngSequenceSink),
    /// Uncompressed video.
    Y4m(Y4mSink),
    /// H.264 video.
    #[cfg(feature = "h264")]
    Mp4(Mp4Sink),
}

impl FileSink {
    /// A sink for `path`, by its extension in any case:
    ///
    /// - `.png`: a sequence if the file name has a percent sign, which makes it a
    ///   [`NamePattern`](crate::NamePattern) such as `frame_%05d.png`; else the first frame only.
    /// - `.y4m`: uncompressed video at `frame_rate`.
    /// - `.mp4`: H.264 video at `frame_rate`, with the default options of `Mp4Sink`. Takes the
    ///   feature `h264`.
    ///
    /// # Errors
    ///
    /// If the extension is another, its feature is off, the frame rate is beyond H.264, the pattern
    /// is none, the folder does not exist or takes no files, or `path` is taken by something else
    /// than a file. Nothing is left then.
    pub fn open(path: impl AsRef<Path>, frame_rate: FrameRate) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let has_extension = |known: &str| {
            path.extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case(known))
        };
        let is_pattern = || {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().contains('%'))
        };
        if has_extension("png") {
            if is_pattern() {
                Ok(Self::PngSequence(PngSequenceSink::create(path)?))
            } else {
                Ok(Self::Png(PngSink::create(path)?))
            }
        } else if has_extension("y4m") {
            Ok(Self::Y4m(Y4mSink::create(path, frame_rate)?))
        } else if has_extension("mp4") {
            mp4(path, frame_rate)
        } else if path.is_dir() {
            Err(OpenError::NotAFile {
                path: path.to_owned(),
            })
        } else {
            Err(OpenError::UnknownExtension {
                path: path.to_owned(),
            })
        }
    }
}

#[cfg(feature = "h264")]
fn mp4(path: &Path, frame_rate: FrameRate) -> Result<FileSink, OpenError> {
    Ok(FileSink::Mp4(Mp4Sink::create(
        path,
        frame_rate,
        Mp4Options::default(),
    )?))
}

#[cfg(not(feature = "h264"))]
fn mp4(path: &Path, _: FrameRate) -> Result<FileSink, OpenError> {
    Err(OpenError::FeatureDisabled {
        feature: "h264",
        path: path.to_owned(),
    })
}

impl FrameSink for FileSink {
    type Error = WriteError;
    /// The paths of the files written.
    type Output = Vec<PathBuf>;

    fn frame_limit(&self) -> Option<u64> {
        match self {
            Self::Png(sink) => sink.frame_limit(),
            Self::PngSequence(sink) => sink.frame_limit(),
            Self::Y4m(sink) => sink.frame_limit(),
            #[cfg(feature = "h264")]
            Self::Mp4(sink) => sink.frame_limit(),
        }
    }

    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        match self {
            Self::Png(sink) => sink.write(frame),
            Self::PngSequence(sink) => sink.write(frame),
            Self::Y4m(sink) => sink.write(frame),
            #[cfg(feature = "h264")]
            Self::Mp4(sink) => sink.write(frame),
        }
    }

    fn finish(self) -> Result<Vec<PathBuf>, WriteError> {
        match self {
            Self::Png(sink) => sink.finish().map(|path| vec![path]),
            Self::PngSequence(sink) => sink.finish(),
            Self::Y4m(sink) => sink.finish().map(|path| vec![path]),
            #[cfg(feature = "h264")]
            Self::Mp4(sink) => sink.finish().map(|path| vec![path]),
        }
    }
}
