//! The sinks, through files that other programs read.

#[cfg(unix)]
mod disk_full;
mod open;
mod png;
mod support;
mod y4m;
