//! What clips look like while one takes the place of another.

use framefence::{Region, Size, Time};
use framefence_compositor::{
    Clip, Color, Compositor, Content, Direction, Layer, Sequence, Transition, TransitionKind,
};
use image::{Rgba, RgbaImage};

use crate::render::{gpu, render_region, scaled, scene, solid};

const SIZE: Size = Size::new(90, 60);

/// Both clips fill the sequence; halfway, for two seconds from second 8 on, one is the other.
fn two_clips(kind: TransitionKind, old: Layer, new: Layer) -> Compositor {
    let seconds = |seconds| Time::from_ratio(seconds, 1);
    let clip = |layer, transition| Clip {
        duration: seconds(10),
        transition,
        layers: vec![layer],
    };
    let transition = Transition {
        kind,
        duration: seconds(2),
        easing: Default::default(),
    };
    let clips = vec![clip(old, None), clip(new, Some(transition))];
    let sequence = Layer::new(Content::Sequence(Sequence { size: None, clips }));
    let mut scene = scene(SIZE.width, SIZE.height, vec![sequence]);
    scene.duration = seconds(18);
    Compositor::new(gpu(), scene, "").unwrap()
}

fn whole(color: Color) -> Layer {
    solid(SIZE.width.into(), SIZE.height.into(), color)
}

fn frame(compositor: &mut Compositor, time: Time) -> RgbaImage {
    render_region(compositor, SIZE, Region::whole(SIZE), time)
}

/// Progress is a hundredth for every fiftieth of a second.
fn at_percent(percent: i64) -> Time {
    Time::from_ratio(400 + percent, 50)
}

/// Opaque, and of that colour but for rounding.
fn is_near(pixel: &Rgba<u8>, expected: [u8; 3]) -> bool {
    let [red, green, blue, alpha] = pixel.0;
    let channels = [red, green, blue].into_iter().zip(expected);
    alpha == 255 && channels.into_iter().all(|(a, b)| a.abs_diff(b) <= 1)
}

#[test]
fn clips_that_slide_meet_without_a_gap() {
    let (old, new) = (Color::rgb(200, 100, 50), Color::rgb(100, 200, 150));
    for (to, is_along_x) in [
        (Direction::Left, true),
        (Direction::Right, true),
        (Direction::Up, false),
        (Direction::Down, false),
    ] {
        // The second clip is larger than the sequence: it is cut off where the first one is.
        for size in [1.0, 1.4] {
            let new = scaled(size, size, whole(new));
            let mut compositor = two_clips(
                TransitionKind::Slide { to },
                scaled(size, size, whole(old)),
                new,
            );
            for percent in [0, 7, 31, 50, 73] {
                let image = frame(&mut compositor, at_percent(percent));
                let side = if is_along_x { SIZE.width } else { SIZE.height };
                let part = percent as f64 / 100.0 * f64::from(side);
                for place in 0..side {
                    let (x, y) = if is_along_x { (place, 30) } else { (45, place) };
                    let from_edge = match to {
                        Direction::Left | Direction::Up => side - 1 - place,
                        Direction::Right | Direction::Down => place,
                    };
                    // How much of the pixel the new clip has taken.
                    let share = (part - f64::from(from_edge)).clamp(0.0, 1.0);
                    let expected = [
                        200.0 - 100.0 * share,
                        100.0 + 100.0 * share,
                        50.0 + 100.0 * share,
                    ];
                    let pixel = image.get_pixel(x, y).0;
                    for (channel, expected) in expected.into_iter().enumerate() {
                        let apart = (f64::from(pixel[channel]) - expected).abs();
                        assert!(
                            apart <= 1.0,
                            "{to:?} {size} {percent} %: {pixel:?} at {x},{y}, expected {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_cross_fade_is_as_opaque_as_its_clips() {
    let mut compositor = two_clips(
        TransitionKind::CrossFade,
        whole(Color::rgb(200, 100, 50)),
        whole(Color::rgb(100, 200, 150)),
    );
    let image = frame(&mut compositor, at_percent(25));
    assert!(image.pixels().all(|pixel| is_near(pixel, [175, 125, 75])));
}

#[test]
fn a_zoom_shows_no_edge_of_clips_that_fill_their_box() {
    let color = Color::rgb(120, 60, 30);
    let mut compositor = two_clips(TransitionKind::Zoom, whole(color), whole(color));
    for percent in [0, 1, 20, 50, 99] {
        let image = frame(&mut compositor, at_percent(percent));
        let is_same = |pixel| is_near(pixel, [120, 60, 30]);
        assert!(image.pixels().all(is_same), "{percent} %");
    }
}

#[test]
fn a_wipe_uncovers_the_new_clip_along_its_way() {
    let (old, new) = (whole(Color::BLACK), whole(Color::WHITE));
    let kind = TransitionKind::Wipe {
        to: Direction::Right,
        softness: 0.0,
    };
    let mut compositor = two_clips(kind, old, new);
    let image = frame(&mut compositor, at_percent(50));
    assert_eq!(image.get_pixel(43, 10).0, [255; 4]);
    assert_eq!(image.get_pixel(47, 10).0, [0, 0, 0, 255]);
}
