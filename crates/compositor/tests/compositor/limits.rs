//! Scenes that are large, deep or not to be drawn at all: they come out right, or end in an error
//! that says what is too much.

use framefence::{FrameError, FrameRequest, Region, Size, Time};
use framefence_compositor::{
    Animated, Color, Compositor, Content, Corners, Crop, Easing, Grade, Group, Keyframe, Layer,
    MAX_GROUP_DEPTH, MAX_LAYERS_IN_FRAME, MAX_MASK_CHAIN, MAX_MOTION_SAMPLES, Mask, MaskChannel,
    MotionBlur, PaintError, Scene, SceneError, Shadow, Shape, Stroke, StrokeAlign, Tilt,
};
use gif::Repeat;

use crate::render::{
    at, gpu, picture, render, render_at, render_region, renderer, save_gif, scene, solid, with,
};

fn group(layers: Vec<Layer>) -> Layer {
    Layer::new(Content::Group(Group { size: None, layers }))
}

fn named(name: impl Into<String>, layer: Layer) -> Layer {
    with(layer, |layer| layer.name = name.into())
}

fn masked_by(name: impl Into<String>, layer: Layer) -> Layer {
    with(layer, |layer| {
        layer.mask = Some(Mask {
            layer: name.into(),
            channel: MaskChannel::Alpha,
            inverted: false,
        });
    })
}

fn dot() -> Layer {
    solid(1.0, 1.0, Color::WHITE)
}

/// Why the scene's first frame of this size cannot be drawn.
fn paint_error(scene: Scene, size: Size) -> PaintError {
    let mut compositor = Compositor::new(gpu(), scene, "").unwrap();
    let request = FrameRequest::new(0, Time::ZERO, size);
    let error = renderer()
        .submit_now(&mut compositor, &request)
        .unwrap()
        .wait()
        .unwrap_err();
    let FrameError::Painter { source } = error else {
        panic!("{error}");
    };
    *source.downcast().unwrap()
}

#[test]
fn five_thousand_layers_are_drawn_in_their_order() {
    // Each lies over the one before, all but its first column.
    let color = |index: u32| Color::rgb((index % 251) as u8, (index / 251) as u8, 77);
    let layers = (0..5000)
        .map(|index| {
            let (x, y) = (index % 100, index / 100);
            let layer = solid(3.0, 1.0, color(index));
            at(f64::from(x) + 1.5, f64::from(y) + 0.5, layer)
        })
        .collect();
    let drawn = render(&scene(100, 50, layers));
    for (x, y, pixel) in drawn.enumerate_pixels() {
        let Color {
            red, green, blue, ..
        } = color(y * 100 + x);
        assert_eq!(pixel.0, [red, green, blue, 255], "{x},{y}");
    }
}

fn nested(depth: usize) -> Layer {
    (0..depth).fold(dot(), |inner, _| group(vec![inner]))
}

#[test]
fn groups_may_lie_in_each_other_up_to_a_depth() {
    let drawn = render(&scene(1, 1, vec![nested(MAX_GROUP_DEPTH)]));
    assert_eq!(drawn.get_pixel(0, 0).0, [255; 4]);
    for depth in [MAX_GROUP_DEPTH + 1, 1000] {
        let error = scene(1, 1, vec![nested(depth)]).validate().unwrap_err();
        assert_eq!(error.given, "in 17 groups");
        assert_eq!(error.allowed, "in at most 16 groups and sequences");
        assert!(error.path.ends_with("layers[0]"), "{}", error.path);
        assert!(Compositor::new(gpu(), scene(1, 1, vec![nested(depth)]), "").is_err());
    }
}

