//! A frame drawn in tiles is the frame drawn whole, to the byte.
//!
//! This is so for every kind of layer and for all that can be done to one, each alone over a
//! backdrop that shows through, and for all together.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use framefence::{Region, Size, Time};
use framefence_compositor::{
    Animated, BlendMode, BlendSpace, Clip, Color, Compositor, ConicGradient, Content, Corners,
    Crop, Direction, Easing, Fit, FitMode, FontFamilies, FontFamily, Grade, GradientStop, Group,
    Keyframe, Layer, Lut, Mask, MaskChannel, MotionBlur, RadialGradient, Sequence, Shader,
    ShaderSource, Shadow, Shape, Stroke, StrokeAlign, Text, Tilt, Transition, TransitionKind,
    Uniform,
};
use gif::Repeat;
use image::RgbaImage;

use crate::render::{
    at, draw_region, faded, gpu, gradient, picture, renderer, rotated, save_gif, scaled, solid,
    test_card, transparent_scene, with,
};
use crate::text::caption;

const SIZE: Size = Size::new(114, 66);

/// Even, as tiles are; the last ones of a row and of a column are cut off.
const TILES: [Size; 3] = [Size::new(64, 64), Size::new(38, 16), Size::new(114, 2)];

/// In a transition of the sequences below, and in the middle of movements.
fn time() -> Time {
    Time::from_ratio(1, 3)
}

/// Layers on top of each other that are drawn together, and what they are to show.
type Case = (String, Vec<Layer>);

#[test]
fn every_kind_of_layer_is_the_same_in_tiles() {
    assert_same_in_tiles(&kinds());
}

#[test]
fn every_property_is_the_same_in_tiles() {
    assert_same_in_tiles(&properties());
}

#[test]
fn every_effect_is_the_same_in_tiles() {
    assert_same_in_tiles(&effects());
}

#[test]
fn every_blend_mode_is_the_same_in_tiles() {
    let modes = BlendMode::ALL.map(|mode| {
        let layer = with(faded(0.8, subject()), |layer| layer.blend = mode);
        (format!("{mode:?}"), vec![layer])
    });
    assert_same_in_tiles(&modes);
}

#[test]
fn all_of_it_together_is_the_same_in_tiles() {
    let all = [kinds(), properties(), effects()].concat();
    // Names of masks are to stay unique: each case has a group of its own.
    let layers = (0..).zip(all).map(|(index, (_, layers))| {
        let group = Group { size: None, layers };
        let scale = 0.2 + 0.01 * f64::from(index);
        let (x, y) = (f64::from(index * 37 % 114), f64::from(index * 53 % 66));
        at(
            x,
            y,
            scaled(scale, scale, Layer::new(Content::Group(group))),
        )
    });
    assert_same_in_tiles(&[("all".to_owned(), layers.collect())]);
}

fn assert_same_in_tiles(cases: &[Case]) {
    let folder = tempfile::tempdir().unwrap();
    save_files(folder.path());
    let renderer = renderer();
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        let scene = |layers: &[Layer]| {
            let mut scene = transparent_scene(SIZE.width, SIZE.height, vec![backdrop()]);
            scene.layers.extend_from_slice(layers);
            scene.blend_space = space;
            scene
        };
        let draw = |compositor: &mut Compositor, region| {
            draw_region(&renderer, compositor, SIZE, region, time())
        };
        // One for all, so that no pipeline is made twice.
        let mut compositor = Compositor::new(gpu(), scene(&[]), folder.path()).unwrap();
        let without = draw(&mut compositor, Region::whole(SIZE));
        for (name, layers) in cases {
            compositor.set_scene(gpu(), scene(layers)).unwrap();
            let whole = draw(&mut compositor, Region::whole(SIZE));
            assert!(whole != without, "{name} in {space:?}: nothing was drawn");
            for tile in TILES {
                let joined = joined(tile, |region| draw(&mut compositor, region));
                assert!(
                    whole == joined,
                    "{name} in {space:?} in tiles of {tile} differs"
                );
            }
        }
    }
}

