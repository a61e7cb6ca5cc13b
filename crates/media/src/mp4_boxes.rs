//! The boxes of an MP4 file with one H.264 track (ISO/IEC 14496-12, -14 and -15).

use framefence::{FrameRate, Size};
use mp4_atom::{
    Atom as _, Avc1, Avcc, Co64, Codec, Colr, Dinf, Dref, Encode as _, Error, FourCC, Ftyp, Hdlr,
    Header, Mdat, Mdhd, Mdia, Minf, Moov, Mvhd, Pasp, Result, Stbl, Stco, Stsc, StscEntry, Stsd,
    Stss, Stsz, StszSamples, Stts, SttsEntry, Tkhd, Trak, Url, Visual, Vmhd,
};

/// Bytes of the length in front of each NAL unit of a sample.
pub(crate) const NAL_LENGTH_BYTES: u8 = 4;

/// What all samples have in common.
#[derive(Clone, Debug)]
pub(crate) struct TrackFormat {
    pub size: Size,
    pub frame_rate: FrameRate,
    /// The sequence parameter set, a NAL unit.
    pub sps: Vec<u8>,
    /// The picture parameter set, a NAL unit.
    pub pps: Vec<u8>,
}

/// Where each sample lies in the media data, which holds them in order and nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleTable {
    /// Four bytes a frame: all that an export has to remember.
    sizes: Vec<u32>,
    /// Indices of the samples that are key frames. A chunk begins with each, so that a player finds
    /// together what it decodes together.
    key_frames: Vec<u32>,
    /// Offset of each chunk, in bytes from the start of the media data.
    chunks: Vec<u64>,
    len_bytes: u64,
}

impl SampleTable {
    /// Adds the next sample, of this many bytes. The first is a key frame.
    pub(crate) fn push(&mut self, size_bytes: u32, is_key_frame: bool) {
        if is_key_frame {
            self.key_frames.push(self.sizes.len() as u32);
            self.chunks.push(self.len_bytes);
        }
        self.sizes.push(size_bytes);
        self.len_bytes += u64::from(size_bytes);
    }

    /// Bytes of all samples.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.len_bytes
    }
}

/// What stands before the media data in the file, the media data's own header included. All that
/// a player needs to know comes first, so that it can start before it has the whole file.
pub(crate) fn file_head(format: &TrackFormat, samples: &SampleTable) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    Ftyp {
        major_brand: FourCC::new(b"isom"),
        minor_version: 0x200,
        compatible_brands: [b"isom", b"iso2", b"avc1", b"mp41"]
            .map(FourCC::from)
            .to_vec(),
    }
    .encode(&mut head)?;
    let mdat = Header {
        kind: Mdat::KIND,
        size: Some(usize::try_from(samples.len_bytes).map_err(|_| Error::TooLarge(Mdat::KIND))?),
    };
    let mut mdat_header = Vec::new();
    mdat.encode(&mut mdat_header)?;

    // Chunks are found by their offsets in the file, so the movie box has to know its own length.
    let mut measured = Vec::new();
    movie(format, samples, 0)?.encode(&mut measured)?;
    let media_start = (head.len() + measured.len() + mdat_header.len()) as u64;
    movie(format, samples, media_start)?.encode(&mut head)?;
    head.extend(mdat_header);
    Ok(head)
}

/// The description of a movie whose media data starts at this offset in the file. Its length does
/// not depend on the offset.
fn movie(format: &TrackFormat, samples: &SampleTable, media_start: u64) -> Result<Moov> {
    // One unit of the time scale is 1/numerator of a second, so every frame lasts whole units.
    let timescale = format.frame_rate.numerator();
    let frame_duration = format.frame_rate.denominator();
    let duration = samples.sizes.len() as u64 * u64::from(frame_duration);
    let (width, height) = dimensions(format.size)?;
    let track = Trak {
        tkhd: Tkhd {
            track_id: 1,
            duration,
            enabled: true,
            in_movie: true,
            width: width.into(),
            height: height.into(),
            ..Tkhd::default()
        },
        mdia: Mdia {
            mdhd: Mdhd {
                timescale,
                duration,
                language: "und".to_owned(),
                ..Mdhd::default()
            },
            hdlr: Hdlr {
                handler: FourCC::new(b"vide"),
                name: "VideoHandler".to_owned(),
            },
            minf: Minf {
                vmhd: Some(Vmhd::default()),
                dinf: Dinf {
                    dref: Dref {
                        entries: vec![Url::default().into()],
                    },
                },
                stbl: sample_table(format, samples, media_start)?,
                ..Minf::default()
            },
        },
        ..Trak::default()
    };
    Ok(Moov {
        mvhd: Mvhd {
            timescale,
            duration,
            rate: 1.into(),
            volume: 1.into(),
            next_track_id: 2,
            ..Mvhd::default()
        },
        trak: vec![track],
        ..Moov::default()
    })
}

fn sample_table(format: &TrackFormat, samples: &SampleTable, media_start: u64) -> Result<Stbl> {
    let sample_count = samples.sizes.len().try_into();
    let sample_count = sample_count.map_err(|_| Error::TooLarge(Stsz::KIND))?;
    let (stco, co64) = chunk_offsets(samples, media_start);
    Ok(Stbl {
        stsd: Stsd {
            codecs: vec![Codec::Avc1(sample_entry(format)?)],
        },
        stts: Stts {
            entries: vec![SttsEntry {
                sample_count,
                sample_delta: format.frame_rate.denominator(),
            }],
        },
        stss: Some(Stss {
            entries: samples.key_frames.iter().map(|index| index + 1).collect(),
        }),
        stsc: Stsc {
            entries: samples_per_chunk(samples, sample_count),
        },
        stsz: Stsz {
            samples: StszSamples::Different {
                sizes: samples.sizes.clone(),
            },
        },
        stco,
        co64,
        ..Stbl::default()
    })
}

