//! Rules of the repository that neither the compiler nor clippy checks.

use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use walkdir::WalkDir;

/// The crates, by folder, and which of the others each may be built on: those below, never one
/// beside or above. Examples, tests and xtask may know everything, and so may a crate's own tests.
const MAY_BUILD_ON: &[(&str, &[&str])] = &[
    ("crates/fence", &[]),
    ("crates/pool", &[]),
    ("crates/pixel", &[]),
    (
        "crates/readback",
        &["crates/fence", "crates/pool", "crates/pixel"],
    ),
    (
        "crates/engine",
        &[
            "crates/readback",
            "crates/fence",
            "crates/pool",
            "crates/pixel",
        ],
    ),
    ("crates/compositor", &["crates/engine"]),
    ("crates/media", &["crates/engine", "crates/pixel"]),
];

/// Where `unsafe_code`, which the workspace denies, may be lifted: the fences, the calls of the H.264
/// encoder, which is C++, the raw Vulkan program that the engine is measured against, and tests that
/// must do what safe wgpu does not let them.
const MAY_BE_UNSAFE: &[&str] = &[
    "crates/fence/src/dx12.rs",
    "crates/fence/src/metal.rs",
    "crates/fence/src/vulkan.rs",
    "crates/media/src/h264_encoder.rs",
    "examples/dx12_waits.rs",
    "examples/src/raw_vulkan/",
    "tests/src/shared_memory.rs",
    "tests/tests/canary.rs",
    "tests/tests/dx12.rs",
    "tests/tests/dx12_wakeups/",
    "tests/tests/foreign_submits.rs",
];

/// Packages of which two versions would be two unrelated sets of types, or two drivers' worth of
/// code in one program.
const ONE_VERSION: &[&str] = &["ash", "naga", "wgpu", "wgpu-core", "wgpu-hal", "wgpu-types"];

#[test]
fn dependencies_point_down() {
    let metadata = workspace();
    let mut wrong = Vec::new();
    for package in metadata.workspace_packages() {
        let folder = relative(
            package
                .manifest_path
                .parent()
                .expect("a folder")
                .as_std_path(),
        );
        if !folder.starts_with("crates/") {
            continue;
        }
        let Some((_, allowed)) = MAY_BUILD_ON.iter().find(|(name, _)| *name == folder) else {
            wrong.push(format!("{folder} has no line in MAY_BUILD_ON"));
            continue;
        };
        wrong.extend(
            package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind != DependencyKind::Development)
                .filter_map(|dependency| dependency.path.as_ref())
                .map(|path| relative(path.as_std_path()))
                .filter(|target| !allowed.contains(&target.as_str()))
                .map(|target| format!("{folder} is built on {target}")),
        );
    }
    none(
        &wrong,
        "crates are built only on those that MAY_BUILD_ON lists for them",
    );
}

#[test]
fn every_member_inherits_the_lints() {
    let wrong: Vec<_> = manifests()
        .into_iter()
        .filter(|(_, manifest)| !inherits(manifest.get("lints")))
        .map(|(path, _)| path)
        .collect();
    none(&wrong, "a manifest says `[lints]` `workspace = true`");
}

#[test]
fn dependencies_are_declared_once() {
    let wrong: Vec<_> = manifests()
        .iter()
        .flat_map(|(path, manifest)| {
            dependencies(manifest)
                .filter(|(_, value)| !inherits(Some(value)))
                .map(move |(name, _)| format!("{path}: {name}"))
        })
        .collect();
    none(
        &wrong,
        "a version stands in the root manifest, members say `workspace = true`",
    );
}

#[test]
fn the_gpu_stack_has_one_version() {
    let lock = toml(&root().join("Cargo.lock"));
    let packages = lock["package"].as_array().expect("a list of packages");
    let wrong: Vec<_> = ONE_VERSION
        .iter()
        .filter_map(|name| {
            let versions: Vec<_> = packages
                .iter()
                .filter(|package| package["name"].as_str() == Some(name))
                .filter_map(|package| package["version"].as_str())
                .collect();
            (versions.len() != 1).then(|| format!("{name}: {versions:?}"))
        })
        .collect();
    none(
        &wrong,
        "Cargo.lock holds one version of each of ONE_VERSION",
    );
}

