//! Properties that are constants or follow keyframes.

use std::fmt;
use std::marker::PhantomData;

use framefence::Time;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::color::{Color, PremultipliedColor};
use crate::easing::Easing;
use crate::exact;
#[cfg(feature = "schema")]
use crate::schema;
use crate::time::since;

/// A property's value over time.
///
/// In JSON it is the value itself, or `{"keyframes": [...]}`.
#[derive(Clone, Debug, PartialEq)]
pub enum Animated<T> {
    /// The same value at all times.
    Constant(T),
    /// Values at given times, in ascending order of time; at least one. Before the first keyframe
    /// the property has the first value, after the last one the last.
    Keyframes(Vec<Keyframe<T>>),
}

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "{T}Keyframe")
)]
#[serde(deny_unknown_fields)]
pub struct Keyframe<T> {
    /// The time, in seconds from the start of the scene.
    #[serde(with = "exact::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "schema::Seconds"))]
    pub time: Time,
    /// The value at that time.
    pub value: T,
    /// How the value moves from here to the next keyframe.
    #[serde(default)]
    pub easing: Easing,
}

/// A type whose values can follow keyframes: `f64`, `[f64; 2]`, [`Color`].
pub trait Animatable: Copy + sealed::Sealed {
    /// What the property is at one moment.
    type Sample: Copy;

    /// The value as a sample.
    fn sample(self) -> Self::Sample;

    /// The sample that lies `progress` of the way from `from` to `to`; below 0 and above 1 it lies
    /// beyond them.
    fn mix(from: Self::Sample, to: Self::Sample, progress: f64) -> Self::Sample;
}

impl<T: Animatable> Animated<T> {
    /// What the property is at `time`: a function of the time alone.
    ///
    /// # Panics
    ///
    /// If there are no keyframes at all, which [`Scene::validate`](crate::Scene::validate) refuses.
    #[must_use]
    pub fn at(&self, time: Time) -> T::Sample {
        let keyframes = match self {
            Self::Constant(value) => return value.sample(),
            Self::Keyframes(keyframes) => keyframes,
        };
        let passed = keyframes.partition_point(|keyframe| keyframe.time <= time);
        match (keyframes[..passed].last(), keyframes[passed..].first()) {
            (Some(from), Some(to)) => T::mix(
                from.value.sample(),
                to.value.sample(),
                from.easing.progress(
                    elapsed(from.time, to.time, time),
                    since(from.time, to.time).as_secs_f64(),
                ),
            ),
            (None, _) => keyframes[0].value.sample(),
            (Some(last), None) => last.value.sample(),
        }
    }
}

/// The part of the time from `start` to `end` that has passed at `now`, 0 to 1; `end` is later
/// than `start`, and `now` between them.
fn elapsed(start: Time, end: Time, now: Time) -> f64 {
    // The numerator of `time - start` over the product of both denominators. It is exact: times
    // that differ may be the same f64, and 0 / 0 no progress at all.
    let since_start = |time: Time| {
        let numerator =
            |of: Time, over: Time| i128::from(of.numerator()) * i128::from(over.denominator());
        (numerator(time, start) - numerator(start, time)) as f64
    };
    let passed = since_start(now) * end.denominator() as f64;
    let whole = since_start(end) * now.denominator() as f64;
    // Rounding must not carry a time before the end past it.
    (passed / whole).min(1.0)
}

impl<T> From<T> for Animated<T> {
    fn from(value: T) -> Self {
        Self::Constant(value)
    }
}

impl Animatable for f64 {
    type Sample = Self;

    fn sample(self) -> Self {
        self
    }

    fn mix(from: Self, to: Self, progress: f64) -> Self {
        // Not `from + (to - from) * progress`, which would not end exactly at `to`.
        from * (1.0 - progress) + to * progress
    }
}

impl Animatable for [f64; 2] {
    type Sample = Self;

    fn sample(self) -> Self {
        self
    }

    fn mix(from: Self, to: Self, progress: f64) -> Self {
        std::array::from_fn(|axis| f64::mix(from[axis], to[axis], progress))
    }
}

impl Animatable for Color {
    type Sample = PremultipliedColor;

    fn sample(self) -> PremultipliedColor {
        self.premultiplied()
    }

