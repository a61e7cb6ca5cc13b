//! The sRGB transfer function in f64 (IEC 61966-2-1), for what tests expect.

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
