//! Text in a scene, as data.

use std::fmt;
use std::path::{Path, PathBuf};

use framefence::Time;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::animation::Animated;
use crate::color::Color;
use crate::exact;
#[cfg(feature = "schema")]
use crate::schema::{self, Pair, range};

/// Lines of text.
///
/// The layer is a block as wide as `width`, or else as the widest line, and as high as its lines.
/// Glyphs may reach beyond it, as the tail of an italic f does; so do outline and background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// What is written, in any script; at most [`MAX_TEXT_BYTES`](crate::MAX_TEXT_BYTES) of UTF-8.
    /// Lines end at line feeds and at the other line and paragraph separators of Unicode. Other
    /// control characters except the tab are not drawn.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::MAX_TEXT_BYTES)))]
    pub text: String,
    /// The fonts to take characters from, the first that has a character first; the bundled font,
    /// Inter, unless given, and always after those that are.
    #[serde(default, skip_serializing_if = "FontFamilies::is_empty")]
    pub font: FontFamilies,
    /// How heavy the strokes are, 100 to 900: 400 is regular, 700 bold; 400 unless given. A font
    /// that has no such weight is drawn in the nearest that it has.
    #[serde(default = "defaults::weight")]
    #[cfg_attr(feature = "schema", schemars(with = "range::Weight"))]
    pub weight: u16,
    /// Whether the text is set in italics, slanted where the font has none.
    #[serde(default)]
    pub italic: bool,
    /// The em, in pixels of the layer: about the height of a line of text. Above 0, up to 10,000.
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Em>"))]
    pub size: Animated<f64>,
    /// The colour of the glyphs; white unless given. Emoji have their own and take its opacity.
    #[serde(default = "defaults::color")]
    pub color: Animated<Color>,
    /// Where lines lie within the block's width.
    #[serde(default)]
    pub align: TextAlign,
    /// The width of the block in pixels of the layer, above 0 to 1,000,000: lines break between
    /// words to stay within it, and within a word that is wider than a line. Unless given, lines
    /// break only where the text does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Animated<range::Side>>"))]
    pub width: Option<Animated<f64>>,
    /// The distance from line to line, in ems, 0 to 100; 1.2 unless given.
    #[serde(default = "defaults::line_height")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::LineHeight>"))]
    pub line_height: Animated<f64>,
    /// Pixels of the layer that are added after every glyph, ±10,000; 0 unless given. Letters are
    /// not joined to ligatures where it is not 0.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Spacing>"))]
    pub letter_spacing: Animated<f64>,
    /// A line around the glyphs, beneath them; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<TextOutline>,
    /// A box behind the whole block; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<TextBackground>,
    /// Words that stand out one after another, as they are spoken; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highlight: Option<WordHighlight>,
}

/// Fonts in order of preference. In JSON it is one family, or a list of families.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FontFamilies(pub Vec<FontFamily>);

/// A font, by its name or from a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FontFamily {
    /// The bundled family, `"Inter"`, or one that is installed on the system. Capitals and small
    /// letters are the same in it. Only the bundled family looks alike on every system.
    Name(String),
    /// A font file, `{"path": "fonts/Brand.ttf"}`: TrueType, OpenType, or a collection of them. A
    /// relative path starts at the folder of the scene file.
    File(PathBuf),
}

/// Where lines lie within the width of their block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TextAlign {
    /// Where reading starts: on the left in Latin, on the right in Arabic script.
    #[default]
    Start,
    /// In the middle.
    Center,
    /// Where reading ends.
    End,
    /// Left in every script.
    Left,
    /// Right in every script.
    Right,
    /// From edge to edge, by wider spaces, except for the last line of a paragraph.
    Justify,
}

/// A line around glyphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextOutline {
    /// How far it reaches beyond the glyphs, in pixels of the layer, 0 to 1000. Its corners are
    /// round.
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Outline>"))]
    pub width: Animated<f64>,
    /// Its colour.
    pub color: Animated<Color>,
}

/// A box behind text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextBackground {
    /// Its colour.
    pub color: Animated<Color>,
    /// How far it reaches beyond the text to the sides, and above and below, in pixels of the
    /// layer; ±10,000, 0 unless given.
    #[serde(default = "defaults::no_padding")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<Pair<range::Spacing>>"))]
    pub padding: Animated<[f64; 2]>,
    /// The radius of its corners in pixels of the layer, 0 to 1,000,000; 0 unless given, and at
    /// most half of the box's shorter side.
    #[serde(default = "defaults::zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Animated<range::Length>"))]
    pub corner_radius: Animated<f64>,
}

/// Words that stand out for a time each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WordHighlight {
    /// When the first, the second, … word of the text stands out. Words are what whitespace
    /// separates; those that the list does not reach never stand out.
    pub words: Vec<WordTime>,
    /// The colour of a word while it stands out; the text's unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<Animated<Color>>,
    /// A box behind a word while it stands out, as high as its line; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<TextBackground>,
}

/// A stretch of the scene's time. In JSON it is `[start, end]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[Seconds; 2]", into = "[Seconds; 2]")]
pub struct WordTime {
    /// The first time at which the word stands out.
    pub start: Time,
    /// The first time at which it no longer does; not before `start`.
    pub end: Time,
}

#[derive(Serialize, Deserialize)]
struct Seconds(#[serde(with = "exact::seconds")] Time);

impl Text {
    /// `text` in white letters of the bundled font, `size` pixels to the em.
    #[must_use]
    pub fn new(text: impl Into<String>, size: f64) -> Self {
        Self {
            text: text.into(),
            font: FontFamilies::default(),
            weight: defaults::weight(),
            italic: false,
            size: size.into(),
            color: defaults::color(),
            align: TextAlign::default(),
            width: None,
            line_height: defaults::line_height(),
            letter_spacing: defaults::zero(),
            outline: None,
            background: None,
            highlight: None,
        }
    }
}

impl FontFamilies {
    /// The files among them.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|family| match family {
            FontFamily::Name(_) => None,
            FontFamily::File(path) => Some(path.as_path()),
        })
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl WordTime {
    /// Whether `time` lies in the stretch.
    pub(super) fn contains(self, time: Time) -> bool {
        self.start <= time && time < self.end
    }
}

