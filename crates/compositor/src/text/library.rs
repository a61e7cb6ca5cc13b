//! Fonts, the glyphs read from them, and the texts set in them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use framefence::Time;
use parking_lot::Mutex;

use super::block::{Block, Setting};
use super::fonts::Fonts;
#[cfg(test)]
use super::installed::InstalledFonts;
use super::layout::TextLayout;
use super::notice::FontNotice;
use super::raster::Parts;
use super::recent::Recent;
use super::shaping;
use super::spec::Text;

/// What the blocks that are kept may cost: a glyph counts as 1, the rest of a block as
/// [`BLOCK_COST`]. Some tens of megabytes.
const MAX_BLOCKS_COST: usize = 1 << 20;
const BLOCK_COST: usize = 64;

/// The most bytes of rastered pixels that are kept.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// The fonts of a scene, and the texts that were laid out in them.
///
/// The bundled family gives the same bytes everywhere. Fonts of the system do not: which there are,
/// and which has a character that the fonts named by a text lack, is up to the machine.
///
/// What is shaped and drawn is kept and used again as long as nothing that it follows from has
/// changed; what was not used for the longest time is dropped first.
pub(crate) struct FontLibrary {
    fonts: Fonts,
    blocks: Recent<Setting, Arc<Block>>,
    parts: Arc<Mutex<Parts>>,
}

/// Without the fonts themselves, which are megabytes of tables.
impl fmt::Debug for FontLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FontLibrary")
            .field("notices", &self.notices())
            .finish_non_exhaustive()
    }
}

impl FontLibrary {
    /// The bundled fonts. Relative paths of font files start at `folder`; they are read, and the
    /// system's fonts looked for, when a text first needs them.
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            fonts: Fonts::new(folder.into()),
            blocks: Recent::new(MAX_BLOCKS_COST),
            parts: Arc::new(Mutex::new(Recent::new(MAX_KEPT_BYTES))),
        }
    }

    /// With other fonts in place of the system's.
    #[cfg(test)]
    pub(super) fn with_installed(mut self, installed: InstalledFonts) -> Self {
        self.fonts.install(installed);
        self
    }

    /// `text` as it is at `time`, a function of both alone.
    ///
    /// A font that cannot be had is replaced and noted, see [`notices`](Self::notices).
    pub(crate) fn layout(&mut self, text: &Text, time: Time) -> TextLayout {
        let block = self.block(Setting::at(text, time));
        TextLayout::new(block, text, time, self.parts.clone())
    }

    /// Every font and character that could not be had so far, each once, in the order in which
    /// they were missed. Each was logged as a warning.
    pub(crate) fn notices(&self) -> &[FontNotice] {
        self.fonts.notices()
    }

    fn block(&mut self, setting: Setting) -> Arc<Block> {
        if let Some(block) = self.blocks.get(&setting) {
            return block;
        }
        let block = Arc::new(shaping::set(&mut self.fonts, &setting));
        let cost = block.glyphs.len() + BLOCK_COST;
        self.blocks.insert(setting, block.clone(), cost);
        block
    }
}
