use std::path::{Path, PathBuf};

use framefence::{Frame, FrameSink};

use crate::new_file::{NewFile, check_writable};
use crate::png_sink::write_png;
use crate::{NamePattern, OpenError, WriteError};

/// Writes each frame as a PNG file of its own, as [`save_png`](crate::save_png) does, named by the
/// frame's number.
///
/// Each file is complete when [`write`](FrameSink::write) returns, and stays if the sink is
/// dropped or a later frame fails.
#[derive(Debug)]
#[must_use]
pub struct PngSequenceSink {
    pattern: NamePattern,
    written: Vec<PathBuf>,
}

impl PngSequenceSink {
    /// A sink for the files that `pattern`, a [`NamePattern`], names.
    ///
    /// # Errors
    ///
    /// If the file name is no pattern, or the folder does not exist or takes no files.
    pub fn create(pattern: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = pattern.as_ref();
        let pattern = NamePattern::parse(path)?;
        check_writable(path)?;
        Ok(Self {
            pattern,
            written: Vec::new(),
        })
    }
}

impl FrameSink for PngSequenceSink {
    type Error = WriteError;
    /// The paths of the files in the order of their frames.
    type Output = Vec<PathBuf>;

    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        let mut file = NewFile::create(&self.pattern.path_of(frame.number()))?;
        write_png(frame.image(), &mut file)?;
        self.written.push(file.persist()?);
        Ok(())
    }

    fn finish(self) -> Result<Vec<PathBuf>, WriteError> {
        Ok(self.written)
    }
}