#[test]
fn files_of_any_depth_are_read_or_refused() {
    let json = |depth: usize, open: &str, close: &str| {
        format!(
            r##"{{"version": 1, "canvas": {{"width": 1, "height": 1}}, "frame_rate": 25, "duration": 1,
                "layers": [{}{{"content": {{"solid": {{"color": "#ffffff"}}}}}}{}]}}"##,
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let group = (r#"{"content": {"group": {"layers": ["#, "]}}}");
    let sequence = (
        r#"{"content": {"sequence": {"clips": [{"duration": 1, "layers": ["#,
        "]}]}}}",
    );
    for (open, close) in [group, sequence] {
        Scene::from_json(&json(MAX_GROUP_DEPTH, open, close)).unwrap();
        let error = Scene::from_json(&json(MAX_GROUP_DEPTH + 1, open, close)).unwrap_err();
        assert!(matches!(error, SceneError::Invalid(_)), "{error}");
        for depth in [100, 1000, 100_000] {
            let error = Scene::from_json(&json(depth, open, close)).unwrap_err();
            assert!(matches!(error, SceneError::TooDeep), "{depth}: {error}");
        }
    }
}

#[test]
fn masks_that_lead_back_are_refused() {
    let refused = |layers: Vec<Layer>| scene(1, 1, layers).validate().unwrap_err().to_string();
    let itself = refused(vec![named("a", masked_by("a", dot()))]);
    assert_eq!(
        itself,
        "layers[0].mask.layer is \"a\", by way of which the layer masks itself; it must be a layer that does not depend on this one"
    );
    let ring = |count: usize| -> Vec<_> {
        (0..count)
            .map(|index| {
                let next = ((index + 1) % count).to_string();
                named(index.to_string(), masked_by(next, dot()))
            })
            .collect()
    };
    for count in [2, 3, MAX_MASK_CHAIN] {
        let ring = refused(ring(count));
        assert!(
            ring.contains("by way of which the layer masks itself"),
            "{ring}"
        );
    }
    let long = refused(ring(100));
    assert!(
        long.contains("masked by at most 16 layers in turn"),
        "{long}"
    );
    // One that leads into a ring, but is no part of it.
    let mut outside = ring(3);
    outside.insert(0, masked_by("0", dot()));
    let outside = refused(outside);
    assert!(outside.starts_with("layers[0].mask"), "{outside}");

    let unknown = refused(vec![masked_by("nobody", dot())]);
    assert!(
        unknown.contains("the name of exactly one layer of the same list"),
        "{unknown}"
    );
    let ambiguous = refused(vec![
        named("a", dot()),
        named("a", dot()),
        masked_by("a", dot()),
    ]);
    assert!(ambiguous.starts_with("layers[2].mask.layer"), "{ambiguous}");
    let elsewhere = refused(vec![named("a", dot()), group(vec![masked_by("a", dot())])]);
    assert!(
        elsewhere.starts_with("layers[1].content.group.layers[0].mask"),
        "{elsewhere}"
    );
}

#[test]
fn as_many_masks_in_turn_as_are_allowed_are_drawn() {
    let chain = (0..MAX_MASK_CHAIN).map(|index| {
        let layer = named(index.to_string(), dot());
        masked_by(
            (index + 1).to_string(),
            with(layer, |layer| layer.hidden = index > 0),
        )
    });
    let last = named(
        MAX_MASK_CHAIN.to_string(),
        solid(1.0, 1.0, Color::rgba(0, 0, 0, 153)),
    );
    let last = with(last, |layer| layer.hidden = true);
    let layers: Vec<_> = chain.chain([last]).collect();
    let drawn = render(&scene(1, 1, layers));
    assert_eq!(drawn.get_pixel(0, 0).0, [153, 153, 153, 255]);
}

/// Such frames are shown for a tenth of a second, as browsers do.
#[test]
fn an_animation_without_delays_does_not_stand_still() {
    let folder = tempfile::tempdir().unwrap();
    let frames = [(0, [200, 0, 0]), (0, [0, 200, 0])];
    save_gif(
        &folder.path().join("hasty.gif"),
        (2, 2),
        Repeat::Infinite,
        &frames,
    );
    let scene = scene(2, 2, vec![picture("hasty.gif")]);
    for (milliseconds, expected) in [
        (0, [200, 0, 0, 255]),
        (150, [0, 200, 0, 255]),
        (250, [200, 0, 0, 255]),
    ] {
        let time = Time::from_ratio(milliseconds, 1000);
        let drawn = render_at(&scene, folder.path(), time);
        assert_eq!(drawn.get_pixel(1, 1).0, expected, "at {milliseconds} ms");
    }
}

/// Every number that a scene may have, made one that is none.
#[test]
fn numbers_that_are_none_are_refused_wherever_they_stand() {
    type Set = (&'static str, fn(&mut Layer, f64));
    let settings: [Set; 24] = [
        ("position[0]", |layer, value| {
            layer.position = Some([value, 0.0].into());
        }),
        ("anchor[1]", |layer, value| {
            layer.anchor = [0.0, value].into();
        }),
        ("scale[0]", |layer, value| layer.scale = [value, 1.0].into()),
        ("rotation", |layer, value| layer.rotation = value.into()),
        ("tilt.x", |layer, value| {
            layer.tilt = Some(Tilt {
                x: value.into(),
                ..Tilt::default()
            });
        }),
        ("tilt.y", |layer, value| {
            layer.tilt = Some(Tilt {
                y: value.into(),
                ..Tilt::default()
            });
        }),
        ("tilt.distance", |layer, value| {
            layer.tilt = Some(Tilt {
                distance: value.into(),
                ..Tilt::default()
            });
        }),
        ("crop.left", |layer, value| {
            layer.crop = Some(Crop {
                left: value.into(),
                ..Crop::default()
            });
        }),
        ("crop.bottom", |layer, value| {
            layer.crop = Some(Crop {
                bottom: value.into(),
                ..Crop::default()
            });
        }),
        ("corner_radius", |layer, value| {
            layer.corner_radius = value.into();
            layer.corners = Corners::Continuous;
        }),
        ("grade.exposure", |layer, value| {
            layer.grade = Some(Grade {
                exposure: value.into(),
                ..Grade::default()
            });
        }),
        ("grade.contrast", |layer, value| {
            layer.grade = Some(Grade {
                contrast: value.into(),
                ..Grade::default()
            });
        }),
        ("grade.saturation", |layer, value| {
            layer.grade = Some(Grade {
                saturation: value.into(),
                ..Grade::default()
            });
        }),
        ("grade.temperature", |layer, value| {
            layer.grade = Some(Grade {
                temperature: value.into(),
                ..Grade::default()
            });
        }),
        ("blur", |layer, value| layer.blur = value.into()),
        ("background_blur", |layer, value| {
            layer.background_blur = value.into();
        }),
        ("shadow.offset[1]", |layer, value| {
            layer.shadow = Some(Shadow {
                offset: [0.0, value].into(),
                ..Shadow::default()
            });
        }),
        ("shadow.blur", |layer, value| {
            layer.shadow = Some(Shadow {
                blur: value.into(),
                ..Shadow::default()
            });
        }),
        ("shadow.spread", |layer, value| {
            layer.shadow = Some(Shadow {
                spread: value.into(),
                ..Shadow::default()
            });
        }),
        ("motion_blur.shutter", |layer, value| {
            layer.motion_blur = Some(MotionBlur {
                shutter: value.into(),
                ..MotionBlur::default()
            });
        }),
        ("opacity", |layer, value| layer.opacity = value.into()),
        ("blur.keyframes[0].value", |layer, value| {
            layer.blur = Animated::Keyframes(vec![Keyframe {
                time: Time::ZERO,
                value,
                easing: Easing::Linear,
            }]);
        }),
        ("content.ellipse.size[0]", |layer, value| {
            layer.content = Content::Ellipse(Shape {
                size: Some([value, 1.0].into()),
                fill: None,
                stroke: None,
            });
        }),
        ("content.rectangle.stroke.width", |layer, value| {
            layer.content = Content::Rectangle(Shape {
                size: None,
                fill: None,
                stroke: Some(Stroke {
                    color: Color::WHITE.into(),
                    width: value.into(),
                    align: StrokeAlign::Center,
                }),
            });
        }),
    ];
    for (path, set) in settings {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut layer = dot();
            set(&mut layer, value);
            let error = scene(1, 1, vec![layer]).validate().unwrap_err();
            assert_eq!(error.path, format!("layers[0].{path}"));
            assert_eq!(error.given, value.to_string(), "{path}");
        }
    }
}

/// A few kilobytes that would show billions of layers.
#[test]
fn scenes_that_multiply_are_refused() {
    let averaged = |layer: Layer| {
        with(layer, |layer| {
            layer.motion_blur = Some(MotionBlur {
                samples: MAX_MOTION_SAMPLES,
                ..MotionBlur::default()
            });
        })
    };
    let averages = (0..8).fold(averaged(dot()), |inner, _| averaged(group(vec![inner])));
    // In each group 16 layers lead to the same mask, which is the next group.
    let masks = (0..8).fold(dot(), |inner, _| {
        let chain = (0..MAX_MASK_CHAIN)
            .map(|index| masked_by((index + 1).to_string(), named(index.to_string(), dot())));
        let last = named(MAX_MASK_CHAIN.to_string(), inner);
        group(chain.chain([last]).collect())
    });
    for layer in [averages, masks] {
        let scene = scene(8, 8, vec![layer]);
        let error = paint_error(scene, Size::new(8, 8));
        assert!(matches!(error, PaintError::TooManyLayers), "{error}");
        assert!(
            error.to_string().contains(&MAX_LAYERS_IN_FRAME.to_string()),
            "{error}"
        );
    }
}

/// As wide as a frame may be, and its blur reaches beyond: a frame of that size is refused, and a
/// part of it is drawn.
#[test]
fn surfaces_that_no_texture_can_hold_are_refused() {
    let side = gpu().device().limits().max_texture_dimension_2d;
    let blurred = with(solid(1e6, 8.0, Color::WHITE), |layer| {
        layer.blur = 40.0.into();
    });
    let size = Size::new(side, 8);
    let scene = scene(side, 8, vec![blurred]);
    let error = paint_error(scene.clone(), size);
    let PaintError::SurfaceTooLarge {
        width, max_side, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(max_side, side as i32);
    assert!(width > max_side);

    let mut compositor = Compositor::new(gpu(), scene, "").unwrap();
    let tile = Region {
        x: 64,
        y: 0,
        size: Size::new(64, 8),
    };
    let drawn = render_region(&mut compositor, size, tile, Time::ZERO);
    assert!(drawn.pixels().all(|pixel| pixel[0] > 0 && pixel[0] < 255));
}
