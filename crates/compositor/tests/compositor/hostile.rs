//! Scenes that no editor would make on purpose.

use std::path::Path;

use framefence::{FrameRequest, Region, Renderer, RendererOptions, Size, Time};
use framefence_compositor::{
    Animated, Color, Compositor, Content, Easing, Group, Keyframe, Layer, MAX_BLUR,
    MAX_GROUP_DEPTH, Mask, MaskChannel, Scene, Shadow, Text,
};

use crate::render::{gpu, render, render_at, render_region, scaled, scene, solid};

fn group(layers: Vec<Layer>) -> Layer {
    Layer::new(Content::Group(Group { size: None, layers }))
}

/// Why the first frame of a scene is not drawn.
fn refusal(scene: &Scene) -> String {
    let size = Size::new(scene.canvas.width, scene.canvas.height);
    let mut compositor = Compositor::new(gpu(), scene.clone(), "").unwrap();
    let renderer = Renderer::new(gpu(), RendererOptions::default()).unwrap();
    let frame = renderer
        .submit_now(&mut compositor, &FrameRequest::new(0, Time::ZERO, size))
        .unwrap();
    let error = frame.wait().err().unwrap();
    std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
        error.source()
    })
    .map(ToString::to_string)
    .collect::<Vec<_>>()
    .join(": ")
}

fn masked_by(mask: &str, layer: Layer) -> Layer {
    Layer {
        mask: Some(Mask {
            layer: mask.to_owned(),
            channel: MaskChannel::Alpha,
            inverted: false,
        }),
        ..layer
    }
}

/// Both hold the same pixels at first; those of the mask are needed before those of the layer.
#[test]
fn a_layer_may_be_equal_to_its_blurred_mask() {
    let masked = |mask_color| {
        let layer = masked_by("mask", solid(40.0, 20.0, Color::rgb(255, 0, 0)));
        let mask = Layer {
            hidden: true,
            blur: 3.0.into(),
            name: "mask".to_owned(),
            ..solid(40.0, 20.0, mask_color)
        };
        render(&scene(64, 48, vec![layer, mask]))
    };
    let equal = masked(Color::rgb(255, 0, 0));
    assert_eq!(equal.get_pixel(32, 24).0, [255, 0, 0, 255]);
    assert_eq!(equal.get_pixel(2, 2).0, [0, 0, 0, 255]);
    // The mask's colour does not count, but makes it another picture.
    assert!(equal == masked(Color::rgb(0, 255, 0)));
}

/// A layer is drawn once for itself and its shadow, so that what is in it is, too.
#[test]
fn shadows_within_shadows_do_not_double() {
    let with_shadow = |layer| Layer {
        shadow: Some(Shadow::default()),
        ..layer
    };
    let mut nested = with_shadow(solid(20.0, 20.0, Color::WHITE));
    for _ in 0..MAX_GROUP_DEPTH {
        nested = with_shadow(group(vec![nested]));
    }
    let size = Size::new(64, 48);
    let scene = scene(size.width, size.height, vec![nested]);
    let mut compositor = Compositor::new(gpu(), scene, "").unwrap();
    let frame = render_region(&mut compositor, size, Region::whole(size), Time::ZERO);
    assert_eq!(frame.get_pixel(32, 24).0, [255; 4]);
    let draws = compositor.last_cost().draws;
    assert!(draws < 100, "{draws}");
}

#[test]
fn more_surfaces_than_a_frame_can_have_are_refused() {
    let inside = group(vec![solid(20.0, 20.0, Color::WHITE)]);
    let faded = Layer {
        opacity: 0.5.into(),
        ..inside
    };
    let refusal = refusal(&scene(64, 48, vec![faded; 140_000]));
    assert!(refusal.contains("surfaces"), "{refusal}");
}

/// The blur, the spread and the offset would be more pixels than an `i32` counts.
#[test]
fn lengths_in_groups_that_enlarge_each_other_do_not_overflow() {
    let twice = |scale: f64, layer: Layer| {
        let once = scaled(scale, scale, group(vec![layer]));
        scaled(scale, scale, group(vec![once]))
    };
    let shadow = |spread: f64| Shadow {
        color: Color::WHITE.into(),
        offset: [1e6, -1e6].into(),
        blur: 500.0.into(),
        spread: spread.into(),
    };
    // A square of 10 pixels, and 100 million pixels of the frame for each of the effects'.
    let square = twice(1e-4, solid(10.0, 10.0, Color::WHITE));
    let layers = [
        Layer {
            blur: 500.0.into(),
            ..square.clone()
        },
        Layer {
            shadow: Some(shadow(0.0)),
            opacity: 0.5.into(),
            ..square.clone()
        },
    ];
    let [blurred, shadowed] = layers.map(|layer| render(&scene(32, 32, vec![twice(1e4, layer)])));
    // Light that is spread over so many pixels is none.
    assert!(blurred.pixels().all(|pixel| pixel.0 == [0, 0, 0, 255]));
    // The shadow lies far away; 127.5 may be rounded either way.
    assert!(shadowed.get_pixel(16, 16).0[0].abs_diff(127) <= 1);
    assert_eq!(shadowed.get_pixel(4, 4).0, [0, 0, 0, 255]);
    let spread = Layer {
        shadow: Some(shadow(500.0)),
        ..square
    };
    let refusal = refusal(&scene(32, 32, vec![twice(1e4, spread)]));
    assert!(refusal.contains("needs a surface of"), "{refusal}");
}

/// The curve leaves the range in which blurs are allowed, as far as curves can.
#[test]
fn a_blur_does_not_overshoot_its_range() {
    let blurred = |blur: Animated<f64>| Layer {
        blur,
        ..solid(400.0, 400.0, Color::WHITE)
    };
    let keyframe = |seconds, value| Keyframe {
        time: Time::from_ratio(seconds, 1),
        value,
        easing: Easing::CubicBezier([0.5, 100.0, 0.5, 100.0]),
    };
    let overshooting = Animated::Keyframes(vec![keyframe(0, 0.0), keyframe(2, MAX_BLUR)]);
    assert!(overshooting.at(Time::from_ratio(1, 2)) > 2.0 * MAX_BLUR);
    let picture = |blur| {
        let scene = scene(64, 48, vec![blurred(blur)]);
        render_at(&scene, Path::new(""), Time::from_ratio(1, 2))
    };
    assert!(picture(overshooting) == picture(MAX_BLUR.into()));
}

#[test]
fn glyphs_whose_block_has_no_extent_are_drawn() {
    let white_pixels = |letter_spacing: f64, line_height: f64| {
        let text = Text {
            letter_spacing: letter_spacing.into(),
            line_height: line_height.into(),
            ..Text::new("HHHH", 40.0)
        };
        let layer = Layer::new(Content::Text(Box::new(text)));
        let picture = render(&scene(320, 80, vec![layer]));
        picture.pixels().filter(|pixel| pixel[0] > 200).count()
    };
    let in_line = white_pixels(0.0, 1.2);
    assert_eq!(white_pixels(0.0, 0.0), in_line);
    // All over each other, with a pixel or two between their edges.
    let narrow = white_pixels(-40.0, 1.2);
    assert!(
        (in_line / 8..in_line).contains(&narrow),
        "{narrow} of {in_line}"
    );
}
