//! From characters to glyphs in their places, by cosmic-text.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use cosmic_text::{
    Align, Attrs, AttrsList, BufferLine, CacheKeyFlags, Ellipsize, FeatureTag, FontFeatures,
    Hinting, LayoutGlyph, LayoutLine, LetterSpacing, LineEnding, Shaping, Wrap,
};
use glam::DVec2;
use kurbo::Rect;

use super::block::{Block, Exact, Glyph, Setting, WordBox};
use super::fonts::{Cut, FaceIndex, Fonts, GlyphKey, MISSING};
use super::glyph::GlyphShape;
use super::raster::next_id;
use super::spec::TextAlign;
use super::unicode::{clusters, needs_glyph, paragraphs};

/// The least width and height of a block that has glyphs, in pixels of the layer.
const MIN_SIDE: f64 = 1e-3;

/// In spaces, as browsers have it.
const TAB_WIDTH: u16 = 8;

/// The most characters that a notice names.
const MAX_NAMED_CHARACTERS: usize = 8;

/// Sets a text in lines. What is whole pixels to a screen's text is not rounded here.
pub(super) fn set(fonts: &mut Fonts, setting: &Setting) -> Block {
    let cut = Cut {
        weight: setting.weight,
        italic: setting.italic,
    };
    let faces = fonts.choose(&setting.font.0, cut);
    let mut setter = Setter {
        setting,
        cut,
        line: BufferLine::new(
            "",
            LineEnding::None,
            AttrsList::new(&Attrs::new()),
            Shaping::Advanced,
        ),
        shapes: Shapes::default(),
        lines: Vec::new(),
        word_count: 0,
        missing: BTreeSet::new(),
        faces,
    };
    for paragraph in paragraphs(&setting.text) {
        setter.add_paragraph(fonts, paragraph);
    }
    setter.finish(fonts)
}

struct Setter<'a> {
    setting: &'a Setting,
    cut: Cut,
    /// The faces to choose from, the first choice first.
    faces: Vec<FaceIndex>,
    /// The paragraph that is being set; used again for the next one for its memory.
    line: BufferLine,
    shapes: Shapes,
    lines: Vec<Line>,
    word_count: u32,
    /// Characters that no font has.
    missing: BTreeSet<char>,
}

/// A line as the shaper has it: from its own left edge, or from that of the block if that has a
/// width of its own.
struct Line {
    right_to_left: bool,
    width: f64,
    glyphs: Vec<Glyph>,
    words: Vec<WordBox>,
}

/// A paragraph without what is not drawn.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// The face of each part of the text.
    runs: Vec<(Range<usize>, FaceIndex)>,
    /// Where each word lies in the text.
    words: Vec<Range<usize>>,
}

/// The distinct shapes of a block.
#[derive(Default)]
struct Shapes {
    list: Vec<Arc<GlyphShape>>,
    /// Nothing for a glyph that is empty.
    by_glyph: HashMap<GlyphKey, Option<u32>>,
}

