//! Microsoft's `d3dcompiler_47.dll`: wgpu translates its shaders with it on DirectX 12, and Wine's own
//! does not understand them.
//!
//! It is fetched for the tests alone, and never handed on. A Python package for Windows carries it,
//! which pip fetches, and takes only if it is the very one named here.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Shell, cmd};

pub(crate) const FILE_NAME: &str = "d3dcompiler_47.dll";

const PACKAGE: &str = "kivy_deps.angle";
const VERSION: &str = "0.5.0";
const SHA256: &str = "d16d68cc45a2a326a3f8f738c649bb00ae5d7c3e58cff70f415fa57bd1d28713";
const FOLDER_IN_PACKAGE: &str = "kivy_deps_angle-0.5.0.data/data/share/angle/bin";

/// Returns the library in `folder`, which is fetched if it is not there.
pub(crate) fn fetch(shell: &Shell, folder: &Path) -> anyhow::Result<PathBuf> {
    let kept = folder.join(format!("{VERSION}-{FILE_NAME}"));
    if kept.exists() {
        return Ok(kept);
    }

    let scratch = folder.join("fetching");
    shell.remove_path(&scratch)?;
    shell.create_dir(&scratch)?;
    let requirements = scratch.join("requirements.txt");
    shell.write_file(
        &requirements,
        format!("{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n"),
    )?;
    let for_windows = [
        "--only-binary=:all:",
        "--platform=win_amd64",
        "--python-version=3.11",
    ];
    cmd!(
        shell,
        "python3 -m pip download --quiet --no-deps --require-hashes {for_windows...} --dest {scratch} --requirement {requirements}"
    )
    .run()
    .with_context(|| format!("pip could not fetch {PACKAGE}, which carries {FILE_NAME}"))?;
    let wheels = shell.read_dir(&scratch)?;
    let wheel = wheels
        .iter()
        .find(|path| path.extension().is_some_and(|it| it == "whl"))
        .with_context(|| format!("pip left no package in {}", scratch.display()))?;
    cmd!(shell, "python3 -m zipfile --extract {wheel} {scratch}")
        .run()
        .context("the package cannot be unpacked")?;
    let unpacked = scratch.join(FOLDER_IN_PACKAGE).join(FILE_NAME);
    std::fs::rename(&unpacked, &kept).with_context(|| format!("{PACKAGE} has no {FILE_NAME}"))?;
    shell.remove_path(&scratch)?;
    Ok(kept)
}
