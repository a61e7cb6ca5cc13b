//! Lines and words in their places.

use super::*;
use crate::animation::{Animated, Keyframe};
use crate::color::Color;
use crate::easing::Easing;
use crate::text::TextBox;
use crate::text::spec::{TextAlign, TextBackground, WordHighlight, WordTime};

const POEM: &str = "The quick brown fox\njumps over the lazy dog";

fn line_count(layout: &TextLayout, line_height: f64) -> usize {
    (layout.size().y / line_height).round() as usize
}

#[test]
fn lines_break_to_stay_within_the_width() {
    let wrapped = |text: &str, width: f64| {
        let layout = layout(&Text {
            width: Some(width.into()),
            ..Text::new(text, 20.0)
        });
        assert_eq!(layout.size().x, width);
        // Glyphs may reach a little beyond their advance.
        let ink = layout.block.ink;
        assert!(ink.x0 > -3.0 && ink.x1 < width + 3.0, "{ink:?} in {width}");
        line_count(&layout, 24.0)
    };
    assert_eq!(wrapped(POEM, 1_000.0), 2);
    assert_eq!(wrapped(POEM, 150.0), 4);
    assert!(wrapped("Donaudampfschifffahrtsgesellschaft", 100.0) >= 3);
    // Narrower than any glyph.
    let layout = layout(&Text {
        width: Some(1.0.into()),
        ..Text::new("abc", 20.0)
    });
    assert_eq!(line_count(&layout, 24.0), 3);
}

#[test]
fn without_a_width_only_the_text_breaks_lines() {
    let layout = layout(&Text::new(POEM, 20.0));
    assert_eq!(line_count(&layout, 24.0), 2);
    let widest = layout
        .block
        .words
        .iter()
        .map(|word| word.max.x)
        .fold(0.0, f64::max);
    assert!((layout.size().x - widest).abs() < 1e-3);
}

#[test]
fn lines_are_aligned_in_both_scripts() {
    /// How far the first, short line lies from the left and from the right edge of the block.
    fn gaps(text: &Text) -> [f64; 2] {
        let layout = layout(text);
        let first_line = layout.block.words.iter().filter(|word| word.min.y == 0.0);
        let left = first_line
            .clone()
            .map(|word| word.min.x)
            .fold(f64::MAX, f64::min);
        let right = first_line.map(|word| word.max.x).fold(0.0, f64::max);
        [left, layout.size().x - right]
    }
    let near = |gap: f64| gap.abs() < 0.01;
    let latin = "ab\nmuch longer line";
    let hebrew = "שלום\nעברית עברית שלום";
    for width in [None, Some(400.0)] {
        let set = |text: Text, align| Text {
            align,
            width: width.map(Into::into),
            ..text
        };
        for (align, latin_is_left, hebrew_is_left) in [
            (TextAlign::Start, true, false),
            (TextAlign::End, false, true),
            (TextAlign::Left, true, true),
            (TextAlign::Right, false, false),
            (TextAlign::Justify, true, false),
        ] {
            let [left, right] = gaps(&set(Text::new(latin, 20.0), align));
            assert_eq!(
                [near(left), near(right)],
                [latin_is_left, !latin_is_left],
                "{align:?}"
            );
            let [left, right] = gaps(&set(text_in(HEBREW, hebrew, 20.0), align));
            assert_eq!(
                [near(left), near(right)],
                [hebrew_is_left, !hebrew_is_left],
                "{align:?}"
            );
        }
        let [left, right] = gaps(&set(Text::new(latin, 20.0), TextAlign::Center));
        assert!(near(left - right) && left > 10.0);
    }
}

#[test]
fn justified_lines_reach_from_edge_to_edge_but_for_the_last() {
    let layout = layout(&Text {
        width: Some(200.0.into()),
        align: TextAlign::Justify,
        ..Text::new("one two three four five six seven eight nine", 20.0)
    });
    let rows = line_count(&layout, 24.0);
    assert!(rows >= 3);
    let ends: Vec<f64> = (0..rows)
        .map(|row| {
            let words = layout.block.words.iter();
            words
                .filter(|word| word.min.y == 24.0 * row as f64)
                .map(|word| word.max.x)
                .fold(0.0, f64::max)
        })
        .collect();
    let (last, others) = ends.split_last().unwrap();
    assert!(
        others.iter().all(|end| (end - 200.0).abs() < 0.01),
        "{ends:?}"
    );
    assert!(*last < 190.0, "{ends:?}");
}

