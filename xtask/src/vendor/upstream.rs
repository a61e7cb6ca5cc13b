//! What the patches are for: cargo's archive of one version of a crate.

use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use cargo_metadata::{Metadata, Source, semver::Version};
use flate2::read::GzDecoder;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

/// A `upstream.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Upstream {
    #[serde(rename = "crate")]
    pub(super) name: String,
    pub(super) version: Version,
    /// Of the archive, in hexadecimal digits, as Cargo.lock has it.
    pub(super) sha256: String,
}

impl Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl Upstream {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot be read: {}", path.display()))?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// The archive that cargo keeps of the crate, which has to be the one the workspace is built
    /// with.
    pub(super) fn archive(&self, workspace: &Metadata) -> anyhow::Result<PathBuf> {
        let package = workspace
            .packages
            .iter()
            .find(|package| package.name.as_str() == self.name)
            .with_context(|| format!("the workspace is built without {}", self.name))?;
        ensure!(
            package.source.as_ref().is_some_and(Source::is_crates_io),
            "{} does not come from crates.io here but is replaced, so it is not what the patches \
             are for: {}",
            self.name,
            package.manifest_path
        );
        ensure!(
            package.version == self.version,
            "Cargo.lock holds {} {}, the patches are for {}",
            self.name,
            package.version,
            self.version
        );

        // registry/src/INDEX/CRATE/Cargo.toml, and so registry/cache/INDEX/CRATE.crate.
        let unpacked = package.manifest_path.ancestors();
        let archive = match unpacked.skip(1).take(4).collect::<Vec<_>>()[..] {
            [krate, index, src, registry] if src.file_name() == Some("src") => registry
                .join("cache")
                .join(index.file_name().unwrap_or_default())
                .join(format!("{}.crate", krate.file_name().unwrap_or_default())),
            _ => anyhow::bail!(
                "{self} is not in cargo's own registry folder, where its archive would be: {}",
                package.manifest_path
            ),
        };
        ensure!(
            archive.is_file(),
            "cargo's archive of {self} is gone (`cargo fetch` brings it back): {archive}"
        );
        Ok(archive.into())
    }

    /// Unpacks `archive` into `folder`, if its sum is right, and returns the crate's folder in it.
    pub(super) fn unpack(&self, archive: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
        let bytes =
            fs::read(archive).with_context(|| format!("cannot be read: {}", archive.display()))?;
        let sha256: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        ensure!(
            sha256 == self.sha256,
            "this is not {self}, whose sum is {}: {sha256} is that of {}",
            self.sha256,
            archive.display()
        );
        tar::Archive::new(GzDecoder::new(&bytes[..]))
            .unpack(folder)
            .with_context(|| format!("cannot be unpacked: {}", archive.display()))?;
        Ok(folder.join(format!("{}-{}", self.name, self.version)))
    }
}
