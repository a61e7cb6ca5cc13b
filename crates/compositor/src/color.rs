//! Colours as people write them and as the GPU blends them.

use std::fmt;
use std::str::FromStr;

use glam::{DVec3, DVec4};
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An sRGB colour with 8 bits a channel; alpha is not multiplied in.
///
/// In JSON it is `"#rrggbb"` or `"#rrggbbaa"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color {
    /// Red, sRGB-encoded.
    pub red: u8,
    /// Green, sRGB-encoded.
    pub green: u8,
    /// Blue, sRGB-encoded.
    pub blue: u8,
    /// Opacity: 0 is transparent, 255 opaque.
    pub alpha: u8,
}

impl Color {
    /// Opaque black.
    pub const BLACK: Self = Self::rgb(0, 0, 0);
    /// Opaque white.
    pub const WHITE: Self = Self::rgb(255, 255, 255);
    /// No colour at all.
    pub const TRANSPARENT: Self = Self::rgba(0, 0, 0, 0);

    /// An opaque colour.
    #[must_use]
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self::rgba(red, green, blue, 255)
    }

    /// A colour and its opacity.
    #[must_use]
    pub const fn rgba(red: u8, green: u8, blue: u8, alpha: u8) -> Self {
        Self {
            red,
            green,
            blue,
            alpha,
        }
    }

    /// The colour with its alpha multiplied in, as the compositor blends it.
    #[must_use]
    pub fn premultiplied(self) -> PremultipliedColor {
        let alpha = f64::from(self.alpha) / 255.0;
        let channel = |value: u8| f64::from(value) / 255.0 * alpha;
        PremultipliedColor([
            channel(self.red),
            channel(self.green),
            channel(self.blue),
            alpha,
        ])
    }
}

/// Red, green, blue and alpha from 0 to 1: sRGB-encoded values multiplied by alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PremultipliedColor(pub [f64; 4]);

impl PremultipliedColor {
    /// The same colour seen through `opacity`, 0 to 1.
    #[must_use]
    pub fn faded(self, opacity: f64) -> Self {
        Self(self.0.map(|channel| channel * opacity))
    }

    /// Rounded to what shaders take.
    #[must_use]
    pub fn to_f32(self) -> [f32; 4] {
        self.0.map(|channel| channel as f32)
    }
}

/// The values that colours are blended in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlendSpace {
    /// sRGB-encoded values, as browsers and most editors blend.
    #[default]
    Srgb,
    /// Linear light, as lenses do.
    Linear,
}

impl BlendSpace {
    /// A colour in the values of this space, alpha multiplied in.
    pub(crate) fn encode(self, color: PremultipliedColor) -> DVec4 {
        let color = DVec4::from(color.0);
        match self {
            Self::Srgb => color,
            Self::Linear if color.w <= 0.0 => DVec4::ZERO,
            Self::Linear => {
                let straight = (color.truncate() / color.w).to_array();
                let light = DVec3::from(straight.map(linear_from_srgb));
                (light * color.w).extend(color.w)
            }
        }
    }
}

/// IEC 61966-2-1.
fn linear_from_srgb(encoded: f64) -> f64 {
    if encoded <= 0.04045 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

/// A text that is not a colour.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a colour; write \"#rrggbb\" or \"#rrggbbaa\"")]
pub struct ParseColorError {
    given: String,
}

impl FromStr for Color {
    type Err = ParseColorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let digits = text.strip_prefix('#')?;
            // `from_str_radix` would also take a sign.
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            let value = u32::from_str_radix(digits, 16).ok()?;
            let rgba = match digits.len() {
                6 => value << 8 | 0xff,
                8 => value,
                _ => return None,
            };
            let [red, green, blue, alpha] = rgba.to_be_bytes();
            Some(Self::rgba(red, green, blue, alpha))
        };
        parse().ok_or_else(|| ParseColorError {
            given: text.to_owned(),
        })
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            red,
            green,
            blue,
            alpha,
        } = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")?;
        match alpha {
            255 => Ok(()),
            alpha => write!(f, "{alpha:02x}"),
        }
    }
}

impl Serialize for Color {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColorVisitor;

        impl Visitor<'_> for ColorVisitor {
            type Value = Color;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r##"a colour such as "#ff8000" or "#ff800080""##)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Color, E> {
                text.parse()
                    .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_str(ColorVisitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Color {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Color".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An sRGB colour, \"#rrggbb\" or \"#rrggbbaa\"; alpha is not multiplied in.",
            "type": "string",
            "pattern": "^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_read_as_they_are_written() {
        for color in [
            Color::BLACK,
            Color::TRANSPARENT,
            Color::rgb(0x12, 0xab, 0xff),
            Color::rgba(1, 2, 3, 4),
        ] {
            assert_eq!(color.to_string().parse(), Ok(color));
        }
        assert_eq!("#FF8000".parse(), Ok(Color::rgb(255, 128, 0)));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "#",
            "red",
            "ff8000",
            "#ff800",
            "#ff80000",
            "#ff8000801",
            "#+f8000",
            "#ff80é",
        ] {
            assert!(text.parse::<Color>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn alpha_is_multiplied_in() {
        let PremultipliedColor([red, green, blue, alpha]) =
            Color::rgba(255, 51, 0, 51).premultiplied();
        assert!((red - 0.2).abs() < 1e-12 && (alpha - 0.2).abs() < 1e-12);
        assert!((green - 0.04).abs() < 1e-12 && blue == 0.0);
    }
}
