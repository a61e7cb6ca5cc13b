use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use framefence::{Frame, FrameSink, Image};

use crate::new_file::NewFile;
use crate::png_encode::PngEncoding;
use crate::{OpenError, SaveError, WriteError};

/// Saves an image as the PNG file `path`, which is replaced if it exists.
///
/// - 8-bit formats become 8-bit RGB or RGBA, `R8` becomes 8-bit grey. The float formats become
///   16-bit: linear light is clamped to 0–1 and encoded with the sRGB transfer function.
/// - Colours are tagged as sRGB. Alpha is straight, as PNG wants it; an image without a
///   translucent pixel is written without alpha.
///
/// # Errors
///
/// If the file cannot be created or written, or the image is not full-range RGB (8-bit sRGB or
/// linear floats). Nothing is left of the file then, and an existing one is untouched.
pub fn save_png(image: &Image, path: impl AsRef<Path>) -> Result<(), SaveError> {
    let mut file = NewFile::create(path.as_ref())?;
    write_png(image, &mut file)?;
    file.persist()?;
    Ok(())
}

/// Writes the first frame it is given as one PNG file, as [`save_png`] does, and ignores later
/// ones.
#[derive(Debug)]
#[must_use = "a sink that is not finished leaves no file"]
pub struct PngSink {
    file: NewFile,
}

impl PngSink {
    /// A sink for the file `path`.
    ///
    /// # Errors
    ///
    /// If the folder does not exist or takes no files, or `path` is taken by something else than
    /// a file.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Ok(Self {
            file: NewFile::create(path.as_ref())?,
        })
    }
}

impl FrameSink for PngSink {
    type Error = WriteError;
    /// The path of the file.
    type Output = PathBuf;

    fn frame_limit(&self) -> Option<u64> {
        Some(1)
    }

    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        if self.file.is_whole() {
            return Ok(());
        }
        write_png(frame.image(), &mut self.file)
    }

    fn finish(self) -> Result<PathBuf, WriteError> {
        self.file.persist()
    }
}

/// Writes all of `image` to a new file.
pub(crate) fn write_png(image: &Image, file: &mut NewFile) -> Result<(), WriteError> {
    let encoding = PngEncoding::of(image)?;
    file.append(|file| {
        let mut output = BufWriter::new(file);
        encoding.write(image, &mut output)?;
        output.flush()
    })
}