impl Setter<'_> {
    fn add_paragraph(&mut self, fonts: &mut Fonts, text: &str) {
        let paragraph = self.choose_faces(fonts, text);
        let first_word = self.word_count;
        self.word_count += paragraph.words.len() as u32;
        let em = self.setting.em.get();
        if paragraph.text.is_empty() || em == 0.0 {
            self.lines.push(Line::empty());
            return;
        }

        let mut attributes = AttrsList::new(&self.attributes(fonts, self.faces[0]));
        for (range, face) in &paragraph.runs {
            if *face != self.faces[0] {
                attributes.add_span(range.clone(), &self.attributes(fonts, *face));
            }
        }
        self.line.reset_new(
            paragraph.text.as_str(),
            LineEnding::None,
            attributes,
            Shaping::Advanced,
        );
        self.line.set_align(match self.setting.align {
            TextAlign::Start => None,
            TextAlign::Center => Some(Align::Center),
            TextAlign::End => Some(Align::End),
            TextAlign::Left => Some(Align::Left),
            TextAlign::Right => Some(Align::Right),
            TextAlign::Justify => Some(Align::Justified),
        });
        let width = self.setting.width.map(|width| width.get() as f32);
        self.line.layout(
            fonts.shaper(),
            em as f32,
            width,
            if width.is_some() {
                Wrap::WordOrGlyph
            } else {
                Wrap::None
            },
            Ellipsize::None,
            None,
            TAB_WIDTH,
            Hinting::Disabled,
        );
        let right_to_left = self.line.shape_opt().is_some_and(|shape| shape.rtl);
        for line in self.line.layout_opt().into_iter().flatten() {
            let line = read_line(
                line,
                right_to_left,
                &paragraph,
                first_word,
                &mut self.shapes,
                fonts,
            );
            self.lines.push(line);
        }
    }

    fn attributes<'f>(&self, fonts: &'f Fonts, face: FaceIndex) -> Attrs<'f> {
        let attributes = fonts.face(face).attributes();
        let spacing = self.setting.letter_spacing.get();
        if spacing == 0.0 {
            return attributes;
        }
        let mut features = FontFeatures::new();
        features
            .disable(FeatureTag::STANDARD_LIGATURES)
            .disable(FeatureTag::CONTEXTUAL_LIGATURES);
        let mut attributes = attributes.font_features(features);
        let ems = spacing / self.setting.em.get();
        attributes.letter_spacing_opt = Some(LetterSpacing(ems as f32));
        attributes
    }

    fn choose_faces(&mut self, fonts: &mut Fonts, text: &str) -> Paragraph {
        let mut paragraph = Paragraph::default();
        let mut in_word = false;
        for cluster in clusters(text) {
            let start = paragraph.text.len();
            let face = fonts.face_for(cluster, &self.faces, self.cut);
            match face {
                Some(face) => {
                    let face = fonts.face(face);
                    for c in cluster.chars() {
                        if face.has(c) {
                            paragraph.text.push(c);
                        } else {
                            self.missing.insert(c);
                        }
                    }
                }
                None => {
                    self.missing
                        .extend(cluster.chars().filter(|&c| needs_glyph(c)));
                    paragraph.text.push_str(MISSING);
                }
            }
            let end = paragraph.text.len();
            let face = face.unwrap_or(self.faces[self.faces.len() - 1]);
            match paragraph.runs.last_mut() {
                Some((range, last)) if *last == face => range.end = end,
                _ => paragraph.runs.push((start..end, face)),
            }
            let is_space = cluster.chars().all(char::is_whitespace);
            match paragraph.words.last_mut() {
                Some(word) if in_word && !is_space => word.end = end,
                _ if !is_space => paragraph.words.push(start..end),
                _ => {}
            }
            in_word = !is_space;
        }
        paragraph
    }

    fn finish(self, fonts: &mut Fonts) -> Block {
        if !self.missing.is_empty() {
            fonts.notify_missing(name_characters(&self.missing));
        }
        let Self { setting, lines, .. } = self;
        let em = setting.em.get();
        let line_height = setting.line_height.get() * em;
        let [ascent, descent] = fonts.face(self.faces[0]).ascent_and_descent();
        // Half of what a line has more than its glyphs need lies above them, as in CSS.
        let baseline = (line_height + (ascent - descent) * em) / 2.0;
        let widest = lines.iter().map(|line| line.width).fold(0.0, f64::max);
        let width = setting.width.map_or(widest, Exact::get);
        let mut size = DVec2::new(width, line_height * lines.len() as f64);

        let mut glyphs = Vec::new();
        let mut words = Vec::new();
        for (index, line) in lines.into_iter().enumerate() {
            let top = line_height * index as f64;
            let left = match setting.width {
                Some(_) => 0.0,
                None => line.offset(setting.align, width),
            };
            glyphs.extend(line.glyphs.into_iter().map(|glyph| Glyph {
                origin: glyph.origin + DVec2::new(left, top + baseline),
                ..glyph
            }));
            words.extend(line.words.into_iter().map(|word| WordBox {
                min: DVec2::new(left + word.min.x, top),
                max: DVec2::new(left + word.max.x, top + line_height),
                ..word
            }));
        }
        if !glyphs.is_empty() {
            // Glyphs that lie on each other are seen, but a layer without an extent is not.
            size = size.max(DVec2::splat(MIN_SIDE));
        }
        let shapes = self.shapes.list;
        let ink = glyphs
            .iter()
            .map(|glyph| glyph.bounds(&shapes[glyph.shape as usize], em))
            .reduce(|all, glyph| all.union(glyph))
            .unwrap_or(Rect::ZERO);
        Block {
            id: next_id(),
            size,
            em,
            glyphs,
            shapes,
            words,
            ink,
            strokes: Default::default(),
        }
    }
}

