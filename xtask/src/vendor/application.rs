//! What a program has to do to be built with the patched crate, and one that does it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use cargo_metadata::Metadata;

use super::queue::Queue;
use crate::needs;
use crate::windows::toolchain::{FOR_WINDOWS, IS_NATIVE, Toolchain};

/// What stands in the manifest of a program that is built with the crate in `patched`.
fn patch_table(queue: &Queue, patched: &Path) -> String {
    // Rust's escapes in a string are TOML's.
    let path = patched.to_string_lossy();
    format!(
        "[patch.crates-io]\n{} = {{ path = {path:?} }}",
        queue.upstream.name
    )
}

/// What to tell someone who wants to use the crate in `patched`.
pub(super) fn advice(queue: &Queue, patched: &Path) -> String {
    let upstream = &queue.upstream;
    let table = patch_table(queue, patched);
    format!(
        "{upstream} with {} patches is in {}.\n\
         A program is built with it if the manifest at its root says\n\n\
         {table}\n\n\
         and its Cargo.lock holds exactly {upstream}. Cargo warns \"patch was not used\" where it \
         holds another version; this sets it:\n\n\
         cargo update --package {} --precise {}",
        queue.patches.len(),
        patched.display(),
        upstream.name,
        upstream.version,
    )
}

/// Compiles a program, written to `folder`, for Windows with the crate in `patched`: with the
/// features that the engine's own fences ask for, and the versions of this workspace.
///
/// It has a manifest and a Cargo.lock of its own, since a patch changes both.
pub(super) fn compile_for_windows(
    workspace: &Metadata,
    queue: &Queue,
    patched: &Path,
    folder: &Path,
) -> anyhow::Result<()> {
    if !IS_NATIVE && !needs::windows_toolchain_is_installed() {
        println!(
            "NOT COMPILED: this machine has no toolchain for Windows. `cargo xtask windows check` \
             installs one."
        );
        return Ok(());
    }
    let toolchain = Toolchain::of_this_machine()?;

    let manifest = format!(
        "# Written by `cargo xtask vendor check`.\n\
         [package]\nname = \"application\"\nedition = \"2024\"\n\n\
         [dependencies]\nframefence-fence = {{ path = {:?} }}\n\n\
         {}\n\n[workspace]\n",
        workspace.workspace_root.join("crates/fence").as_str(),
        patch_table(queue, patched),
    );
    let lock = folder.join("Cargo.lock");
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::write(folder.join("src/lib.rs"), "")?;
        fs::copy(workspace.workspace_root.join("Cargo.lock"), &lock)?;
        Ok(())
    };
    write().with_context(|| format!("cannot be written: {}", folder.display()))?;

    let status = toolchain
        .check()
        .args(FOR_WINDOWS)
        .current_dir(folder)
        .status()
        .context("`cargo check` does not start")?;
    ensure!(status.success(), "the patched crate does not compile");
    ensure!(
        is_replaced(&queue.upstream.name, &lock)?,
        "cargo did not use the patched crate: {}",
        lock.display()
    );
    println!("{} compiles for Windows with them.", queue.upstream);
    Ok(())
}

/// Whether the lockfile `lock` takes the package `name` from a folder rather than a registry.
fn is_replaced(name: &str, lock: &Path) -> anyhow::Result<bool> {
    let text =
        fs::read_to_string(lock).with_context(|| format!("cannot be read: {}", lock.display()))?;
    let lock: toml::Table = text.parse().context("Cargo.lock is not TOML")?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    Ok(packages.into_iter().flatten().any(|package| {
        package.get("name").and_then(toml::Value::as_str) == Some(name)
            && package.get("source").is_none()
    }))
}
