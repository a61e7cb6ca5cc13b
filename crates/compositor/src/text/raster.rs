//! From glyphs in their places to pixels of the frame.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DMat3, IVec2, UVec2};
use kurbo::BezPath;

use super::block::{Exact, Glyph};
use super::coverage::Coverage;
use super::glyph::{Art, GlyphShape};
use super::layout::{Outline, TextLayout};
use super::part::{TextMask, TextPart, TextPicture};
use super::picture::Picture;
use super::projection::{Projection, STROKE_TOLERANCE};
use super::recent::Recent;
use super::stroke::Pen;
use crate::color::PremultipliedColor;
use crate::rect::IntRect;

/// Rastered parts of texts, by what their pixels follow from.
pub(super) type Parts = Recent<PartKey, Option<Pixels>>;

/// All that the pixels of a part follow from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct PartKey {
    block: u64,
    frame_from_layer: [Exact; 9],
    clip: IntRect,
    content: Content,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Content {
    Outline { reach: Exact },
    Fill(Words),
    Picture { color: [Exact; 4] },
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Words {
    All,
    Only(Arc<[u32]>),
    AllBut(Arc<[u32]>),
}

/// Pixels with a name.
#[derive(Clone)]
pub(super) struct Pixels {
    id: u64,
    origin: IVec2,
    size: UVec2,
    bytes: Arc<[u8]>,
}

impl TextLayout {
    /// What is seen of the text in the frame pixels of `clip`, from the lowest part to the topmost:
    /// boxes, outline, glyphs, glyphs of the highlighted words, pictures.
    ///
    /// `frame_from_layer` takes points (x, y, 1) of the layer, in pixels from the block's top left
    /// corner, to frame pixels: it may scale, rotate, and show the layer in perspective, x and y
    /// being divided by the third coordinate. Where that is 0 or less nothing is seen.
    ///
    /// Glyphs are rastered from their outlines, neither hinted nor moved to whole pixels. A pixel
    /// follows from the layout and the matrix alone: with another clip it is the same. All glyphs
    /// of a part are filled as one shape by the non-zero rule, so that letters that overlap or
    /// touch show no seam. The outline includes the glyphs, and lies beneath them.
    pub(crate) fn raster(&self, frame_from_layer: DMat3, clip: IntRect) -> Vec<TextPart> {
        let mut parts: Vec<TextPart> = self.boxes.iter().copied().map(TextPart::Box).collect();
        let reach = self.outline.map_or(0.0, |outline| outline.reach);
        let bounds = self.block.ink.inflate(reach, reach);
        let Some(projection) = Projection::new(frame_from_layer, bounds) else {
            return parts;
        };
        let raster = Raster {
            layout: self,
            projection,
            frame_from_layer,
            clip,
        };
        parts.extend(raster.outline());
        match &self.highlight {
            None => parts.extend(raster.fill(&Words::All, self.color)),
            Some(highlight) => {
                let words = &highlight.words;
                parts.extend(raster.fill(&Words::AllBut(words.clone()), self.color));
                parts.extend(raster.fill(&Words::Only(words.clone()), highlight.color));
            }
        }
        parts.extend(raster.picture());
        parts
    }
}

/// One call of [`TextLayout::raster`].
struct Raster<'a> {
    layout: &'a TextLayout,
    projection: Projection,
    frame_from_layer: DMat3,
    clip: IntRect,
}