    /// Mixes sRGB-encoded values with their alpha multiplied in; an overshoot ends at the nearest
    /// colour that there is.
    fn mix(from: PremultipliedColor, to: PremultipliedColor, progress: f64) -> PremultipliedColor {
        let mixed: [f64; 4] =
            std::array::from_fn(|channel| f64::mix(from.0[channel], to.0[channel], progress));
        let alpha = mixed[3].clamp(0.0, 1.0);
        let [red, green, blue] =
            [mixed[0], mixed[1], mixed[2]].map(|channel| channel.clamp(0.0, alpha));
        PremultipliedColor([red, green, blue, alpha])
    }
}

mod sealed {
    pub trait Sealed {
        /// What values of the type look like in JSON, for errors.
        const EXPECTED: &'static str;
    }

    impl Sealed for f64 {
        const EXPECTED: &'static str = "a number";
    }

    impl Sealed for [f64; 2] {
        const EXPECTED: &'static str = "a pair of numbers [x, y]";
    }

    impl Sealed for super::Color {
        const EXPECTED: &'static str = r##"a colour such as "#ff8000" or "#ff800080""##;
    }
}

impl<T: Serialize> Serialize for Animated<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keyframes<'a, T> {
            keyframes: &'a [Keyframe<T>],
        }

        match self {
            Self::Constant(value) => value.serialize(serializer),
            Self::Keyframes(keyframes) => Keyframes { keyframes }.serialize(serializer),
        }
    }
}

impl<'de, T: Animatable + Deserialize<'de>> Deserialize<'de> for Animated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnimatedVisitor(PhantomData))
    }
}

/// Tells a constant from keyframes by the kind of JSON value. An untagged enum would do the same,
/// but lose the path of an error inside.
struct AnimatedVisitor<T>(PhantomData<T>);

impl<'de, T: Animatable + Deserialize<'de>> AnimatedVisitor<T> {
    fn constant<E: de::Error>(
        self,
        value: impl IntoDeserializer<'de, E>,
        given: Unexpected<'_>,
    ) -> Result<Animated<T>, E> {
        T::deserialize(value.into_deserializer())
            .map(Animated::Constant)
            .map_err(|_: E| E::invalid_value(given, &self))
    }
}

