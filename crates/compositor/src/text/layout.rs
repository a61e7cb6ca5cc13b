//! A text at one moment: its block, and what it is painted with.

use std::fmt;
use std::sync::Arc;

use framefence::Time;
use glam::DVec2;
use kurbo::Rect;
use parking_lot::Mutex;

use super::block::Block;
use super::glyph::{Art, GlyphShape};
use super::part::TextBox;
use super::raster::Parts;
use super::spec::{Text, TextBackground};
use crate::color::PremultipliedColor;

/// A text at one moment, ready to be rastered at any size.
///
/// Cheap to make for a text that was laid out before. It can be sent to and used from any thread.
#[derive(Clone)]
pub(crate) struct TextLayout {
    pub(super) block: Arc<Block>,
    pub(super) color: PremultipliedColor,
    pub(super) outline: Option<Outline>,
    pub(super) highlight: Option<Highlight>,
    /// Behind the glyphs, from the lowest to the topmost.
    pub(super) boxes: Vec<TextBox>,
    pub(super) parts: Arc<Mutex<Parts>>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) struct Outline {
    /// How far it reaches beyond the glyphs, in pixels of the layer, above 0.
    pub(super) reach: f64,
    pub(super) color: PremultipliedColor,
}

/// Words in a colour of their own.
#[derive(Clone, PartialEq)]
pub(super) struct Highlight {
    /// Their indices, ascending; at least one.
    pub(super) words: Arc<[u32]>,
    pub(super) color: PremultipliedColor,
}

/// Layouts of the same block in the same colours are the same.
impl PartialEq for TextLayout {
    fn eq(&self, other: &Self) -> bool {
        self.block.id == other.block.id
            && self.color == other.color
            && self.outline == other.outline
            && self.highlight == other.highlight
            && self.boxes == other.boxes
    }
}

/// Without the glyphs, of which there may be a hundred thousand.
impl fmt::Debug for TextLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextLayout")
            .field("size", &self.size())
            .field("glyph_count", &self.block.glyphs.len())
            .finish_non_exhaustive()
    }
}

impl TextLayout {
    pub(super) fn new(
        block: Arc<Block>,
        text: &Text,
        time: Time,
        parts: Arc<Mutex<Parts>>,
    ) -> Self {
        let outline = text.outline.as_ref().and_then(|outline| {
            // Keyframes may overshoot.
            let reach = outline.width.at(time).max(0.0);
            let color = outline.color.at(time);
            (reach > 0.0).then_some(Outline { reach, color })
        });
        let mut boxes = Vec::new();
        if let Some(background) = &text.background {
            boxes.extend(TextBox::new(DVec2::ZERO, block.size, background, time));
        }
        let mut highlight = None;
        if let Some(words) = &text.highlight {
            let active: Arc<[u32]> = (0..)
                .zip(&words.words)
                .filter(|(_, word)| word.contains(time))
                .map(|(index, _)| index)
                .collect();
            if let Some(background) = &words.background {
                boxes.extend(word_boxes(&block, &active, background, time));
            }
            highlight = words
                .color
                .as_ref()
                .filter(|_| !active.is_empty())
                .map(|color| Highlight {
                    words: active,
                    color: color.at(time),
                });
        }
        Self {
            block,
            color: text.color.at(time),
            outline,
            highlight,
            boxes,
            parts,
        }
    }

    /// Width and height of the block in pixels of the layer: the layer's size.
    pub(crate) fn size(&self) -> DVec2 {
        self.block.size
    }

    /// Whether [`raster`](Self::raster) gives one part at most, whatever is seen.
    pub(crate) fn is_single_part(&self) -> bool {
        let is_outline = |shape: &Arc<GlyphShape>| matches!(shape.art, Art::Outline(_));
        let outlines = self.block.shapes.iter().filter(|shape| is_outline(shape));
        let kinds = match outlines.count() {
            0 => 1,
            count if count == self.block.shapes.len() => 1,
            _ => 2,
        };
        self.boxes.is_empty() && self.outline.is_none() && self.highlight.is_none() && kinds == 1
    }

    /// A box around all that is drawn, in pixels of the layer from the block's top left corner;
    /// empty if nothing is.
    pub(crate) fn ink(&self) -> Rect {
        let reach = self.outline.map_or(0.0, |outline| outline.reach);
        let glyphs = match self.block.glyphs.is_empty() {
            true => None,
            false => Some(self.block.ink.inflate(reach, reach)),
        };
        self.boxes
            .iter()
            .map(|text_box| text_box.rect)
            .chain(glyphs)
            .reduce(|all, part| all.union(part))
            .unwrap_or(Rect::ZERO)
    }
}

fn word_boxes(
    block: &Block,
    words: &[u32],
    background: &TextBackground,
    time: Time,
) -> impl Iterator<Item = TextBox> {
    block
        .words
        .iter()
        .filter(move |word| words.binary_search(&word.word).is_ok())
        .filter_map(move |word| TextBox::new(word.min, word.max, background, time))
}