impl Raster<'_> {
    fn outline(&self) -> Option<TextPart> {
        let Outline { reach, color } = self.layout.outline?;
        let content = Content::Outline {
            reach: Exact::new(reach),
        };
        self.mask(content, color, || {
            let reach = reach / self.layout.block.em;
            let mut strokes = self.layout.block.strokes.lock();
            self.cover(
                reach,
                |_| true,
                |projection, glyph, shape, path, coverage| {
                    let bounds = shape.bounds.inflate(reach, reach);
                    let tolerance = STROKE_TOLERANCE / projection.largest_scale(bounds);
                    let stroke = strokes.of(glyph.shape, path, Pen::new(reach, tolerance));
                    projection.trace(&stroke, bounds, coverage);
                    projection.trace(path, bounds, coverage);
                },
            )
        })
    }

    fn fill(&self, words: &Words, color: PremultipliedColor) -> Option<TextPart> {
        self.mask(Content::Fill(words.clone()), color, || {
            self.cover(
                0.0,
                |glyph| words.contain(glyph.word),
                |projection, _, shape, path, coverage| {
                    projection.trace(path, shape.bounds, coverage);
                },
            )
        })
    }

    fn picture(&self) -> Option<TextPart> {
        let color = self.layout.color;
        let content = Content::Picture {
            color: color.0.map(Exact::new),
        };
        let pixels = self.pixels(content, || {
            let is_picture = |shape: &GlyphShape| !matches!(shape.art, Art::Outline(_));
            let seen = self.seen(0.0, |_, shape| is_picture(shape));
            let window = window(&seen)?;
            let mut picture = Picture::new(window, color);
            for seen in seen {
                picture.add(
                    &seen.shape.art,
                    seen.shape.bounds,
                    seen.projection,
                    seen.touched,
                );
            }
            Some((window, picture.finish()))
        })?;
        Some(TextPart::Picture(TextPicture {
            id: pixels.id,
            origin: pixels.origin,
            size: pixels.size,
            premultiplied_rgba: pixels.bytes,
        }))
    }

    fn mask(
        &self,
        content: Content,
        color: PremultipliedColor,
        draw: impl FnOnce() -> Option<(IntRect, Vec<u8>)>,
    ) -> Option<TextPart> {
        let pixels = self.pixels(content, draw)?;
        Some(TextPart::Mask(TextMask {
            id: pixels.id,
            origin: pixels.origin,
            size: pixels.size,
            coverage: pixels.bytes,
            color,
        }))
    }

    /// Covers a window with all glyphs that have an outline and are chosen; nothing if none is
    /// seen. `reach`, in ems, is how far beyond its bounds `trace` draws a glyph.
    fn cover(
        &self,
        reach: f64,
        is_chosen: impl Fn(&Glyph) -> bool,
        mut trace: impl FnMut(Projection, &Glyph, &GlyphShape, &BezPath, &mut Coverage),
    ) -> Option<(IntRect, Vec<u8>)> {
        let seen = self.seen(reach, |glyph, shape| {
            matches!(shape.art, Art::Outline(_)) && is_chosen(glyph)
        });
        let window = window(&seen)?;
        let mut coverage = Coverage::new(window);
        for seen in seen {
            if let Art::Outline(path) = &seen.shape.art {
                trace(seen.projection, seen.glyph, seen.shape, path, &mut coverage);
            }
        }
        Some((window, coverage.finish()))
    }

    /// The chosen glyphs that touch the clip.
    fn seen(&self, reach: f64, is_chosen: impl Fn(&Glyph, &GlyphShape) -> bool) -> Vec<Seen<'_>> {
        let block = &self.layout.block;
        let seen = block.glyphs.iter().filter_map(|glyph| {
            let shape = &*block.shapes[glyph.shape as usize];
            if !is_chosen(glyph, shape) {
                return None;
            }
            let projection = self.projection.of_glyph(glyph.origin, block.em);
            let touched = projection.touched(shape.bounds.inflate(reach, reach), self.clip);
            (!touched.is_empty()).then_some(Seen {
                glyph,
                shape,
                projection,
                touched,
            })
        });
        seen.collect()
    }

    /// Pixels that were drawn before, or are drawn now; nothing where there are none.
    fn pixels(
        &self,
        content: Content,
        draw: impl FnOnce() -> Option<(IntRect, Vec<u8>)>,
    ) -> Option<Pixels> {
        let key = PartKey {
            block: self.layout.block.id,
            frame_from_layer: self.frame_from_layer.to_cols_array().map(Exact::new),
            clip: self.clip,
            content,
        };
        if let Some(known) = self.layout.parts.lock().get(&key) {
            return known;
        }
        // Drawn without the lock: others may raster other texts meanwhile.
        let pixels = draw().map(|(window, bytes)| Pixels {
            id: next_id(),
            origin: window.min,
            size: window.size().as_uvec2(),
            bytes: bytes.into(),
        });
        let bytes = pixels.as_ref().map_or(0, |pixels| pixels.bytes.len());
        let cost = bytes + size_of::<PartKey>();
        self.layout.parts.lock().insert(key, pixels.clone(), cost);
        pixels
    }
}

/// A glyph in the frame.
struct Seen<'a> {
    glyph: &'a Glyph,
    shape: &'a GlyphShape,
    projection: Projection,
    /// The pixels of the clip that it may touch; at least one.
    touched: IntRect,
}

fn window(seen: &[Seen<'_>]) -> Option<IntRect> {
    seen.iter().map(|seen| seen.touched).reduce(IntRect::union)
}

impl Words {
    fn contain(&self, word: u32) -> bool {
        match self {
            Self::All => true,
            Self::Only(words) => words.binary_search(&word).is_ok(),
            Self::AllBut(words) => words.binary_search(&word).is_err(),
        }
    }
}

/// A number that no other block and no other pixels of this process have.
pub(super) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
