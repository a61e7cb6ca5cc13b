//! What is not drawn: what was drawn for the frame before, what is hidden, and what is not seen.

use std::collections::HashMap;

use framefence::{Region, Size, Time};
use framefence_compositor::{
    Animated, BlendMode, BlendSpace, Clip, Color, Compositor, Content, Direction, Easing,
    FrameCost, Group, Keyframe, Layer, Mask, MaskChannel, MotionBlur, Scene, Sequence, Shadow,
    Text, Transition, TransitionKind, WordHighlight, WordTime,
};
use image::RgbaImage;

use crate::render::{
    at, draw_region, faded, gpu, render_at, renderer, rotated, scene, solid, transparent_scene,
    with,
};

const SIZE: Size = Size::new(96, 64);

/// Draws frames of one scene, one after another, with one compositor.
struct Frames {
    compositor: Compositor,
    renderer: framefence::Renderer,
}

impl Frames {
    fn of(scene: Scene) -> Self {
        Self {
            compositor: Compositor::new(gpu(), scene, "").unwrap(),
            renderer: renderer(),
        }
    }

    fn draw(&mut self, time: Time) -> RgbaImage {
        let region = Region::whole(SIZE);
        draw_region(&self.renderer, &mut self.compositor, SIZE, region, time)
    }

    fn cost(&mut self, time: Time) -> FrameCost {
        self.draw(time);
        self.compositor.last_cost()
    }
}

fn frame(index: i64) -> Time {
    Time::from_ratio(index, 25)
}

fn cost_of(layers: Vec<Layer>) -> FrameCost {
    Frames::of(scene(SIZE.width, SIZE.height, layers)).cost(Time::ZERO)
}

fn group(layers: Vec<Layer>) -> Layer {
    Layer::new(Content::Group(Group { size: None, layers }))
}

fn blurred(layer: Layer) -> Layer {
    with(layer, |layer| layer.blur = 4.0.into())
}

fn orange() -> Layer {
    solid(40.0, 30.0, Color::rgb(230, 120, 30))
}

fn moving(from: [f64; 2], to: [f64; 2]) -> Animated<[f64; 2]> {
    let keyframe = |seconds, value| Keyframe {
        time: Time::from_ratio(seconds, 1),
        value,
        easing: Easing::Linear,
    };
    Animated::Keyframes(vec![keyframe(0, from), keyframe(1, to)])
}

/// What a frame costs that shows nothing but its background.
fn empty() -> FrameCost {
    let cost = cost_of(vec![]);
    let pixels = u64::from(SIZE.width * SIZE.height);
    assert_eq!(
        (cost.passes, cost.draws, cost.surface_pixels),
        (1, 0, pixels)
    );
    cost
}

/// What a frame costs that shows one layer which needs no surface, or has one already.
fn one_draw() -> FrameCost {
    let cost = cost_of(vec![orange()]);
    assert_eq!((cost.passes, cost.draws), (1, 1));
    assert_eq!(cost.surface_pixels, empty().surface_pixels);
    cost
}

#[test]
fn a_still_frame_is_not_drawn_twice() {
    let still = || {
        let inside = vec![orange(), rotated(20.0, orange())];
        with(blurred(group(inside)), |layer| {
            layer.shadow = Some(Shadow::default());
        })
    };
    for layer in [
        blurred(orange()),
        faded(0.5, group(vec![orange(), orange()])),
        still(),
    ] {
        let mut frames = Frames::of(scene(SIZE.width, SIZE.height, vec![layer]));
        let (first, first_cost) = (frames.draw(frame(0)), frames.compositor.last_cost());
        let (second, second_cost) = (frames.draw(frame(1)), frames.compositor.last_cost());
        assert!(first == second);
        assert!(first_cost.passes > 1, "{first_cost:?}");
        assert_eq!(second_cost.passes, 1);
        assert_eq!(second_cost.surface_pixels, empty().surface_pixels);
        assert!(second_cost.draws < first_cost.draws);
    }
}

#[test]
fn the_same_layer_twice_is_drawn_once() {
    let twice = cost_of(vec![blurred(orange()), blurred(orange())]);
    let once = cost_of(vec![blurred(orange())]);
    assert_eq!(twice.passes, once.passes);
    assert_eq!(twice.draws, once.draws + 1);
}

