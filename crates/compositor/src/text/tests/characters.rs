//! Every kind of character.

use super::*;
use crate::text::block::Block;
use crate::text::notice::FontProblem;

/// The boxes around the glyphs' shapes, which tell the shapes apart, from left to right.
fn shapes(block: &Block) -> Vec<String> {
    let mut glyphs = block.glyphs.clone();
    glyphs.sort_by(|a, b| a.origin.x.total_cmp(&b.origin.x));
    glyphs
        .iter()
        .map(|glyph| format!("{:?}", block.shapes[glyph.shape as usize].bounds))
        .collect()
}

fn shapes_of(text: &Text) -> Vec<String> {
    shapes(&layout(text).block)
}

#[test]
fn hebrew_runs_from_right_to_left() {
    let word = shapes_of(&text_in(HEBREW, "שלום", 40.0));
    let letters: Vec<String> = ["ם", "ו", "ל", "ש"]
        .iter()
        .flat_map(|letter| shapes_of(&text_in(HEBREW, letter, 40.0)))
        .collect();
    assert_eq!(word, letters);
}

#[test]
fn words_of_both_directions_lie_in_reading_order() {
    let places = |text: &str| {
        let block = layout(&text_in(HEBREW, text, 40.0)).block;
        let mut words = block.words.clone();
        words.sort_by(|a, b| a.min.x.total_cmp(&b.min.x));
        words.iter().map(|word| word.word).collect::<Vec<_>>()
    };
    assert_eq!(places("abc שלום עברית def"), [0, 2, 1, 3]);
    assert_eq!(places("שלום abc def עברית"), [3, 1, 2, 0]);
}

#[test]
fn arabic_letters_join() {
    let word = shapes_of(&text_in(ARABIC, "سلام", 40.0));
    let seen_apart = shapes_of(&text_in(ARABIC, "س", 40.0));
    let meem_apart = shapes_of(&text_in(ARABIC, "م", 40.0));
    // Lam and alef are one glyph, and meem, after it, stands alone.
    assert_eq!(word.len(), 3);
    assert_eq!(word.first(), meem_apart.first());
    assert_ne!(word.last(), seen_apart.first());
}

#[test]
fn marks_lie_on_their_letters() {
    assert_eq!(
        shapes_of(&Text::new("e\u{301}", 40.0)),
        shapes_of(&Text::new("é", 40.0))
    );
    let block = layout(&Text::new("x\u{301}", 100.0)).block;
    let bounds: Vec<_> = block
        .glyphs
        .iter()
        .map(|glyph| glyph.bounds(&block.shapes[glyph.shape as usize], block.em))
        .collect();
    let [letter, mark] = bounds[..] else {
        panic!("a letter and its mark, not {bounds:?}");
    };
    assert!((letter.center().x - mark.center().x).abs() < 5.0);
    assert!(mark.y1 < letter.y0, "the mark lies above the letter");
}

#[test]
fn emoji_are_pictures_in_their_own_colours() {
    let layout = layout(&text_in(EMOJI, "a😀", 64.0));
    let identity = DMat3::IDENTITY;
    assert_eq!(masks(&layout, identity, FRAME).len(), 1);
    let picture = &pictures(&layout, identity, FRAME)[0];
    let pixels = picture.premultiplied_rgba.as_chunks::<4>().0;
    let yellow = |[red, green, blue, alpha]: &[u8; 4]| {
        *alpha == 255 && *red > 200 && *green > 150 && *blue < 100
    };
    let count = pixels.iter().filter(|pixel| yellow(pixel)).count();
    assert!(count > 1_000, "{count} of {} are yellow", pixels.len());
    let is_premultiplied = |[red, green, blue, alpha]: &[u8; 4]| red.max(green).max(blue) <= alpha;
    assert!(pixels.iter().all(is_premultiplied));
}

#[test]
fn layers_of_colour_lie_on_one_another() {
    let blue = crate::color::Color::rgb(0, 0, 255);
    let text = Text {
        color: blue.into(),
        ..text_in("NotoSansHebrew-layers.ttf", "ש", 100.0)
    };
    let layout = layout(&text);
    assert!(masks(&layout, DMat3::IDENTITY, FRAME).is_empty());
    let [picture] = &pictures(&layout, DMat3::IDENTITY, FRAME)[..] else {
        panic!("one picture");
    };
    let pixels = picture.premultiplied_rgba.as_chunks::<4>().0;
    let count = |color: [u8; 4]| pixels.iter().filter(|&&pixel| pixel == color).count();
    let [red, blue] = [[255, 0, 0, 255], [0, 0, 255, 255]].map(count);
    // All of vav is seen, and of lamed what is not beneath it.
    assert!(red > 500 && blue > 300, "{red} {blue}");
}

#[test]
fn a_thumb_and_its_skin_colour_are_one_picture() {
    let block = layout(&text_in(EMOJI, "👍🏽", 64.0)).block;
    assert_eq!(block.glyphs.len(), 1);
}

#[test]
fn what_no_font_has_is_a_box_and_is_named_once() {
    let mut library = library();
    // A code point of a plane that has no characters.
    let text = Text::new("a\u{50000}b", 40.0);
    let layout = library.layout(&text, Time::ZERO);
    assert_eq!(shapes(&layout.block), shapes_of(&Text::new("a□b", 40.0)));
    library.layout(&Text::new("\u{50000}", 20.0), Time::ZERO);
    let [notice] = library.notices() else {
        panic!("one notice, not {:?}", library.notices());
    };
    assert_eq!(notice.reason, FontProblem::NoGlyph);
    assert!(notice.to_string().contains("U+50000"), "{notice}");
}

#[test]
fn control_characters_are_not_drawn() {
    let plain = layout(&Text::new("ab", 40.0)).block;
    let with_controls = layout(&Text::new("\0a\u{1b}\u{7}b\u{9f}\u{7f}", 40.0)).block;
    assert_eq!(shapes(&plain), shapes(&with_controls));
    assert_eq!(plain.size, with_controls.size);
}

#[test]
fn text_without_ink_has_lines_and_no_pixels() {
    for (text, line_count) in [
        ("", 1.0),
        ("   ", 1.0),
        ("\n\n", 3.0),
        ("\u{200b}", 1.0),
        ("\t", 1.0),
    ] {
        let layout = layout(&Text::new(text, 50.0));
        assert_eq!(layout.size().y, 60.0 * line_count, "{text:?}");
        assert!(layout.raster(DMat3::IDENTITY, FRAME).is_empty(), "{text:?}");
    }
}

#[test]
fn a_hundred_thousand_characters_are_set() {
    let clip = rect([0, 0], [256, 256]);
    let long = |text: String, width: Option<f64>| Text {
        width: width.map(Into::into),
        ..Text::new(text, 20.0)
    };
    for text in [
        long("lorem ".repeat(16_667), Some(800.0)),
        long("m".repeat(100_000), None),
        long("m".repeat(100_000), Some(800.0)),
        long("a\n".repeat(50_000), None),
        long("\u{50000}".repeat(100_000), None),
        long(format!("a{}", "\u{301}".repeat(99_999)), None),
        Text {
            width: Some(800.0.into()),
            ..text_in(HEBREW, &"שלום ".repeat(20_000), 20.0)
        },
    ] {
        let layout = layout(&text);
        let [mask] = &masks(&layout, DMat3::IDENTITY, clip)[..] else {
            panic!("{:.20} is one mask", text.text);
        };
        assert!(total(mask) > 0.0);
    }
}
