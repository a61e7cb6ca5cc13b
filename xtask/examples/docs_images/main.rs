//! Draws the pictures of `docs/scene.md`; `cargo xtask docs-images` runs it.

mod pictures;

use anyhow::{Result, ensure};
use clap::Parser;

use pictures::Pictures;

#[derive(Parser)]
struct Args {
    /// Write nothing: compare with the pictures that are there
    #[arg(long)]
    check: bool,
    /// Only the pictures of these names [default: all]
    names: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let pictures = Pictures::open()?;
    let names = match args.names.is_empty() {
        true => pictures.names(),
        false => args.names,
    };
    let mut stale = Vec::new();
    for name in &names {
        if args.check {
            stale.extend(pictures.compare(name)?);
        } else {
            pictures.save(name)?;
        }
    }
    ensure!(
        stale.is_empty(),
        "pictures are not what their scenes show; `cargo xtask docs-images` draws them anew:\n  {}",
        stale.join("\n  ")
    );
    let done = if args.check { "compared" } else { "drawn" };
    println!("{} pictures {done}", names.len());
    Ok(())
}
