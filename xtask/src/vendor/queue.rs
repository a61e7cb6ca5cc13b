//! Patches in their order, and how they are applied.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use diffy::patch_set::{FileOperation, ParseOptions, PatchKind, PatchSet};

use super::folder;
use super::upstream::Upstream;

/// The page about the patches, which goes along with what is patched.
const README: &str = "README.md";

/// Its name there. The upstream crate has no such file, so it tells what was written from here.
const PATCHES: &str = "PATCHES.md";

/// A folder of patches: what they are for, themselves, and a page about them.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(super) upstream: Upstream,
    /// In the order of their names.
    pub(super) patches: Vec<PatchFile>,
    pub(super) readme: String,
}

/// A unified diff, with words before it.
#[derive(Clone, Debug)]
pub(super) struct PatchFile {
    pub(super) name: String,
    pub(super) text: String,
}

impl Queue {
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let mut patches = Vec::new();
        for name in folder::names(folder)? {
            if name.ends_with(".patch") {
                let text = read(&folder.join(&name))?;
                patches.push(PatchFile { name, text });
            }
        }
        ensure!(!patches.is_empty(), "no patches in {}", folder.display());
        Ok(Self {
            upstream: Upstream::read(&folder.join("upstream.toml"))?,
            patches,
            readme: read(&folder.join(README))?,
        })
    }

    /// Writes the crate in `archive`, with all patches, into `into`, or leaves `into` as it is.
    pub(super) fn apply(&self, archive: &Path, into: &Path) -> anyhow::Result<()> {
        folder::replace(into, PATCHES, |temporary| {
            let source = self.upstream.unpack(archive, temporary)?;
            for patch in &self.patches {
                patch.apply(&source)?;
            }
            fs::write(source.join(PATCHES), &self.readme)
                .with_context(|| format!("{PATCHES} cannot be written"))?;
            Ok(source)
        })
    }
}

impl PatchFile {
    /// Changes the files in `source`. Context that differs is an error, in however few lines.
    fn apply(&self, source: &Path) -> anyhow::Result<()> {
        for file_patch in PatchSet::parse(&self.text, ParseOptions::unidiff()) {
            let file_patch = file_patch.with_context(|| self.name.clone())?;
            let operation = file_patch.operation().strip_prefix(1);
            let (FileOperation::Modify { original, modified }, PatchKind::Text(hunks)) =
                (operation, file_patch.patch())
            else {
                bail!("{}: only changes within text files are known", self.name);
            };
            ensure!(
                original == modified,
                "{}: a file keeps its name, but {original} becomes {modified}",
                self.name
            );
            patch_file(&source.join(Cow::as_ref(&original)), hunks)
                .with_context(|| format!("{} does not fit {original}", self.name))?;
        }
        Ok(())
    }
}

fn patch_file(path: &Path, hunks: &diffy::Patch<'_, str>) -> anyhow::Result<()> {
    let patched = diffy::apply(&read(path)?, hunks)?;
    fs::write(path, patched).with_context(|| format!("cannot be written: {}", path.display()))
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot be read: {}", path.display()))
}
