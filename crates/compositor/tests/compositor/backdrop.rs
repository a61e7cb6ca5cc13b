//! The layers beneath the lowest one that changes are drawn once, and a recording that was thrown
//! away is not taken for a drawing.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use framefence::{
    FrameRequest, OutputFormat, PaintContext, Painter, PainterError, PendingFrame, Region,
    Renderer, RendererOptions, Size, Time,
};
use framefence_compositor::{
    Animated, BlendMode, BlendSpace, Color, Compositor, Content, Easing, Group, Keyframe, Layer,
    MotionBlur, Scene,
};

use crate::render::{at, faded, gpu, gradient, render_at, render_region, rotated, scene, solid};

const SIZE: Size = Size::new(96, 64);

fn ramp(from: f64, to: f64) -> Animated<f64> {
    let keyframe = |seconds, value| Keyframe {
        time: Time::from_ratio(seconds, 1),
        value,
        easing: Easing::Linear,
    };
    Animated::Keyframes(vec![keyframe(0, from), keyframe(1, to)])
}

/// Six layers that stay as they are beneath one that turns and one above it.
fn still_beneath_moving() -> Scene {
    let stops = [
        (0.0, Color::rgb(250, 40, 90)),
        (1.0, Color::rgba(20, 90, 220, 120)),
    ];
    let mut layers = vec![gradient([96.0, 64.0], [0.0, 0.0], [1.0, 1.0], &stops)];
    for index in 0..5 {
        let color = Color::rgba(40 * index, 200 - 30 * index, 90, 140);
        layers.push(rotated(f64::from(index), solid(95.0, 63.0, color)));
    }
    layers.push(Layer {
        rotation: ramp(0.0, 90.0),
        ..at(40.3, 30.0, solid(30.0, 12.0, Color::WHITE))
    });
    layers.push(faded(0.5, at(60.0, 40.0, solid(20.0, 20.0, Color::BLACK))));
    scene(SIZE.width, SIZE.height, layers)
}

fn frame_time(number: i64) -> Time {
    Time::from_ratio(number, 25)
}

#[test]
fn what_lies_beneath_the_lowest_change_is_drawn_once() {
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        let mut scene = still_beneath_moving();
        scene.blend_space = space;
        let mut compositor = Compositor::new(gpu(), scene.clone(), "").unwrap();
        let mut draws = Vec::new();
        for number in [0, 1, 2, 3, 9, 3, 0] {
            let whole = Region::whole(SIZE);
            let frame = render_region(&mut compositor, SIZE, whole, frame_time(number));
            draws.push(compositor.last_cost().draws);
            let alone = render_at(&scene, Path::new(""), frame_time(number));
            assert!(frame == alone, "frame {number} in {space:?} differs");
        }
        let delivered = u32::from(space == BlendSpace::Linear);
        // The second frame sees what stays the same, the third has it.
        let expected = [8, 8, 2, 2, 2, 2, 2].map(|count| count + delivered);
        assert_eq!(draws, expected, "{space:?}");
    }
}

/// Layers that read what is behind them take passes of their own.
#[test]
fn a_backdrop_reaches_across_passes() {
    for glass in [false, true] {
        let mut scene = still_beneath_moving();
        for layer in &mut scene.layers[1..5] {
            layer.blend = BlendMode::Multiply;
        }
        if glass {
            scene.layers[3].background_blur = 2.0.into();
        }
        scene.layers.push(Layer {
            blend: BlendMode::Screen,
            ..at(70.0, 20.0, solid(20.0, 20.0, Color::rgb(90, 20, 40)))
        });
        let mut compositor = Compositor::new(gpu(), scene.clone(), "").unwrap();
        let mut passes = Vec::new();
        for number in [0, 1, 2, 3, 9, 9, 9, 0] {
            let whole = Region::whole(SIZE);
            let frame = render_region(&mut compositor, SIZE, whole, frame_time(number));
            passes.push(compositor.last_cost().passes);
            let alone = render_at(&scene, Path::new(""), frame_time(number));
            assert!(frame == alone, "frame {number}, glass {glass}");
        }
        assert!(passes[2] < passes[1], "{passes:?}");
        assert_eq!(passes[2], passes[4], "{passes:?}");
        assert_eq!(passes[6], 0, "{passes:?}");
    }
}

#[test]
fn a_layer_at_rest_is_not_averaged() {
    let still = at(40.3, 30.7, rotated(13.0, solid(30.0, 12.0, Color::WHITE)));
    let blurred = Layer {
        motion_blur: Some(MotionBlur::default()),
        ..still.clone()
    };
    let draw = |layer: Layer| {
        let scene = scene(SIZE.width, SIZE.height, vec![layer]);
        let mut compositor = Compositor::new(gpu(), scene, "").unwrap();
        let frame = render_region(&mut compositor, SIZE, Region::whole(SIZE), Time::ZERO);
        (frame, compositor.last_cost())
    };
    assert!(draw(still) == draw(blurred));
}