impl From<[Seconds; 2]> for WordTime {
    fn from([Seconds(start), Seconds(end)]: [Seconds; 2]) -> Self {
        Self { start, end }
    }
}

impl From<WordTime> for [Seconds; 2] {
    fn from(WordTime { start, end }: WordTime) -> Self {
        [Seconds(start), Seconds(end)]
    }
}

impl fmt::Display for FontFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name:?}"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// A font file as it stands in JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename = "a font file", deny_unknown_fields)]
struct FontFile {
    path: PathBuf,
}

impl Serialize for FontFamilies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [family] => family.serialize(serializer),
            families => families.serialize(serializer),
        }
    }
}

impl Serialize for FontFamily {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Name(name) => name.serialize(serializer),
            Self::File(path) => FontFile { path: path.clone() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FontFamilies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FamiliesVisitor;

        impl<'de> Visitor<'de> for FamiliesVisitor {
            type Value = FontFamilies;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a font's name, {\"path\": ...}, or a list of them")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<FontFamilies, E> {
                Ok(FontFamilies(vec![FontFamily::Name(name.to_owned())]))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<FontFamilies, A::Error> {
                FamilyVisitor
                    .visit_map(map)
                    .map(|family| FontFamilies(vec![family]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<FontFamilies, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(FontFamilies)
            }
        }

        deserializer.deserialize_any(FamiliesVisitor)
    }
}

impl<'de> Deserialize<'de> for FontFamily {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FamilyVisitor)
    }
}

struct FamilyVisitor;

impl<'de> Visitor<'de> for FamilyVisitor {
    type Value = FontFamily;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a font's name or {\"path\": ...}")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<FontFamily, E> {
        Ok(FontFamily::Name(name.to_owned()))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<FontFamily, A::Error> {
        FontFile::deserialize(MapAccessDeserializer::new(map))
            .map(|file| FontFamily::File(file.path))
    }
}

#[cfg(feature = "schema")]
mod json_schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{FontFamilies, FontFamily, Pair, WordTime, schema};
    use crate::text::MAX_FONT_FAMILIES;

    impl JsonSchema for FontFamilies {
        fn schema_name() -> Cow<'static, str> {
            "FontFamilies".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let family = generator.subschema_for::<FontFamily>();
            json_schema!({
                "description": "One font, or fonts in order of preference.",
                "oneOf": [
                    family,
                    {"type": "array", "items": family, "maxItems": MAX_FONT_FAMILIES},
                ],
            })
        }
    }

    impl JsonSchema for FontFamily {
        fn schema_name() -> Cow<'static, str> {
            "FontFamily".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "oneOf": [
                    {
                        "description": "The bundled family, \"Inter\", or one that is installed on the system.",
                        "type": "string",
                        "pattern": r"\S",
                    },
                    {
                        "description": "A TrueType or OpenType file, or a collection of them; a relative path starts at the folder of the scene file.",
                        "type": "object",
                        "properties": {"path": {"type": "string", "minLength": 1}},
                        "required": ["path"],
                        "additionalProperties": false,
                    },
                ],
            })
        }
    }

    impl JsonSchema for WordTime {
        fn schema_name() -> Cow<'static, str> {
            "WordTime".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let mut schema = Pair::<schema::Seconds>::json_schema(generator);
            let description = "When a word begins to stand out, and when it no longer does.";
            schema.insert("description".to_owned(), description.into());
            schema
        }
    }
}

mod defaults {
    use super::{Animated, Color};

    pub(super) fn weight() -> u16 {
        400
    }

    pub(super) fn color() -> Animated<Color> {
        Color::WHITE.into()
    }

    pub(super) fn line_height() -> Animated<f64> {
        1.2.into()
    }

    pub(super) fn zero() -> Animated<f64> {
        0.0.into()
    }

    pub(super) fn no_padding() -> Animated<[f64; 2]> {
        [0.0, 0.0].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_as_it_is_written() {
        let json = r##"{"text":"Hé","font":["Inter",{"path":"Brand.ttf"}],"weight":700,"italic":true,"size":40.0,"color":"#ff0000","align":"justify","width":300.0,"line_height":1.5,"letter_spacing":-1.0,"outline":{"width":2.0,"color":"#000000"},"background":{"color":"#00000080","padding":[8.0,4.0],"corner_radius":6.0},"highlight":{"words":[[0,"1/3"],["1/3",1]],"color":"#ffff00"}}"##;
        let text: Text = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&text).unwrap(), json);
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let text: Text = serde_json::from_str(r#"{"text":"a","size":10}"#).unwrap();
        assert_eq!(text, Text::new("a", 10.0));
    }

    #[test]
    fn a_font_is_a_name_a_file_or_a_list() {
        let read = |json: &str| serde_json::from_str::<FontFamilies>(json);
        let name = |name: &str| FontFamily::Name(name.to_owned());
        assert_eq!(read(r#""Inter""#).unwrap().0, [name("Inter")]);
        assert_eq!(
            read(r#"{"path":"a.ttf"}"#).unwrap().0,
            [FontFamily::File("a.ttf".into())]
        );
        assert_eq!(read(r#"["A","B"]"#).unwrap().0, [name("A"), name("B")]);
        for json in ["3", r#"{"file":"a.ttf"}"#, r#"["A",3]"#, "{}"] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
