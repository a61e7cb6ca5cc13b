use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use framefence::pixel::{I420Planes, pack_i420};
use framefence::{Frame, FrameRate, FrameSink, Size};

use crate::h264_encoder::{self, EncodeError, H264Encoder, H264Settings};
use crate::h264_limits;
use crate::mp4_boxes::{self, SampleTable, TrackFormat};
use crate::new_file::NewFile;
use crate::{OpenError, WriteError};

/// Types of NAL units (ITU-T H.264, table 7-1).
const NAL_SPS: u8 = 7;
const NAL_PPS: u8 = 8;

/// How H.264 video is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mp4Options {
    quantizer: u8,
    key_frame_interval: Duration,
}

impl Default for Mp4Options {
    /// Quantizer 20, a key frame every 2 seconds.
    fn default() -> Self {
        Self {
            quantizer: 20,
            key_frame_interval: Duration::from_secs(2),
        }
    }
}

impl Mp4Options {
    /// The quantizers that can be asked for.
    pub const QUANTIZERS: RangeInclusive<u8> = h264_encoder::QUANTIZERS;

    /// How coarsely pictures are coded (H.264's QP), from 10, the finest, to 51. Every picture gets
    /// the same, so that quality is constant and the bit rate follows from what there is to see:
    /// six more halve it, very roughly.
    #[must_use]
    pub fn with_quantizer(self, quantizer: u8) -> Self {
        Self { quantizer, ..self }
    }

    /// The longest time from one key frame to the next, where players can begin to play. Rounded to
    /// frames, at least one. A cut gets a key frame of its own, unless the last was less than 16
    /// frames before.
    #[must_use]
    pub fn with_key_frame_interval(self, key_frame_interval: Duration) -> Self {
        Self {
            key_frame_interval,
            ..self
        }
    }
}

/// Writes frames as H.264 video in an MP4 file: 8-bit Y'CbCr 4:2:0, BT.709, limited range, chroma
/// sited left, made by [`pack_i420`] and tagged so in the stream and in the file.
///
/// Takes 8-bit RGB of any channel order. The video has no alpha: frames are composited over black.
/// Sides are even, of 16 pixels up to 36,864 macroblocks of 16×16 pixels a frame, and there are at
/// most 60 frames per second; what is not so is refused with what would be.
///
/// Constrained Baseline profile, which everything plays; the level is the lowest for the size and
/// the rate, whatever the bit rate. Every frame written is in the file and lasts exactly as long as
/// the frame rate says. The same frames give the same bytes. The file's index stands before the
/// pictures, so that players can start before they have all of it.
///
/// Pictures go to disk as they are encoded; what is kept in memory is 4 bytes for each. Finishing
/// moves them within the file, to make room for the index.
#[derive(Debug)]
#[must_use = "a sink that is not finished leaves no file"]
pub struct Mp4Sink {
    file: NewFile,
    frame_rate: FrameRate,
    options: Mp4Options,
    /// Since the first frame, which settles the size.
    video: Option<Video>,
    /// The frame being written; kept for the next one.
    i420: Vec<u8>,
    /// What it was encoded to; kept for the next one.
    sample: Vec<u8>,
}

#[derive(Debug)]
struct Video {
    format: TrackFormat,
    encoder: H264Encoder,
    samples: SampleTable,
}

impl Mp4Sink {
    /// A sink for the file `path`, which plays at `frame_rate`.
    ///
    /// # Errors
    ///
    /// If the frame rate or an option is out of range, the folder does not exist or takes no files,
    /// or `path` is taken by something else than a file.
    pub fn create(
        path: impl AsRef<Path>,
        frame_rate: FrameRate,
        options: Mp4Options,
    ) -> Result<Self, OpenError> {
        h264_limits::check_frame_rate(frame_rate)?;
        if !Mp4Options::QUANTIZERS.contains(&options.quantizer) {
            return Err(OpenError::Quantizer {
                quantizer: options.quantizer,
                allowed: Mp4Options::QUANTIZERS,
            });
        }
        Ok(Self {
            file: NewFile::create(path.as_ref())?,
            frame_rate,
            options,
            video: None,
            i420: Vec::new(),
            sample: Vec::new(),
        })
    }

    /// Makes the Y'CbCr picture of a frame of the video's size.
    fn pack(&mut self, frame: &Frame) -> Result<(), WriteError> {
        let image = frame.image();
        let size = image.size();
        match &self.video {
            None => h264_limits::check_size(size, self.frame_rate)?,
            Some(video) if video.format.size == size => {}
            Some(video) => {
                return Err(WriteError::SizeChanged {
                    number: frame.number(),
                    size,
                    video_size: video.format.size,
                    path: self.file.path().to_owned(),
                });
            }
        }
        self.i420.resize(I420Planes::len_bytes(size), 0);
        pack_i420(
            image.plane(),
            image.format(),
            image.color(),
            I420Planes::split(&mut self.i420, size),
        )
        .map_err(WriteError::UnsupportedByMp4)?;
        Ok(())
    }
}

