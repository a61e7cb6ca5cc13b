//! Why an image file cannot be used.

use std::io;
use std::path::PathBuf;

use framefence::Size;
use image::ImageError;

/// The most memory that one decoded picture may take, or all frames of an animated one together:
/// 134 million pixels of RGBA.
///
/// A file of a few kilobytes can claim to hold any size; this is checked before memory is taken.
pub const MAX_DECODED_BYTES: u64 = 512 << 20;

/// The most frames that an animated picture may have.
pub const MAX_ANIMATION_FRAMES: usize = 10_000;

/// An image file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the image {}", path.display())]
pub struct LoadImageError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: ImageProblem,
}

/// What is wrong with an image file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageProblem {
    /// It is not there or cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// It is a directory, a pipe or a device.
    #[error("it is not a file")]
    NotAFile,
    /// It has no bytes.
    #[error("it is empty")]
    Empty,
    /// It is of another format than those that are supported.
    #[error("it is not a PNG, JPEG, WebP or GIF file")]
    UnsupportedFormat,
    /// It is damaged or cut off.
    #[error("it cannot be decoded")]
    Decode(#[source] ImageError),
    /// Its parts contradict each other.
    #[error("it is malformed: {0}")]
    Malformed(&'static str),
    /// Its end is missing.
    #[error("its end is missing")]
    CutOff,
    /// It is a GIF or WebP file without a frame, or with a canvas of no width or height.
    #[error("there is no picture in it")]
    NoPicture,
    /// The file is larger than any picture that would be allowed.
    #[error("its file has {file_bytes} bytes; at most {MAX_DECODED_BYTES} are allowed")]
    FileTooLarge {
        /// The size of the file.
        file_bytes: u64,
    },
    /// Its pixels would take more memory than is allowed.
    #[error(
        "its {size} pixels take {needed_bytes} bytes when decoded; at most {MAX_DECODED_BYTES} are allowed"
    )]
    TooLarge {
        /// The size that the file states.
        size: Size,
        /// The memory that its pixels take.
        needed_bytes: u64,
    },
    /// The pixels of its frames together would take more memory than is allowed.
    #[error(
        "its {frames} frames of {size} pixels take {needed_bytes} bytes when decoded; at most {MAX_DECODED_BYTES} are allowed"
    )]
    AnimationTooLarge {
        /// The number of frames.
        frames: usize,
        /// The size of each.
        size: Size,
        /// The memory that their pixels take.
        needed_bytes: u64,
    },
    /// It has more frames than are allowed.
    #[error("it has more than {MAX_ANIMATION_FRAMES} frames")]
    TooManyFrames,
    /// The GPU has no memory left for it.
    #[error("the GPU has no memory left for its {size} pixels")]
    OutOfGpuMemory {
        /// The picture's size.
        size: Size,
    },
}
