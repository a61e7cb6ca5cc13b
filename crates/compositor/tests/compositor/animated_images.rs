//! Animated pictures show the frame of their time.

use framefence::{Region, Size, Time};
use framefence_compositor::Compositor;
use gif::Repeat;
use image::{Rgba, RgbaImage};

use crate::render::{gpu, picture, render_at, render_region, save_gif, scene};

#[test]
fn the_frame_depends_on_the_time_since_the_in_point_alone() {
    let folder = tempfile::tempdir().unwrap();
    save_gif(
        &folder.path().join("colours.gif"),
        (4, 2),
        Repeat::Finite(1),
        &[(4, [200, 0, 0]), (4, [0, 200, 0]), (4, [0, 0, 200])],
    );

    let mut layer = picture("colours.gif");
    layer.in_point = Time::from_ratio(1, 10);
    let mut compositor = Compositor::new(gpu(), scene(4, 2, vec![layer]), folder.path()).unwrap();
    let (red, green, blue) = ([200, 0, 0, 255], [0, 200, 0, 255], [0, 0, 200, 255]);
    // Two rounds of 120 ms that start at 100 ms, not in the order of time.
    for (time_ms, expected) in [
        (300, blue),
        (100, red),
        (139, red),
        (140, green),
        (219, blue),
        (220, red),
        (99, [0, 0, 0, 255]),
        (260, green),
        (340, blue),
        (900, blue),
        (100, red),
    ] {
        let size = Size::new(4, 2);
        let time = Time::from_ratio(time_ms, 1000);
        let frame = render_region(&mut compositor, size, Region::whole(size), time);
        for pixel in frame.pixels() {
            assert_eq!(pixel.0, expected, "at {time_ms} ms");
        }
    }
}

#[test]
fn a_still_webp_file_is_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let half_transparent = RgbaImage::from_fn(4, 2, |x, _| match x {
        0..2 => Rgba([250, 100, 0, 255]),
        _ => Rgba([255, 255, 255, 51]),
    });
    half_transparent
        .save(folder.path().join("still.webp"))
        .unwrap();
    let canvas = scene(4, 2, vec![picture("still.webp")]);
    let frame = render_at(&canvas, folder.path(), Time::ZERO);
    assert_eq!(frame.get_pixel(0, 1).0, [250, 100, 0, 255]);
    assert_eq!(frame.get_pixel(3, 0).0, [51, 51, 51, 255]);
}
