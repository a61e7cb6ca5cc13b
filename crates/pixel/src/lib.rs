//! Pixel formats, plane layouts and colour descriptions: what the bytes of a frame mean.
//!
//! This crate knows nothing of the GPU. It says how many planes a format has, how large each one
//! is, which colour equations its samples follow, and converts between formats on the CPU.

#![forbid(unsafe_code)]

mod alpha;
mod color;
mod format;
mod i420;
mod layout;
mod rows;
mod srgb;

pub use alpha::{straight_srgb16, unpremultiply, unpremultiply_srgb};
pub use color::{
    AlphaMode, ChromaSiting, ColorRange, ColorSpec, MatrixCoefficients, Primaries, Transfer,
};
pub use format::OutputFormat;
pub use i420::{I420Planes, PackError, pack_i420};
pub use layout::{Plane, PlaneLayout, Size};
pub use rows::CopyError;
pub use srgb::{linear_from_srgb, srgb_from_linear};
