//! Masked layers against the formula: the layer times the mask's opacity, or its luminance times
//! its opacity, or what is left of either. Off by half a code value for rounding, 0.36 for the
//! dither, and 1/8 for the half floats of each of three surfaces.

use framefence_compositor::{BlendSpace, Color, Content, Group, Layer, Mask, MaskChannel};

use crate::blends::{colors, columns};
use crate::effects::worst;
use crate::light::{blended_values, delivered_codes};
use crate::render::{render, solid, transparent_scene, with};

#[test]
fn a_mask_is_the_part_of_the_layer_that_is_seen() {
    let side = colors().len() as u32;
    let color = Color::rgba(240, 150, 30, 204);
    let mask = with(
        Layer::new(Content::Group(Group {
            size: None,
            layers: columns(),
        })),
        |layer| {
            layer.name = "mask".to_owned();
            layer.hidden = true;
        },
    );
    for space in [BlendSpace::Srgb, BlendSpace::Linear] {
        for channel in [MaskChannel::Alpha, MaskChannel::Luminance] {
            for inverted in [false, true] {
                let full = solid(f64::from(side), f64::from(side), color);
                let masked = with(full, |layer| {
                    layer.mask = Some(Mask {
                        layer: "mask".to_owned(),
                        channel,
                        inverted,
                    });
                });
                let mut scene = transparent_scene(side, side, vec![masked, mask.clone()]);
                scene.blend_space = space;
                let apart = worst(&render(&scene), |x, _| {
                    let [red, green, blue, alpha] = blended_values(colors()[x], space);
                    let seen = match channel {
                        MaskChannel::Alpha => alpha,
                        MaskChannel::Luminance => 0.2126 * red + 0.7152 * green + 0.0722 * blue,
                    };
                    let seen = if inverted { 1.0 - seen } else { seen };
                    let layer = blended_values(color, space);
                    delivered_codes(layer.map(|value| value * seen), space)
                });
                assert!(
                    apart <= 1.1,
                    "{channel:?}, inverted: {inverted}, in {space:?}: {apart}"
                );
            }
        }
    }
}
