//! The faces that texts are set in, and what became of those that were asked for.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cosmic_text::fontdb::{self, FaceInfo, Family, Language, Query, Source, Stretch};
use cosmic_text::{Attrs, Font, FontSystem, PlatformFallback, Style, Weight};

use super::glyph::GlyphShape;
use super::installed::InstalledFonts;
use super::notice::{FontNotice, FontProblem};
use super::spec::FontFamily;
use super::unicode::{asks_for_color, needs_glyph};

/// The name of the bundled family.
pub(super) const BUNDLED_FAMILY: &str = "Inter";

static BUNDLED_UPRIGHT: &[u8] = include_bytes!("../../assets/fonts/InterVariable.ttf");
static BUNDLED_ITALIC: &[u8] = include_bytes!("../../assets/fonts/InterVariable-Italic.ttf");

/// Large enough for every font there is, and small enough to be read by mistake.
const MAX_FONT_BYTES: u64 = 256 << 20;

/// What texts are shaped as if they were written in: where Chinese and Japanese share a character,
/// the choice of a font must not depend on whose machine it is.
const LOCALE: &str = "en-US";

/// What stands for a character that no font has.
pub(super) const MISSING: &str = "□";

/// The faces in use.
///
/// Each is known to the shaper under a name of its own, so that a family of the scene's folder and
/// one of the system never mix, and so that nothing is ever taken from a font that was not chosen
/// here. Fonts of the system are looked for only once they are needed.
pub(super) struct Fonts {
    folder: PathBuf,
    shaper: FontSystem,
    faces: Vec<Face>,
    families: HashMap<(FontFamily, Cut), Option<FaceIndex>>,
    /// Of clusters.
    fallbacks: HashMap<(String, Cut), Option<FaceIndex>>,
    /// Of the system's fonts that clusters were taken from: letters of one font must be of one face
    /// to be joined and to be put in order.
    lent: HashMap<(fontdb::ID, Cut), Option<FaceIndex>>,
    shapes: HashMap<GlyphKey, Option<Arc<GlyphShape>>>,
    installed: Option<InstalledFonts>,
    notices: Vec<FontNotice>,
}

/// A glyph of the shaper's: font, weight, number, and whether it is to be slanted.
pub(super) type GlyphKey = (fontdb::ID, Weight, u16, bool);

/// The cut of a family that a text asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cut {
    pub(super) weight: u16,
    pub(super) italic: bool,
}

/// A face in [`Fonts`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FaceIndex(usize);

/// A face at a weight.
pub(super) struct Face {
    font: Arc<Font>,
    /// The name under which the shaper knows it.
    key: String,
    /// Its name for people.
    name: String,
    weight: Weight,
    style: Style,
    stretch: Stretch,
    has_color: bool,
}

impl Fonts {
    /// The bundled fonts; those of the scene's `folder` and of the system are read when asked for.
    pub(super) fn new(folder: PathBuf) -> Self {
        let database = fontdb::Database::new();
        let shaper = FontSystem::new_with_locale_and_db(LOCALE.to_owned(), database);
        Self {
            folder,
            shaper,
            faces: Vec::new(),
            families: HashMap::new(),
            fallbacks: HashMap::new(),
            lent: HashMap::new(),
            shapes: HashMap::new(),
            installed: None,
            notices: Vec::new(),
        }
    }

    /// What was asked for and could not be had, each thing once.
    pub(super) fn notices(&self) -> &[FontNotice] {
        &self.notices
    }

    pub(super) fn shaper(&mut self) -> &mut FontSystem {
        &mut self.shaper
    }

    pub(super) fn face(&self, face: FaceIndex) -> &Face {
        &self.faces[face.0]
    }

    /// What a glyph looks like; nothing if it is empty or damaged.
    pub(super) fn shape(&mut self, key: GlyphKey) -> Option<Arc<GlyphShape>> {
        let (font, weight, glyph_id, slanted) = key;
        let shaper = &mut self.shaper;
        self.shapes
            .entry(key)
            .or_insert_with(|| {
                let font = shaper.get_font(font, weight)?;
                GlyphShape::read(&font, weight, glyph_id, slanted).map(Arc::new)
            })
            .clone()
    }

