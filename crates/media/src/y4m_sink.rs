use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use framefence::pixel::{I420Planes, pack_i420};
use framefence::{Frame, FrameRate, FrameSink, Size};

use crate::new_file::NewFile;
use crate::{OpenError, WriteError};

/// Writes frames as uncompressed video (YUV4MPEG2): 8-bit Y'CbCr 4:2:0, BT.709, limited range,
/// chroma sited left, made by [`pack_i420`] and tagged so.
///
/// Takes 8-bit RGB of any channel order. Y4M has no alpha: frames are composited over black. It
/// has no tags for primaries and transfer either; players take HD video to be BT.709.
#[derive(Debug)]
#[must_use = "a sink that is not finished leaves no file"]
pub struct Y4mSink {
    file: NewFile,
    frame_rate: FrameRate,
    /// Since the first frame, which settles the size.
    video: Option<Video>,
    /// The frame being written; kept for the next one.
    i420: Vec<u8>,
}

struct Video {
    size: Size,
    encoder: y4m::Encoder<File>,
}

impl Y4mSink {
    /// A sink for the file `path`, which plays at `frame_rate`.
    ///
    /// # Errors
    ///
    /// If the folder does not exist or takes no files, or `path` is taken by something else than
    /// a file.
    pub fn create(path: impl AsRef<Path>, frame_rate: FrameRate) -> Result<Self, OpenError> {
        Ok(Self {
            file: NewFile::create(path.as_ref())?,
            frame_rate,
            video: None,
            i420: Vec::new(),
        })
    }
}

impl FrameSink for Y4mSink {
    type Error = WriteError;
    /// The path of the file.
    type Output = PathBuf;

    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        let Self {
            file,
            frame_rate,
            video,
            i420,
        } = self;
        let image = frame.image();
        let size = image.size();
        if let Some(video) = video
            && video.size != size
        {
            return Err(WriteError::SizeChanged {
                number: frame.number(),
                size,
                video_size: video.size,
                path: file.path().to_owned(),
            });
        }
        i420.resize(I420Planes::len_bytes(size), 0);
        pack_i420(
            image.plane(),
            image.format(),
            image.color(),
            I420Planes::split(i420, size),
        )?;
        let I420Planes { y, cb, cr } = I420Planes::split(i420, size);
        file.append(|file| {
            let video = match video {
                Some(video) => video,
                None => video.insert(Video::begin(file, size, *frame_rate)?),
            };
            let frame = y4m::Frame::new([y, cb, cr], None);
            video.encoder.write_frame(&frame).map_err(io_error)
        })
    }

    fn finish(self) -> Result<PathBuf, WriteError> {
        self.file.persist()
    }
}

impl Video {
    /// Writes the file's header.
    fn begin(file: &File, size: Size, frame_rate: FrameRate) -> io::Result<Self> {
        let frame_rate = y4m::Ratio::new(
            frame_rate.numerator() as usize,
            frame_rate.denominator() as usize,
        );
        let range = y4m::VendorExtensionString::new(b"COLORRANGE=LIMITED".to_vec())
            .map_err(io::Error::other)?;
        // Needs no buffer of its own: behind the header, each write is a whole plane.
        let encoder = y4m::encode(size.width as usize, size.height as usize, frame_rate)
            .with_colorspace(y4m::Colorspace::C420mpeg2)
            .append_vendor_extension(range)
            .write_header(file.try_clone()?)
            .map_err(io_error)?;
        Ok(Self { size, encoder })
    }
}

fn io_error(error: y4m::Error) -> io::Error {
    match error {
        y4m::Error::IoError(source) => source,
        other => io::Error::other(other),
    }
}

impl std::fmt::Debug for Video {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Video")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}
