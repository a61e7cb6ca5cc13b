//! The sinks, through files that other programs read.

#[cfg(unix)]
mod disk_full;
mod ffmpeg;
#[cfg(feature = "h264")]
mod mp4;
mod open;
mod png;
mod support;
mod y4m;
