//! Gradients against their formulas in f64: the place of a pixel's middle on the line, and the
//! colours of the stops beside it, mixed with alpha multiplied in. Off by half a code value for
//! rounding, 0.36 for the dither, and in linear light 1/8 for half floats.

use framefence_compositor::{
    BlendSpace, Color, ConicGradient, Content, GradientStop, Layer, LinearGradient, RadialGradient,
};

use crate::effects::worst;
use crate::light::{Premultiplied, blended_values, delivered_codes, mixed};
use crate::render::{render, transparent_scene};

const SIZE: (u32, u32) = (120, 70);

/// A jump at 0.6, and parts that are translucent.
const STOPS: [(f64, Color); 5] = [
    (0.1, Color::rgb(230, 40, 40)),
    (0.45, Color::rgba(250, 240, 10, 80)),
    (0.6, Color::rgba(0, 200, 90, 255)),
    (0.6, Color::rgba(0, 0, 0, 0)),
    (0.95, Color::rgb(20, 60, 220)),
];

fn stops() -> Vec<GradientStop> {
    STOPS
        .map(|(offset, color)| GradientStop {
            offset: offset.into(),
            color: color.into(),
        })
        .into()
}

fn color_at(place: f64, space: BlendSpace) -> Premultiplied {
    let values = |index: usize| blended_values(STOPS[index].1, space);
    let after = STOPS.iter().position(|&(offset, _)| place < offset);
    match after {
        Some(0) => values(0),
        None => values(STOPS.len() - 1),
        Some(after) => {
            let (start, end) = (STOPS[after - 1].0, STOPS[after].0);
            mixed(
                values(after - 1),
                values(after),
                (place - start) / (end - start),
            )
        }
    }
}

/// Checks every pixel whose middle `place` gives the place on the line of.
fn assert_colors(content: &Content, what: &str, place: impl Fn(f64, f64) -> Option<f64>) {
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        let mut scene = transparent_scene(SIZE.0, SIZE.1, vec![Layer::new(content.clone())]);
        scene.blend_space = space;
        let drawn = render(&scene);
        let apart = worst(&drawn, |x, y| match place(x as f64 + 0.5, y as f64 + 0.5) {
            Some(place) => delivered_codes(color_at(place, space), space),
            None => drawn.get_pixel(x as u32, y as u32).0.map(f64::from),
        });
        assert!(apart <= 1.0, "{what} in {space:?}: {apart}");
    }
}

#[test]
fn a_linear_gradient_changes_along_its_line() {
    for (start, end) in [
        ([0.0, 0.0], [1.0, 0.0]),
        ([0.5, 0.0], [0.5, 1.0]),
        ([0.13, 0.9], [0.71, 0.2]),
    ] {
        let gradient = LinearGradient {
            start: start.into(),
            end: end.into(),
            ..LinearGradient::new(stops())
        };
        let point = |[x, y]: [f64; 2]| [x * f64::from(SIZE.0), y * f64::from(SIZE.1)];
        let ([ax, ay], [bx, by]) = (point(start), point(end));
        let [dx, dy] = [bx - ax, by - ay];
        let what = format!("{start:?} to {end:?}");
        assert_colors(&Content::LinearGradient(gradient), &what, |x, y| {
            let place = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy);
            away_from_the_jump(place)
        });
    }
}

#[test]
fn a_radial_gradient_changes_with_the_distance_in_radii() {
    for (center, radius) in [([0.5, 0.5], [0.5, 0.5]), ([0.2, 0.7], [0.9, 0.4])] {
        let gradient = RadialGradient {
            center: center.into(),
            radius: radius.into(),
            ..RadialGradient::new(stops())
        };
        let what = format!("around {center:?}");
        assert_colors(&Content::RadialGradient(gradient), &what, |x, y| {
            let part = |along: f64, side: u32, axis: usize| {
                (along / f64::from(side) - center[axis]) / radius[axis]
            };
            away_from_the_jump(part(x, SIZE.0, 0).hypot(part(y, SIZE.1, 1)))
        });
    }
}

#[test]
fn a_conic_gradient_changes_with_the_angle_clockwise_from_its_start() {
    for (center, start_degrees) in [([0.5, 0.5], 0.0), ([0.3, 0.6], 77.0), ([0.5, 0.5], -200.0)] {
        let gradient = ConicGradient {
            center: center.into(),
            start_angle: start_degrees.into(),
            ..ConicGradient::new(stops())
        };
        let what = format!("around {center:?} from {start_degrees}°");
        assert_colors(&Content::ConicGradient(gradient), &what, |x, y| {
            let [x, y] = [
                x - center[0] * f64::from(SIZE.0),
                y - center[1] * f64::from(SIZE.1),
            ];
            let degrees = x.atan2(-y).to_degrees() - start_degrees;
            let place = degrees.rem_euclid(360.0) / 360.0;
            // Where it begins and ends, pixels have a part of both colours.
            let pixels_from_start = place.min(1.0 - place) * std::f64::consts::TAU * x.hypot(y);
            (pixels_from_start > 1.0)
                .then_some(place)
                .and_then(away_from_the_jump)
        });
    }
}

/// Where rounding decides which colour a pixel has, either is right.
fn away_from_the_jump(place: f64) -> Option<f64> {
    ((place - 0.6).abs() > 1e-5).then_some(place)
}