    /// The faces for a text, the first choice first and the bundled one last.
    pub(super) fn choose(&mut self, families: &[FontFamily], cut: Cut) -> Vec<FaceIndex> {
        let mut chosen = Vec::new();
        let mut problems = Vec::new();
        let bundled = FontFamily::Name(BUNDLED_FAMILY.to_owned());
        for family in families.iter().chain([&bundled]) {
            let key = (family.clone(), cut);
            let face = match self.families.get(&key) {
                Some(&known) => known,
                None => {
                    let face = self
                        .open(family, cut)
                        .map_err(|problem| problems.push((family, problem)))
                        .ok();
                    self.families.insert(key, face);
                    face
                }
            };
            chosen.extend(face.filter(|face| !chosen.contains(face)));
        }
        for (family, reason) in problems {
            let used = self.face(chosen[0]).name.clone();
            self.notify(family.to_string(), used, reason);
        }
        chosen
    }

    /// The face to take a cluster from: the first of `faces` that has all of it, or one of the
    /// system's that does, or the first that has its first character.
    pub(super) fn face_for(
        &mut self,
        cluster: &str,
        faces: &[FaceIndex],
        cut: Cut,
    ) -> Option<FaceIndex> {
        let in_color = asks_for_color(cluster);
        let covers = |face: &&FaceIndex| self.face(**face).covers(cluster);
        let chosen = faces
            .iter()
            .filter(|face| !in_color || self.face(**face).has_color)
            .find(covers);
        if let Some(&face) = chosen {
            return Some(face);
        }
        self.fallback(cluster, cut)
            .or_else(|| {
                faces
                    .iter()
                    .find(|face| self.face(**face).covers(cluster))
                    .copied()
            })
            .or_else(|| {
                let first = cluster.chars().next()?;
                let has_first = |face: &&FaceIndex| self.face(**face).has(first);
                faces.iter().find(has_first).copied()
            })
    }

    /// Says once that no font has some characters.
    pub(super) fn notify_missing(&mut self, characters: String) {
        self.notify(characters, MISSING.to_owned(), FontProblem::NoGlyph);
    }

    fn notify(&mut self, asked: String, used: String, reason: FontProblem) {
        let notice = FontNotice {
            asked,
            used,
            reason,
        };
        if !self.notices.contains(&notice) {
            tracing::warn!("{notice}");
            self.notices.push(notice);
        }
    }

    fn open(&mut self, family: &FontFamily, cut: Cut) -> Result<FaceIndex, FontProblem> {
        let info = match family {
            FontFamily::Name(name) if name.eq_ignore_ascii_case(BUNDLED_FAMILY) => bundled(cut),
            FontFamily::Name(name) => self.installed().find(name, cut)?,
            FontFamily::File(path) => best_face(read_font(&self.folder.join(path))?, cut)?,
        };
        self.register(info, cut).ok_or(FontProblem::NotAFont)
    }

    fn fallback(&mut self, cluster: &str, cut: Cut) -> Option<FaceIndex> {
        let key = (cluster.to_owned(), cut);
        if let Some(&known) = self.fallbacks.get(&key) {
            return known;
        }
        let face = self
            .installed()
            .find_for(cluster, cut, &PlatformFallback, LOCALE)
            .and_then(|id| self.lend(id, cut));
        self.fallbacks.insert(key, face);
        face
    }

    fn lend(&mut self, id: fontdb::ID, cut: Cut) -> Option<FaceIndex> {
        if let Some(&known) = self.lent.get(&(id, cut)) {
            return known;
        }
        let info = self.installed().load(id);
        let face = info.and_then(|info| self.register(info, cut));
        self.lent.insert((id, cut), face);
        face
    }

    /// Other fonts in place of the system's.
    #[cfg(test)]
    pub(super) fn install(&mut self, installed: InstalledFonts) {
        self.installed = Some(installed);
    }

    fn installed(&mut self) -> &mut InstalledFonts {
        self.installed.get_or_insert_with(InstalledFonts::scan)
    }

