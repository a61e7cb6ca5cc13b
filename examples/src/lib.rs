//! What the examples share.

pub mod args;
pub mod fence;
pub mod fresh;
pub mod gradient;
pub mod host;
pub mod interrupt;
pub mod latency;
pub mod long_job;
pub mod raw_vulkan;
pub mod report;
pub mod strategy;

/// The README's example, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
