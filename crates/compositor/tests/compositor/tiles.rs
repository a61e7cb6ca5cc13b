//! A frame drawn in tiles is the frame drawn whole, to the byte.

use framefence::{Region, Size, Time};
use framefence_compositor::{Color, Compositor, Layer};
use image::RgbaImage;

use crate::render::{
    at, gpu, gradient, picture, render_region, rotated, scaled, solid, test_card, transparent_scene,
};

const SIZE: Size = Size::new(150, 94);

fn layers() -> Vec<(&'static str, Layer)> {
    let stops = [
        (0.0, Color::rgb(230, 40, 40)),
        (1.0, Color::rgba(20, 60, 220, 90)),
    ];
    let tilted = |degrees, layer| at(71.3, 46.9, rotated(degrees, layer));
    vec![
        (
            "solid",
            tilted(13.0, solid(90.0, 50.0, Color::rgb(200, 100, 50))),
        ),
        ("line", tilted(31.0, solid(140.0, 0.4, Color::WHITE))),
        (
            "gradient",
            tilted(
                -21.0,
                gradient([110.0, 60.0], [0.1, 0.0], [0.8, 1.0], &stops),
            ),
        ),
        (
            "enlarged image",
            tilted(9.0, scaled(3.1, 2.3, picture("card.png"))),
        ),
        (
            "reduced image",
            tilted(-40.0, scaled(0.6, 0.31, picture("wide.png"))),
        ),
        (
            "mirrored image",
            tilted(3.0, scaled(-1.3, 1.1, picture("wide.png"))),
        ),
    ]
}

#[test]
fn tiles_join_without_a_seam() {
    let folder = tempfile::tempdir().unwrap();
    test_card(40, 28)
        .save(folder.path().join("card.png"))
        .unwrap();
    test_card(160, 100)
        .save(folder.path().join("wide.png"))
        .unwrap();
    let mut scenes: Vec<_> = layers()
        .into_iter()
        .map(|(name, layer)| (name, vec![layer]))
        .collect();
    scenes.push((
        "all",
        layers().into_iter().map(|(_, layer)| layer).collect(),
    ));
    for (name, layers) in scenes {
        let scene = transparent_scene(SIZE.width, SIZE.height, layers);
        let mut compositor = Compositor::new(gpu(), scene, folder.path()).unwrap();
        let mut draw = |region| render_region(&mut compositor, SIZE, region, Time::ZERO);
        let whole = draw(Region::whole(SIZE));
        assert!(
            whole.pixels().any(|pixel| pixel[3] != 0),
            "{name}: nothing was drawn"
        );
        for tile in [Size::new(64, 64), Size::new(38, 16), Size::new(150, 2)] {
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
            assert!(whole == joined, "{name} in tiles of {tile} differs");
        }
    }
}