    /// Makes a face known to the shaper, or finds it where it is known already.
    fn register(&mut self, info: FaceInfo, cut: Cut) -> Option<FaceIndex> {
        let key = format!("{}:{}:{}", self.faces.len(), cut.weight, cut.italic);
        let name = info
            .families
            .first()
            .map_or(&info.post_script_name, |(name, _)| name)
            .clone();
        let (style, stretch) = (info.style, info.stretch);
        let own_weight = info.weight;
        let known_as = vec![(key.clone(), Language::English_UnitedStates)];
        let id = self.shaper.db_mut().push_face_info(FaceInfo {
            families: known_as,
            ..info
        });
        let face = self.shaper.get_font(id, own_weight).and_then(|font| {
            // Damaged: nothing in it would have a size.
            if font.metrics().units_per_em == 0 {
                return None;
            }
            let weight = nearest_weight(&font, cut.weight).unwrap_or(own_weight);
            let font = self.shaper.get_font(id, weight)?;
            Some(Face {
                has_color: has_color(&font),
                font,
                key,
                name,
                weight,
                // A face that is not italic is slanted by the shaper when italics are asked of it.
                style: if cut.italic { Style::Italic } else { style },
                stretch,
            })
        });
        let Some(face) = face else {
            self.shaper.db_mut().remove_face(id);
            return None;
        };
        self.faces.push(face);
        Some(FaceIndex(self.faces.len() - 1))
    }
}

impl Face {
    /// What to ask the shaper for.
    pub(super) fn attributes(&self) -> Attrs<'_> {
        Attrs::new()
            .family(Family::Name(&self.key))
            .weight(self.weight)
            .style(self.style)
            .stretch(self.stretch)
    }

    /// How far the face reaches above and below the baseline, in ems.
    pub(super) fn ascent_and_descent(&self) -> [f64; 2] {
        let metrics = self.font.metrics();
        let em = f64::from(metrics.units_per_em.max(1));
        [metrics.ascent, -metrics.descent].map(|units| f64::from(units) / em)
    }

    pub(super) fn has(&self, c: char) -> bool {
        !needs_glyph(c) || self.font.as_swash().charmap().map(c) != 0
    }

    fn covers(&self, cluster: &str) -> bool {
        cluster.chars().all(|c| self.has(c))
    }
}

fn bundled(cut: Cut) -> FaceInfo {
    let data = if cut.italic {
        BUNDLED_ITALIC
    } else {
        BUNDLED_UPRIGHT
    };
    let mut faces = fontdb::Database::new();
    faces.load_font_source(Source::Binary(Arc::new(data)));
    let mut info = faces
        .faces()
        .next()
        .expect("the bundled font is a font")
        .clone();
    info.families = vec![(BUNDLED_FAMILY.to_owned(), Language::English_UnitedStates)];
    info
}

/// The weight nearest to `asked` that a variable font has; nothing where a font has one weight.
fn nearest_weight(font: &Font, asked: u16) -> Option<Weight> {
    let weights = font
        .as_swash()
        .variations()
        .find_by_tag(swash::tag_from_bytes(b"wght"))?;
    let nearest = f32::from(asked)
        .max(weights.min_value())
        .min(weights.max_value());
    Some(Weight(nearest.round() as u16))
}

fn has_color(font: &Font) -> bool {
    [b"COLR", b"CBDT", b"sbix"].into_iter().any(|table| {
        font.as_swash()
            .table(swash::tag_from_bytes(table))
            .is_some()
    })
}

/// A font file in memory: a mapped one would bring the process down if it were cut short.
pub(super) fn read_font(path: &Path) -> Result<Source, FontProblem> {
    let unreadable = |error: std::io::Error| FontProblem::Unreadable {
        problem: error.to_string(),
    };
    // Looked at before it is opened: opening a pipe waits for somebody to write to it.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(FontProblem::NotAFile);
    }
    if metadata.len() > MAX_FONT_BYTES {
        return Err(FontProblem::TooLarge {
            file_bytes: metadata.len(),
            max_bytes: MAX_FONT_BYTES,
        });
    }
    let data = fs::read(path).map_err(unreadable)?;
    Ok(Source::Binary(Arc::new(data)))
}

/// The face of a file that is nearest to `cut`.
fn best_face(source: Source, cut: Cut) -> Result<FaceInfo, FontProblem> {
    let mut faces = fontdb::Database::new();
    faces.load_font_source(source);
    let first = faces.faces().next().ok_or(FontProblem::NotAFont)?;
    let family = first.families.first().map_or("", |(name, _)| name);
    let best = faces
        .query(&cut.query(&[Family::Name(family)]))
        .and_then(|id| faces.face(id));
    Ok(best.unwrap_or(first).clone())
}

impl Cut {
    /// The rules of CSS for the nearest face of a family.
    pub(super) fn query<'a>(self, families: &'a [Family<'a>]) -> Query<'a> {
        Query {
            families,
            weight: Weight(self.weight),
            stretch: Stretch::Normal,
            style: if self.italic {
                Style::Italic
            } else {
                Style::Normal
            },
        }
    }
}
