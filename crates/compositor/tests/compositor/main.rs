//! The compositor's tests: what scenes and images are refused, and what is drawn.
//!
//! They are one program, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod animated_images;
mod backdrop;
mod custom_shader;
mod downscaling;
mod goldens;
mod hostile;
mod memory;
mod reference;
mod render;
mod scene_errors;
mod shaders;
mod targets;
mod text;
mod tiles;
