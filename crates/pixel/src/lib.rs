//! Pixel formats, plane layouts and colour descriptions: what the bytes of a frame mean.
//!
//! This crate knows nothing of the GPU. It says how many planes a format has, how large each one
//! is, which colour equations its samples follow, and converts between formats on the CPU.

mod color;
mod format;
mod layout;

pub use color::{
    AlphaMode, ChromaSiting, ColorRange, ColorSpec, MatrixCoefficients, Primaries, Transfer,
};
pub use format::OutputFormat;
pub use layout::{Plane, PlaneLayout, Size};
