//! What the compositor draws into, from which files, and what it refuses.

use std::fs;
use std::path::Path;

use framefence::{
    FrameError, FrameRequest, OutputFormat, Outputs, Region, Renderer, RendererOptions, Size, Time,
};
use framefence_compositor::{
    Color, Compositor, CompositorError, ImageProblem, LoadImageError, PaintError, Scene,
};
use image::{Rgba, RgbaImage};

use crate::render::{at, gpu, picture, render, render_at, render_region, scaled, scene, solid};
use crate::scene_errors::message;

fn one_color() -> Scene {
    scene(4, 2, vec![solid(4.0, 2.0, Color::rgb(10, 20, 30))])
}

#[test]
fn channels_follow_the_format() {
    let mut compositor = Compositor::new(gpu(), one_color(), "").unwrap();
    let renderer = Renderer::new(gpu(), RendererOptions::default()).unwrap();
    for (format, expected) in [
        (OutputFormat::Rgba8, [10, 20, 30, 255]),
        (OutputFormat::Bgra8, [30, 20, 10, 255]),
    ] {
        let request = FrameRequest::new(0, Time::ZERO, Size::new(4, 2)).with_format(format);
        let frame = renderer
            .submit_now(&mut compositor, &request)
            .unwrap()
            .wait()
            .unwrap();
        for row in 0..2 {
            for pixel in frame.image().plane().row(row).chunks_exact(4) {
                assert_eq!(pixel, expected, "{format}");
            }
        }
    }
}

#[test]
fn every_colour_target_shows_the_scene() {
    let mut compositor = Compositor::new(gpu(), one_color(), "").unwrap();
    let renderer = Renderer::new(gpu(), RendererOptions::default()).unwrap();
    let mut request = FrameRequest::new(0, Time::ZERO, Size::new(4, 2));
    request.outputs = Outputs::colors([OutputFormat::Bgra8, OutputFormat::Rgba8]);
    let frame = renderer
        .submit_now(&mut compositor, &request)
        .unwrap()
        .wait()
        .unwrap();
    let first_pixels: Vec<_> = frame
        .images()
        .iter()
        .map(|image| &image.plane().row(1)[..4])
        .collect();
    assert_eq!(first_pixels, [[30, 20, 10, 255], [10, 20, 30, 255]]);
}

/// Thinner than anything that 8 bits can show, a layer leaves the pixels as they are.
#[test]
fn layers_without_extent_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    RgbaImage::from_pixel(4, 4, Rgba([255; 4]))
        .save(folder.path().join("white.png"))
        .unwrap();
    for scale in [0.0, 1e-300, 1e-9] {
        let layers = vec![
            solid(4.0, 2.0, Color::rgb(10, 20, 30)),
            scaled(scale, 1.0, picture("white.png")),
        ];
        let frame = render_at(&scene(4, 2, layers), folder.path(), Time::ZERO);
        assert!(
            frame.pixels().all(|pixel| pixel.0 == [10, 20, 30, 255]),
            "{scale}"
        );
    }
}

#[test]
fn formats_that_would_blend_otherwise_are_refused() {
    let mut compositor = Compositor::new(gpu(), one_color(), "").unwrap();
    let renderer = Renderer::new(gpu(), RendererOptions::default()).unwrap();
    for format in [
        OutputFormat::Rgba8Srgb,
        OutputFormat::Bgra8Srgb,
        OutputFormat::Rgba16F,
        OutputFormat::R8,
    ] {
        let request = FrameRequest::new(0, Time::ZERO, Size::new(4, 2)).with_format(format);
        let error = renderer
            .submit_now(&mut compositor, &request)
            .unwrap()
            .wait()
            .unwrap_err();
        let FrameError::Painter { source: error } = error else {
            panic!("{format}: {error}");
        };
        assert!(
            matches!(
                error.downcast_ref(),
                Some(PaintError::UnsupportedFormat { .. })
            ),
            "{format}: {error}"
        );
        assert!(
            error
                .to_string()
                .ends_with("it can draw into [Rgba8Unorm, Bgra8Unorm]"),
            "{error}"
        );
    }
}