impl FrameSink for Mp4Sink {
    type Error = WriteError;
    /// The path of the file.
    type Output = PathBuf;

    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        self.pack(frame)?;
        let Self {
            file,
            frame_rate,
            options,
            video,
            i420,
            sample,
        } = self;
        let size = frame.image().size();
        file.append_made(|mut file, path| {
            let encode_error = |source| WriteError::Encode {
                number: frame.number(),
                path: path.to_owned(),
                source,
            };
            let io_error = |source| WriteError::Io {
                path: path.to_owned(),
                source,
            };
            let video = match video {
                Some(video) => video,
                None => {
                    video.insert(Video::begin(size, *frame_rate, options).map_err(encode_error)?)
                }
            };
            let planes = I420Planes::split(i420, size);
            let is_key_frame = video.encode(planes, sample).map_err(encode_error)?;
            file.write_all(sample).map_err(io_error)?;
            video.samples.push(sample.len() as u32, is_key_frame);
            Ok(())
        })
    }

    fn finish(mut self) -> Result<PathBuf, WriteError> {
        if let Some(video) = &self.video {
            self.file.append(|file| video.complete(file))?;
        }
        self.file.persist()
    }
}

impl Video {
    fn begin(size: Size, frame_rate: FrameRate, options: &Mp4Options) -> Result<Self, EncodeError> {
        let encoder = H264Encoder::new(&H264Settings {
            size,
            frame_rate,
            quantizer: options.quantizer,
            key_frame_interval: frames_in(options.key_frame_interval, frame_rate),
        })?;
        Ok(Self {
            format: TrackFormat {
                size,
                frame_rate,
                sps: Vec::new(),
                pps: Vec::new(),
            },
            encoder,
            samples: SampleTable::default(),
        })
    }

    /// Encodes the next picture to `sample`, and says whether it is a key frame.
    fn encode(
        &mut self,
        planes: I420Planes<'_>,
        sample: &mut Vec<u8>,
    ) -> Result<bool, EncodeError> {
        let picture = self.encoder.encode(planes)?;
        sample.clear();
        for unit in picture.nal_units() {
            // The low five bits of its first byte are a NAL unit's type. Parameter sets stand in
            // the file's index, and are the same each time.
            match unit.first().map(|header| header & 0x1F) {
                Some(NAL_SPS) => unit.clone_into(&mut self.format.sps),
                Some(NAL_PPS) => unit.clone_into(&mut self.format.pps),
                _ => {
                    sample.extend((unit.len() as u32).to_be_bytes());
                    sample.extend(unit);
                }
            }
        }
        Ok(picture.is_key_frame())
    }

    /// Makes a whole file of one that holds all samples.
    fn complete(&self, file: &File) -> io::Result<()> {
        let head = mp4_boxes::file_head(&self.format, &self.samples).map_err(io::Error::other)?;
        prepend(file, &head, self.samples.len_bytes())
    }
}

/// The frames that take about as long as `interval`, at least one.
fn frames_in(interval: Duration, frame_rate: FrameRate) -> u32 {
    let frames = interval.as_secs_f64() * f64::from(frame_rate.numerator())
        / f64::from(frame_rate.denominator());
    // OpenH264 takes the largest `u32` for "none but the first".
    (frames.round() as u32).clamp(1, i32::MAX as u32)
}

/// Moves all `len_bytes` of a file back, and writes `head` in front of them.
fn prepend(mut file: &File, head: &[u8], len_bytes: u64) -> io::Result<()> {
    let mut block = vec![0; 1 << 20];
    let mut end = len_bytes;
    // From the end, so that nothing is overwritten before it was read.
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let block = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        file.seek(SeekFrom::Start(start + head.len() as u64))?;
        file.write_all(block)?;
        end = start;
    }
    file.seek(SeekFrom::Start(0))?;
    file.write_all(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_front_moves_the_rest_whole() {
        const BLOCK: usize = 1 << 20;
        for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7] {
            let body: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
            for head in [vec![0xAA; 3], vec![0xBB; BLOCK + 5]] {
                let mut file = tempfile::tempfile().expect("a file");
                file.write_all(&body).expect("written");
                prepend(&file, &head, len as u64).expect("room is made");
                let mut found = Vec::new();
                file.rewind().expect("a seek");
                file.read_to_end(&mut found).expect("read");
                assert!(found == [&head[..], &body].concat(), "{len} bytes");
            }
        }
    }
}
