//! Scenes that nobody thought of: layers of few kinds, many of them equal, in each other and upon
//! each other with whatever can be done to them. However one is drawn, it is the same picture.

use std::cell::RefCell;

use framefence::{Region, Size, Time};
use framefence_compositor::{
    BlendMode, BlendSpace, Color, Compositor, Content, Crop, Grade, Group, Layer, Mask,
    MaskChannel, MotionBlur, Scene, Shadow, Shape, Stroke, StrokeAlign, Tilt,
};
use image::RgbaImage;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::render::{at, draw_region, gpu, renderer, solid, transparent_scene};

const SIZE: Size = Size::new(48, 40);

/// From small sets, so that layers come to be equal.
fn content() -> impl Strategy<Value = Layer> {
    let colors = prop::sample::select(vec![
        Color::rgb(230, 120, 30),
        Color::rgba(20, 90, 220, 128),
        Color::WHITE,
    ]);
    let boxes = (colors.clone(), prop::sample::select(vec![12.0, 30.0, 60.0]))
        .prop_map(|(color, side)| solid(side, side * 0.75, color));
    let ellipses = colors.prop_map(|color| {
        Layer::new(Content::Ellipse(Shape {
            size: Some([30.0, 20.0].into()),
            fill: Some(color.into()),
            stroke: Some(Stroke {
                color: Color::rgba(0, 200, 90, 200).into(),
                width: 3.0.into(),
                align: StrokeAlign::Center,
            }),
        }))
    });
    prop_oneof![boxes, ellipses]
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    list(content()).prop_recursive(3, 16, 3, |inner| {
        let group = |layers| Layer::new(Content::Group(Group { size: None, layers }));
        list(prop_oneof![content(), inner.prop_map(group)])
    })
}

/// Different layers, or one several times.
fn list(layer: impl Strategy<Value = Layer> + 'static) -> BoxedStrategy<Vec<Layer>> {
    let layer = layer.prop_flat_map(changed).boxed();
    let different = prop::collection::vec(layer.clone(), 1..4);
    let equal = (layer, 2..4_usize).prop_map(|(layer, count)| vec![layer; count]);
    prop_oneof![2 => different, 1 => equal]
        .prop_map(with_masks)
        .boxed()
}

/// The layer somewhere, with some of all that can be done to it.
fn changed(layer: Layer) -> impl Strategy<Value = Layer> {
    let places = prop::sample::select(vec![[24.0, 20.0], [10.5, 31.25], [40.0, 8.0]]);
    let degrees = prop::sample::select(vec![0.0, 0.0, 31.0]);
    let effects = prop::collection::vec(0..14_u8, 0..4);
    let blend = prop_oneof![
        3 => Just(BlendMode::Normal),
        1 => prop::sample::select(BlendMode::ALL.to_vec()),
    ];
    (places, degrees, effects, blend).prop_map(move |([x, y], degrees, effects, blend)| {
        let mut layer = at(x, y, layer.clone());
        layer.rotation = degrees.into();
        layer.blend = blend;
        for effect in effects {
            change(&mut layer, effect);
        }
        layer
    })
}

fn change(layer: &mut Layer, effect: u8) {
    match effect {
        0 => layer.blur = 2.0.into(),
        1 => layer.blur = 9.0.into(),
        2 => layer.background_blur = 3.0.into(),
        3 => layer.opacity = 0.5.into(),
        4 => layer.corner_radius = 6.0.into(),
        5 => {
            layer.crop = Some(Crop {
                left: 0.25.into(),
                ..Crop::default()
            });
        }
        6 => layer.shadow = Some(Shadow::default()),
        7 => {
            layer.shadow = Some(Shadow {
                offset: [5.0, 4.0].into(),
                blur: 3.0.into(),
                spread: 2.0.into(),
                ..Shadow::default()
            });
        }
        8 => {
            layer.tilt = Some(Tilt {
                y: 40.0.into(),
                distance: 100.0.into(),
                ..Tilt::default()
            });
        }
        9 => {
            layer.grade = Some(Grade {
                exposure: 0.5.into(),
                saturation: 0.3.into(),
                ..Grade::default()
            });
        }
        10 => layer.hidden = true,
        11 => {
            layer.motion_blur = Some(MotionBlur {
                samples: 3,
                ..MotionBlur::default()
            });
        }
        // These are turned into masks by the list that they are in.
        12 => layer.mask = Some(mask(MaskChannel::Alpha, false)),
        _ => layer.mask = Some(mask(MaskChannel::Luminance, true)),
    }
}

fn mask(channel: MaskChannel, inverted: bool) -> Mask {
    Mask {
        layer: String::new(),
        channel,
        inverted,
    }
}

/// Names the layers, and lets each that is masked be masked by the one after it.
fn with_masks(mut layers: Vec<Layer>) -> Vec<Layer> {
    let count = layers.len();
    for (index, layer) in layers.iter_mut().enumerate() {
        layer.name = index.to_string();
        match &mut layer.mask {
            Some(mask) if index + 1 < count => mask.layer = (index + 1).to_string(),
            _ => layer.mask = None,
        }
    }
    layers
}

fn scene(layers: Vec<Layer>, space: BlendSpace) -> Scene {
    let mut scene = transparent_scene(SIZE.width, SIZE.height, layers);
    scene.blend_space = space;
    scene
}

/// Alone, again, in tiles, and with what another scene left behind.
#[test]
fn any_scene_is_the_same_however_it_is_drawn() {
    let renderer = renderer();
    let whole = Region::whole(SIZE);
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        // One compositor for all, so that no pipeline is made twice. After a frame of nothing it has
        // no surface left that it could take for another.
        let empty = Compositor::new(gpu(), scene(Vec::new(), space), "").unwrap();
        let compositor = RefCell::new(empty);
        let show = |layers: &[Layer]| {
            let scene = scene(layers.to_vec(), space);
            compositor.borrow_mut().set_scene(gpu(), scene).unwrap();
        };
        let draw = |region| {
            let compositor = &mut compositor.borrow_mut();
            draw_region(&renderer, compositor, SIZE, region, Time::ZERO)
        };
        let mut runner = TestRunner::new(ProptestConfig {
            cases: 40,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let scenes = (layers(), layers());
        let result = runner.run(&scenes, |(before, layers)| {
            show(&[]);
            draw(whole);
            show(&layers);
            let alone = draw(whole);
            prop_assert!(draw(whole) == alone, "drawn again");

            let mut joined = RgbaImage::new(SIZE.width, SIZE.height);
            for (x, y) in [(0, 0), (22, 0), (0, 18), (22, 18)] {
                let size = Size::new(
                    if x == 0 { 22 } else { SIZE.width - 22 },
                    if y == 0 { 18 } else { SIZE.height - 18 },
                );
                let part = draw(Region { x, y, size });
                image::imageops::replace(&mut joined, &part, x.into(), y.into());
            }
            prop_assert!(joined == alone, "drawn in tiles");

            show(&before);
            draw(whole);
            show(&layers);
            prop_assert!(draw(whole) == alone, "drawn after another scene");
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("in {space:?}: {error}"));
    }
}
