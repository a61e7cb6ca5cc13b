//! Layers whose colours are found by a shader of the scene's author.
//!
//! ```text
//! author's WGSL --check--> naga module --bounds--> bounded module --> WGSL of ours around it
//! ```
//!
//! All is checked before anything is drawn: what the author wrote, that it reads nothing but its
//! own place and uniforms, and that no pixel of it takes longer than a stated number of operations.

mod bounds;
mod check;
mod error;
mod load;
mod spec;
mod uniforms;

pub use bounds::{MAX_OPERATIONS_IN_LOOPS, MAX_SHADER_OPERATIONS};
pub(crate) use check::{CheckedShader, on_large_stack};
pub use error::{LoadShaderError, ShaderProblem};
pub use error::{MAX_SHADER_BYTES, MAX_VARIABLE_BYTES};
pub(crate) use load::load;
pub use spec::MAX_UNIFORMS;
pub use spec::{Shader, ShaderSource, Uniform};
pub(crate) use uniforms::{members as uniform_members, uniform_bytes};