fn read_line(
    line: &LayoutLine,
    right_to_left: bool,
    paragraph: &Paragraph,
    first_word: u32,
    shapes: &mut Shapes,
    fonts: &mut Fonts,
) -> Line {
    let mut glyphs = Vec::with_capacity(line.glyphs.len());
    let mut words: Vec<WordBox> = Vec::new();
    for glyph in &line.glyphs {
        let Some(index) = paragraph.word_at(glyph.start) else {
            continue;
        };
        let word = first_word + index;
        let min = DVec2::new(f64::from(glyph.x), 0.0);
        let max = DVec2::new(f64::from(glyph.x) + f64::from(glyph.w), 0.0);
        match words.last_mut().filter(|last| last.word == word) {
            Some(last) => {
                last.min = last.min.min(min);
                last.max = last.max.max(max);
            }
            None => words.push(WordBox { word, min, max }),
        }
        if let Some(shape) = shapes.index(fonts, glyph) {
            glyphs.push(Glyph {
                origin: origin(glyph),
                shape,
                word,
            });
        }
    }
    Line {
        right_to_left,
        width: f64::from(line.w),
        glyphs,
        words,
    }
}

/// Where the glyph's baseline starts, from the left edge and the baseline of its line.
fn origin(glyph: &LayoutGlyph) -> DVec2 {
    let em = f64::from(glyph.font_size);
    DVec2::new(
        f64::from(glyph.x) + em * f64::from(glyph.x_offset),
        f64::from(glyph.y) - em * f64::from(glyph.y_offset),
    )
}

impl Line {
    fn empty() -> Self {
        Self {
            right_to_left: false,
            width: 0.0,
            glyphs: Vec::new(),
            words: Vec::new(),
        }
    }

    /// How far right the line lies in a block of that width.
    fn offset(&self, align: TextAlign, block_width: f64) -> f64 {
        let space = block_width - self.width;
        let right = match align {
            TextAlign::Left => false,
            TextAlign::Right => true,
            TextAlign::Center => return space / 2.0,
            TextAlign::Start | TextAlign::Justify => self.right_to_left,
            TextAlign::End => !self.right_to_left,
        };
        if right { space } else { 0.0 }
    }
}

impl Paragraph {
    /// The word that the byte at `index` belongs to.
    fn word_at(&self, index: usize) -> Option<u32> {
        let word = self.words.partition_point(|word| word.end <= index);
        let found = self.words.get(word)?.contains(&index);
        found.then_some(word as u32)
    }
}

impl Shapes {
    fn index(&mut self, fonts: &mut Fonts, glyph: &LayoutGlyph) -> Option<u32> {
        let slanted = glyph.cache_key_flags.contains(CacheKeyFlags::FAKE_ITALIC);
        let key = (glyph.font_id, glyph.font_weight, glyph.glyph_id, slanted);
        if let Some(&known) = self.by_glyph.get(&key) {
            return known;
        }
        let index = fonts.shape(key).map(|shape| {
            self.list.push(shape);
            (self.list.len() - 1) as u32
        });
        self.by_glyph.insert(key, index);
        index
    }
}

/// The first few of the characters with their code points.
fn name_characters(characters: &BTreeSet<char>) -> String {
    let named: Vec<String> = characters
        .iter()
        .take(MAX_NAMED_CHARACTERS)
        .map(|&c| format!("U+{:04X} {c}", u32::from(c)))
        .collect();
    let more = characters.len() - named.len();
    match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
