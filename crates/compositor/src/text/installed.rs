//! The fonts of the system.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use cosmic_text::Fallback;
use cosmic_text::fontdb::{Database, FaceInfo, Family, ID, Source, Style};
use unicode_script::{Script, UnicodeScript};

use super::fonts::{Cut, read_font};
use super::notice::FontProblem;
use super::unicode::{asks_for_color, needs_glyph};

/// What is installed, and which characters it has, as far as that was asked.
pub(super) struct InstalledFonts {
    faces: Database,
    characters: HashMap<ID, Vec<RangeInclusive<u32>>>,
}

impl InstalledFonts {
    /// Looks into the system's font folders, which takes from milliseconds to seconds.
    pub(super) fn scan() -> Self {
        let mut faces = Database::new();
        faces.load_system_fonts();
        tracing::debug!(faces = faces.len(), "found the system's fonts");
        Self {
            faces,
            characters: HashMap::new(),
        }
    }

    /// The fonts of a folder in place of the system's, which differ from machine to machine.
    #[cfg(test)]
    pub(super) fn of_folder(folder: impl AsRef<std::path::Path>) -> Self {
        let mut faces = Database::new();
        faces.load_fonts_dir(folder);
        Self {
            faces,
            characters: HashMap::new(),
        }
    }

    /// The face of the family `name` that is nearest to `cut`, in memory.
    pub(super) fn find(&self, name: &str, cut: Cut) -> Result<FaceInfo, FontProblem> {
        let family = self
            .faces
            .faces()
            .flat_map(|face| &face.families)
            .find(|(family, _)| family.eq_ignore_ascii_case(name));
        let (family, _) = family.ok_or(FontProblem::NotInstalled)?;
        self.nearest(family, cut)
            .and_then(|id| self.faces.face(id))
            .ok_or(FontProblem::NotInstalled)
            .and_then(in_memory)
    }

    /// The face of that number, in memory.
    pub(super) fn load(&self, id: ID) -> Option<FaceInfo> {
        in_memory(self.faces.face(id)?).ok()
    }

    /// A face that has all characters of `cluster`: of the families that `preferences` names for its
    /// scripts, or else any, emoji last unless they are asked for.
    pub(super) fn find_for(
        &mut self,
        cluster: &str,
        cut: Cut,
        preferences: &dyn Fallback,
        locale: &str,
    ) -> Option<ID> {
        let mut scripts: Vec<Script> = cluster.chars().map(|c| c.script()).collect();
        scripts.dedup();
        let preferred: Vec<ID> = scripts
            .iter()
            .flat_map(|&script| preferences.script_fallback(script, locale))
            .chain(preferences.common_fallback())
            .filter_map(|family| self.nearest(family, cut))
            .collect();
        let mut others: Vec<&FaceInfo> = self.faces.faces().collect();
        others.sort_by_key(|face| {
            (
                (face.style == Style::Normal) == cut.italic,
                face.weight.0.abs_diff(cut.weight),
                face.id,
            )
        });
        let mut candidates = preferred;
        candidates.extend(others.into_iter().map(|face| face.id));
        let in_color = asks_for_color(cluster);
        candidates.sort_by_key(|&id| self.is_emoji(id) != in_color);
        candidates
            .into_iter()
            .find(|&id| cluster.chars().all(|c| self.has(id, c)))
    }

    fn is_emoji(&self, id: ID) -> bool {
        self.faces
            .face(id)
            .is_some_and(|face| face.post_script_name.contains("Emoji"))
    }

    fn nearest(&self, family: &str, cut: Cut) -> Option<ID> {
        self.faces.query(&cut.query(&[Family::Name(family)]))
    }

    fn has(&mut self, id: ID, c: char) -> bool {
        let characters = self.characters.entry(id).or_insert_with(|| {
            self.faces
                .with_face_data(id, characters_of)
                .unwrap_or_default()
        });
        let code_point = u32::from(c);
        let at = characters.partition_point(|range| *range.end() < code_point);
        !needs_glyph(c)
            || characters
                .get(at)
                .is_some_and(|range| range.contains(&code_point))
    }
}

fn characters_of(data: &[u8], face_index: u32) -> Vec<RangeInclusive<u32>> {
    let mut code_points = Vec::new();
    if let Some(font) = swash::FontRef::from_index(data, face_index as usize) {
        font.charmap()
            .enumerate(|code_point, _| code_points.push(code_point));
    }
    code_points.sort_unstable();
    code_points.dedup();
    code_points
        .chunk_by(|last, next| last + 1 == *next)
        .map(|run| run[0]..=run[run.len() - 1])
        .collect()
}

fn in_memory(face: &FaceInfo) -> Result<FaceInfo, FontProblem> {
    let source = match &face.source {
        Source::File(path) | Source::SharedFile(path, _) => read_font(path)?,
        Source::Binary(data) => Source::Binary(data.clone()),
    };
    Ok(FaceInfo {
        source,
        ..face.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGULAR: Cut = Cut {
        weight: 400,
        italic: false,
    };

    fn fonts() -> InstalledFonts {
        InstalledFonts::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fonts"))
    }

    #[test]
    fn families_are_found_by_name() {
        let found = fonts().find("noto sans HEBREW", REGULAR).unwrap();
        assert_eq!(found.families[0].0, "Noto Sans Hebrew");
        assert!(matches!(found.source, Source::Binary(_)));
        let missing = fonts().find("Noto", REGULAR).map(|face| face.families);
        assert_eq!(missing, Err(FontProblem::NotInstalled));
    }

    #[test]
    fn a_font_is_found_that_has_all_of_a_cluster() {
        let mut fonts = fonts();
        let mut find = |cluster: &str| {
            fonts
                .find_for(cluster, REGULAR, &cosmic_text::PlatformFallback, "en-US")
                .and_then(|id| fonts.load(id))
                .map(|face| face.families[0].0.clone())
        };
        assert_eq!(find("ש").as_deref(), Some("Noto Sans Hebrew"));
        assert_eq!(find("س").as_deref(), Some("Noto Sans Arabic"));
        assert_eq!(find("👍🏽").as_deref(), Some("Noto Color Emoji"));
        assert_eq!(find("שس"), None);
    }

    #[test]
    fn the_characters_of_a_face_are_those_of_its_font() {
        let data = include_bytes!("../../tests/fonts/NotoSansHebrew-subset.ttf");
        let ranges = characters_of(data, 0);
        let has = |c: char| ranges.iter().any(|range| range.contains(&u32::from(c)));
        assert!(has('ש') && has(' ') && !has('a'), "{ranges:x?}");
        assert_eq!(characters_of(b"not a font", 0), []);
    }
}