fn joined(tile: Size, mut draw: impl FnMut(Region) -> RgbaImage) -> RgbaImage {
    let mut joined = RgbaImage::new(SIZE.width, SIZE.height);
    for y in (0..SIZE.height).step_by(tile.height as usize) {
        for x in (0..SIZE.width).step_by(tile.width as usize) {
            let size = Size::new(
                tile.width.min(SIZE.width - x),
                tile.height.min(SIZE.height - y),
            );
            let part = draw(Region { x, y, size });
            image::imageops::replace(&mut joined, &part, i64::from(x), i64::from(y));
        }
    }
    joined
}

fn save_files(folder: &Path) {
    test_card(40, 28).save(folder.join("card.png")).unwrap();
    test_card(160, 100).save(folder.join("wide.png")).unwrap();
    let colors = [(20, [200, 0, 0]), (20, [0, 200, 90]), (20, [0, 0, 200])];
    save_gif(
        &folder.join("moving.gif"),
        (31, 17),
        Repeat::Infinite,
        &colors,
    );
    let table = "LUT_3D_SIZE 2\n\
        0.1 0.0 0.2\n 0.9 0.2 0.1\n 0.0 0.8 0.1\n 1.0 0.9 0.3\n\
        0.2 0.1 0.9\n 0.8 0.1 1.0\n 0.1 0.9 0.8\n 0.9 1.0 0.9\n";
    fs::write(folder.join("look.cube"), table).unwrap();
}

/// Opaque in part, translucent in part, and not everywhere.
fn backdrop() -> Layer {
    let stops = [
        (0.0, Color::rgb(240, 200, 40)),
        (0.5, Color::rgba(60, 160, 90, 255)),
        (1.0, Color::rgba(20, 60, 220, 60)),
    ];
    let colors = gradient([110.0, 80.0], [0.0, 0.2], [1.0, 0.7], &stops);
    at(48.5, 31.2, rotated(17.0, colors))
}

/// What properties are tried on: a picture that lies between pixels and is turned.
fn subject() -> Layer {
    placed(9.0, scaled(2.1, 1.7, picture("card.png")))
}

fn placed(degrees: f64, layer: Layer) -> Layer {
    at(57.3, 32.9, rotated(degrees, layer))
}

fn case(name: &str, layer: Layer) -> Case {
    (name.to_owned(), vec![layer])
}

fn kinds() -> Vec<Case> {
    let mut cases = vec![
        case(
            "solid",
            placed(13.0, solid(90.0, 50.0, Color::rgb(200, 100, 50))),
        ),
        case("line", placed(31.0, solid(140.0, 0.4, Color::WHITE))),
        case(
            "linear gradient",
            placed(
                -21.0,
                gradient(
                    [110.0, 60.0],
                    [0.1, 0.0],
                    [0.8, 1.0],
                    &[
                        (0.0, Color::rgb(230, 40, 40)),
                        (1.0, Color::rgba(20, 60, 220, 90)),
                    ],
                ),
            ),
        ),
        case(
            "radial gradient",
            placed(
                -21.0,
                Layer::new(Content::RadialGradient(RadialGradient {
                    size: Some([110.0, 60.0].into()),
                    center: [0.3, 0.6].into(),
                    radius: [0.4, 0.7].into(),
                    ..RadialGradient::new(stops())
                })),
            ),
        ),
        case(
            "conic gradient",
            placed(
                12.0,
                Layer::new(Content::ConicGradient(ConicGradient {
                    size: Some([110.0, 60.0].into()),
                    center: [0.4, 0.45].into(),
                    start_angle: 77.0.into(),
                    ..ConicGradient::new(stops())
                })),
            ),
        ),
        case(
            "enlarged image",
            placed(9.0, scaled(3.1, 2.3, picture("card.png"))),
        ),
        case(
            "reduced image",
            placed(-40.0, scaled(0.6, 0.31, picture("wide.png"))),
        ),
        case(
            "mirrored image",
            placed(3.0, scaled(-1.3, 1.1, picture("wide.png"))),
        ),
        case(
            "animated image",
            placed(21.0, scaled(3.0, 2.5, picture("moving.gif"))),
        ),
        case("shader", placed(9.0, shader())),
        case("group", placed(15.0, group(group_layers()))),
        case("nested group", placed(15.0, faded(0.7, nested_group()))),
    ];
    cases.extend(shapes());
    cases.extend(texts());
    cases.extend(sequences());
    cases
}