#[test]
fn every_shader_is_used() {
    let code = sources(&["crates", "examples", "tests"]);
    let wrong: Vec<_> = files("shaders", "wgsl")
        .into_iter()
        .filter(|shader| {
            let name = shader.rsplit('/').next().unwrap_or(shader);
            // With its path, or by its name where a macro adds the path.
            let ways = [format!("/{name}\""), format!("\"{name}\"")];
            let includes = |text: &str| ways.iter().any(|way| text.contains(way));
            !code.iter().any(|source| includes(&source.text))
        })
        .collect();
    none(&wrong, "a shader is included by some code");
}

#[test]
fn no_crate_sleeps() {
    let wrong = lines(&sources(&["crates"]), |line| line.contains("sleep("));
    none(&wrong, "a wait ends on a signal, never on a timer");
}

#[test]
fn unsafe_code_is_opened_only_where_it_is_argued() {
    // The workspace denies the lint: where no attribute lifts it there is no unsafe code.
    let lifts = |line: &str| line.contains("unsafe_code") && !line.contains("forbid(");
    let wrong: Vec<_> = lines(&sources(&["crates", "examples", "tests"]), lifts)
        .into_iter()
        .filter(|place| {
            !MAY_BE_UNSAFE
                .iter()
                .any(|allowed| place.starts_with(allowed))
        })
        .collect();
    none(&wrong, "unsafe code stays where MAY_BE_UNSAFE lists it");
}

#[track_caller]
fn none(wrong: &[String], rule: &str) {
    assert!(
        wrong.is_empty(),
        "{rule}; not so:\n  {}",
        wrong.join("\n  ")
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace")
        .to_owned()
}

/// `path` as the repository names it: relative to the root, with forward slashes.
fn relative(path: &Path) -> String {
    let relative = path.strip_prefix(root()).expect("inside the workspace");
    relative.to_string_lossy().replace('\\', "/")
}

fn workspace() -> Metadata {
    MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()
        .expect("`cargo metadata` describes the workspace")
}

/// Every member's manifest, under its path.
fn manifests() -> Vec<(String, toml::Table)> {
    workspace()
        .workspace_packages()
        .iter()
        .map(|package| package.manifest_path.as_std_path())
        .map(|path| (relative(path), toml(path)))
        .collect()
}

fn toml(path: &Path) -> toml::Table {
    read(path)
        .parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn inherits(value: Option<&toml::Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(toml::Value::as_bool)
        == Some(true)
}

/// Name and value of each dependency, of every kind and for every target.
fn dependencies(manifest: &toml::Table) -> impl Iterator<Item = (&String, &toml::Value)> {
    let targets = manifest
        .get("target")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten();
    std::iter::once(manifest)
        .chain(targets.filter_map(|(_, target)| target.as_table()))
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"].map(|kind| table.get(kind))
        })
        .flatten()
        .filter_map(toml::Value::as_table)
        .flatten()
}

struct Source {
    path: String,
    text: String,
}

fn sources(folders: &[&str]) -> Vec<Source> {
    folders
        .iter()
        .flat_map(|folder| files(folder, "rs"))
        .map(|path| Source {
            text: read(&root().join(&path)),
            path,
        })
        .collect()
}

/// Files below `folder` whose names end in `.extension`, relative to the root.
fn files(folder: &str, extension: &str) -> Vec<String> {
    WalkDir::new(root().join(folder))
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.unwrap_or_else(|error| panic!("{folder} cannot be listed: {error}")))
        .filter(|entry| entry.path().extension().is_some_and(|it| it == extension))
        .map(|entry| relative(entry.path()))
        .collect()
}

/// `path:line` of each line of code, comments left out, that `matches`.
fn lines(sources: &[Source], matches: impl Fn(&str) -> bool) -> Vec<String> {
    sources
        .iter()
        .flat_map(|source| {
            source
                .text
                .lines()
                .enumerate()
                .map(move |(index, line)| (source, index, line))
        })
        .filter(|(_, _, line)| !line.trim_start().starts_with("//") && matches(line))
        .map(|(source, index, _)| format!("{}:{}", source.path, index + 1))
        .collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
