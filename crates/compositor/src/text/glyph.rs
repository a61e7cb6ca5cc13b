//! What a glyph looks like, at any size.

use cosmic_text::Font;
use cosmic_text::fontdb::Weight;
use kurbo::{Affine, BezPath, Point, Rect, Shape};
use swash::scale::image::Content;
use swash::scale::{ScaleContext, Scaler, StrikeWith};
use swash::zeno::{Command, PathData};

/// The slant of italics that a font lacks: 14°, as the shaper's own raster has it.
const SLANT: f64 = 0.249_328_002_843_180_7;

/// A glyph about the origin of its baseline, in ems, y downwards.
pub(super) struct GlyphShape {
    pub(super) art: Art,
    /// A box around all of it.
    pub(super) bounds: Rect,
}

pub(super) enum Art {
    /// A shape to be filled by the non-zero rule, whose area counts as positive.
    Outline(BezPath),
    /// Shapes on top of one another, each of a colour: straight sRGB and alpha, or the text's.
    Layers(Vec<(BezPath, Option<[u8; 4]>)>),
    /// Pixels.
    Bitmap(Bitmap),
}

/// A picture of a glyph.
pub(super) struct Bitmap {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Red, green, blue and alpha, rows from top to bottom; alpha is not multiplied in.
    pub(super) rgba: Vec<u8>,
    /// Where the picture lies, in ems.
    pub(super) place: Rect,
}

impl GlyphShape {
    /// Reads a glyph; nothing if it is empty, as a space is, or damaged.
    pub(super) fn read(font: &Font, weight: Weight, glyph_id: u16, slanted: bool) -> Option<Self> {
        let art = layers(font, weight, glyph_id)
            .or_else(|| bitmap(font, weight, glyph_id))
            .or_else(|| outline(font, weight, glyph_id, slanted))?;
        let bounds = match &art {
            Art::Outline(path) => path.bounding_box(),
            Art::Layers(layers) => layers
                .iter()
                .map(|(path, _)| path.bounding_box())
                .reduce(|all, layer| all.union(layer))?,
            Art::Bitmap(bitmap) => bitmap.place,
        };
        (bounds.is_finite() && bounds.area() > 0.0).then_some(Self { art, bounds })
    }
}

fn outline(font: &Font, weight: Weight, glyph_id: u16, slanted: bool) -> Option<Art> {
    let outline = scale(font, weight, |scaler| scaler.scale_outline(glyph_id))?;
    let mut path = in_ems(font, outline.path());
    if slanted {
        path.apply_affine(Affine::new([1.0, 0.0, -SLANT, 1.0, 0.0, 0.0]));
    }
    // TrueType and PostScript outlines run in opposite directions, and must not cancel each other
    // where they overlap.
    if path.area() < 0.0 {
        path = path.reverse_subpaths();
    }
    Some(Art::Outline(path))
}

/// A glyph of the `COLR` table, version 0.
fn layers(font: &Font, weight: Weight, glyph_id: u16) -> Option<Art> {
    let outline = scale(font, weight, |scaler| scaler.scale_color_outline(glyph_id))?;
    let palette = font.as_swash().color_palettes().next();
    let layers = (0..outline.len()).filter_map(|index| outline.get(index));
    let colored = layers.map(|layer| {
        let color = layer.color_index().and_then(|index| {
            let palette = palette.as_ref()?;
            (index < palette.len()).then(|| palette.get(index))
        });
        (in_ems(font, layer.path()), color)
    });
    Some(Art::Layers(colored.collect()))
}

/// A glyph of the `CBDT` or `sbix` table, in the largest size that there is.
fn bitmap(font: &Font, weight: Weight, glyph_id: u16) -> Option<Art> {
    let strike = font
        .as_swash()
        .color_strikes()
        .find_by_largest_ppem(glyph_id)?;
    let image = scale(font, weight, |scaler| {
        scaler.scale_color_bitmap(glyph_id, StrikeWith::LargestSize)
    })?;
    let em = f64::from(strike.ppem());
    if image.content != Content::Color || em == 0.0 {
        return None;
    }
    let place = image.placement;
    let [left, top] = [f64::from(place.left), -f64::from(place.top)];
    let [width, height] = [f64::from(place.width), f64::from(place.height)];
    Some(Art::Bitmap(Bitmap {
        width: place.width as usize,
        height: place.height as usize,
        rgba: image.data,
        place: Rect::new(
            left / em,
            top / em,
            (left + width) / em,
            (top + height) / em,
        ),
    }))
}

/// Reads a glyph at a weight, in the font's own units: not hinted, not rounded.
fn scale<T>(
    font: &Font,
    weight: Weight,
    read: impl FnOnce(&mut Scaler<'_>) -> Option<T>,
) -> Option<T> {
    let font = font.as_swash();
    let axis = (swash::tag_from_bytes(b"wght"), f32::from(weight.0));
    let coordinates = font.variations().normalized_coords([axis]);
    let mut context = ScaleContext::new();
    let mut scaler = context
        .builder(font)
        .size(0.0)
        .hint(false)
        .normalized_coords(coordinates)
        .build();
    read(&mut scaler)
}

fn in_ems(font: &Font, outline: impl PathData) -> BezPath {
    let em = f64::from(font.metrics().units_per_em.max(1));
    let point = |p: swash::zeno::Point| Point::new(f64::from(p.x) / em, -f64::from(p.y) / em);
    let mut path = BezPath::new();
    for command in outline.commands() {
        match command {
            Command::MoveTo(p) => path.move_to(point(p)),
            Command::LineTo(p) => path.line_to(point(p)),
            Command::QuadTo(a, p) => path.quad_to(point(a), point(p)),
            Command::CurveTo(a, b, p) => path.curve_to(point(a), point(b), point(p)),
            Command::Close => path.close_path(),
        }
    }
    path
}