fn stops() -> Vec<GradientStop> {
    [
        (0.1, Color::rgb(230, 40, 40)),
        (0.5, Color::rgba(250, 250, 0, 120)),
        (0.9, Color::rgba(20, 60, 220, 255)),
    ]
    .map(|(offset, color)| GradientStop {
        offset: offset.into(),
        color: color.into(),
    })
    .into()
}

fn shapes() -> Vec<Case> {
    let shape = |fill: Option<Color>, stroke: Option<StrokeAlign>| Shape {
        size: Some([84.0, 51.0].into()),
        fill: fill.map(Into::into),
        stroke: stroke.map(|align| Stroke {
            color: Color::rgba(255, 240, 230, 180).into(),
            width: 7.3.into(),
            align,
        }),
    };
    let fill = Some(Color::rgba(190, 40, 130, 220));
    let aligns = [
        StrokeAlign::Inside,
        StrokeAlign::Center,
        StrokeAlign::Outside,
    ];
    let shapes = [shape(fill, None), shape(None, Some(StrokeAlign::Center))]
        .into_iter()
        .chain(aligns.map(|align| shape(fill, Some(align))));
    shapes
        .flat_map(|shape| {
            let rectangle = with(Layer::new(Content::Rectangle(shape.clone())), |rectangle| {
                rectangle.corner_radius = 11.0.into();
            });
            [rectangle, Layer::new(Content::Ellipse(shape))]
        })
        .map(|layer| (format!("{:?}", layer.content), vec![placed(23.0, layer)]))
        .collect()
}

fn texts() -> Vec<Case> {
    let fonts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fonts");
    let emoji = Text {
        font: FontFamilies(vec![FontFamily::File(
            fonts.join("NotoColorEmoji-subset.ttf"),
        )]),
        ..Text::new("A👍🎉 b", 40.0)
    };
    let text = |text: &Text| Layer::new(Content::Text(Box::new(text.clone())));
    let plain = Text::new("Plain text", 33.3);
    let tilt = Tilt {
        y: 40.0.into(),
        distance: 300.0.into(),
        ..Tilt::default()
    };
    let soft_shadow = Shadow {
        blur: 3.0.into(),
        offset: [4.0, 5.0].into(),
        ..Shadow::default()
    };
    let cropped = with(placed(0.0, text(&caption())), |layer| {
        layer.crop = Some(Crop {
            left: 0.3.into(),
            ..Crop::default()
        });
    });
    let tilted = with(placed(0.0, text(&caption())), |layer| {
        layer.tilt = Some(tilt);
        layer.shadow = Some(soft_shadow);
    });
    let blended = with(placed(11.0, text(&caption())), |layer| {
        layer.blend = BlendMode::Add;
        layer.corner_radius = 9.0.into();
    });
    vec![
        case("text", placed(0.0, text(&plain))),
        case("faded text", faded(0.4, placed(0.0, text(&plain)))),
        case("turned caption", placed(11.0, text(&caption()))),
        case("faded caption", faded(0.4, placed(11.0, text(&caption())))),
        case("emoji", placed(0.0, text(&emoji))),
        case("faded emoji", faded(0.4, placed(11.0, text(&emoji)))),
        case("cropped caption", cropped),
        case("tilted caption", tilted),
        case("blended caption", blended),
    ]
}

