//! What a task needs on the machine, and how to know whether it is there.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use xshell::{Shell, cmd};

use crate::install::{self, Host, Plan};

/// What is not cargo's to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need<'a> {
    /// Asked for by the example `gpu_probe`.
    GpuDriver {
        probe: &'a Path,
    },
    /// Asked for by the same example.
    OpenGl {
        probe: &'a Path,
    },
    /// The driver that needs no GPU.
    Lavapipe,
    ValidationLayers,
    Ffmpeg,
    /// What builds for Windows on Linux.
    WindowsToolchain,
    /// What builds C++ for Windows on Linux.
    WindowsCpp,
    Wine,
    Xvfb,
    Pip,
}

impl fmt::Display for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GpuDriver { .. } => {
                "a GPU driver (no adapter opens through Vulkan, Metal or DirectX 12)"
            }
            Self::OpenGl { .. } => "an OpenGL driver with EGL",
            Self::ValidationLayers => "the Vulkan validation layers",
            Self::Lavapipe => "Mesa's software driver for Vulkan",
            Self::Ffmpeg => "ffmpeg",
            Self::WindowsToolchain => "Debian's Rust for other systems, with mingw",
            Self::WindowsCpp => "mingw's C++ compiler",
            Self::Wine => "Wine",
            Self::Xvfb => "Xvfb",
            Self::Pip => "Python's pip",
        })
    }
}

/// Whether missing system packages may be installed.
#[derive(Args, Debug)]
pub(crate) struct InstallOptions {
    /// Install nothing: when something is missing, say what to install, and stop
    #[arg(long)]
    pub(crate) no_install: bool,
}

/// Makes sure that `needs` are met, installing system packages where that is allowed and known how.
///
/// Installs nothing and asks for no password when all is there.
pub(crate) fn ensure(
    shell: &Shell,
    needs: &[Need<'_>],
    options: &InstallOptions,
) -> anyhow::Result<()> {
    let missing = missing(shell, needs)?;
    if missing.is_empty() {
        return Ok(());
    }

    match install::plan(&Host::observe(shell), !options.no_install) {
        Plan::Apt { sudo } => {
            eprintln!("This machine lacks {}.", list(&missing));
            install::with_apt(shell, &missing, sudo)?;
        }
        Plan::ByHand { reason } => bail!(
            "this machine lacks {}, and {reason}. What to install:\n{}",
            list(&missing),
            install::by_hand(&missing)
        ),
    }

    let missing = self::missing(shell, needs)?;
    if !missing.is_empty() {
        bail!(
            "the packages are installed, and this machine still lacks {} (is a VK_* variable hiding it?)",
            list(&missing)
        );
    }
    Ok(())
}

fn missing<'a>(shell: &Shell, needs: &[Need<'a>]) -> anyhow::Result<Vec<Need<'a>>> {
    let mut missing = Vec::new();
    for &need in needs {
        let met = match need {
            Need::GpuDriver { probe } => gpu_opens(shell, probe, &[])?,
            Need::OpenGl { probe } => gpu_opens(shell, probe, &["--opengl"])?,
            Need::Lavapipe => lavapipe_manifest().is_some(),
            Need::ValidationLayers => validation_layers_are_installed(),
            Need::Ffmpeg => succeeds(shell, "ffmpeg", &["-version"]),
            Need::WindowsToolchain => windows_toolchain_is_installed(),
            Need::WindowsCpp => succeeds(shell, "x86_64-w64-mingw32-g++-posix", &["--version"]),
            Need::Wine => succeeds(shell, "wine", &["--version"]),
            Need::Xvfb => succeeds(shell, "Xvfb", &["-help"]),
            Need::Pip => succeeds(shell, "python3", &["-m", "pip", "--version"]),
        };
        if !met {
            missing.push(need);
        }
    }
    Ok(missing)
}

/// Whether Debian's Rust and mingw can build for Windows.
pub(crate) fn windows_toolchain_is_installed() -> bool {
    WINDOWS_TOOLCHAIN
        .iter()
        .all(|path| Path::new(path).exists())
}

