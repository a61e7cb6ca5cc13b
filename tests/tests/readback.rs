//! Pixels arrive as they were drawn, at every width and whatever the padding.

use std::sync::{Arc, Mutex};

use framefence::{FrameRequest, OutputFormat, Region, Renderer, RendererOptions, Size, Time};
use framefence_tests::{Pattern, gpu, validation_messages};

#[test]
fn every_width_from_1_to_257_is_byte_exact() {
    let gpu = gpu();
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let painter = Arc::new(Mutex::new(Pattern::default()));
    for width in 1..=257 {
        // Odd heights, all different from the width before.
        let size = Size::new(width, 1 + 2 * (width % 7));
        let number = u64::from(width);
        let request = FrameRequest::new(number, Time::ZERO, size);
        let frame = renderer.submit(&painter, request).unwrap().wait().unwrap();
        let plane = frame.image().plane();
        assert_eq!((plane.width, plane.height), (size.width, size.height));
        for (y, row) in plane.rows().enumerate() {
            let expected: Vec<u8> = (0..width)
                .flat_map(|x| Pattern::pixel(number, x, y as u32))
                .collect();
            assert_eq!(row, expected, "row {y} of {size}");
        }
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_wide_frame_is_byte_exact_to_its_last_column() {
    let gpu = gpu();
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = FrameRequest::new(5, Time::ZERO, Size::new(2500, 3));
    let frame = renderer.submit(&painter, request).unwrap().wait().unwrap();
    Pattern::assert_shown(&frame);
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_region_shows_its_part_of_the_frame() {
    let gpu = gpu();
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let region = Region {
        x: 13,
        y: 7,
        size: Size::new(21, 5),
    };
    let request = FrameRequest::new(3, Time::ZERO, Size::new(64, 32)).with_region(region);
    let frame = renderer.submit(&painter, request).unwrap().wait().unwrap();
    for (y, row) in frame.image().plane().rows().enumerate() {
        let expected: Vec<u8> = (0..21)
            .flat_map(|x| Pattern::pixel(3, x + 13, y as u32 + 7))
            .collect();
        assert_eq!(row, expected, "row {y}");
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn channel_order_follows_the_format() {
    let gpu = gpu();
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let painter = Arc::new(Mutex::new(Pattern::default()));
    let request = |format| FrameRequest::new(9, Time::ZERO, Size::new(5, 3)).with_format(format);
    let rgba = renderer
        .submit(&painter, request(OutputFormat::Rgba8))
        .unwrap()
        .wait()
        .unwrap();
    let bgra = renderer
        .submit(&painter, request(OutputFormat::Bgra8))
        .unwrap()
        .wait()
        .unwrap();
    let swapped: Vec<u8> = { bgra.image().plane().row(2) }
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[2], pixel[1], pixel[0], pixel[3]])
        .collect();
    assert_eq!(rgba.image().plane().row(2), swapped);
    let half = renderer
        .submit(&painter, request(OutputFormat::Rgba16F))
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(half.image().plane().row_bytes, 5 * 8);
    assert_eq!(validation_messages(), Vec::<String>::new());
}
