//! The scene format as a JSON Schema.
//!
//! It follows from the types. What they leave open is said here: ranges, in types that stand for
//! numbers of one range each, and the forms of exact times.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::validate::{MAX_CANVAS_SIDE, MAX_DURATION_SECONDS, MAX_MOTION_SAMPLES, Range};

impl Scene {
    /// The scene format as a JSON Schema (draft 2020-12), for editors that complete and check what
    /// is written.
    ///
    /// What it refuses, [`from_json`](Self::from_json) refuses, but for some spellings that mean the
    /// same, such as `"+1/25"` for a time. What it accepts can still be wrong in its context: names
    /// of masks, the order of keyframes, transitions longer than their clips, files.
    #[must_use]
    pub fn json_schema() -> Value {
        let settings = SchemaSettings::draft2020_12().with_transform(PlainDescriptions);
        let mut schema = settings.into_generator().into_root_schema_for::<Self>();
        schema.insert("title".to_owned(), json!("Framefence scene"));
        schema.to_value()
    }
}

/// Turns what is written for rustdoc into text: links become their names, and a paragraph's lines
/// one line.
#[derive(Clone)]
struct PlainDescriptions;

impl Transform for PlainDescriptions {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = plain(description);
        }
        transform_subschemas(self, schema);
    }
}

fn plain(rustdoc: &str) -> String {
    let paragraphs = rustdoc.split("\n\n").map(|paragraph| {
        let is_code = paragraph.contains("```") || paragraph.starts_with("    ");
        match is_code {
            true => paragraph.to_owned(),
            false => paragraph.replace('\n', " "),
        }
    });
    without_links(&paragraphs.collect::<Vec<_>>().join("\n\n"))
}

/// `text` with `[name]` and `[name](target)` replaced by `name`, where the name is code.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else {
            break;
        };
        let target = after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'));
        plain += &format!("{before}`{name}`");
        rest = target.map_or(after, |(_, after)| after);
    }
    plain + rest
}

/// Types that stand for numbers of one range.
macro_rules! ranges {
    ($($name:ident = $range:expr;)*) => {$(
        pub(crate) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $range.schema()
            }
        }
    )*};
}

/// The ranges of `validate`, by the same names.
pub(crate) mod range {
    use super::*;
    use crate::{text, validate};

    ranges! {
        Unit = validate::UNIT;
        Coordinate = validate::COORDINATE;
        Fraction = validate::FRACTION;
        Scale = validate::SCALE;
        Degrees = validate::DEGREES;
        Progress = validate::PROGRESS;
        Mass = validate::MASS;
        Stiffness = validate::STIFFNESS;
        Damping = validate::DAMPING;
        Length = validate::LENGTH;
        Distance = validate::DISTANCE;
        Radius = validate::RADIUS;
        Stops = validate::STOPS;
        Factor = validate::FACTOR;
        Temperature = validate::TEMPERATURE;
        Blur = validate::BLUR;
        Spread = validate::SPREAD;
        Uniform = validate::UNIFORM;
        Shutter = validate::SHUTTER;
        Side = validate::SIDE;
        Em = text::EM;
        LineHeight = text::LINE_HEIGHT;
        Spacing = text::SPACING;
        Outline = text::OUTLINE;
        Version = WholeRange(Scene::VERSION, Scene::VERSION);
        Pixels = WholeRange(1, MAX_CANVAS_SIDE);
        MotionSamples = WholeRange(2, MAX_MOTION_SAMPLES);
        Weight = WholeRange(100, 900);
    }

    /// Whole numbers from the first to the second.
    struct WholeRange(u32, u32);

    impl WholeRange {
        fn schema(self) -> Schema {
            let Self(minimum, maximum) = self;
            json_schema!({"type": "integer", "minimum": minimum, "maximum": maximum})
        }
    }

    impl Range {
        fn schema(self) -> Schema {
            let minimum = if self.above {
                "exclusiveMinimum"
            } else {
                "minimum"
            };
            json_schema!({
                "type": "number",
                minimum: number(self.minimum),
                "maximum": number(self.maximum),
            })
        }
    }

    /// A whole number is written without decimals.
    fn number(value: f64) -> Value {
        match value.fract() == 0.0 {
            true => json!(value as i64),
            false => json!(value),
        }
    }
}

/// Two numbers of one range.
pub(crate) struct Pair<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Pair<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Pair", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": generator.subschema_for::<T>(),
            "minItems": 2,
            "maxItems": 2,
        })
    }
}

/// The control points of a `cubic_bezier`.
pub(crate) struct BezierControl;

impl JsonSchema for BezierControl {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "BezierControl".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut time = || generator.subschema_for::<range::Unit>();
        let times = [time(), time()];
        let progress = generator.subschema_for::<range::Progress>();
        let [first, second] = times;
        json_schema!({
            "type": "array",
            "prefixItems": [first, progress, second, progress],
            "items": false,
            "minItems": 4,
        })
    }
}

/// A point in time.
pub(crate) struct Seconds;

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        seconds(
            "minimum",
            "Seconds as a number or as a ratio such as \"1001/30000\".",
        )
    }
}

/// A stretch of time.
pub(crate) struct Duration;

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        seconds(
            "exclusiveMinimum",
            "Seconds, more than 0, as a number or as a ratio such as \"1001/30000\".",
        )
    }
}

fn seconds(minimum: &str, description: &str) -> Schema {
    json_schema!({
        "description": description,
        "oneOf": [
            {"type": "number", minimum: 0, "maximum": MAX_DURATION_SECONDS},
            {
                "type": "string",
                "pattern": r"^[0-9]+(\.[0-9]{1,9}|/0*[1-9][0-9]*)?$",
            },
        ],
    })
}

/// Frames per second.
pub(crate) struct Rate;

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "FrameRate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Frames per second as a whole number or as a ratio such as \"30000/1001\".",
            "oneOf": [
                {"type": "integer", "minimum": 1, "maximum": u32::MAX},
                {"type": "string", "pattern": "^0*[1-9][0-9]*(/0*[1-9][0-9]*)?$"},
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_read_as_text() {
        assert_eq!(
            plain(
                "A side, 1 to\n[`MAX`](crate::MAX) and [`this`](Self::this)[x, y].\n\nMore\nof [`it`]."
            ),
            "A side, 1 to `MAX` and `this`[x, y].\n\nMore of `it`."
        );
        assert_eq!(plain("```wgsl\na\nb\n```"), "```wgsl\na\nb\n```");
    }
}
