//! Transitions against their formulas in f64. Off by half a code value for rounding, 0.36 for the
//! dither, and 1/8 for the half floats of each of two surfaces.

use std::path::Path;

use framefence::Time;
use framefence_compositor::{
    BlendSpace, Clip, Color, Content, Direction, Easing, Layer, Sequence, Transition,
    TransitionKind,
};

use crate::effects::worst;
use crate::light::{Premultiplied, blended_values, delivered_codes, mixed};
use crate::render::{render_at, scaled, solid, transparent_scene};

const SIZE: (u32, u32) = (80, 50);
const OLD: Color = Color::rgba(220, 60, 20, 230);
const NEW: Color = Color::rgba(30, 180, 240, 140);

const DIRECTIONS: [Direction; 4] = [
    Direction::Left,
    Direction::Right,
    Direction::Up,
    Direction::Down,
];

fn full(color: Color) -> Layer {
    solid(f64::from(SIZE.0), f64::from(SIZE.1), color)
}

fn sequence(kind: TransitionKind, [old, new]: [Layer; 2]) -> Layer {
    let clip = |layer, transition| Clip {
        duration: Time::from_ratio(2, 1),
        transition,
        layers: vec![layer],
    };
    let transition = Transition {
        kind,
        duration: Time::from_ratio(1, 1),
        easing: Easing::Linear,
    };
    Layer::new(Content::Sequence(Sequence {
        size: None,
        clips: vec![clip(old, None), clip(new, Some(transition))],
    }))
}

/// The part of the transition that has passed, in hundredths, and the time in the scene.
fn moments() -> [(f64, Time); 5] {
    [0, 17, 50, 81, 99].map(|hundredths| {
        let progress = hundredths as f64 / 100.0;
        // The new clip starts a second before the old one ends.
        (progress, Time::from_ratio(100 + hundredths, 100))
    })
}

fn assert_drawn(
    kind: TransitionKind,
    scale: f64,
    colors: [Color; 2],
    expected: impl Fn(f64, [f64; 2], [Premultiplied; 2]) -> Premultiplied,
) {
    let clips = colors.map(|color| scaled(scale, scale, full(color)));
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        let both = colors.map(|color| blended_values(color, space));
        for (progress, time) in moments() {
            let mut scene = transparent_scene(SIZE.0, SIZE.1, vec![sequence(kind, clips.clone())]);
            scene.duration = Time::from_ratio(3, 1);
            scene.blend_space = space;
            let apart = worst(&render_at(&scene, Path::new(""), time), |x, y| {
                let middle = [x as f64 + 0.5, y as f64 + 0.5];
                delivered_codes(expected(progress, middle, both), space)
            });
            assert!(apart <= 1.1, "{kind:?} at {progress} in {space:?}: {apart}");
        }
    }
}

/// How far a pixel's middle lies along the way of a movement, and how long the way is.
fn along(to: Direction, [x, y]: [f64; 2]) -> (f64, f64) {
    let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
    match to {
        Direction::Right => (x, width),
        Direction::Left => (width - x, width),
        Direction::Down => (y, height),
        Direction::Up => (height - y, height),
    }
}

#[test]
fn a_cross_fade_is_part_of_one_and_part_of_the_other() {
    assert_drawn(
        TransitionKind::CrossFade,
        1.0,
        [OLD, NEW],
        |progress, _, [old, new]| mixed(old, new, progress),
    );
}

/// The soft edge comes from outside and leaves wholly; a sharp one is a pixel wide.
#[test]
fn a_wipe_is_new_behind_an_edge_that_moves() {
    for to in DIRECTIONS {
        for softness in [0.0, 0.25, 1.0] {
            let kind = TransitionKind::Wipe { to, softness };
            assert_drawn(kind, 1.0, [OLD, NEW], |progress, middle, [old, new]| {
                let (place, way) = along(to, middle);
                let soft = (softness * way).max(1.0);
                let edge = progress * (way + soft);
                mixed(old, new, ((edge - place) / soft).clamp(0.0, 1.0))
            });
        }
    }
}

/// Where both meet, each covers its part of the pixel, whether it ends there or would go on.
#[test]
fn a_slide_moves_both() {
    let opaque = [OLD, NEW].map(|color| Color {
        alpha: 255,
        ..color
    });
    for to in DIRECTIONS {
        let kind = TransitionKind::Slide { to };
        let covered = |progress: f64, middle| {
            let (place, way) = along(to, middle);
            (progress * way - place + 0.5).clamp(0.0, 1.0)
        };
        assert_drawn(kind, 1.0, [OLD, NEW], |progress, middle, [old, new]| {
            mixed(old, new, covered(progress, middle))
        });
        // Larger than their box.
        assert_drawn(kind, 1.4, opaque, |progress, middle, [old, new]| {
            mixed(old, new, covered(progress, middle))
        });
    }
}

/// Both clips are at least as large as their box all the time.
#[test]
fn a_zoom_fades_without_an_edge() {
    assert_drawn(
        TransitionKind::Zoom,
        1.0,
        [OLD, NEW],
        |progress, _, [old, new]| mixed(old, new, progress),
    );
}
