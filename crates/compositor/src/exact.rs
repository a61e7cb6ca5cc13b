//! Exact times, frame rates and pixel counts in JSON.

use std::fmt;

use framefence::{FrameRate, Time};
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

use crate::validate::MAX_CANVAS_SIDE;

/// Times in seconds: a number, read as the decimal that was written, or a ratio as a string.
pub(crate) mod seconds {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
        match time.denominator() {
            1 => serializer.serialize_i64(time.numerator()),
            denominator => {
                serializer.collect_str(&format_args!("{}/{denominator}", time.numerator()))
            }
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Time, D::Error> {
        deserializer.deserialize_any(SecondsVisitor)
    }

    /// The same for a time that may be missing.
    pub(crate) mod option {
        use super::*;

        pub(crate) fn serialize<S: Serializer>(
            time: &Option<Time>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => super::serialize(time, serializer),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Time>, D::Error> {
            super::deserialize(deserializer).map(Some)
        }
    }

    struct SecondsVisitor;

    impl Visitor<'_> for SecondsVisitor {
        type Value = Time;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(
                f,
                "seconds as a number with at most {MAX_DECIMALS} decimals or as a ratio such as \"1001/30000\""
            )
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<Time, E> {
            parse_decimal(&value.to_string())
                .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<Time, E> {
            parse_decimal(&value.to_string())
                .ok_or_else(|| E::invalid_value(Unexpected::Signed(value), &self))
        }

        /// A float prints as the shortest decimal that reads as it: what the file says.
        fn visit_f64<E: de::Error>(self, value: f64) -> Result<Time, E> {
            parse_decimal(&value.to_string())
                .ok_or_else(|| E::invalid_value(Unexpected::Float(value), &self))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
            match text.split_once('/') {
                Some((numerator, denominator)) => parse_ratio(numerator, denominator),
                None => parse_decimal(text),
            }
            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
        }
    }

    pub(super) const MAX_DECIMALS: usize = 9;
    /// Far more than a scene may last, and small enough for no arithmetic to overflow.
    const MAX_NUMERATOR: i64 = 1_000_000_000_000_000_000;

    fn parse_ratio(numerator: &str, denominator: &str) -> Option<Time> {
        let numerator: i64 = numerator.trim().parse().ok()?;
        let denominator: u32 = denominator.trim().parse().ok()?;
        let fits = denominator != 0 && numerator.abs_diff(0) <= MAX_NUMERATOR as u64;
        fits.then(|| Time::from_ratio(numerator, i64::from(denominator)))
    }

    pub(super) fn parse_decimal(text: &str) -> Option<Time> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        if decimals.len() > MAX_DECIMALS || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let numerator: i64 = format!("{whole}{decimals}").parse().ok()?;
        let denominator = 10_i64.pow(decimals.len() as u32);
        (numerator.abs_diff(0) <= MAX_NUMERATOR as u64)
            .then(|| Time::from_ratio(numerator, denominator))
    }
}

/// Frames per second: a whole number, or a string such as `"30000/1001"`.
pub(crate) mod frame_rate {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        rate: &FrameRate,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match rate.denominator() {
            1 => serializer.serialize_u32(rate.numerator()),
            _ => serializer.collect_str(rate),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<FrameRate, D::Error> {
        deserializer.deserialize_any(FrameRateVisitor)
    }

    struct FrameRateVisitor;

    impl Visitor<'_> for FrameRateVisitor {
        type Value = FrameRate;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(
                "frames per second as a whole number from 1 up or as a ratio such as \"30000/1001\"",
            )
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<FrameRate, E> {
            u32::try_from(value)
                .ok()
                .and_then(|rate| FrameRate::new(rate, 1))
                .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<FrameRate, E> {
            text.parse()
                .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
        }
    }
}

/// A number of pixels. Its range is checked with the scene's other values.
pub(crate) fn pixels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    struct PixelsVisitor;

    impl Visitor<'_> for PixelsVisitor {
        type Value = u32;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a number of pixels from 1 to {MAX_CANVAS_SIDE}")
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<u32, E> {
            u32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<u32, E> {
            Err(E::invalid_value(Unexpected::Signed(value), &self))
        }
    }

    deserializer.deserialize_u32(PixelsVisitor)
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Exact(#[serde(with = "seconds")] Time);

    #[test]
    fn a_decimal_is_the_ratio_it_is_written_as() {
        for (json, numerator, denominator) in [
            ("0", 0, 1),
            ("6", 6, 1),
            ("-2", -2, 1),
            ("0.1", 1, 10),
            ("-0.5", -1, 2),
            ("1.000000001", 1_000_000_001, 1_000_000_000),
            ("1e2", 100, 1),
            ("\"2.5\"", 5, 2),
            ("\"1001/30000\"", 1001, 30_000),
        ] {
            let read: Exact = serde_json::from_str(json).unwrap();
            assert_eq!(read.0, Time::from_ratio(numerator, denominator), "{json}");
            let again = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<Exact>(&again).unwrap(), read);
        }
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        for json in [
            "0.1234567891",
            "1e300",
            "1e-12",
            "\"\"",
            "\"1/0\"",
            "\"1/-2\"",
            "\"a\"",
            "\"1.-5\"",
            "\".\"",
            "true",
            "null",
            "18446744073709551615",
        ] {
            assert!(serde_json::from_str::<Exact>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn frame_rates_are_whole_or_ratios() {
        #[derive(Debug, Serialize, Deserialize)]
        struct Rate(#[serde(with = "frame_rate")] FrameRate);

        for json in ["25", "\"30000/1001\""] {
            let rate: Rate = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&rate).unwrap(), json);
        }
        for json in ["0", "-25", "29.97", "\"29.97\"", "\"1/0\"", "4294967296"] {
            assert!(serde_json::from_str::<Rate>(json).is_err(), "{json}");
        }
    }
}
