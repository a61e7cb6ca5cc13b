//! Colours in the values that are blended and in those that are delivered, in f64, for what tests
//! expect.

use framefence_compositor::{BlendSpace, Color};

/// Red, green, blue and alpha from 0 to 1, alpha multiplied in, in the values that are blended.
pub(crate) type Premultiplied = [f64; 4];

/// A colour as it is blended.
pub(crate) fn blended_values(color: Color, space: BlendSpace) -> Premultiplied {
    let alpha = f64::from(color.alpha) / 255.0;
    let channel = |code: u8| {
        let encoded = f64::from(code) / 255.0;
        alpha
            * match space {
                BlendSpace::Linear => linear_from_srgb(encoded),
                _ => encoded,
            }
    };
    [
        channel(color.red),
        channel(color.green),
        channel(color.blue),
        alpha,
    ]
}

/// What is delivered of a blended colour, in code values.
pub(crate) fn delivered_codes(color: Premultiplied, space: BlendSpace) -> [f64; 4] {
    let [.., alpha] = color;
    std::array::from_fn(|index| match space {
        BlendSpace::Linear if index < 3 && alpha > 0.0 => {
            srgb_from_linear(color[index] / alpha) * alpha * 255.0
        }
        _ => color[index] * 255.0,
    })
}

pub(crate) fn over(front: Premultiplied, behind: Premultiplied) -> Premultiplied {
    std::array::from_fn(|index| front[index] + behind[index] * (1.0 - front[3]))
}

/// `progress` of the way from one to the other.
pub(crate) fn mixed(from: Premultiplied, to: Premultiplied, progress: f64) -> Premultiplied {
    std::array::from_fn(|index| from[index] * (1.0 - progress) + to[index] * progress)
}

/// IEC 61966-2-1.
pub(crate) fn linear_from_srgb(encoded: f64) -> f64 {
    match encoded {
        dark if dark <= 0.04045 => dark / 12.92,
        bright => ((bright + 0.055) / 1.055).powf(2.4),
    }
}

pub(crate) fn srgb_from_linear(linear: f64) -> f64 {
    match linear {
        dark if dark <= 0.003_130_8 => dark * 12.92,
        bright => 1.055 * bright.powf(1.0 / 2.4) - 0.055,
    }
}
