use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::Metadata;
use tempfile::TempDir;

use super::folder::contents;
use super::queue::Queue;
use super::{WGPU_HAL, workspace};

/// The repository's queue, what it is for, and a folder to apply it in.
struct Case {
    workspace: Metadata,
    queue: Queue,
    folder: TempDir,
}

impl Case {
    fn new() -> Self {
        let workspace = workspace().expect("cargo describes the workspace");
        let queue = workspace.workspace_root.join(WGPU_HAL);
        Self {
            queue: Queue::read(queue.as_std_path()).expect("the queue is read"),
            workspace,
            folder: TempDir::new().expect("a temporary folder"),
        }
    }

    fn archive(&self) -> PathBuf {
        let upstream = &self.queue.upstream;
        upstream.archive(&self.workspace).expect("an archive")
    }

    fn patched(&self) -> PathBuf {
        self.folder.path().join("wgpu-hal")
    }

    fn apply(&self) -> anyhow::Result<()> {
        self.queue.apply(&self.archive(), &self.patched())
    }

    /// What the error says, with all that it follows from.
    fn apply_error(&self) -> String {
        format!("{:#}", self.apply().expect_err("is refused"))
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Nothing but `names` is in `folder`, hidden or not.
#[track_caller]
fn assert_holds(folder: &Path, names: &[&str]) {
    assert_eq!(super::folder::names(folder).expect("is listed"), names);
}

#[test]
fn the_queue_fits_the_locked_version() {
    let case = Case::new();
    case.apply().expect("applies");

    assert_holds(case.folder.path(), &["wgpu-hal"]);
    let dx12 = read(&case.patched().join("src/dx12/mod.rs"));
    let device = read(&case.patched().join("src/dx12/device.rs"));
    assert!(!dx12.contains("idle_event"), "an event is still shared");
    assert!(
        !device.contains("GetCompletedValue"),
        "a value is used that was not checked for a removed device"
    );
    assert!(
        !dx12.contains("as_millis") && !device.contains("as_millis"),
        "a timeout is still rounded down"
    );
    assert_eq!(read(&case.patched().join("PATCHES.md")), case.queue.readme);
}

#[test]
fn the_queue_is_for_what_cargo_lock_holds() {
    let case = Case::new();
    let lock = case.workspace.workspace_root.join("Cargo.lock");
    let lock: toml::Table = read(lock.as_std_path()).parse().expect("TOML");
    let upstream = &case.queue.upstream;
    let locked: Vec<_> = lock["package"]
        .as_array()
        .expect("packages")
        .iter()
        .filter(|package| package["name"].as_str() == Some(&upstream.name))
        .map(|package| (package["version"].as_str(), package["checksum"].as_str()))
        .collect();
    let version = upstream.version.to_string();
    assert_eq!(locked, [(Some(&*version), Some(&*upstream.sha256))]);
}

#[test]
fn the_page_tells_of_every_patch_in_the_order_of_application() {
    let Queue {
        readme, patches, ..
    } = Case::new().queue;
    let places: Vec<_> = patches
        .iter()
        .map(|patch| {
            let told = readme.find(&format!("`{}`", patch.name));
            told.unwrap_or_else(|| panic!("README.md says nothing of {}", patch.name))
        })
        .collect();
    assert!(places.is_sorted(), "README.md has another order");
}

#[test]
fn another_archive_is_refused_with_both_sums() {
    let mut case = Case::new();
    let right = case.queue.upstream.sha256.clone();
    case.queue.upstream.sha256 = "0".repeat(64);

    let error = case.apply_error();
    assert!(error.contains(&right), "{error}");
    assert!(error.contains(&"0".repeat(64)), "{error}");
    assert_holds(case.folder.path(), &[]);
}

#[test]
fn a_hunk_that_does_not_fit_is_named_and_nothing_is_written() {
    let mut case = Case::new();
    let line = "-            fence_value = unsafe { fence.raw.GetCompletedValue() };";
    let patch = &mut case.queue.patches[1];
    assert!(patch.text.contains(line), "{}", patch.text);
    patch.text = patch.text.replace(line, "-            fence_value = 0;");

    let error = case.apply_error();
    assert!(error.contains(&case.queue.patches[1].name), "{error}");
    assert!(
        error.contains("src/dx12/device.rs: error applying hunk #4"),
        "{error}"
    );
    assert_holds(case.folder.path(), &[]);
}

#[test]
fn what_is_there_outlives_a_queue_that_does_not_fit() {
    let mut case = Case::new();
    case.apply().expect("applies");
    let before = contents(&case.patched()).expect("is read");

    let again = case.queue.patches[0].clone();
    case.queue.patches.push(again);
    let error = case.apply_error();
    assert!(error.contains("error applying hunk #1"), "{error}");
    assert!(before == contents(&case.patched()).expect("is read"));
    assert_holds(case.folder.path(), &["wgpu-hal"]);
}

#[test]
fn applying_again_changes_nothing_and_mends_what_was_changed() {
    let case = Case::new();
    let changed = case.patched().join("src/dx12/mod.rs");
    let time = |path: &Path| {
        fs::metadata(path)
            .and_then(|it| it.modified())
            .expect("a time")
    };

    case.apply().expect("applies");
    let first = (contents(&case.patched()).expect("is read"), time(&changed));
    case.apply().expect("applies again");
    let second = (contents(&case.patched()).expect("is read"), time(&changed));
    // Not even a time, by which cargo tells what to compile again.
    assert!(first == second);

    fs::write(&changed, "").expect("is written");
    case.apply().expect("applies to what was changed");
    assert!(first.0 == contents(&case.patched()).expect("is read"));
    assert_holds(case.folder.path(), &["wgpu-hal"]);
}

#[test]
fn a_folder_of_the_users_is_not_replaced() {
    let case = Case::new();
    let theirs = case.patched().join("Cargo.toml");
    fs::create_dir(case.patched()).expect("is created");
    fs::write(&theirs, "theirs").expect("is written");

    let error = case.apply_error();
    assert!(error.contains("not replaced"), "{error}");
    assert_eq!(read(&theirs), "theirs");
    assert_holds(case.folder.path(), &["wgpu-hal"]);

    fs::remove_file(&theirs).expect("is removed");
    case.apply().expect("an empty folder is as good as none");
}

#[test]
fn a_crate_that_is_replaced_already_or_of_another_version_is_refused() {
    let Case {
        mut workspace,
        queue,
        ..
    } = Case::new();
    let refused = |change: fn(&mut cargo_metadata::Package), word: &str| {
        let mut workspace = workspace.clone();
        for package in &mut workspace.packages {
            if package.name.as_str() == queue.upstream.name {
                change(package);
            }
        }
        let error = queue.upstream.archive(&workspace).expect_err("is refused");
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(|package| package.source = None, "is replaced");
    refused(|package| package.version.patch += 1, "Cargo.lock holds");
    refused(
        |package| package.manifest_path = "vendor/wgpu-hal/Cargo.toml".into(),
        "not in cargo's own registry folder",
    );
    refused(
        |package| package.manifest_path = "registry/src/index/gone/Cargo.toml".into(),
        "is gone",
    );
    workspace.packages.clear();
    assert!(queue.upstream.archive(&workspace).is_err());
}

#[test]
fn a_patch_writes_only_to_files_that_are_there() {
    let mut case = Case::new();
    case.queue.patches[0].text = "--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1 @@\n+new\n".to_owned();
    let error = case.apply_error();
    assert!(error.contains("only changes within text files"), "{error}");
    case.queue.patches[0].text = "no patch at all\n".to_owned();
    assert!(case.apply_error().contains(&case.queue.patches[0].name));
    assert_holds(case.folder.path(), &[]);
}
