//! Whole texts, from data to pixels.

mod characters;
mod fonts;
mod lines;
mod pixels;
mod shaper;

use std::path::PathBuf;

use framefence::Time;
use glam::{DMat3, IVec2};

use super::spec::{FontFamilies, FontFamily, Text};
use super::{FontLibrary, TextLayout, TextMask, TextPart, TextPicture};
use crate::rect::IntRect;

const HEBREW: &str = "NotoSansHebrew-subset.ttf";
const ARABIC: &str = "NotoSansArabic-subset.ttf";
const EMOJI: &str = "NotoColorEmoji-subset.ttf";

fn library() -> FontLibrary {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "fonts"]
        .iter()
        .collect();
    FontLibrary::new(folder)
}

fn layout(text: &Text) -> TextLayout {
    library().layout(text, Time::ZERO)
}

/// A text in the test font of that file.
fn text_in(file: &str, text: &str, size: f64) -> Text {
    Text {
        font: FontFamilies(vec![FontFamily::File(file.into())]),
        ..Text::new(text, size)
    }
}

fn rect(min: [i32; 2], max: [i32; 2]) -> IntRect {
    IntRect::new(min.into(), max.into())
}

/// Large enough for all of a text that is not scaled.
const FRAME: IntRect = IntRect {
    min: IVec2::new(-100, -100),
    max: IVec2::new(1500, 600),
};

fn masks(layout: &TextLayout, frame_from_layer: DMat3, clip: IntRect) -> Vec<TextMask> {
    let parts = layout.raster(frame_from_layer, clip).into_iter();
    parts
        .filter_map(|part| match part {
            TextPart::Mask(mask) => Some(mask),
            TextPart::Box(_) | TextPart::Picture(_) => None,
        })
        .collect()
}

fn pictures(layout: &TextLayout, frame_from_layer: DMat3, clip: IntRect) -> Vec<TextPicture> {
    let parts = layout.raster(frame_from_layer, clip).into_iter();
    parts
        .filter_map(|part| match part {
            TextPart::Picture(picture) => Some(picture),
            TextPart::Box(_) | TextPart::Mask(_) => None,
        })
        .collect()
}

/// The coverage of a frame pixel, 0 outside the mask.
fn coverage_at(mask: &TextMask, x: i32, y: i32) -> u8 {
    let at = IVec2::new(x, y) - mask.origin;
    let inside = at.cmpge(IVec2::ZERO).all() && at.cmplt(mask.size.as_ivec2()).all();
    if !inside {
        return 0;
    }
    mask.coverage[at.y as usize * mask.size.x as usize + at.x as usize]
}

/// In whole pixels.
fn total(mask: &TextMask) -> f64 {
    mask.coverage
        .iter()
        .map(|&byte| f64::from(byte))
        .sum::<f64>()
        / 255.0
}
