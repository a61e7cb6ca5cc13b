//! Build, demo, test and maintenance tasks: `cargo xtask --help`.

fn main() {}