impl<'de, T: Animatable + Deserialize<'de>> Visitor<'de> for AnimatedVisitor<T> {
    type Value = Animated<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} or {{\"keyframes\": [...]}}", T::EXPECTED)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        self.constant(value, Unexpected::Unsigned(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        self.constant(value, Unexpected::Signed(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        self.constant(value, Unexpected::Float(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        self.constant(value, Unexpected::Str(value))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        let value = T::deserialize(SeqAccessDeserializer::new(&mut values))?;
        match values.next_element::<de::IgnoredAny>()? {
            None => Ok(Animated::Constant(value)),
            Some(_) => Err(de::Error::custom(format_args!(
                "too many values, expected {}",
                T::EXPECTED
            ))),
        }
    }

    fn visit_map<A: de::MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Keyframes<T> {
            keyframes: Vec<Keyframe<T>>,
        }

        Keyframes::deserialize(MapAccessDeserializer::new(fields))
            .map(|Keyframes { keyframes }| Animated::Keyframes(keyframes))
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Animated<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Animated{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let constant = generator.subschema_for::<T>();
        let keyframe = generator.subschema_for::<Keyframe<T>>();
        schemars::json_schema!({
            "oneOf": [
                constant,
                {
                    "type": "object",
                    "properties": {
                        "keyframes": {
                            "description": "Values at times that ascend.",
                            "type": "array",
                            "items": keyframe,
                            "minItems": 1,
                        },
                    },
                    "required": ["keyframes"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spring::Spring;

    fn seconds(numerator: i64, denominator: i64) -> Time {
        Time::from_ratio(numerator, denominator)
    }

    fn keyframe<T>(time: Time, value: T, easing: Easing) -> Keyframe<T> {
        Keyframe {
            time,
            value,
            easing,
        }
    }

    #[test]
    fn values_hold_before_the_first_and_after_the_last_keyframe() {
        let fade = Animated::Keyframes(vec![
            keyframe(seconds(1, 1), 2.0, Easing::Linear),
            keyframe(seconds(3, 1), 4.0, Easing::Linear),
        ]);
        for (time, expected) in [
            (seconds(-1, 1), 2.0),
            (seconds(1, 1), 2.0),
            (seconds(2, 1), 3.0),
            (seconds(5, 2), 3.5),
            (seconds(3, 1), 4.0),
            (seconds(9, 1), 4.0),
        ] {
            assert_eq!(fade.at(time), expected, "{time}");
        }
    }

    /// The nearest f64 of all three times is the same.
    #[test]
    fn times_that_differ_by_less_than_a_float_can_tell_are_told_apart() {
        let start = i64::MAX / 2;
        let fade = Animated::Keyframes(vec![
            keyframe(seconds(start, 1), 2.0, Easing::Linear),
            keyframe(seconds(start + 4, 1), 4.0, Easing::Linear),
        ]);
        assert_eq!(fade.at(seconds(start, 1)), 2.0);
        assert_eq!(fade.at(seconds(start + 1, 1)), 2.5);
        assert_eq!(fade.at(seconds(start + 2, 1)), 3.0);
    }

    #[test]
    fn the_easing_of_a_keyframe_leads_to_the_next() {
        let moves = Animated::Keyframes(vec![
            keyframe(seconds(0, 1), [0.0, 10.0], Easing::Hold),
            keyframe(seconds(1, 1), [4.0, 20.0], Easing::Linear),
            keyframe(seconds(2, 1), [8.0, 40.0], Easing::Hold),
        ]);
        assert_eq!(moves.at(seconds(99, 100)), [0.0, 10.0]);
        assert_eq!(moves.at(seconds(1, 1)), [4.0, 20.0]);
        assert_eq!(moves.at(seconds(3, 2)), [6.0, 30.0]);
        assert_eq!(moves.at(seconds(2, 1)), [8.0, 40.0]);
    }

    /// The same movement in the same seconds, whichever keyframes are around it.
    #[test]
    fn a_spring_moves_in_real_seconds() {
        let spring = Easing::Spring(Spring::default());
        let reaches = |end| {
            Animated::Keyframes(vec![
                keyframe(seconds(1, 1), 0.0, spring),
                keyframe(seconds(end, 1), 8.0, Easing::Hold),
            ])
        };
        let (near, far) = (reaches(11), reaches(1001));
        for step in 0..=100 {
            let time = seconds(100 + step, 100);
            assert!((near.at(time) - far.at(time)).abs() < 1e-9, "{time}");
        }
        // The first swing of an underdamped spring passes its end: π / √75 s after its start.
        let overshoot: f64 = near.at(seconds(1363, 1000));
        let expected = 8.0 * (1.0 + (-std::f64::consts::PI / 3.0_f64.sqrt()).exp());
        assert!((overshoot - expected).abs() < 1e-4, "{overshoot}");
        assert_eq!(near.at(seconds(11, 1)), 8.0);
    }

    #[test]
    fn colours_mix_premultiplied_and_stay_colours() {
        let from = Color::rgba(255, 0, 0, 255).premultiplied();
        let to = Color::rgba(0, 0, 255, 0).premultiplied();
        let PremultipliedColor(half) = Color::mix(from, to, 0.5);
        assert_eq!(half, [0.5, 0.0, 0.0, 0.5]);
        let PremultipliedColor(overshot) = Color::mix(from, to, -0.5);
        assert_eq!(overshot, [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_spring_in_json_needs_no_more_than_its_name() {
        let read = |json: &str| serde_json::from_str::<Easing>(json);
        let default = Easing::Spring(Spring::default());
        assert_eq!(read(r#"{"spring": {}}"#).unwrap(), default);
        let written = r#"{"spring":{"mass":1.0,"stiffness":100.0,"damping":10.0,"velocity":0.0}}"#;
        assert_eq!(serde_json::to_string(&default).unwrap(), written);
        assert_eq!(read(written).unwrap(), default);
        assert!(read(r#"{"spring": {"tension": 1}}"#).is_err());
    }

    #[test]
    fn json_holds_a_constant_or_keyframes() {
        let constant: Animated<f64> = serde_json::from_str("3").unwrap();
        assert_eq!(constant, Animated::Constant(3.0));
        let text = r##"{"keyframes":[{"time":"1/3","value":"#ff0000","easing":"hold"},{"time":2,"value":"#0000ff80","easing":{"cubic_bezier":[0.1,0.0,0.2,1.0]}}]}"##;
        let keyframes: Animated<Color> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&keyframes).unwrap(), text);
    }
}