#[test]
fn a_backdrop_that_changes_is_drawn_again() {
    let mut scene = still_beneath_moving();
    let mut compositor = Compositor::new(gpu(), scene.clone(), "").unwrap();
    let check = |compositor: &mut Compositor, scene: &Scene, number| {
        let frame = render_region(compositor, SIZE, Region::whole(SIZE), frame_time(number));
        assert!(frame == render_at(scene, Path::new(""), frame_time(number)));
    };
    for number in 0..3 {
        check(&mut compositor, &scene, number);
    }
    scene.canvas.background = Color::rgb(9, 80, 7).into();
    scene.layers.remove(0);
    compositor.set_scene(gpu(), scene.clone()).unwrap();
    for number in 0..3 {
        check(&mut compositor, &scene, number);
    }
    scene.canvas.background = Color::rgb(90, 8, 7).into();
    compositor.set_scene(gpu(), scene.clone()).unwrap();
    check(&mut compositor, &scene, 3);
}

#[test]
fn a_background_that_changes_under_linear_light_is_drawn() {
    let layers = vec![at(20.0, 20.0, solid(10.0, 10.0, Color::WHITE))];
    let mut scene = scene(SIZE.width, SIZE.height, layers);
    scene.blend_space = BlendSpace::Linear;
    let keyframe = |seconds, value| Keyframe {
        time: Time::from_ratio(seconds, 1),
        value,
        easing: Easing::Hold,
    };
    scene.canvas.background =
        Animated::Keyframes(vec![keyframe(0, Color::BLACK), keyframe(1, Color::WHITE)]);
    let mut compositor = Compositor::new(gpu(), scene, "").unwrap();
    for (seconds, expected) in [(0, 0), (1, 255), (0, 0)] {
        let time = Time::from_ratio(seconds, 1);
        let frame = render_region(&mut compositor, SIZE, Region::whole(SIZE), time);
        assert_eq!(frame.get_pixel(0, 0)[0], expected);
    }
}

/// Paints, and then fails if it is told to.
struct Failing {
    compositor: Compositor,
    fails: bool,
}

impl Painter for Failing {
    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        self.compositor.paint(context)?;
        match self.fails {
            true => Err("told to".into()),
            false => Ok(()),
        }
    }
}

#[test]
fn commands_that_were_never_submitted_have_drawn_nothing() {
    let group = |x: f64| {
        let child = solid(30.0, 30.0, Color::rgb(200, 90, 10));
        let content = Content::Group(Group {
            size: None,
            layers: vec![child],
        });
        at(
            x,
            32.0,
            Layer {
                blur: 2.0.into(),
                ..Layer::new(content)
            },
        )
    };
    let mut layers = still_beneath_moving().layers;
    layers.push(group(30.0));
    let scene = scene(SIZE.width, SIZE.height, layers);
    let mut painter = Failing {
        compositor: Compositor::new(gpu(), scene.clone(), "").unwrap(),
        fails: true,
    };
    let renderer = Renderer::new(gpu(), RendererOptions::default()).unwrap();
    let request = FrameRequest::new(0, Time::ZERO, SIZE).with_format(OutputFormat::Rgba8);
    for _ in 0..3 {
        painter.fails = true;
        let failed = renderer.submit_now(&mut painter, &request).unwrap();
        assert!(failed.wait().is_err());
        painter.fails = false;
        let frame = renderer.submit_now(&mut painter, &request).unwrap();
        let frame = frame.wait().unwrap();
        let expected = render_at(&scene, Path::new(""), Time::ZERO);
        let plane = frame.image().plane();
        for (y, row) in (0..).zip(expected.rows()) {
            let row: Vec<u8> = row.flat_map(|pixel| pixel.0).collect();
            assert!(plane.row(y) == row, "row {y}");
        }
    }
}

/// Their frames overtake each other between painting and submission.
#[test]
fn renderers_that_share_a_compositor_get_their_own_frames() {
    const FRAMES: i64 = 24;
    let mut scene = still_beneath_moving();
    scene.layers.insert(
        3,
        Layer {
            blur: ramp(1.0, 4.0),
            ..at(50.0, 30.0, solid(40.0, 30.0, Color::rgb(90, 200, 40)))
        },
    );
    let expected: Vec<_> = (0..FRAMES)
        .map(|number| render_at(&scene, Path::new(""), frame_time(number)))
        .collect();
    let compositor = Compositor::new(gpu(), scene, "").unwrap();
    let compositor = Arc::new(Mutex::new(compositor));
    let render = |numbers: Vec<i64>| {
        let renderer = Renderer::new(gpu(), RendererOptions::default().with_depth(4)).unwrap();
        let mut pending = VecDeque::new();
        let check = |(number, frame): (i64, PendingFrame)| {
            let frame = frame.wait().unwrap();
            let plane = frame.image().plane();
            for (y, row) in (0..).zip(expected[number as usize].rows()) {
                let row: Vec<u8> = row.flat_map(|pixel| pixel.0).collect();
                assert!(plane.row(y) == row, "frame {number}, row {y}");
            }
        };
        for number in numbers {
            let time = frame_time(number);
            let request = FrameRequest::new(0, time, SIZE).with_format(OutputFormat::Rgba8);
            pending.push_back((number, renderer.submit(&compositor, request).unwrap()));
            if pending.len() == 3 {
                pending.pop_front().map(check);
            }
        }
        pending.into_iter().for_each(check);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| render((0..FRAMES).collect()));
        scope.spawn(|| render((0..FRAMES).rev().collect()));
    });
}