fn shader() -> Layer {
    let source = "fn shade(place: Place) -> vec4<f32> {
        let rings = sin(length(place.position - place.size * 0.4) * 0.7 + place.time);
        return vec4<f32>(place.uv, 0.5 + 0.5 * rings, uniforms.alpha);
    }";
    Layer::new(Content::Shader(Box::new(Shader {
        size: Some([100.0, 60.0].into()),
        source: ShaderSource::Wgsl(source.to_owned()),
        uniforms: BTreeMap::from([("alpha".to_owned(), Uniform::Number(0.8.into()))]),
    })))
}

fn group(layers: Vec<Layer>) -> Layer {
    Layer::new(Content::Group(Group {
        size: Some([90.0, 60.0].into()),
        layers,
    }))
}

/// Layers that reach beyond their group.
fn group_layers() -> Vec<Layer> {
    vec![
        at(20.0, 50.0, solid(60.0, 30.0, Color::rgba(250, 90, 20, 200))),
        at(60.0, 20.0, rotated(30.0, picture("card.png"))),
        at(
            90.0,
            40.0,
            with(solid(20.0, 40.0, Color::rgb(40, 220, 200)), |layer| {
                layer.blend = BlendMode::Difference;
            }),
        ),
    ]
}

fn nested_group() -> Layer {
    let inner = at(
        30.0,
        30.0,
        rotated(-40.0, faded(0.8, group(group_layers()))),
    );
    group(vec![inner, at(70.0, 30.0, subject())])
}

fn sequences() -> Vec<Case> {
    let to = [
        Direction::Left,
        Direction::Right,
        Direction::Up,
        Direction::Down,
    ];
    let wipes = to.map(|to| TransitionKind::Wipe { to, softness: 0.0 });
    let soft_wipes = to.map(|to| TransitionKind::Wipe { to, softness: 0.4 });
    let slides = to.map(|to| TransitionKind::Slide { to });
    [TransitionKind::CrossFade, TransitionKind::Zoom]
        .into_iter()
        .chain(wipes)
        .chain(soft_wipes)
        .chain(slides)
        .map(|kind| (format!("{kind:?}"), vec![placed(8.0, sequence(kind))]))
        .collect()
}

fn sequence(kind: TransitionKind) -> Layer {
    let clip = |layers, transition| Clip {
        duration: Time::from_ratio(1, 2),
        transition,
        layers,
    };
    let transition = Transition {
        kind,
        duration: Time::from_ratio(2, 5),
        easing: Easing::Linear,
    };
    Layer::new(Content::Sequence(Sequence {
        size: Some([90.0, 60.0].into()),
        clips: vec![
            clip(
                vec![at(40.0, 30.0, scaled(2.0, 2.0, picture("card.png")))],
                None,
            ),
            clip(group_layers(), Some(transition)),
        ],
    }))
}

fn properties() -> Vec<Case> {
    let fit = |mode, size: Option<[f64; 2]>| {
        with(placed(14.0, picture("card.png")), |layer| {
            layer.fit = Some(Fit {
                size: size.map(Into::into),
                mode,
            });
        })
    };
    let corners = |corners| {
        with(subject(), |layer| {
            layer.corner_radius = 9.0.into();
            layer.corners = corners;
        })
    };
    let tilt = |layer: Layer| {
        with(layer, |layer| {
            layer.tilt = Some(Tilt {
                x: 35.0.into(),
                y: (-50.0).into(),
                distance: 160.0.into(),
            });
        })
    };
    let cropped = |layer: Layer| {
        with(layer, |layer| {
            layer.crop = Some(Crop {
                left: 0.11.into(),
                top: 0.2.into(),
                right: 0.07.into(),
                bottom: 0.33.into(),
            });
        })
    };
    let anchored = with(subject(), |layer| {
        layer.anchor = [0.2, 0.9].into();
    });
    vec![
        case("contain", fit(FitMode::Contain, Some([120.0, 40.0]))),
        case("cover", fit(FitMode::Cover, Some([120.0, 40.0]))),
        case("fill", fit(FitMode::Fill, Some([120.0, 40.0]))),
        case("cover the canvas", fit(FitMode::Cover, None)),
        case("round corners", corners(Corners::Round)),
        case("continuous corners", corners(Corners::Continuous)),
        case("crop", cropped(subject())),
        case(
            "cropped group",
            placed(15.0, cropped(group(group_layers()))),
        ),
        case("anchor", anchored),
        case("tilt", tilt(subject())),
        case("tilted group", tilt(placed(9.0, group(group_layers())))),
        case("tilted shader", tilt(placed(9.0, shader()))),
        case("faded image", faded(0.35, subject())),
        case(
            "faded group",
            faded(0.35, placed(15.0, group(group_layers()))),
        ),
    ]
}

