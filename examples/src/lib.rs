//! What the examples share.

pub mod args;
pub mod fresh;
pub mod gradient;
pub mod latency;
pub mod raw_vulkan;
pub mod report;
pub mod strategy;
