//! A text in lines: where each glyph lies, whatever it is painted with.

use std::sync::Arc;

use framefence::Time;
use glam::DVec2;
use kurbo::Rect;
use parking_lot::Mutex;

use super::glyph::GlyphShape;
use super::spec::{FontFamilies, Text, TextAlign};
use super::stroke::Strokes;

/// All that the place of a text's glyphs follows from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Setting {
    pub(super) text: String,
    pub(super) font: FontFamilies,
    pub(super) weight: u16,
    pub(super) italic: bool,
    pub(super) align: TextAlign,
    pub(super) em: Exact,
    pub(super) width: Option<Exact>,
    pub(super) line_height: Exact,
    pub(super) letter_spacing: Exact,
}

/// The largest em that a text may be set in, whatever its keyframes overshoot to.
pub(super) const MAX_EM: f64 = 10_000.0;

/// A number that can be told from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exact(u64);

/// A text in lines, in pixels of its layer from the top left corner of the block.
pub(super) struct Block {
    /// No other block of the process has it.
    pub(super) id: u64,
    pub(super) size: DVec2,
    /// Pixels for an em.
    pub(super) em: f64,
    /// From the first line to the last, each from left to right.
    pub(super) glyphs: Vec<Glyph>,
    /// What the glyphs look like, each shape once.
    pub(super) shapes: Vec<Arc<GlyphShape>>,
    /// The place of each word, or of each of its parts where lines break within it.
    pub(super) words: Vec<WordBox>,
    /// A box around all glyphs.
    pub(super) ink: Rect,
    /// The outlines' outlines, in the width that was last asked for.
    pub(super) strokes: Mutex<Strokes>,
}

#[derive(Clone, Copy)]
pub(super) struct Glyph {
    /// Where its baseline starts.
    pub(super) origin: DVec2,
    /// Its index in [`Block::shapes`].
    pub(super) shape: u32,
    /// The index of the word that it belongs to.
    pub(super) word: u32,
}

/// As wide as the word, as high as the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WordBox {
    pub(super) word: u32,
    pub(super) min: DVec2,
    pub(super) max: DVec2,
}

impl Setting {
    pub(super) fn at(text: &Text, time: Time) -> Self {
        Self {
            text: text.text.clone(),
            font: text.font.clone(),
            weight: text.weight,
            italic: text.italic,
            align: text.align,
            // Keyframes may overshoot.
            em: Exact::new(text.size.at(time).clamp(0.0, MAX_EM)),
            width: text
                .width
                .as_ref()
                .map(|width| Exact::new(width.at(time).max(0.0))),
            line_height: Exact::new(text.line_height.at(time).max(0.0)),
            letter_spacing: Exact::new(text.letter_spacing.at(time)),
        }
    }
}

impl Exact {
    pub(super) fn new(value: f64) -> Self {
        // Both zeros are the same size.
        Self((value + 0.0).to_bits())
    }

    pub(super) fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl Glyph {
    /// The box around the glyph in pixels of the layer.
    pub(super) fn bounds(self, shape: &GlyphShape, em: f64) -> Rect {
        let Rect { x0, y0, x1, y1 } = shape.bounds;
        let DVec2 { x, y } = self.origin;
        Rect::new(x + x0 * em, y + y0 * em, x + x1 * em, y + y1 * em)
    }
}
