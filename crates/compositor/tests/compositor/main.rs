//! The compositor's tests: what scenes and images are refused, and what is drawn.
//!
//! They are one program, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod animated_images;
mod any_scene;
mod backdrop;
mod blends;
mod cache;
mod custom_shader;
mod downscaling;
mod effects;
mod goldens;
mod gradients;
mod hostile;
mod images;
mod light;
mod limits;
mod luts;
mod masks;
mod memory;
mod reference;
mod render;
mod scene_errors;
mod shaders;
mod shapes;
mod targets;
mod text;
mod tiles;
mod transitions;
