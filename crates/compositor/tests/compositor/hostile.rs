//! Scenes that no editor would make on purpose.

use framefence_compositor::{Color, Layer, Mask, MaskChannel};

use crate::render::{render, scene, solid};

fn masked_by(mask: &str, layer: Layer) -> Layer {
    Layer {
        mask: Some(Mask {
            layer: mask.to_owned(),
            channel: MaskChannel::Alpha,
            inverted: false,
        }),
        ..layer
    }
}

/// Both hold the same pixels at first; those of the mask are needed before those of the layer.
#[test]
fn a_layer_may_be_equal_to_its_blurred_mask() {
    let masked = |mask_color| {
        let layer = masked_by("mask", solid(40.0, 20.0, Color::rgb(255, 0, 0)));
        let mask = Layer {
            hidden: true,
            blur: 3.0.into(),
            name: "mask".to_owned(),
            ..solid(40.0, 20.0, mask_color)
        };
        render(&scene(64, 48, vec![layer, mask]))
    };
    let equal = masked(Color::rgb(255, 0, 0));
    assert_eq!(equal.get_pixel(32, 24).0, [255, 0, 0, 255]);
    assert_eq!(equal.get_pixel(2, 2).0, [0, 0, 0, 255]);
    // The mask's colour does not count, but makes it another picture.
    assert!(equal == masked(Color::rgb(0, 255, 0)));
}
