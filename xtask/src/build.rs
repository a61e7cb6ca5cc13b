//! Building examples, with cargo's own progress, and finding what it built.

use std::path::PathBuf;

use anyhow::Context as _;
use cargo_metadata::Message;
use xshell::{Shell, cmd};

/// The cargo that runs this task, so that its children use the same toolchain.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Runs `cargo build` with `selection` (packages, examples, profile) and returns the path of the
/// executable of each of `examples`, in their order.
///
/// Cargo is asked where it put them: target folder, profile and `--target` are the user's to set.
pub(crate) fn examples<const N: usize>(
    shell: &Shell,
    selection: &[&str],
    examples: [&str; N],
) -> anyhow::Result<[PathBuf; N]> {
    let cargo = cargo();
    let flags = examples.iter().flat_map(|name| ["--example", name]);
    let messages = cmd!(
        shell,
        "{cargo} build --message-format=json-render-diagnostics {selection...} {flags...}"
    )
    .read()
    .context("the build failed; cargo's messages are above")?;

    let built = executables(&messages)?;
    let mut paths = [const { PathBuf::new() }; N];
    for (path, name) in paths.iter_mut().zip(examples) {
        *path = built
            .iter()
            .find_map(|(target, executable)| (target == name).then(|| executable.clone()))
            .with_context(|| format!("cargo built no example `{name}`"))?;
    }
    Ok(paths)
}

/// Target name and path of each executable in cargo's JSON messages.
pub(crate) fn executables(messages: &str) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for message in Message::parse_stream(messages.as_bytes()) {
        let message = message.context("cargo's build messages cannot be read")?;
        if let Message::CompilerArtifact(artifact) = message
            && let Some(executable) = artifact.executable
        {
            found.push((artifact.target.name, executable.into_std_path_buf()));
        }
    }
    Ok(found)
}
