//! Draws scenes on the GPU and compares pictures.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use framefence::{
    FrameRate, FrameRequest, Gpu, OutputFormat, Region, Renderer, RendererOptions, Size, Time,
};
use framefence_compositor::{
    Animated, Color, Compositor, Content, GradientStop, ImageFile, Layer, LinearGradient, Scene,
    Solid,
};
use gif::{Encoder, Frame, Repeat};
use image::{ImageBuffer, Rgba, RgbaImage};

/// The GPU of all tests, under validation layers.
pub(crate) fn gpu() -> &'static Gpu {
    static GPU: OnceLock<Gpu> = OnceLock::new();
    GPU.get_or_init(framefence_tests::gpu)
}

/// The scene's frame at `time`, whole; its bytes are as delivered: premultiplied.
pub(crate) fn render_at(scene: &Scene, base_dir: &Path, time: Time) -> RgbaImage {
    let size = Size::new(scene.canvas.width, scene.canvas.height);
    let mut compositor = Compositor::new(gpu(), scene.clone(), base_dir).unwrap();
    render_region(&mut compositor, size, Region::whole(size), time)
}

/// The first frame of a scene without image files.
pub(crate) fn render(scene: &Scene) -> RgbaImage {
    render_at(scene, Path::new(""), Time::ZERO)
}

pub(crate) fn render_region(
    compositor: &mut Compositor,
    size: Size,
    region: Region,
    time: Time,
) -> RgbaImage {
    draw_region(&renderer(), compositor, size, region, time)
}

/// One for many frames: each has a thread of its own.
pub(crate) fn renderer() -> Renderer {
    Renderer::new(gpu(), RendererOptions::default()).unwrap()
}

pub(crate) fn draw_region(
    renderer: &Renderer,
    compositor: &mut Compositor,
    size: Size,
    region: Region,
    time: Time,
) -> RgbaImage {
    let request = FrameRequest::new(0, time, size)
        .with_format(OutputFormat::Rgba8)
        .with_region(region);
    let frame = renderer
        .submit_now(compositor, &request)
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(
        framefence_tests::validation_messages(),
        Vec::<String>::new()
    );
    let plane = frame.image().plane();
    let bytes = (0..region.size.height)
        .flat_map(|row| plane.row(row).iter().copied())
        .collect();
    ImageBuffer::from_raw(region.size.width, region.size.height, bytes).unwrap()
}

/// One second of an opaque black canvas with these layers.
pub(crate) fn scene(width: u32, height: u32, layers: Vec<Layer>) -> Scene {
    let mut scene = Scene::new(
        width,
        height,
        FrameRate::new(25, 1).unwrap(),
        Time::from_ratio(1, 1),
    );
    scene.layers = layers;
    scene
}

/// The same on a transparent canvas.
pub(crate) fn transparent_scene(width: u32, height: u32, layers: Vec<Layer>) -> Scene {
    let mut scene = scene(width, height, layers);
    scene.canvas.background = Color::TRANSPARENT.into();
    scene
}

pub(crate) fn solid(width: f64, height: f64, color: Color) -> Layer {
    Layer::new(Content::Solid(Solid {
        size: Some([width, height].into()),
        color: color.into(),
    }))
}

pub(crate) fn gradient(
    size: [f64; 2],
    start: [f64; 2],
    end: [f64; 2],
    stops: &[(f64, Color)],
) -> Layer {
    let stops = stops
        .iter()
        .map(|&(offset, color)| GradientStop {
            offset: offset.into(),
            color: color.into(),
        })
        .collect();
    Layer::new(Content::LinearGradient(LinearGradient {
        size: Some(size.into()),
        start: start.into(),
        end: end.into(),
        stops,
    }))
}

pub(crate) fn picture(path: impl AsRef<Path>) -> Layer {
    Layer::new(Content::Image(ImageFile {
        path: path.as_ref().to_owned(),
    }))
}

