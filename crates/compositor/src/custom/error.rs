//! Why a shader cannot be used.

use std::io;
use std::path::PathBuf;

use super::bounds::MAX_SHADER_OPERATIONS;

/// The most bytes that a shader's source may have.
pub const MAX_SHADER_BYTES: u64 = 256 << 10;

/// The most bytes that a type of a shader may take. Its variables are kept for every pixel that is
/// drawn at once, and compilers may take a minute over an array of a thousand numbers.
pub const MAX_VARIABLE_BYTES: u32 = 1 << 10;

/// A shader that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}", message(path.as_deref()))]
pub struct LoadShaderError {
    /// The file; none if the source is in the scene.
    pub path: Option<PathBuf>,
    /// What is wrong with it.
    #[source]
    pub problem: ShaderProblem,
}

/// What is wrong with a shader.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderProblem {
    /// The file cannot be read, or is not UTF-8 text.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// The path is that of a folder, a pipe or a device.
    #[error("it is a folder, a pipe or a device, not a file")]
    NotAFile,
    /// The source is longer than any shader needs.
    #[error("it has {source_bytes} bytes; at most {MAX_SHADER_BYTES} are allowed")]
    TooLong {
        /// Its size.
        source_bytes: u64,
    },
    /// The source is not valid WGSL.
    #[error("line {line}, column {column}: {message}")]
    Invalid {
        /// The line in the author's source, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A uniform has a name that WGSL does not allow.
    #[error("{name:?} cannot be the name of a uniform in WGSL")]
    UniformName {
        /// The name.
        name: String,
    },
    /// The source lacks the function that finds colours.
    #[error("it has no function `fn shade(place: Place) -> vec4<f32>`")]
    NoShade,
    /// The source has something that a layer's shader cannot have.
    #[error("line {line}, column {column}: {what} is not available to a layer's shader")]
    Unavailable {
        /// The line in the author's source, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What it is.
        what: &'static str,
    },
    /// A variable takes more memory than each pixel has.
    #[error(
        "line {line}, column {column}: the type has {type_bytes} bytes; at most {MAX_VARIABLE_BYTES} are allowed"
    )]
    TypeTooLarge {
        /// The line in the author's source, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// Its size.
        type_bytes: u64,
    },
    /// The shader does too much for each pixel, loops counted once.
    #[error(
        "`shade` is {operations} operations long with all that it calls; at most {MAX_SHADER_OPERATIONS} are allowed"
    )]
    TooManyOperations {
        /// How many it has.
        operations: u64,
    },
    /// Valid WGSL that the GPU cannot be given; the message is the shader compiler's.
    #[error("it cannot be compiled: {message}")]
    NotCompiled {
        /// What the compiler said.
        message: String,
    },
    /// The system has no thread left to check it on.
    #[error("no thread can be started to check it")]
    NoThread(#[source] io::Error),
}

fn message(path: Option<&std::path::Path>) -> String {
    match path {
        Some(path) => format!("cannot use the shader {}", path.display()),
        None => "cannot use the shader".to_owned(),
    }
}
