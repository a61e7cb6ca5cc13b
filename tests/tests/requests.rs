//! What a renderer does not take it refuses with a sentence; what it takes it delivers whole.

use std::sync::{Arc, Mutex};

use framefence::{
    FrameRequest, OutputFormat, Outputs, PaintContext, Painter, PainterError, Region, Renderer,
    RendererOptions, Size, Time,
};
use framefence_tests::{Host, Pattern, gpu, validation_messages};

#[test]
fn each_bad_request_is_refused_in_words() {
    // A host's device of WebGPU's default limits: 8192 pixels a side, 8 colour attachments of 32
    // bytes a pixel together, buffers of 256 MiB.
    let gpu = Host::new().gpu();
    let size = Size::new(64, 32);
    let request = || FrameRequest::new(0, Time::ZERO, size);
    let with = |change: &dyn Fn(&mut FrameRequest)| {
        let mut request = request();
        change(&mut request);
        request
    };
    let region = |x, y, width, height| {
        let size = Size::new(width, height);
        request().with_region(Region { x, y, size })
    };
    let of_size = |width, height| FrameRequest::new(0, Time::ZERO, Size::new(width, height));
    let cases = [
        (of_size(0, 5), "a frame of 0x5 has no pixels"),
        (of_size(5, 0), "a frame of 5x0 has no pixels"),
        (
            of_size(8193, 1),
            "a target of 8193x1 is too large: this device allows up to 8192 pixels a side",
        ),
        (
            of_size(1, u32::MAX),
            "a target of 1x4294967295 is too large: this device allows up to 8192 pixels a side",
        ),
        (
            of_size(8192, 8192).with_format(OutputFormat::Rgba32F),
            "a frame of 1073741824 bytes is too large: this device allows buffers of up to \
             268435456 bytes",
        ),
        (
            region(60, 0, 5, 5),
            "the region 5x5 at 60,0 does not lie within a frame of 64x32",
        ),
        (
            region(0, 0, 0, 5),
            "the region 0x5 at 0,0 does not lie within a frame of 64x32",
        ),
        (
            region(u32::MAX, 0, 2, 2),
            "the region 2x2 at 4294967295,0 does not lie within a frame of 64x32",
        ),
        (
            with(&|request| request.outputs = Outputs::colors([])),
            "0 colour outputs were asked for: this device allows 1 to 8",
        ),
        (
            with(&|request| request.outputs = Outputs::colors([OutputFormat::R8; 9])),
            "9 colour outputs were asked for: this device allows 1 to 8",
        ),
        (
            with(&|request| request.outputs = Outputs::colors([OutputFormat::Rgba32F; 3])),
            "the outputs need 48 bytes a pixel: this device allows 32",
        ),
        (
            with(&|request| request.scale = 0.5),
            "not supported yet: a scale other than 1",
        ),
        (
            with(&|request| request.scale = f32::NAN),
            "not supported yet: a scale other than 1",
        ),
        (
            with(&|request| request.outputs.depth = true),
            "not supported yet: depth and id outputs",
        ),
        (
            with(&|request| request.outputs.ids = true),
            "not supported yet: depth and id outputs",
        ),
    ];
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let painter = Arc::new(Mutex::new(Pattern::default()));
    for (request, words) in cases {
        let error = renderer.submit(&painter, request.clone()).unwrap_err();
        assert_eq!(error.to_string(), words);
        let error = renderer
            .submit_now(&mut Pattern::default(), &request)
            .unwrap_err();
        assert_eq!(error.to_string(), words);
    }
    assert_eq!(renderer.stats().requested, 0);
    let good = renderer.submit(&painter, request()).unwrap().wait();
    Pattern::assert_shown(&good.unwrap());
    assert_eq!(validation_messages(), Vec::<String>::new());
}

#[test]
fn a_region_of_a_frame_larger_than_any_target_is_delivered() {
    let gpu = gpu();
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    let side = gpu.device().limits().max_texture_dimension_2d * 2;
    let region = Region {
        x: side - 8,
        y: side - 8,
        size: Size::new(8, 8),
    };
    let request = FrameRequest::new(4, Time::ZERO, Size::new(side, side)).with_region(region);
    let pending = renderer
        .submit_now(&mut Pattern::default(), &request)
        .unwrap();
    let frame = pending.wait().unwrap();
    for (y, row) in (region.y..).zip(frame.image().plane().rows()) {
        let expected = (region.x..side).flat_map(|x| Pattern::pixel(4, x, y));
        assert_eq!(row, expected.collect::<Vec<u8>>());
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}

/// Draws the pattern into every colour target.
struct Everywhere(Pattern);

impl Painter for Everywhere {
    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        let number = context.view.number;
        for (number, target) in (number..).zip(context.targets.colors) {
            let place = (&target.view, target.format);
            self.0
                .draw(context.gpu.device(), context.encoder, place, [0, 0], number);
        }
        Ok(())
    }
}

#[test]
fn all_outputs_of_a_frame_are_delivered_together() {
    let gpu = gpu();
    let renderer = Renderer::new(&gpu, RendererOptions::default()).unwrap();
    // A width at which the rows of all formats are padded.
    let size = Size::new(37, 11);
    let mut request = FrameRequest::new(20, Time::ZERO, size);
    request.outputs = Outputs::colors([
        OutputFormat::Rgba8,
        OutputFormat::Rgba16F,
        OutputFormat::Bgra8,
    ]);
    let mut painter = Everywhere(Pattern::default());
    let frame = renderer
        .submit_now(&mut painter, &request)
        .unwrap()
        .wait()
        .unwrap();

    let [rgba, half, bgra] = frame.images() else {
        panic!("{} images", frame.images().len());
    };
    assert_eq!(
        [rgba.format(), half.format(), bgra.format()],
        [
            OutputFormat::Rgba8,
            OutputFormat::Rgba16F,
            OutputFormat::Bgra8
        ]
    );
    assert_eq!([rgba.size(), half.size(), bgra.size()], [size; 3]);
    assert_eq!(Pattern::wrong_pixels(20, &rgba.plane()), 0);
    for y in 0..size.height {
        let expected = |number| (0..size.width).map(move |x| Pattern::pixel(number, x, y));
        let decode = |sample: &[u8]| {
            let value = half::f16::from_le_bytes([sample[0], sample[1]]);
            (value.to_f32() * 255.0).round() as u8
        };
        let halves: Vec<u8> = half.plane().row(y).chunks(2).map(decode).collect();
        assert_eq!(
            halves,
            expected(21).flatten().collect::<Vec<u8>>(),
            "row {y}"
        );
        let swapped = expected(22).flat_map(|[r, g, b, a]| [b, g, r, a]);
        assert_eq!(bgra.plane().row(y), swapped.collect::<Vec<u8>>(), "row {y}");
    }
    assert_eq!(validation_messages(), Vec::<String>::new());
}