fn effects() -> Vec<Case> {
    let mut cases = vec![
        case(
            "grade",
            graded(Grade {
                exposure: 0.7.into(),
                contrast: 1.3.into(),
                saturation: 0.4.into(),
                temperature: 4200.0.into(),
                lut: None,
            }),
        ),
        case(
            "look-up table",
            graded(Grade {
                lut: Some(Lut {
                    path: "look.cube".into(),
                    strength: 0.8.into(),
                }),
                ..Grade::default()
            }),
        ),
        case("motion blur", moving(subject())),
        case(
            "motion blur of a group",
            moving(placed(15.0, group(group_layers()))),
        ),
    ];
    for sigma in [0.8, 3.0, 12.0, 60.0] {
        let blurred = with(subject(), |layer| layer.blur = sigma.into());
        cases.push((format!("blur of {sigma}"), vec![blurred]));
        cases.push((
            format!("background blur of {sigma}"),
            vec![blurs_behind(sigma)],
        ));
        let inside = [group_layers(), vec![at(45.0, 35.0, blurs_behind(sigma))]].concat();
        cases.push((
            format!("background blur of {sigma} in a group"),
            vec![placed(15.0, group(inside))],
        ));
    }
    for spread in [-4.0, 0.0, 2.5, 30.0] {
        for blur in [0.0, 5.0] {
            let shadowed = with(faded(0.9, subject()), |layer| {
                layer.shadow = Some(Shadow {
                    color: Color::rgba(90, 0, 30, 200).into(),
                    offset: [7.4, -5.3].into(),
                    blur: blur.into(),
                    spread: spread.into(),
                });
            });
            cases.push((
                format!("shadow spread by {spread} and blurred by {blur}"),
                vec![shadowed],
            ));
        }
    }
    for channel in [MaskChannel::Alpha, MaskChannel::Luminance] {
        for inverted in [false, true] {
            cases.push((
                format!("mask by {channel:?}, inverted: {inverted}"),
                masked(channel, inverted),
            ));
        }
    }
    cases
}

fn graded(grade: Grade) -> Layer {
    with(subject(), |layer| layer.grade = Some(grade))
}

/// The backdrop is seen blurred through it.
fn blurs_behind(sigma: f64) -> Layer {
    let glass = solid(60.0, 34.0, Color::rgba(255, 255, 255, 70));
    with(placed(9.0, glass), |layer| {
        layer.background_blur = sigma.into();
        layer.corner_radius = 8.0.into();
    })
}

fn moving(layer: Layer) -> Layer {
    let keyframe = |seconds, value| Keyframe {
        time: Time::from_ratio(seconds, 1),
        value,
        easing: Easing::Linear,
    };
    with(layer, |layer| {
        layer.position = Some(Animated::Keyframes(vec![
            keyframe(0, [-70.0, 80.0]),
            keyframe(1, [310.0, -50.0]),
        ]));
        layer.motion_blur = Some(MotionBlur {
            samples: 7,
            ..MotionBlur::default()
        });
    })
}

fn masked(channel: MaskChannel, inverted: bool) -> Vec<Layer> {
    let mask = with(at(60.3, 50.1, scaled(1.4, 1.4, nested_group())), |layer| {
        layer.name = "mask".to_owned();
        layer.hidden = true;
    });
    let layer = with(subject(), |layer| {
        layer.mask = Some(Mask {
            layer: "mask".to_owned(),
            channel,
            inverted,
        });
    });
    vec![mask, layer]
}
