//! From premultiplied to straight alpha.
//!
//! Straight colour is premultiplied colour divided by alpha. Where alpha is zero nothing is known
//! of the colour: it is made zero, too. Colour above alpha, which additive blending makes, has no
//! straight form: it is clamped.

use crate::{AlphaMode, linear_from_srgb, srgb_from_linear};

/// Divides code values by alpha, rounded to nearest with halves up: for a pixel whose alpha was
/// multiplied into its code values. Alpha is the last channel.
#[must_use]
pub fn unpremultiply([r, g, b, alpha]: [u8; 4]) -> [u8; 4] {
    if alpha == u8::MAX {
        return [r, g, b, alpha];
    }
    if alpha == 0 {
        return [0; 4];
    }
    let divide = |value: u8| {
        let alpha = u32::from(alpha);
        let straight = (u32::from(value) * 255 + alpha / 2) / alpha;
        straight.min(255) as u8
    };
    [divide(r), divide(g), divide(b), alpha]
}

/// Divides linear light by alpha, rounded to nearest: for a pixel whose alpha was multiplied into
/// linear light that was then encoded as sRGB, as a GPU does in an sRGB target. Alpha is the last
/// channel.
#[must_use]
pub fn unpremultiply_srgb([r, g, b, alpha]: [u8; 4]) -> [u8; 4] {
    if alpha == u8::MAX {
        return [r, g, b, alpha];
    }
    if alpha == 0 {
        return [0; 4];
    }
    let divide = |value: u8| {
        let linear = linear_from_srgb(f64::from(value) / 255.0) * 255.0 / f64::from(alpha);
        (srgb_from_linear(linear.min(1.0)) * 255.0).round() as u8
    };
    [divide(r), divide(g), divide(b), alpha]
}

/// The 16-bit straight sRGB pixel of a linear one: divided by alpha if that was multiplied into
/// it, clamped to 0–1 (`NaN` counts as 0), encoded, and rounded to nearest. Alpha is the last
/// channel and stays linear.
#[must_use]
pub fn straight_srgb16([r, g, b, alpha]: [f32; 4], mode: AlphaMode) -> [u16; 4] {
    let alpha = match mode {
        AlphaMode::Opaque => 1.0,
        AlphaMode::Premultiplied | AlphaMode::Straight => alpha.clamp(0.0, 1.0),
    };
    let alpha16 = quantize16(alpha.into());
    if alpha16 == 0 {
        return [0; 4];
    }
    let divisor = match mode {
        AlphaMode::Premultiplied => f64::from(alpha),
        AlphaMode::Opaque | AlphaMode::Straight => 1.0,
    };
    let encode = |linear: f32| {
        quantize16(srgb_from_linear(
            (f64::from(linear) / divisor).clamp(0.0, 1.0),
        ))
    };
    [encode(r), encode(g), encode(b), alpha16]
}

fn quantize16(value: f64) -> u16 {
    (value * 65535.0).round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs() -> impl Iterator<Item = (u8, u8)> {
        (0..=255).flat_map(|alpha| (0..=255).map(move |value| (value, alpha)))
    }

    #[test]
    fn division_is_exactly_rounded() {
        for (value, alpha) in pairs() {
            let [straight, g, b, kept] = unpremultiply([value, 0, value, alpha]);
            assert_eq!((g, b, kept), (0, straight, alpha));
            let (wide_value, wide_alpha) = (i32::from(value), i32::from(alpha));
            if alpha == 0 || value == 0 {
                assert_eq!(straight, 0);
            } else if value > alpha {
                assert_eq!(straight, 255, "{value} / {alpha}");
            } else {
                let remainder = i32::from(straight) * wide_alpha - wide_value * 255;
                assert!(
                    2 * remainder.abs() <= wide_alpha,
                    "{value} / {alpha} = {straight}"
                );
            }
        }
    }

    #[test]
    fn division_in_linear_light_is_exactly_rounded() {
        // The definition in one formula each way, apart from the code under test.
        let decode = |value: f64| {
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        let encode = |value: f64| {
            if value <= 0.0031308 {
                value * 12.92
            } else {
                value.powf(1.0 / 2.4) * 1.055 - 0.055
            }
        };
        for (value, alpha) in pairs() {
            let [r, g, b, kept] = unpremultiply_srgb([value, 0, value, alpha]);
            assert_eq!((g, b, kept), (0, r, alpha));
            let exact = match alpha {
                0 => 0.0,
                _ => encode((decode(f64::from(value) / 255.0) * 255.0 / f64::from(alpha)).min(1.0)),
            };
            let error = (f64::from(r) - exact * 255.0).abs();
            assert!(error < 0.5 + 1e-9, "{value} / {alpha} = {r}, exact {exact}");
        }
    }

    #[test]
    fn linear_pixels_are_divided_encoded_and_clamped() {
        use AlphaMode::{Opaque, Premultiplied, Straight};
        let half = 48_192; // 65535 × 0.735357, the encoded value of 0.5
        for (pixel, mode, expected) in [
            ([0.5, 0.0, 1.0, 1.0], Premultiplied, [half, 0, 65535, 65535]),
            (
                [0.25, 0.0, 0.5, 0.5],
                Premultiplied,
                [half, 0, 65535, 32768],
            ),
            ([0.5, 0.0, 1.0, 0.5], Straight, [half, 0, 65535, 32768]),
            ([0.5, 0.0, 1.0, 0.0], Opaque, [half, 0, 65535, 65535]),
            (
                [9.0, -1.0, f32::INFINITY, 2.0],
                Premultiplied,
                [65535, 0, 65535, 65535],
            ),
            (
                [f32::NAN, 0.5, 0.0, 1.0],
                Premultiplied,
                [0, half, 0, 65535],
            ),
            ([1.0, 1.0, 1.0, f32::NAN], Premultiplied, [0; 4]),
            ([1.0, 1.0, 1.0, 0.0], Straight, [0; 4]),
            ([1.0, 1.0, 1.0, 1e-9], Premultiplied, [0; 4]),
        ] {
            assert_eq!(straight_srgb16(pixel, mode), expected, "{pixel:?} {mode:?}");
        }
    }
}
