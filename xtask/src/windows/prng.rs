//! `bcryptprimitives.dll`, which Rust's standard library takes random numbers from, and which Wine has
//! only from version 9 on.

use std::path::Path;

use anyhow::Context as _;
use xshell::{Shell, cmd};

const SOURCE: &str = include_str!("bcryptprimitives.c");

/// Builds it with mingw into Wine's folder of system libraries.
pub(crate) fn build(shell: &Shell, system32: &Path) -> anyhow::Result<()> {
    let library = system32.join("bcryptprimitives.dll");
    let flags = ["-shared", "-O2", "-Wall", "-Werror", "-x", "c"];
    cmd!(
        shell,
        "x86_64-w64-mingw32-gcc-posix {flags...} -o {library} - -ladvapi32"
    )
    .stdin(SOURCE)
    .quiet()
    .run()
    .context("mingw did not build bcryptprimitives.dll")
}