#[test]
fn what_an_opaque_layer_hides_is_not_drawn() {
    let full = solid(96.0, 64.0, Color::rgb(10, 200, 90));
    let hidden = vec![orange(), blurred(orange()), group(vec![orange()])];
    assert_eq!(
        cost_of([hidden.clone(), vec![full.clone()]].concat()),
        one_draw()
    );
    // Anything that shows through does not hide it.
    let glass = faded(0.99, full.clone());
    assert!(cost_of([hidden.clone(), vec![glass]].concat()).passes > 1);
    let smaller = at(49.0, 32.0, full);
    assert!(cost_of([vec![orange()], vec![smaller]].concat()).draws == 1);
    let aside = at(10.0, 32.0, solid(96.0, 64.0, Color::WHITE));
    assert!(cost_of([hidden, vec![aside]].concat()).passes > 1);
}

/// Few are remembered for what they hide; those that hide most are among them.
#[test]
fn a_large_opaque_layer_hides_what_is_beneath_thousands_of_small_ones() {
    let full = solid(96.0, 64.0, Color::rgb(10, 200, 90));
    let dots = (0..3000).map(|index| {
        let (x, y) = (f64::from(index % 96) + 0.5, f64::from(index / 96) + 0.5);
        at(x, y, solid(1.0, 1.0, Color::WHITE))
    });
    let layers = [vec![blurred(orange()), full], dots.collect()].concat();
    let cost = cost_of(layers);
    assert_eq!((cost.passes, cost.draws), (1, 3001));
}

#[test]
fn what_is_not_seen_costs_nothing() {
    let second = Time::from_ratio(1, 2);
    let effects = |layer| {
        with(blurred(layer), |layer| {
            layer.shadow = Some(Shadow::default());
        })
    };
    let unseen = [
        ("off the canvas", at(-100.0, 30.0, effects(orange()))),
        (
            "not yet there",
            with(effects(orange()), |layer| layer.in_point = second),
        ),
        (
            "hidden",
            with(effects(orange()), |layer| layer.hidden = true),
        ),
        ("transparent", faded(0.0, effects(orange()))),
        (
            "of no size",
            with(effects(orange()), |layer| layer.scale = [0.0, 1.0].into()),
        ),
        ("an empty group", effects(group(vec![]))),
        (
            "a group of nothing that is seen",
            effects(group(vec![faded(0.0, orange()), at(-300.0, 0.0, orange())])),
        ),
    ];
    for (name, layer) in unseen {
        assert_eq!(cost_of(vec![layer]), empty(), "{name}");
    }
}

/// Beside one that moves, a layer that stays is not drawn again.
#[test]
fn only_what_changes_is_drawn_again() {
    let still = at(30.0, 20.0, blurred(orange()));
    let moved = with(blurred(solid(20.0, 20.0, Color::WHITE)), |layer| {
        layer.position = Some(moving([20.0, 40.0], [70.0, 40.0]));
    });
    let cost = |layers| {
        let mut frames = Frames::of(scene(SIZE.width, SIZE.height, layers));
        frames.draw(frame(0));
        // Sees what stays as it is, and keeps it.
        frames.draw(frame(2));
        frames.cost(frame(5))
    };
    assert_eq!(cost(vec![still.clone()]), FrameCost::default());
    let moving_alone = cost(vec![moved.clone()]);
    assert!(moving_alone.passes > 1);
    assert_eq!(cost(vec![still, moved]), moving_alone);
}

/// What stays in a linear frame is known again, and what lies behind it must not be.
#[test]
fn a_background_that_changes_is_drawn_again() {
    let keyframe = |seconds, value| Keyframe {
        time: Time::from_ratio(seconds, 1),
        value,
        easing: Easing::Linear,
    };
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        let mut scene = scene(SIZE.width, SIZE.height, vec![orange()]);
        scene.blend_space = space;
        scene.canvas.background = Animated::Keyframes(vec![
            keyframe(0, Color::rgb(200, 0, 0)),
            keyframe(1, Color::rgb(0, 0, 200)),
        ]);
        assert_frames_stand_alone(&scene, &[0, 20, 3]);
    }
}

/// Frames of a scene in which all moves, in no order and some again: each is what a new compositor
/// draws, to the byte, whatever the one before left behind.
#[test]
fn every_frame_is_what_a_new_compositor_draws() {
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        let mut scene = transparent_scene(SIZE.width, SIZE.height, everything());
        scene.blend_space = space;
        // Every other frame once, then some again.
        let shuffled = (0..13).map(|index| index * 5 % 13 * 2);
        let again = (0..13).map(|index| index * index * 11 % 13 * 2);
        let order: Vec<_> = shuffled.chain(again).collect();
        assert_frames_stand_alone(&scene, &order);
    }
}