/// A frame of other proportions shows all of the canvas, in the middle.
#[test]
fn the_canvas_fits_into_the_frame() {
    let mut scene = one_color();
    scene.canvas.background = Color::rgb(200, 0, 0).into();
    let mut compositor = Compositor::new(gpu(), scene, "").unwrap();
    let size = Size::new(24, 8);
    let frame = render_region(&mut compositor, size, Region::whole(size), Time::ZERO);
    for (x, _, pixel) in frame.enumerate_pixels() {
        let expected = match x {
            4..20 => [10, 20, 30, 255],
            _ => [200, 0, 0, 255],
        };
        assert_eq!(pixel.0, expected, "column {x}");
    }
}

#[test]
fn more_layers_than_the_buffer_held_before_are_drawn() {
    let marks = (0..100)
        .map(|column| {
            let color = Color::rgb(column as u8 + 100, 0, 0);
            at(f64::from(column) + 0.5, 0.5, solid(1.0, 1.0, color))
        })
        .collect();
    let frame = render(&scene(100, 1, marks));
    for (x, _, pixel) in frame.enumerate_pixels() {
        assert_eq!(pixel[0], x as u8 + 100);
    }
}

#[test]
fn another_scene_keeps_the_images_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("red.png");
    RgbaImage::from_pixel(4, 2, Rgba([255, 0, 0, 255]))
        .save(&path)
        .unwrap();
    let first = scene(4, 2, vec![picture("red.png")]);
    let mut compositor = Compositor::new(gpu(), first.clone(), folder.path()).unwrap();

    let broken = scene(4, 2, vec![picture("missing.png")]);
    assert!(compositor.set_scene(gpu(), broken).is_err());
    assert_eq!(compositor.scene(), &first);

    // The file is not read again.
    fs::remove_file(&path).unwrap();
    let second = scene(
        4,
        2,
        vec![picture("red.png"), solid(2.0, 2.0, Color::WHITE)],
    );
    compositor.set_scene(gpu(), second).unwrap();
    let size = Size::new(4, 2);
    let frame = render_region(&mut compositor, size, Region::whole(size), Time::ZERO);
    assert_eq!(frame.get_pixel(0, 0).0, [255, 0, 0, 255]);
    assert_eq!(frame.get_pixel(2, 1).0, [255; 4]);
}

#[test]
fn an_image_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.jpg"), "").unwrap();
    let layers = vec![solid(1.0, 1.0, Color::WHITE), picture("empty.jpg")];
    let error = Compositor::new(gpu(), scene(4, 2, layers), folder.path()).unwrap_err();
    assert!(matches!(
        error,
        CompositorError::Image {
            ref place,
            source: LoadImageError {
                problem: ImageProblem::Empty,
                ..
            },
        } if place == "layers[1].content.image.path"
    ));
    let path = folder.path().join("empty.jpg");
    assert_eq!(
        message(error),
        format!(
            "layers[1].content.image.path: cannot use the image {}: it is empty",
            path.display()
        )
    );
}

#[test]
fn an_invalid_scene_is_refused() {
    let mut scene = one_color();
    scene.layers[0].opacity = 2.0.into();
    let error = Compositor::new(gpu(), scene, "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "layers[0].opacity is 2; it must be a number from 0 to 1"
    );
}

/// A picture wider than any texture of the device keeps its size in the scene.
#[test]
fn a_picture_beyond_the_texture_limit_is_halved() {
    let folder = tempfile::tempdir().unwrap();
    let width = gpu().device().limits().max_texture_dimension_2d + 2;
    let wide = RgbaImage::from_fn(width, 2, |x, _| match x < width / 2 {
        true => Rgba([250, 0, 0, 255]),
        false => Rgba([0, 0, 250, 255]),
    });
    wide.save(folder.path().join("wide.png")).unwrap();
    let canvas = scene(8, 2, vec![picture("wide.png")]);
    let frame = render_at(&canvas, folder.path(), Time::ZERO);
    assert_eq!(frame.get_pixel(0, 0).0, [250, 0, 0, 255]);
    assert_eq!(frame.get_pixel(7, 1).0, [0, 0, 250, 255]);
}

#[test]
fn the_demo_scene_loads() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/assets");
    for (name, frames) in [("demo.json", 300), ("small.json", 10)] {
        let scene = Scene::load(assets.join(name)).unwrap();
        assert_eq!(scene.frame_count(), frames, "{name}");
        Compositor::new(gpu(), scene, &assets).unwrap();
    }
}
