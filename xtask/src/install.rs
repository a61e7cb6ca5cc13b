//! Installing what is missing through the system's package manager, or saying how to.

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::needs::{Need, succeeds};

/// What the choice of a package manager depends on.
#[derive(Debug)]
pub(crate) struct Host {
    /// `ID` and `ID_LIKE` of `/etc/os-release`; empty where there is none.
    distributions: Vec<String>,
    has_apt: bool,
    is_root: bool,
    has_sudo: bool,
}

impl Host {
    pub(crate) fn observe(shell: &Shell) -> Self {
        let os_release = shell.read_file("/etc/os-release").unwrap_or_default();
        Self {
            distributions: distributions(&os_release),
            has_apt: succeeds(shell, "apt-get", &["--version"]),
            is_root: cmd!(shell, "id -u")
                .quiet()
                .ignore_stderr()
                .read()
                .is_ok_and(|id| id == "0"),
            has_sudo: succeeds(shell, "sudo", &["--version"]),
        }
    }
}

/// How missing packages get onto this machine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    Apt { sudo: bool },
    ByHand { reason: &'static str },
}

/// Chooses the package manager; `allowed` is false when the user wants nothing installed.
pub(crate) fn plan(host: &Host, allowed: bool) -> Plan {
    let is_debian = host
        .distributions
        .iter()
        .any(|id| id == "debian" || id == "ubuntu");
    if !allowed {
        Plan::ByHand {
            reason: "nothing may be installed (--no-install)",
        }
    } else if !(is_debian && host.has_apt) {
        Plan::ByHand {
            reason: "only Debian's and Ubuntu's apt-get is installed with from here",
        }
    } else if host.is_root {
        Plan::Apt { sudo: false }
    } else if host.has_sudo {
        Plan::Apt { sudo: true }
    } else {
        Plan::ByHand {
            reason: "installing takes root, or sudo, which is not there",
        }
    }
}

/// Installs the Debian packages of `needs`, without questions except for sudo's password.
///
/// Fetches the package lists only when apt cannot install from those it has: a fresh container
/// has none, and stale ones name files that the mirrors no longer carry.
pub(crate) fn with_apt(shell: &Shell, needs: &[Need], sudo: bool) -> anyhow::Result<()> {
    let packages = packages(&DEBIAN, needs).context("not all of it is a Debian package")?;
    eprintln!(
        "About to install{}: {packages}",
        if sudo { ", through sudo" } else { "" }
    );

    let apt_get = |arguments: &[&str]| match sudo {
        // Through env(1): sudo drops variables.
        true => cmd!(
            shell,
            "sudo env DEBIAN_FRONTEND=noninteractive apt-get {arguments...}"
        ),
        false => cmd!(shell, "apt-get {arguments...}").env("DEBIAN_FRONTEND", "noninteractive"),
    };
    let names: Vec<_> = packages.split(' ').collect();
    let install = apt_get(&[&["install", "--yes", "--no-install-recommends"], &names[..]].concat());
    if install.run().is_ok() {
        return Ok(());
    }
    eprintln!("That failed with the package lists at hand; fetching new ones for a second try.");
    apt_get(&["update"])
        .run()
        .context("apt-get could not fetch its package lists; its messages are above")?;
    install
        .run()
        .with_context(|| format!("apt-get could not install {packages}; its messages are above"))
}