fn assert_frames_stand_alone(scene: &Scene, order: &[i64]) {
    let mut frames = Frames::of(scene.clone());
    let mut alone = HashMap::new();
    for &index in order {
        let drawn = frames.draw(frame(index));
        let alone = alone
            .entry(index)
            .or_insert_with(|| render_at(scene, "".as_ref(), frame(index)));
        assert!(drawn == *alone, "frame {index} in {:?}", scene.blend_space);
    }
}

/// Equal layers that are needed at different times, of which the one that is named first is drawn
/// last: a layer and those that mask it.
#[test]
fn equal_layers_that_mask_each_other_are_drawn_once() {
    let named = |name: &str, mask: Option<&str>| {
        with(faded(0.5, orange()), |layer| {
            layer.name = name.to_owned();
            layer.mask = mask.map(|name| Mask {
                layer: name.to_owned(),
                channel: MaskChannel::Alpha,
                inverted: false,
            });
        })
    };
    let layers = vec![
        named("top", Some("first")),
        with(named("first", Some("second")), |layer| layer.hidden = true),
        with(named("second", None), |layer| layer.hidden = true),
    ];
    let mut frames = Frames::of(transparent_scene(SIZE.width, SIZE.height, layers));
    // A half of a half of a half, off by what three surfaces are rounded by.
    let alpha = frames.draw(frame(0)).get_pixel(48, 32)[3];
    assert!(alpha.abs_diff(32) <= 1, "{alpha}");
}

/// Layers that move, layers that stay, and layers that do so at times.
fn everything() -> Vec<Layer> {
    let turning = |layer: Layer| {
        with(layer, |layer| {
            layer.rotation = Animated::Keyframes(vec![
                Keyframe {
                    time: frame(5),
                    value: 0.0,
                    easing: Easing::EaseInOut,
                },
                Keyframe {
                    time: frame(15),
                    value: 90.0,
                    easing: Easing::Linear,
                },
            ]);
        })
    };
    let moved = |layer: Layer| {
        with(layer, |layer| {
            layer.position = Some(moving([10.0, 50.0], [90.0, 10.0]));
        })
    };
    let glass = with(solid(50.0, 30.0, Color::rgba(255, 255, 255, 60)), |layer| {
        layer.background_blur = 5.0.into();
        layer.corner_radius = 7.0.into();
    });
    let masked = with(at(60.0, 30.0, orange()), |layer| {
        layer.mask = Some(Mask {
            layer: "mask".to_owned(),
            channel: MaskChannel::Alpha,
            inverted: true,
        });
    });
    let mask = with(
        moved(solid(30.0, 30.0, Color::rgba(0, 0, 0, 200))),
        |layer| {
            layer.name = "mask".to_owned();
            layer.hidden = true;
        },
    );
    let text = Text {
        highlight: Some(WordHighlight {
            words: vec![
                WordTime {
                    start: frame(2),
                    end: frame(9),
                },
                WordTime {
                    start: frame(9),
                    end: frame(20),
                },
            ],
            color: Some(Color::rgb(255, 0, 80).into()),
            background: None,
        }),
        ..Text::new("two words", 18.0)
    };
    let clip = |layers, transition| Clip {
        duration: frame(15),
        transition,
        layers,
    };
    let wipe = Transition {
        kind: TransitionKind::Wipe {
            to: Direction::Left,
            softness: 0.3,
        },
        duration: frame(8),
        easing: Easing::Linear,
    };
    let sequence = Layer::new(Content::Sequence(Sequence {
        size: Some([60.0, 40.0].into()),
        clips: vec![
            clip(vec![orange()], None),
            clip(
                vec![turning(solid(30.0, 30.0, Color::rgb(0, 120, 200)))],
                Some(wipe),
            ),
        ],
    }));
    vec![
        at(40.0, 30.0, blurred(orange())),
        turning(blurred(group(vec![
            orange(),
            at(20.0, 20.0, glass.clone()),
        ]))),
        with(moved(orange()), |layer| {
            layer.motion_blur = Some(MotionBlur::default());
        }),
        at(30.0, 40.0, glass),
        masked,
        mask,
        at(50.0, 12.0, Layer::new(Content::Text(Box::new(text)))),
        at(66.0, 44.0, faded(0.8, sequence)),
        with(moved(solid(20.0, 20.0, Color::rgb(90, 200, 0))), |layer| {
            layer.blend = BlendMode::Difference;
            layer.in_point = frame(4);
            layer.out_point = Some(frame(18));
            layer.shadow = Some(Shadow::default());
        }),
    ]
}
