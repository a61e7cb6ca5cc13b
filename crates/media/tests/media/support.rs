//! Frames to write, and folders to write them to.

use std::fs;
use std::path::Path;

use framefence::pixel::{I420Planes, PlaneLayout, pack_i420};
use framefence::{
    ColorSpec, Frame, FrameMemory, FrameRate, HostPool, Image, OutputFormat, Size, Time, Timings,
};

pub(crate) fn frame(number: u64, image: Image) -> Frame {
    Frame::new(number, Time::ZERO, vec![image], Timings::default())
}

/// An image whose rows are `padding_bytes` longer than their pixels, and padded with noise.
pub(crate) fn image<const N: usize>(
    format: OutputFormat,
    color: ColorSpec,
    size: Size,
    padding_bytes: usize,
    pixel_at: impl Fn(u32, u32) -> [u8; N],
) -> Image {
    assert_eq!(N, format.bytes_per_pixel() as usize);
    let row_bytes = size.width as usize * N;
    let layout = PlaneLayout {
        offset_bytes: 0,
        stride_bytes: row_bytes + padding_bytes,
        row_bytes,
        width: size.width,
        height: size.height,
    };
    let mut bytes = Vec::new();
    for y in 0..size.height {
        for x in 0..size.width {
            bytes.extend(pixel_at(x, y));
        }
        if y + 1 < size.height {
            bytes.extend((0..padding_bytes).map(|index| 0xA7 ^ index as u8));
        }
    }
    let mut memory = HostPool::default().acquire(bytes.len());
    memory.copy_from_slice(&bytes);
    Image::new(
        format,
        color,
        size,
        vec![layout],
        FrameMemory::Owned(memory),
    )
}

/// An opaque picture in which every pixel differs from its neighbours.
pub(crate) fn picture(size: Size, seed: u32) -> Image {
    image(OutputFormat::Rgba8, ColorSpec::SRGB, size, 4, |x, y| {
        let [r, g, b, _] = noise(x, y, seed);
        [r, g, b, 255]
    })
}

/// The Y'CbCr planes of an image, one after another.
pub(crate) fn packed(image: &Image) -> Vec<u8> {
    let mut i420 = vec![0; I420Planes::len_bytes(image.size())];
    let planes = I420Planes::split(&mut i420, image.size());
    pack_i420(image.plane(), image.format(), image.color(), planes).expect("8-bit RGB");
    i420
}

pub(crate) fn noise(x: u32, y: u32, seed: u32) -> [u8; 4] {
    let word = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77) ^ seed << 20;
    let word = (word ^ word >> 15).wrapping_mul(0xC2B2_AE3D);
    (word ^ word >> 13).to_le_bytes()
}

pub(crate) fn frame_rate(text: &str) -> FrameRate {
    text.parse().expect("a frame rate")
}

/// The names of all files in `folder`, hidden and temporary ones included, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("a Unicode name"))
        .collect();
    names.sort();
    names
}
