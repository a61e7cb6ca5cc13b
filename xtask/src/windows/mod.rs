//! `cargo xtask windows`.

mod display;
mod prng;
mod shader_compiler;
mod test_program;
pub(crate) mod toolchain;
mod wine;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use xshell::Shell;

use crate::needs::{self, InstallOptions, Need};
use crate::vendor;
use test_program::Hal;
use toolchain::{FOR_WINDOWS, IS_NATIVE, Toolchain};
use wine::Wine;

/// Build for Windows, and run the DirectX 12 tests
///
/// On Windows this is done with the cargo at hand. On Linux it takes Debian's packages of Rust, mingw
/// and Wine, which are installed where they are missing.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Check(CheckOptions),
    Test(TestOptions),
    Run(RunOptions),
}

/// Check that everything compiles for Windows, and the libraries for macOS
#[derive(Args, Debug)]
struct CheckOptions {
    #[command(flatten)]
    install: InstallOptions,
}

/// Run the DirectX 12 tests: on Linux under Wine, with Mesa's software driver
#[derive(Args, Debug)]
struct TestOptions {
    #[command(flatten)]
    install: InstallOptions,

    /// Programs of tests/tests to run [default: all that are for DirectX 12]
    #[arg(value_name = "PROGRAM")]
    programs: Vec<String>,

    /// Passed to each program, for example `-- --exact name_of_a_test`
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

/// Run an example, built with optimisations: on Linux under Wine, with Mesa's software driver
#[derive(Args, Debug)]
struct RunOptions {
    #[command(flatten)]
    install: InstallOptions,

    /// The example
    #[arg(value_name = "EXAMPLE")]
    example: String,

    /// Passed to the example, for example `-- --backend dx12`
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

/// The libraries that fit every system.
const LIBRARIES: &[&str] = &[
    "framefence-fence",
    "framefence-readback",
    "framefence",
    "framefence-compositor",
];

/// What the libraries are also checked for. All else is left out there: the H.264 encoder is built
/// from C++, for which there is no compiler.
const FURTHER_TARGETS: &[&str] = &["x86_64-pc-windows-msvc", "aarch64-apple-darwin"];

/// The programs of tests/tests that are for DirectX 12.
const DX12_TESTS: &[&str] = &["dx12", TEST_OF_THE_HAL];

/// The one of them that looks at the waits of wgpu-hal itself: it runs with the stock one, and with
/// one that has the patches of `vendor/`.
const TEST_OF_THE_HAL: &str = "dx12_wakeups";

/// A test program that takes longer hangs. Each takes seconds, but the machine may be busy.
const DEADLINE: Duration = Duration::from_secs(300);

/// What running a program for Windows takes elsewhere.
const TO_RUN: [Need; 5] = [
    Need::WindowsToolchain,
    Need::Wine,
    Need::Xvfb,
    Need::Lavapipe,
    Need::Pip,
];

/// Prepares the machine, then checks, tests or runs.
pub(crate) fn run(shell: &Shell, options: &Options) -> anyhow::Result<ExitCode> {
    match &options.task {
        Task::Check(options) => check(shell, options)?,
        Task::Test(options) => test(shell, options)?,
        Task::Run(options) => run_example(shell, options)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check(shell: &Shell, options: &CheckOptions) -> anyhow::Result<()> {
    let toolchain = Toolchain::of_this_machine()?;
    if !IS_NATIVE {
        let needs = [Need::WindowsToolchain, Need::WindowsCpp];
        needs::ensure(shell, &needs, &options.install)?;
    }

    let mut windows = toolchain.check();
    windows.args(FOR_WINDOWS);
    succeeds(windows.args(["--workspace", "--all-targets"]))?;
    if !IS_NATIVE {
        let mut further = toolchain.check();
        for target in FURTHER_TARGETS {
            further.args(["--target", target]);
        }
        for library in LIBRARIES {
            further.args(["--package", library]);
        }
        succeeds(&mut further)?;
    }
    Ok(())
}

fn test(shell: &Shell, options: &TestOptions) -> anyhow::Result<()> {
    let toolchain = Toolchain::of_this_machine()?;
    if !IS_NATIVE {
        needs::ensure(shell, &TO_RUN, &options.install)?;
    }

    let named: Vec<&str> = options.programs.iter().map(String::as_str).collect();
    let names = if named.is_empty() { DX12_TESTS } else { &named };
    let mut programs = toolchain.build_tests(names, &Hal::Stock)?;
    if names.contains(&TEST_OF_THE_HAL) {
        let folder = toolchain.folder().join("patched-hal");
        vendor::apply(&vendor::workspace()?, &folder)?;
        let patched = Hal::Patched(folder);
        programs.extend(toolchain.build_tests(&[TEST_OF_THE_HAL], &patched)?);
    }

    let logs = toolchain.folder().join("logs");
    let runner = Runner::start(shell, &toolchain)?;
    let mut failures = Vec::new();
    for program in &programs {
        let command = runner.command(program.path());
        if let Err(failure) = program.run(command, &options.arguments, &logs, DEADLINE) {
            failures.push(format!("{failure:#}"));
        }
    }
    ensure!(failures.is_empty(), "{}", failures.join("; "));
    Ok(())
}

fn run_example(shell: &Shell, options: &RunOptions) -> anyhow::Result<()> {
    let toolchain = Toolchain::of_this_machine()?;
    if !IS_NATIVE {
        needs::ensure(shell, &TO_RUN, &options.install)?;
        needs::ensure(shell, &[Need::WindowsCpp], &options.install)?;
    }
    let example = toolchain.build_example(&options.example)?;
    let runner = Runner::start(shell, &toolchain)?;
    succeeds(runner.command(&example).args(&options.arguments))
}

/// What runs programs for Windows here.
enum Runner {
    Windows,
    Wine(Wine),
}

impl Runner {
    fn start(shell: &Shell, toolchain: &Toolchain) -> anyhow::Result<Self> {
        if IS_NATIVE {
            return Ok(Self::Windows);
        }
        Wine::start(shell, &toolchain.folder().join("wine")).map(Self::Wine)
    }

    fn command(&self, program: &Path) -> Command {
        match self {
            Self::Windows => Command::new(program),
            Self::Wine(wine) => wine.command(program),
        }
    }
}

/// Runs a command on this terminal.
fn succeeds(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().display().to_string();
    let status = command
        .status()
        .with_context(|| format!("{program} does not start"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}
