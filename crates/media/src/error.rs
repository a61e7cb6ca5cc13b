use std::io;
#[cfg(feature = "h264")]
use std::ops::RangeInclusive;
use std::path::PathBuf;

use framefence::pixel::PackError;
use framefence::{ColorSpec, OutputFormat, Size};

use crate::NamePatternError;
#[cfg(feature = "h264")]
use crate::{EncodeError, H264LimitError};

/// Why no sink could be opened: known before a frame is rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No sink writes files with this extension.
    #[error("output is written as .png, .y4m or .mp4; none is the extension of {}", path.display())]
    UnknownExtension {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The sink for this extension is not part of this program.
    #[error(
        "this program was built without framefence-media's feature `{feature}`, which it takes \
         to write {}",
        path.display()
    )]
    FeatureDisabled {
        /// The feature to build with.
        feature: &'static str,
        /// The path that was asked for.
        path: PathBuf,
    },
    /// There is no such H.264 video.
    #[cfg(feature = "h264")]
    #[error(transparent)]
    H264Limit(#[from] H264LimitError),
    /// H.264 has no such quantizer.
    #[cfg(feature = "h264")]
    #[error("the quantizer {quantizer} is none of {} to {}", allowed.start(), allowed.end())]
    Quantizer {
        /// The quantizer that was asked for.
        quantizer: u8,
        /// Those that can be asked for.
        allowed: RangeInclusive<u8>,
    },
    /// The file name of a sequence has no usable place for the frame number.
    #[error(transparent)]
    NamePattern(#[from] NamePatternError),
    /// The folder that the file would be in does not exist, or is not a folder.
    #[error("there is no folder {}", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The path is taken by something that a file cannot replace, such as a directory or a pipe.
    #[error("a folder or a device, not a file, is already at {}", path.display())]
    NotAFile {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The path ends like a folder's, in a separator or a dot.
    #[error("this is the name of a folder, not of a file: {}", path.display())]
    FolderName {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// No file can have this name, for instance because it is too long.
    #[error("no file can be named {}", path.display())]
    UnusableName {
        /// The path that was asked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder takes no new files, for instance because it is read-only.
    #[error("cannot create a file in the folder {}", folder.display())]
    CreateFile {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Why a frame could not be written, or a file not be completed.
///
/// What was written of that file is removed with the sink.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The image is of a kind that is not written as PNG.
    #[error(
        "PNG is made from full-range RGB, 8-bit with sRGB transfer or floating-point in linear \
         light, not from {format} ({color})"
    )]
    UnsupportedByPng {
        /// The image's pixel format.
        format: OutputFormat,
        /// The image's colour description.
        color: ColorSpec,
    },
    /// The image is of a kind that is not written as Y4M.
    #[error("frames cannot be written as Y4M")]
    UnsupportedByY4m(#[from] PackError),
    /// The image is of a kind that is not written as MP4.
    #[cfg(feature = "h264")]
    #[error("frames cannot be written as MP4")]
    UnsupportedByMp4(#[source] PackError),
    /// There is no H.264 video of frames of this size.
    #[cfg(feature = "h264")]
    #[error(transparent)]
    H264Limit(#[from] H264LimitError),
    /// The encoder failed.
    #[cfg(feature = "h264")]
    #[error("frame {number} cannot be encoded for {}", path.display())]
    Encode {
        /// The number of the frame.
        number: u64,
        /// The path of the file, which was not made.
        path: PathBuf,
        /// What the encoder says.
        source: EncodeError,
    },
    /// All frames of one video have the same size; this one has another.
    #[error("frame {number} is {size}, in a video of {video_size}: {}", path.display())]
    SizeChanged {
        /// The number of the frame.
        number: u64,
        /// The size of the frame.
        size: Size,
        /// The size of the frames before it.
        video_size: Size,
        /// The video's path.
        path: PathBuf,
    },
    /// A file of a sequence could not be created.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An earlier frame failed, so that the file cannot be completed.
    #[error("an earlier frame could not be written to {}", path.display())]
    Broken {
        /// The path of the file, which was not made.
        path: PathBuf,
    },
    /// The sink was finished before it was given a frame.
    #[error("no frame was written to {}", path.display())]
    NoFrame {
        /// The path of the file, which was not made.
        path: PathBuf,
    },
    /// The system refused to take the bytes, for instance because the disk is full.
    #[error("cannot write {}", path.display())]
    Io {
        /// The path of the file, which was not made.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Why an image could not be saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The file could not be created.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The image could not be written to it.
    #[error(transparent)]
    Write(#[from] WriteError),
}
