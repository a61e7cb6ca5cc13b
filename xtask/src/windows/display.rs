//! A display that nobody sees.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};

/// An X server without a screen. It is stopped when this is dropped.
#[derive(Debug)]
pub(crate) struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// Starts a server on a number that is free, with its messages in a file in `folder`.
    pub(crate) fn start(folder: &Path) -> anyhow::Result<Self> {
        let log = folder.join("Xvfb.log");
        let messages =
            File::create(&log).with_context(|| format!("{} cannot be written", log.display()))?;
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "640x480x24",
                "-nolisten",
                "tcp",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(messages)
            .spawn()
            .context("Xvfb does not start")?;
        let stdout = server.stdout.take();
        // From here on the server is stopped whatever happens.
        let mut display = Self {
            server,
            name: String::new(),
        };

        // It says its number when it is ready, or ends.
        let mut number = String::new();
        BufReader::new(stdout.context("Xvfb was given no pipe")?)
            .read_line(&mut number)
            .context("Xvfb does not say which display it is")?;
        let number = number.trim();
        ensure!(
            !number.is_empty(),
            "Xvfb does not start; see {}",
            log.display()
        );
        display.name = format!(":{number}");
        Ok(display)
    }

    /// What `DISPLAY` is to be.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // It may have ended by itself, by Ctrl-C; then there is nothing to stop.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
