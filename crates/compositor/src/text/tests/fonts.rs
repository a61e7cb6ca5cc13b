//! Fonts that are there, and fonts that are not.

use std::fs;
use std::path::Path;

use super::*;
use crate::text::block::Glyph;
use crate::text::installed::InstalledFonts;
use crate::text::notice::{FontNotice, FontProblem};

fn width(layout: &TextLayout) -> f64 {
    layout.size().x
}

#[test]
fn the_bundled_family_has_every_weight_and_italics() {
    let mut library = library();
    let widths = [100, 400, 700, 900].map(|weight| {
        let text = Text {
            weight,
            font: FontFamilies(vec![FontFamily::Name("inter".into())]),
            ..Text::new("Hamburgefonts", 40.0)
        };
        width(&library.layout(&text, Time::ZERO))
    });
    assert!(widths.is_sorted_by(|a, b| a < b), "{widths:?}");
    let italic = Text {
        italic: true,
        ..Text::new("Hamburgefonts", 40.0)
    };
    assert_ne!(width(&library.layout(&italic, Time::ZERO)), widths[1]);
    assert_eq!(library.notices(), []);
}

#[test]
fn italics_are_slanted_where_a_font_has_none() {
    let upright = text_in(HEBREW, "ל", 100.0);
    let italic = Text {
        italic: true,
        ..upright.clone()
    };
    let [upright, italic] = [upright, italic].map(|text| layout(&text).ink());
    // Lamed rises above the baseline: its top leans to the right.
    assert!(italic.x1 > upright.x1 + 5.0, "{italic:?} {upright:?}");
    assert_eq!([italic.y0, italic.y1], [upright.y0, upright.y1]);
}

#[test]
fn a_font_lends_what_another_lacks() {
    let mut library = library();
    let mixed = library.layout(&text_in(HEBREW, "שלום world", 40.0), Time::ZERO);
    let latin = library.layout(&Text::new("world", 40.0), Time::ZERO);
    let word = mixed
        .block
        .words
        .iter()
        .find(|word| word.word == 1)
        .unwrap();
    assert!((word.max.x - word.min.x - width(&latin)).abs() < 0.01);
    assert_eq!(library.notices(), []);
}

/// Taken letter by letter, from fonts that are read once.
#[test]
fn letters_of_a_font_of_the_system_are_joined_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let fonts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fonts");
    for file in [HEBREW, ARABIC] {
        fs::copy(Path::new(fonts).join(file), folder.path().join(file)).unwrap();
    }
    let mut library = library().with_installed(InstalledFonts::of_folder(folder.path()));
    for (file, word) in [(HEBREW, "שלום"), (ARABIC, "سلام")] {
        let mut shapes = |text: &Text| {
            let block = library.layout(text, Time::ZERO).block;
            let mut glyphs = block.glyphs.clone();
            glyphs.sort_by(|a, b| a.origin.x.total_cmp(&b.origin.x));
            let shape = |glyph: &Glyph| block.shapes[glyph.shape as usize].bounds;
            glyphs.iter().map(shape).collect::<Vec<_>>()
        };
        assert_eq!(
            shapes(&Text::new(word, 40.0)),
            shapes(&text_in(file, word, 40.0)),
            "{word}"
        );
    }
    assert_eq!(library.notices(), []);
}

#[test]
fn what_cannot_be_had_is_named_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let inter = include_bytes!("../../../assets/fonts/InterVariable.ttf");
    fs::write(folder.path().join("garbage.ttf"), b"this is no font").unwrap();
    fs::write(folder.path().join("empty.ttf"), b"").unwrap();
    fs::write(folder.path().join("cut.ttf"), &inter[..2_000]).unwrap();
    let mut library = FontLibrary::new(folder.path());
    let families = ["garbage.ttf", "empty.ttf", "cut.ttf", "missing.ttf", "."]
        .map(|file| FontFamily::File(file.into()));
    let mut text = Text::new("Hello", 40.0);
    text.font = FontFamilies(families.to_vec());
    text.font.0.push(FontFamily::Name("No Such Family".into()));
    let replaced = library.layout(&text, Time::ZERO);
    library.layout(
        &Text {
            weight: 500,
            ..text
        },
        Time::ZERO,
    );

    assert_eq!(replaced.size(), layout(&Text::new("Hello", 40.0)).size());
    let notices = library.notices();
    let reasons: Vec<&FontProblem> = notices.iter().map(|notice| &notice.reason).collect();
    assert!(
        matches!(
            reasons[..],
            [
                FontProblem::NotAFont,
                FontProblem::NotAFont,
                FontProblem::NotAFont,
                FontProblem::Unreadable { .. },
                FontProblem::NotAFile,
                FontProblem::NotInstalled
            ]
        ),
        "{notices:?}"
    );
    let expected = FontNotice {
        asked: "\"No Such Family\"".into(),
        used: "Inter".into(),
        reason: FontProblem::NotInstalled,
    };
    assert_eq!(notices.last(), Some(&expected));
}

/// Damage anywhere in a font ends in glyphs that are missing or misshapen, never in a panic.
#[test]
fn damaged_fonts_are_drawn_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let fonts = [
        &include_bytes!("../../../tests/fonts/NotoSansArabic-subset.ttf")[..],
        &include_bytes!("../../../tests/fonts/NotoColorEmoji-subset.ttf")[..],
    ];
    for (font, text) in fonts.into_iter().zip(["سلام عربي", "😀👍🏽"]) {
        for step in 1..60 {
            let mut damaged = font.to_vec();
            let start = step * font.len() / 60;
            for byte in damaged[start..].iter_mut().take(16) {
                *byte ^= 0xff;
            }
            let cut = (step % 3 == 0).then_some(start);
            fs::write(
                folder.path().join("font.ttf"),
                &damaged[..cut.unwrap_or(damaged.len())],
            )
            .unwrap();
            let mut library = FontLibrary::new(folder.path());
            let layout = library.layout(&text_in("font.ttf", text, 40.0), Time::ZERO);
            layout.raster(DMat3::IDENTITY, FRAME);
        }
    }
}