#[test]
fn letters_are_spaced_by_pixels_and_not_joined() {
    let width = |text: Text| layout(&text).size().x;
    let spaced = Text {
        letter_spacing: 7.0.into(),
        ..Text::new("wide", 40.0)
    };
    let plain = width(Text::new("wide", 40.0));
    assert!((width(spaced) - plain - 4.0 * 7.0).abs() < 0.01);
}

#[test]
fn size_is_exact_at_every_time() {
    let grow = Animated::Keyframes(vec![
        Keyframe {
            time: Time::ZERO,
            value: 10.0,
            easing: Easing::Linear,
        },
        Keyframe {
            time: Time::from_ratio(1, 1),
            value: 30.0,
            easing: Easing::Linear,
        },
    ]);
    let text = Text {
        size: grow,
        ..Text::new("Wave", 10.0)
    };
    let mut library = library();
    let width = |numerator| {
        library
            .layout(&text, Time::from_ratio(numerator, 7))
            .size()
            .x
    };
    let per_pixel: Vec<f64> = [0, 1, 2, 5, 7]
        .map(width)
        .iter()
        .zip([0.0, 1.0, 2.0, 5.0, 7.0])
        .map(|(width, sevenths)| width / (10.0 + 20.0 * sevenths / 7.0))
        .collect();
    for ratio in &per_pixel {
        assert!((ratio - per_pixel[0]).abs() < 1e-5, "{per_pixel:?}");
    }
}

#[test]
fn words_stand_out_for_their_time() {
    let seconds = |start, end| WordTime {
        start: Time::from_ratio(start, 1),
        end: Time::from_ratio(end, 1),
    };
    let red = Color::rgb(255, 0, 0);
    let text = Text {
        highlight: Some(WordHighlight {
            words: vec![seconds(0, 1), seconds(1, 2)],
            color: Some(red.into()),
            background: Some(TextBackground {
                color: Color::BLACK.into(),
                padding: [3.0, 1.0].into(),
                corner_radius: 500.0.into(),
            }),
        }),
        ..Text::new("first\n second third", 40.0)
    };
    let mut library = library();
    let plain = Text {
        highlight: None,
        ..text.clone()
    };
    let plain = library.layout(&plain, Time::ZERO);
    let plain = &masks(&plain, DMat3::IDENTITY, FRAME)[0];
    for (numerator, word) in [(0, Some(0)), (3, Some(1)), (4, None)] {
        let layout = library.layout(&text, Time::from_ratio(numerator, 2));
        let masks = masks(&layout, DMat3::IDENTITY, FRAME);
        let boxes: Vec<TextBox> = layout
            .raster(DMat3::IDENTITY, FRAME)
            .into_iter()
            .filter_map(|part| match part {
                TextPart::Box(text_box) => Some(text_box),
                _ => None,
            })
            .collect();
        let Some(word) = word else {
            assert_eq!((masks.len(), boxes.len()), (1, 0));
            continue;
        };
        let place = layout.block.words[word];
        let text_box = boxes[0];
        assert_eq!(boxes.len(), 1);
        assert_eq!(
            [text_box.rect.x0, text_box.rect.y0],
            [place.min.x - 3.0, place.min.y - 1.0]
        );
        assert_eq!(text_box.rect.height(), 50.0);
        assert_eq!(text_box.corner_radius, 25.0);

        let [others, highlighted] = &masks[..] else {
            panic!("two masks, not {}", masks.len());
        };
        assert_eq!(highlighted.color, red.premultiplied());
        let inside = |x: i32, y: i32| {
            let [x, y] = [f64::from(x), f64::from(y)];
            x > place.min.x - 2.0 && x < place.max.x + 2.0 && y > place.min.y && y < place.max.y
        };
        for y in FRAME.min.y..FRAME.max.y {
            for x in FRAME.min.x..FRAME.max.x {
                let [other, lit] = [others, highlighted].map(|mask| coverage_at(mask, x, y));
                assert_eq!(other.max(lit), coverage_at(plain, x, y));
                assert!(lit == 0 || inside(x, y), "{x} {y}");
            }
        }
    }
}