/// What the samples are: H.264, and BT.709 of limited range as the stream itself says too.
fn sample_entry(format: &TrackFormat) -> Result<Avc1> {
    const BT709: u16 = 1;
    let (width, height) = dimensions(format.size)?;
    let mut avcc = Avcc::new(&format.sps, &format.pps)?;
    avcc.length_size = NAL_LENGTH_BYTES;
    Ok(Avc1 {
        visual: Visual {
            data_reference_index: 1,
            width,
            height,
            ..Visual::default()
        },
        avcc,
        colr: Some(Colr::new(BT709, BT709, BT709, false)?),
        pasp: Some(Pasp::new(1, 1)?),
        ..Avc1::default()
    })
}

/// The offsets of all chunks in the file, in 64 bits where 32 may not do.
fn chunk_offsets(samples: &SampleTable, media_start: u64) -> (Option<Stco>, Option<Co64>) {
    // Half of what 32 bits hold, so that what stands before the media data fits as well.
    const MAX_LEN_BYTES: u64 = 1 << 31;
    let offsets = samples.chunks.iter().map(|offset| media_start + offset);
    if samples.len_bytes < MAX_LEN_BYTES {
        let entries = offsets.map(|offset| offset as u32).collect();
        (Some(Stco { entries }), None)
    } else {
        let entries = offsets.collect();
        (None, Some(Co64 { entries }))
    }
}

/// How many samples there are in each chunk, said where the number changes.
fn samples_per_chunk(samples: &SampleTable, sample_count: u32) -> Vec<StscEntry> {
    let ends = samples.key_frames.iter().skip(1).copied();
    let lengths = ends.chain([sample_count]).zip(&samples.key_frames);
    let mut entries: Vec<StscEntry> = Vec::new();
    for (first_chunk, (end, start)) in (1..).zip(lengths) {
        let samples_per_chunk = end - start;
        let last = entries.last().map(|entry| entry.samples_per_chunk);
        if last != Some(samples_per_chunk) {
            entries.push(StscEntry {
                first_chunk,
                samples_per_chunk,
                sample_description_index: 1,
            });
        }
    }
    entries
}

fn dimensions(size: Size) -> Result<(u16, u16)> {
    match (size.width.try_into(), size.height.try_into()) {
        (Ok(width), Ok(height)) => Ok((width, height)),
        _ => Err(Error::InvalidSize),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use mp4_atom::Decode as _;

    use super::*;

    fn format() -> TrackFormat {
        TrackFormat {
            size: Size::new(64, 48),
            frame_rate: FrameRate::new(30_000, 1001).expect("a rate"),
            sps: vec![0x67, 66, 0xC0, 30],
            pps: vec![0x68],
        }
    }

    /// The movie, the media data's header, and where the media data starts.
    fn read(head: &[u8]) -> (Moov, Header, u64) {
        let mut rest = Cursor::new(head);
        Ftyp::decode(&mut rest).expect("a file type");
        let movie = Moov::decode(&mut rest).expect("a movie");
        let media = Header::decode(&mut rest).expect("media data");
        assert_eq!(rest.position(), head.len() as u64, "nothing else");
        (movie, media, head.len() as u64)
    }

    #[test]
    fn media_of_many_gigabytes_takes_64_bits() {
        let mut samples = SampleTable::default();
        for index in 0..6 {
            samples.push(u32::MAX, index % 2 == 0);
        }
        let head = file_head(&format(), &samples).expect("a head");
        let (movie, media, start) = read(&head);
        assert_eq!(media.size, Some(6 * u32::MAX as usize));
        let table = &movie.trak[0].mdia.minf.stbl;
        assert_eq!(table.stco, None);
        let two = 2 * u64::from(u32::MAX);
        let offsets = &table.co64.as_ref().expect("64-bit offsets").entries;
        assert_eq!(offsets[..], [start, start + two, start + 2 * two]);
    }

    #[test]
    fn chunks_of_equal_length_are_said_once() {
        let mut samples = SampleTable::default();
        for index in 0..10 {
            samples.push(7, [0, 3, 6, 8].contains(&index));
        }
        let head = file_head(&format(), &samples).expect("a head");
        let (movie, media, start) = read(&head);
        assert_eq!(media.size, Some(70));
        let table = &movie.trak[0].mdia.minf.stbl;
        let runs: Vec<_> = table
            .stsc
            .entries
            .iter()
            .map(|entry| (entry.first_chunk, entry.samples_per_chunk))
            .collect();
        assert_eq!(runs, [(1, 3), (3, 2)]);
        let start = start as u32;
        let offsets = &table.stco.as_ref().expect("32-bit offsets").entries;
        assert_eq!(offsets[..], [start, start + 21, start + 42, start + 56]);
        let keys = &table.stss.as_ref().expect("key frames").entries;
        assert_eq!(keys[..], [1, 4, 7, 9]);
        assert_eq!(movie.mvhd.duration, 10_010);
    }
}
