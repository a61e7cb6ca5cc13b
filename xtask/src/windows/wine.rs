//! Wine, with what a DirectX 12 program needs in it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use xshell::Shell;

use crate::needs;
use crate::windows::display::Display;
use crate::windows::{prng, shader_compiler};

/// A Wine of its own, apart from the user's, and shut down when this is dropped.
#[derive(Debug)]
pub(crate) struct Wine {
    prefix: PathBuf,
    display: Display,
    /// Which Vulkan driver to use, whatever GPU there is: the tests know what they find.
    driver: PathBuf,
    /// Locked as long as the prefix is in use: who shuts it down ends the programs of all others.
    _in_use: File,
}

impl Wine {
    /// Starts Wine with its files in `folder`.
    pub(crate) fn start(shell: &Shell, folder: &Path) -> anyhow::Result<Self> {
        shell.create_dir(folder)?;
        let lock = folder.join("lock");
        let in_use = File::create(&lock)
            .and_then(|file| file.lock().map(|()| file))
            .with_context(|| format!("{} cannot be locked", lock.display()))?;
        let shader_compiler = shader_compiler::fetch(shell, folder)?;

        let wine = Self {
            prefix: folder.join("prefix"),
            // Before anything of Wine's: what starts without a display finds no adapter later on.
            display: Display::start(folder)?,
            driver: needs::lavapipe_manifest()
                .context("Mesa's software driver is not installed")?,
            _in_use: in_use,
        };
        // One that was killed with its Wine running has left it behind, on a display that is gone.
        wine.shut_down();
        wine.boot(shell)?;
        let system32 = wine.prefix.join("drive_c/windows/system32");
        shell.copy_file(shader_compiler, system32.join(shader_compiler::FILE_NAME))?;
        prng::build(shell, &system32)?;
        Ok(wine)
    }

    /// A command that runs a program in Wine.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = self.tool("wine");
        command.arg(program);
        command
    }

    /// Makes the prefix, or brings it up to date with this machine's Wine. One that was left
    /// half-made is made anew: Wine would not notice.
    fn boot(&self, shell: &Shell) -> anyhow::Result<()> {
        let is_whole = self.prefix.with_extension("whole");
        if !is_whole.exists() {
            shell.remove_path(&self.prefix)?;
        }
        let status = self
            .tool("wineboot")
            .arg("--init")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .context("wineboot does not start")?;
        ensure!(
            status.success(),
            "Wine does not start: wineboot ended with {status}"
        );
        shell.write_file(is_whole, "")?;
        Ok(())
    }

    /// Ends all that runs in the prefix, and waits until it has ended.
    fn shut_down(&self) {
        // Both fail if Wine does not run. The second returns when it has ended.
        for argument in ["--kill", "--wait"] {
            let _ = self
                .tool("wineserver")
                .arg(argument)
                .stderr(Stdio::null())
                .status();
        }
    }

    /// One of Wine's programs, in this prefix and on this display.
    fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .env("WINEPREFIX", &self.prefix)
            .env("DISPLAY", self.display.name())
            .env("VK_ICD_FILENAMES", &self.driver)
            .env("WINEDEBUG", "-all")
            // DXGI lists adapters through wined3d, which by default asks OpenGL.
            .env("WINE_D3D_CONFIG", "renderer=vulkan")
            // Microsoft's compiler in place of Wine's; no .NET, browser or desktop menus.
            .env(
                "WINEDLLOVERRIDES",
                "d3dcompiler_47=n;mscoree,mshtml=;winemenubuilder.exe=",
            );
        command
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        self.shut_down();
    }
}
