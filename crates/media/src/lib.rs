//! Where finished frames go: PNG files, PNG sequences and Y4M.
//!
//! [`FileSink`] picks the sink by a path's extension; [`save_png`] saves one image. Every sink
//! writes to a temporary file in the folder of the final one and renames it when it is complete,
//! so nothing half-written ever appears under a final name. An existing file of that name is
//! replaced; a symbolic link is replaced itself, not followed. A process that is killed leaves its
//! temporary file, `.framefence-*.part`.
//!
//! Sinks block while they write, so they belong on a thread that may: not on a UI thread, and not
//! on an async runtime's worker.

#![forbid(unsafe_code)]

mod error;
mod file_sink;
mod name_pattern;
mod new_file;
mod png_encode;
mod png_sequence;
mod png_sink;
mod y4m_sink;

pub use error::{OpenError, SaveError, WriteError};
pub use file_sink::FileSink;
pub use name_pattern::{NamePattern, NamePatternError};
pub use png_sequence::PngSequenceSink;
pub use png_sink::{PngSink, save_png};
pub use y4m_sink::Y4mSink;
