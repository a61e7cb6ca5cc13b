//! What a text consists of once it is rastered.

use std::sync::Arc;

use framefence::Time;
use glam::{DVec2, IVec2, UVec2};
use kurbo::Rect;

use super::spec::TextBackground;
use crate::color::PremultipliedColor;
use crate::rect::IntRect;

/// A part of a text, to be blended over what is beneath it.
#[derive(Clone, Debug)]
pub(crate) enum TextPart {
    /// A box, to be drawn through the layer's own transform.
    Box(TextBox),
    /// Glyphs of one colour, pixel by pixel.
    Mask(TextMask),
    /// Glyphs in their own colours, pixel by pixel.
    Picture(TextPicture),
}

/// A box behind glyphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TextBox {
    /// Its place in pixels of the layer, from the top left corner of the text's block.
    pub(crate) rect: Rect,
    /// In pixels of the layer, at most half of the shorter side.
    pub(crate) corner_radius: f64,
    /// What it is filled with.
    pub(crate) color: PremultipliedColor,
}

/// Glyphs of one colour.
#[derive(Clone, Debug)]
pub(crate) struct TextMask {
    /// The same for the same pixels: two masks of one id are equal in all but their colour.
    pub(crate) id: u64,
    /// The frame pixel of the mask's top left corner.
    pub(crate) origin: IVec2,
    /// Width and height in pixels.
    pub(crate) size: UVec2,
    /// How much of each pixel is covered, 0 to 255; rows from top to bottom without gaps.
    pub(crate) coverage: Arc<[u8]>,
    /// What covered pixels are filled with.
    pub(crate) color: PremultipliedColor,
}

/// Glyphs in their own colours.
#[derive(Clone, Debug)]
pub(crate) struct TextPicture {
    /// The same for the same pixels: two pictures of one id are equal.
    pub(crate) id: u64,
    /// The frame pixel of the picture's top left corner.
    pub(crate) origin: IVec2,
    /// Width and height in pixels.
    pub(crate) size: UVec2,
    /// Red, green, blue and alpha, sRGB-encoded and with alpha multiplied in; rows from top to
    /// bottom without gaps.
    pub(crate) premultiplied_rgba: Arc<[u8]>,
}

impl TextMask {
    /// The frame pixels that it holds.
    pub(crate) fn region(&self) -> IntRect {
        IntRect::new(self.origin, self.origin + self.size.as_ivec2())
    }
}

impl TextPicture {
    /// The frame pixels that it holds.
    pub(crate) fn region(&self) -> IntRect {
        IntRect::new(self.origin, self.origin + self.size.as_ivec2())
    }
}

impl TextBox {
    /// The box behind what lies between `min` and `max`; nothing if its padding leaves none of it.
    pub(super) fn new(
        min: DVec2,
        max: DVec2,
        background: &TextBackground,
        time: Time,
    ) -> Option<Self> {
        let padding = DVec2::from(background.padding.at(time));
        let [min, max] = [min - padding, max + padding];
        let shorter = (max - min).min_element();
        (shorter > 0.0).then(|| Self {
            rect: Rect::new(min.x, min.y, max.x, max.y),
            // Keyframes may overshoot.
            corner_radius: background.corner_radius.at(time).clamp(0.0, shorter / 2.0),
            color: background.color.at(time),
        })
    }
}
