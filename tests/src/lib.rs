//! What the integration tests share: a device under validation, and painters with known pixels.

mod pattern;
mod validation;

pub use pattern::Pattern;
pub use validation::{gpu, gpu_with, validation_messages};
