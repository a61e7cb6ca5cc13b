//! What a text may contain beyond what its types say.

use crate::place::Place;
use crate::validate::{InvalidValue, Range, SIDE, colors, numbers, pairs, time};

use super::spec::{FontFamily, Text, TextBackground, WordHighlight, WordTime};

/// The most bytes of UTF-8 that a text may have: some two hundred thousand words.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// The most fonts that a text may name.
pub const MAX_FONT_FAMILIES: usize = 16;

pub(crate) const EM: Range = Range {
    minimum: 0.0,
    maximum: 10_000.0,
    above: true,
};
pub(crate) const LINE_HEIGHT: Range = Range::new(0.0, 100.0);
pub(crate) const SPACING: Range = Range::new(-10_000.0, 10_000.0);
pub(crate) const OUTLINE: Range = Range::new(0.0, 1_000.0);
const RADIUS: Range = Range::new(0.0, 1e6);

/// Checks `text`, which stands at `place` in the scene.
///
/// # Errors
///
/// The first value, in the order of the fields, that cannot be drawn.
pub(crate) fn validate(text: &Text, place: &Place) -> Result<(), InvalidValue> {
    place.field("text").require(
        text.text.len() <= MAX_TEXT_BYTES,
        &format_args!("{} bytes long", text.text.len()),
        &format_args!("at most {MAX_TEXT_BYTES} bytes"),
    )?;
    fonts(&text.font.0, &place.field("font"))?;
    place.field("weight").require(
        (100..=900).contains(&text.weight),
        &text.weight,
        &"a whole number from 100 to 900",
    )?;
    numbers(&text.size, EM, &place.field("size"))?;
    colors(&text.color, &place.field("color"))?;
    if let Some(width) = &text.width {
        numbers(width, SIDE, &place.field("width"))?;
    }
    numbers(&text.line_height, LINE_HEIGHT, &place.field("line_height"))?;
    numbers(
        &text.letter_spacing,
        SPACING,
        &place.field("letter_spacing"),
    )?;
    if let Some(outline) = &text.outline {
        let place = place.field("outline");
        numbers(&outline.width, OUTLINE, &place.field("width"))?;
        colors(&outline.color, &place.field("color"))?;
    }
    if let Some(box_) = &text.background {
        background(box_, &place.field("background"))?;
    }
    if let Some(words) = &text.highlight {
        highlight(words, &place.field("highlight"))?;
    }
    Ok(())
}

fn fonts(families: &[FontFamily], place: &Place) -> Result<(), InvalidValue> {
    place.require(
        families.len() <= MAX_FONT_FAMILIES,
        &format_args!("a list of {}", families.len()),
        &format_args!("a list of at most {MAX_FONT_FAMILIES} fonts"),
    )?;
    let is_empty = |family: &FontFamily| match family {
        FontFamily::Name(name) => name.trim().is_empty(),
        FontFamily::File(path) => path.as_os_str().is_empty(),
    };
    for (index, family) in families.iter().enumerate() {
        place.index(index).require(
            !is_empty(family),
            &"empty",
            &"the name of a font or the path of a font file",
        )?;
    }
    Ok(())
}

fn background(background: &TextBackground, place: &Place) -> Result<(), InvalidValue> {
    colors(&background.color, &place.field("color"))?;
    pairs(&background.padding, SPACING, &place.field("padding"))?;
    numbers(
        &background.corner_radius,
        RADIUS,
        &place.field("corner_radius"),
    )
}

fn highlight(highlight: &WordHighlight, place: &Place) -> Result<(), InvalidValue> {
    let words = place.field("words");
    for (index, &word) in highlight.words.iter().enumerate() {
        word_time(word, &words.index(index))?;
    }
    if let Some(color) = &highlight.color {
        colors(color, &place.field("color"))?;
    }
    if let Some(box_) = &highlight.background {
        background(box_, &place.field("background"))?;
    }
    Ok(())
}

fn word_time(word: WordTime, place: &Place) -> Result<(), InvalidValue> {
    time(word.start, &place.index(0))?;
    time(word.end, &place.index(1))?;
    place.index(1).require(
        word.end >= word.start,
        &word.end,
        &format_args!("not before the word's start, which is {}", word.start),
    )
}

#[cfg(test)]
mod tests {
    use framefence::Time;

    use super::*;
    use crate::text::spec::FontFamilies;

    #[test]
    fn what_cannot_be_drawn_is_named() {
        let seconds = |value| Time::from_ratio(value, 1);
        type Spoil = fn(&mut Text);
        let spoils: [(&str, Spoil); 8] = [
            ("text.text", |text| {
                text.text = "x".repeat(MAX_TEXT_BYTES + 1);
            }),
            ("text.font", |text| {
                text.font = FontFamilies(vec![FontFamily::Name("A".into()); 17]);
            }),
            ("text.font[0]", |text| {
                text.font = FontFamilies(vec![FontFamily::Name(" ".into())]);
            }),
            ("text.weight", |text| text.weight = 99),
            ("text.size", |text| text.size = 0.0.into()),
            ("text.width", |text| text.width = Some(f64::NAN.into())),
            ("text.line_height", |text| text.line_height = (-1.0).into()),
            ("text.letter_spacing", |text| {
                text.letter_spacing = f64::INFINITY.into();
            }),
        ];
        let place = Place::root().field("text");
        assert_eq!(validate(&Text::new("a", 10_000.0), &place), Ok(()));
        for (path, spoil) in spoils {
            let mut text = Text::new("a", 10.0);
            spoil(&mut text);
            assert_eq!(validate(&text, &place).unwrap_err().path, path);
        }

        let mut text = Text::new("a", 10.0);
        text.highlight = Some(WordHighlight {
            words: vec![WordTime {
                start: seconds(2),
                end: seconds(1),
            }],
            color: None,
            background: None,
        });
        let error = validate(&text, &place).unwrap_err();
        assert_eq!(error.path, "text.highlight.words[0][1]");
        assert!(error.to_string().contains("2 s"), "{error}");
    }
}
