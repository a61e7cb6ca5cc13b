//! Text: shaped by cosmic-text, rastered from the outlines of its glyphs, without a GPU.
//!
//! A [`FontLibrary`] lays a [`Text`] out as it is at one moment; the [`TextLayout`] rasters it at
//! the frame's own transform, so that text is as sharp as the frame under any scale, rotation and
//! perspective, moves by less than a pixel, and comes out the same whole and in tiles:
//!
//! ```text
//! Text --at a time--> Setting --fonts, shaping--> Block --projection, coverage--> TextParts
//! ```

mod block;
mod coverage;
mod fonts;
mod glyph;
mod installed;
mod layout;
mod library;
mod notice;
mod part;
mod picture;
mod projection;
mod raster;
mod recent;
mod shaping;
mod spec;
mod stroke;
mod unicode;
mod validate;

#[cfg(test)]
mod tests;

pub(crate) use layout::TextLayout;
pub(crate) use library::FontLibrary;
pub use notice::{FontNotice, FontProblem};
pub(crate) use part::{TextBox, TextMask, TextPart, TextPicture};
pub use spec::{
    FontFamilies, FontFamily, Text, TextAlign, TextBackground, TextOutline, WordHighlight, WordTime,
};
pub(crate) use validate::validate;
#[cfg(feature = "schema")]
pub(crate) use validate::{EM, LINE_HEIGHT, OUTLINE, SPACING};
pub use validate::{MAX_FONT_FAMILIES, MAX_TEXT_BYTES};