/// What to type on each system we know that has it all, one line each.
pub(crate) fn by_hand(needs: &[Need]) -> String {
    SYSTEMS
        .iter()
        .filter_map(|system| {
            let advice = match packages(system, needs)? {
                packages if packages.is_empty() => {
                    "the driver comes with the system or the GPU".to_owned()
                }
                packages => format!("{} {packages}", system.install),
            };
            Some(format!("  {:<15} {advice}", system.name))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

struct System {
    name: &'static str,
    install: &'static str,
    /// Packages that meet a need, separated by spaces: empty where the system itself meets it, none
    /// where it is of no use.
    packages: fn(Need) -> Option<&'static str>,
}

const DEBIAN: System = System {
    name: "Debian, Ubuntu",
    install: "sudo apt-get install",
    packages: |need| {
        Some(match need {
            Need::GpuDriver { .. } | Need::Lavapipe => "mesa-vulkan-drivers libvulkan1",
            Need::OpenGl { .. } => "libegl1 libgl1-mesa-dri",
            Need::ValidationLayers => "vulkan-validationlayers",
            Need::Ffmpeg => "ffmpeg",
            Need::WindowsToolchain => {
                "rustc-web cargo-web rust-web-src gcc-mingw-w64-x86-64-posix libc6-dev gcc"
            }
            Need::WindowsCpp => "g++-mingw-w64-x86-64-posix",
            Need::Wine => "wine wine64",
            Need::Xvfb => "xvfb",
            Need::Pip => "python3-pip",
        })
    },
};

// On the others nothing is built for a foreign system: the toolchain for that is Debian's.
const SYSTEMS: [System; 5] = [
    DEBIAN,
    System {
        name: "Fedora",
        install: "sudo dnf install",
        packages: |need| match need {
            Need::GpuDriver { .. } => Some("mesa-vulkan-drivers vulkan-loader"),
            Need::ValidationLayers => Some("vulkan-validation-layers"),
            Need::Ffmpeg => Some("ffmpeg-free"),
            _ => None,
        },
    },
    System {
        name: "Arch",
        install: "sudo pacman -S",
        packages: |need| match need {
            Need::GpuDriver { .. } => Some("vulkan-swrast vulkan-icd-loader"),
            Need::ValidationLayers => Some("vulkan-validation-layers"),
            Need::Ffmpeg => Some("ffmpeg"),
            _ => None,
        },
    },
    System {
        name: "macOS",
        install: "brew install",
        packages: |need| match need {
            Need::GpuDriver { .. } | Need::ValidationLayers => Some(""),
            Need::Ffmpeg => Some("ffmpeg"),
            _ => None,
        },
    },
    System {
        name: "Windows",
        install: "winget install",
        packages: |need| match need {
            Need::GpuDriver { .. } | Need::ValidationLayers => Some(""),
            Need::Ffmpeg => Some("Gyan.FFmpeg"),
            _ => None,
        },
    },
];

/// The packages that meet all of `needs`; none if this system does not have them all.
fn packages(system: &System, needs: &[Need]) -> Option<String> {
    let names: Option<Vec<_>> = needs.iter().map(|&need| (system.packages)(need)).collect();
    Some(names?.join(" ").trim().to_owned())
}

/// `ID` and `ID_LIKE` of an os-release file (freedesktop.org, os-release(5)).
fn distributions(os_release: &str) -> Vec<String> {
    os_release
        .lines()
        .filter_map(|line| {
            line.strip_prefix("ID=")
                .or_else(|| line.strip_prefix("ID_LIKE="))
        })
        .flat_map(|value| value.trim_matches(['"', '\'']).split_whitespace())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn host(distribution: &str, is_root: bool, has_sudo: bool) -> Host {
        Host {
            distributions: vec![distribution.to_owned()],
            has_apt: true,
            is_root,
            has_sudo,
        }
    }

    #[test]
    fn root_installs_itself_and_others_through_sudo() {
        assert_eq!(
            plan(&host("debian", true, true), true),
            Plan::Apt { sudo: false }
        );
        assert_eq!(
            plan(&host("ubuntu", false, true), true),
            Plan::Apt { sudo: true }
        );
    }

    #[test]
    fn nothing_is_installed_without_leave_right_or_a_known_system() {
        let no_apt = Host {
            has_apt: false,
            ..host("debian", true, true)
        };
        for (host, allowed) in [
            (host("debian", true, true), false),
            (host("debian", false, false), true),
            (host("fedora", true, true), true),
            (no_apt, true),
        ] {
            let plan = plan(&host, allowed);
            assert!(
                matches!(plan, Plan::ByHand { .. }),
                "{host:?}, allowed {allowed}: {plan:?}"
            );
        }
    }

    #[test]
    fn derivatives_are_known_by_what_they_are_like() {
        let pop = "NAME=\"Pop!_OS\"\nID=pop\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"22.04\"\n";
        assert_eq!(distributions(pop), ["pop", "ubuntu", "debian"]);
        assert_eq!(distributions("ID=debian"), ["debian"]);
        assert!(distributions("").is_empty());
    }

    #[test]
    fn advice_names_only_what_is_missing() {
        let driver = Need::GpuDriver {
            probe: Path::new("gpu_probe"),
        };
        assert_eq!(
            packages(&DEBIAN, &[Need::Ffmpeg]).as_deref(),
            Some("ffmpeg")
        );
        assert_eq!(
            packages(&DEBIAN, &[driver, Need::ValidationLayers]).as_deref(),
            Some("mesa-vulkan-drivers libvulkan1 vulkan-validationlayers")
        );

        let advice = by_hand(&[driver, Need::Ffmpeg]);
        assert_eq!(advice.lines().count(), 5, "{advice}");
        assert!(
            advice.contains("sudo dnf install mesa-vulkan-drivers vulkan-loader ffmpeg-free"),
            "{advice}"
        );
        assert!(
            advice
                .lines()
                .any(|line| line.ends_with("brew install ffmpeg")),
            "{advice}"
        );

        let advice = by_hand(&[driver]);
        assert!(
            advice
                .lines()
                .any(|line| line.starts_with("  macOS") && line.contains("comes with")),
            "{advice}"
        );
    }

    #[test]
    fn systems_that_cannot_have_it_all_are_not_advised() {
        let advice = by_hand(&[Need::Ffmpeg, Need::Wine]);
        assert_eq!(
            advice,
            "  Debian, Ubuntu  sudo apt-get install ffmpeg wine wine64"
        );
    }
}
