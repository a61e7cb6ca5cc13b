//! Build, demo, test and maintenance tasks: `cargo xtask --help`.

mod build;
mod demo;
mod docs_images;
mod install;
mod needs;
mod test;
#[cfg(test)]
mod tidy;
mod vendor;
mod windows;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use xshell::Shell;

/// Framefence's tasks. Each makes sure that what it needs is on the machine.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Demo(demo::Options),
    DocsImages(docs_images::Options),
    Test(test::Options),
    Vendor(vendor::Options),
    Windows(windows::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    run(cli.task).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(task: Task) -> anyhow::Result<ExitCode> {
    // The terminal sends Ctrl-C to the children as well. They end as they see fit (an export
    // says what it keeps), so this process outlives them and then reports how they ended.
    ctrlc::set_handler(|| {}).context("could not take over Ctrl-C")?;

    let shell = Shell::new().context("the current folder cannot be used")?;
    match task {
        Task::Demo(options) => demo::run(&shell, &options),
        Task::DocsImages(options) => docs_images::run(&shell, &options),
        Task::Test(options) => test::run(&shell, &options),
        Task::Vendor(options) => vendor::run(&options),
        Task::Windows(options) => windows::run(&shell, &options),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn demo_writes_to_out_unless_told() {
        let Task::Demo(options) = parse(&["demo"]) else {
            panic!("not the demo")
        };
        assert_eq!(options.out, std::path::Path::new("out"));
        assert!(!options.install.no_install);
    }

    #[test]
    fn what_follows_the_dashes_is_for_cargo_test() {
        let Task::Test(options) = parse(&[
            "test",
            "--no-install",
            "--",
            "--test",
            "faults",
            "--",
            "--nocapture",
        ]) else {
            panic!("not the tests")
        };
        assert!(options.install.no_install);
        assert_eq!(
            options.cargo_test,
            ["--test", "faults", "--", "--nocapture"]
        );
    }

    #[test]
    fn docs_images_are_drawn_by_name() {
        let Task::DocsImages(options) = parse(&["docs-images", "--check", "blend"]) else {
            panic!("not the pictures")
        };
        assert!(options.check);
        assert_eq!(options.names, ["blend"]);
    }

    #[test]
    fn patches_are_applied_and_checked() {
        for arguments in [
            &["vendor", "apply"][..],
            &["vendor", "apply", "--into", "elsewhere"],
            &["vendor", "check"],
        ] {
            let task = parse(arguments);
            assert!(matches!(task, Task::Vendor(_)), "{arguments:?}: {task:?}");
        }
    }

    #[test]
    fn windows_tests_are_chosen_by_name_and_given_arguments() {
        for arguments in [
            &["windows", "check", "--no-install"][..],
            &["windows", "test"],
            &["windows", "test", "dx12_wakeups", "--", "--exact", "name"],
        ] {
            assert!(matches!(parse(arguments), Task::Windows(_)));
        }
    }

    fn parse(arguments: &[&str]) -> Task {
        Cli::try_parse_from([&["xtask"], arguments].concat())
            .expect("parses")
            .task
    }
}