pub(crate) fn at(x: f64, y: f64, layer: Layer) -> Layer {
    Layer {
        position: Some([x, y].into()),
        ..layer
    }
}

pub(crate) fn rotated(degrees: f64, layer: Layer) -> Layer {
    Layer {
        rotation: degrees.into(),
        ..layer
    }
}

pub(crate) fn scaled(x: f64, y: f64, layer: Layer) -> Layer {
    Layer {
        scale: [x, y].into(),
        ..layer
    }
}

/// The layer with something else about it.
pub(crate) fn with(mut layer: Layer, change: impl FnOnce(&mut Layer)) -> Layer {
    change(&mut layer);
    layer
}

pub(crate) fn faded(opacity: impl Into<Animated<f64>>, layer: Layer) -> Layer {
    Layer {
        opacity: opacity.into(),
        ..layer
    }
}

/// How far two pictures of the same size are apart, in code values of all channels.
pub(crate) struct Difference {
    pub(crate) max: u8,
    pub(crate) mean: f64,
    /// Where the largest difference is.
    at: (u32, u32),
}

impl Difference {
    pub(crate) fn between(actual: &RgbaImage, expected: &RgbaImage) -> Self {
        Self::where_(actual, expected, |_, _| true)
    }

    /// The difference among the pixels that `counts` holds for.
    pub(crate) fn where_(
        actual: &RgbaImage,
        expected: &RgbaImage,
        counts: impl Fn(u32, u32) -> bool,
    ) -> Self {
        assert_eq!(actual.dimensions(), expected.dimensions());
        let (mut max, mut at, mut sum, mut count) = (0, (0, 0), 0.0, 0_u32);
        for (x, y, pixel) in actual.enumerate_pixels() {
            if !counts(x, y) {
                continue;
            }
            for (actual, expected) in pixel.0.iter().zip(expected.get_pixel(x, y).0) {
                let difference = actual.abs_diff(expected);
                sum += f64::from(difference);
                count += 1;
                if difference > max {
                    (max, at) = (difference, (x, y));
                }
            }
        }
        assert!(count > 0, "no pixel was compared");
        Self {
            max,
            mean: sum / f64::from(count),
            at,
        }
    }

    #[track_caller]
    pub(crate) fn assert_within(&self, max: u8, mean: f64, what: impl fmt::Display) {
        let (x, y) = self.at;
        assert!(
            self.max <= max && self.mean <= mean,
            "{what}: differs by {} at {x},{y} and by {:.3} in the mean; allowed are {max} and {mean}",
            self.max,
            self.mean
        );
    }
}

/// A picture with fine and coarse detail in all channels.
pub(crate) fn test_card(width: u32, height: u32) -> RgbaImage {
    ImageBuffer::from_fn(width, height, |x, y| {
        let stripes = if (x / 2 + y / 3) % 2 == 0 { 60 } else { 0 };
        Rgba([
            (x * 195 / width + stripes) as u8,
            (y * 195 / height + stripes) as u8,
            (255 - x * 255 / width) as u8,
            255,
        ])
    })
}

/// Writes an animation of frames in one colour each, with their delays in hundredths of a second.
pub(crate) fn save_gif(
    path: &Path,
    (width, height): (u16, u16),
    repeat: Repeat,
    frames: &[(u16, [u8; 3])],
) {
    let palette: Vec<u8> = frames.iter().flat_map(|(_, color)| *color).collect();
    let file = File::create(path).unwrap();
    let mut encoder = Encoder::new(file, width, height, &palette).unwrap();
    encoder.set_repeat(repeat).unwrap();
    for (index, &(delay, _)) in (0..).zip(frames) {
        let frame = Frame {
            delay,
            width,
            height,
            buffer: vec![index; usize::from(width) * usize::from(height)].into(),
            ..Frame::default()
        };
        encoder.write_frame(&frame).unwrap();
    }
}