fn list(needs: &[Need<'_>]) -> String {
    needs
        .iter()
        .map(Need::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Asks the driver itself. The loader's files would not do: Mesa installs drivers for GPUs that
/// the machine does not have, and a driver can be there without the loader.
fn gpu_opens(shell: &Shell, gpu_probe: &Path, arguments: &[&str]) -> anyhow::Result<bool> {
    let output = cmd!(shell, "{gpu_probe} {arguments...}")
        .quiet()
        .ignore_status()
        .output()
        .context("the GPU probe does not run")?;
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!(
            "a GPU driver broke the probe that opens it ({}). {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

/// Where Debian puts the cargo, the standard library's source and the compiler that build for Windows.
const WINDOWS_TOOLCHAIN: [&str; 4] = [
    "/usr/bin/cargo",
    "/usr/bin/cc",
    "/usr/bin/x86_64-w64-mingw32-gcc-posix",
    "/usr/lib/rustlib/src/rust/library/std/Cargo.toml",
];

/// The manifest of Mesa's software driver, where Debian puts it. That driver opens on every machine,
/// so the manifest is proof enough.
pub(crate) fn lavapipe_manifest() -> Option<PathBuf> {
    let folder = std::fs::read_dir("/usr/share/vulkan/icd.d").ok()?;
    folder
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("lvp_icd"))
        })
}

/// A layer is a file that fits every driver, so its manifest is proof enough.
fn validation_layers_are_installed() -> bool {
    explicit_layer_folders(&|name| std::env::var_os(name))
        .iter()
        .any(|folder| folder.join("VkLayer_khronos_validation.json").is_file())
}

/// Where the Vulkan loader looks for layers on Linux, as its `LoaderLayerInterface.md` lists it.
fn explicit_layer_folders(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let paths = |name: &str, default: &str| -> Vec<PathBuf> {
        let value = variable(name).filter(|value| !value.is_empty());
        std::env::split_paths(&value.unwrap_or_else(|| default.into()))
            .filter(|path| !path.as_os_str().is_empty())
            .collect()
    };

    let chosen = paths("VK_LAYER_PATH", "");
    if !chosen.is_empty() {
        return chosen;
    }
    let home = PathBuf::from(variable("HOME").unwrap_or_default());
    let home_config =
        variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let home_data =
        variable("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from);
    let system = [
        vec![home_config],
        paths("XDG_CONFIG_DIRS", "/etc/xdg"),
        vec!["/usr/local/etc".into(), "/etc".into(), home_data],
        paths("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
    ]
    .concat();

    let mut folders = paths("VK_ADD_LAYER_PATH", "");
    folders.extend(
        system
            .iter()
            .map(|folder| folder.join("vulkan/explicit_layer.d")),
    );
    folders
}

/// Whether a program is there and says yes, without a word on the terminal.
pub(crate) fn succeeds(shell: &Shell, program: &str, arguments: &[&str]) -> bool {
    cmd!(shell, "{program} {arguments...}")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(variables: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        };
        explicit_layer_folders(&variable)
            .iter()
            .map(|folder| folder.display().to_string())
            .collect()
    }

    #[test]
    fn layers_are_looked_for_where_the_loader_looks() {
        assert_eq!(
            folders(&[("HOME", "/home/a"), ("XDG_DATA_DIRS", "")]),
            [
                "/home/a/.config/vulkan/explicit_layer.d",
                "/etc/xdg/vulkan/explicit_layer.d",
                "/usr/local/etc/vulkan/explicit_layer.d",
                "/etc/vulkan/explicit_layer.d",
                "/home/a/.local/share/vulkan/explicit_layer.d",
                "/usr/local/share/vulkan/explicit_layer.d",
                "/usr/share/vulkan/explicit_layer.d",
            ]
        );
    }

    #[test]
    fn a_layer_path_replaces_the_folders_and_an_added_one_goes_first() {
        assert_eq!(
            folders(&[("VK_LAYER_PATH", "/sdk/a:/sdk/b")]),
            ["/sdk/a", "/sdk/b"]
        );

        let added = folders(&[("VK_ADD_LAYER_PATH", "/mine"), ("XDG_DATA_DIRS", "/nix")]);
        assert_eq!(added.first().map(String::as_str), Some("/mine"));
        assert_eq!(
            added.last().map(String::as_str),
            Some("/nix/vulkan/explicit_layer.d")
        );
    }
}
