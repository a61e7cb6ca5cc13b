//! The transfer function of sRGB: IEC 61966-2-1:1999, section 5.2.

/// The sRGB code value of a linear value, both within 0–1.
#[must_use]
pub fn srgb_from_linear(linear: f64) -> f64 {
    if linear <= 0.003_130_8 {
        linear * 12.92
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// The linear value of an sRGB code value, both within 0–1.
#[must_use]
pub fn linear_from_srgb(encoded: f64) -> f64 {
    if encoded <= 0.040_45 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (linear, encoded) in [
            (0.0, 0.0),
            (0.001, 0.01292),
            (0.18, 0.461_356),
            (0.214_041, 0.5),
            (0.5, 0.735_357),
            (1.0, 1.0),
        ] {
            assert!(
                (srgb_from_linear(linear) - encoded).abs() < 1e-6,
                "{linear}"
            );
            assert!(
                (linear_from_srgb(encoded) - linear).abs() < 1e-6,
                "{encoded}"
            );
        }
    }

    #[test]
    fn every_16_bit_value_survives_the_way_there_and_back() {
        for value in 0..=u16::MAX {
            let encoded = f64::from(value) / 65535.0;
            let back = srgb_from_linear(linear_from_srgb(encoded)) * 65535.0;
            assert_eq!(back.round(), f64::from(value));
        }
    }
}
