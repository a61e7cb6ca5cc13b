//! Where finished frames go: PNG files, PNG sequences, Y4M and MP4.
//!
//! [`FileSink`] picks the sink by a path's extension; [`save_png`] saves one image. Every sink
//! writes to a temporary file in the folder of the final one and renames it when it is complete,
//! so nothing half-written ever appears under a final name. An existing file of that name is
//! replaced; a symbolic link is replaced itself, not followed. A process that is killed leaves its
//! temporary file, `.framefence-*.part`.
//!
//! MP4 takes the feature `h264`, which is on by default. It builds Cisco's OpenH264 from source, by
//! a C++ compiler, and several times as fast if `nasm` is installed. H.264 is covered by patents in
//! some countries, and Cisco's licence for them is for the binaries that Cisco hands out, not for
//! what is built from source: whoever ships a program with this feature sees to the patents.
//!
//! Sinks block while they write, so they belong on a thread that may: not on a UI thread, and not
//! on an async runtime's worker.

mod error;
mod file_sink;
#[cfg(feature = "h264")]
mod h264_encoder;
#[cfg(feature = "h264")]
mod h264_limits;
#[cfg(feature = "h264")]
mod mp4_boxes;
#[cfg(feature = "h264")]
mod mp4_sink;
mod name_pattern;
mod new_file;
mod png_encode;
mod png_sequence;
mod png_sink;
mod y4m_sink;

pub use error::{OpenError, SaveError, WriteError};
pub use file_sink::FileSink;
#[cfg(feature = "h264")]
pub use h264_encoder::EncodeError;
#[cfg(feature = "h264")]
pub use h264_limits::H264LimitError;
#[cfg(feature = "h264")]
pub use mp4_sink::{Mp4Options, Mp4Sink};
pub use name_pattern::{NamePattern, NamePatternError};
pub use png_sequence::PngSequenceSink;
pub use png_sink::{PngSink, save_png};
pub use y4m_sink::Y4mSink;
