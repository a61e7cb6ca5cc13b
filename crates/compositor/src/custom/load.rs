//! Reads the sources of shaders.

use std::fs;
use std::path::Path;

use super::check::{CheckedShader, check};
use super::error::{LoadShaderError, MAX_SHADER_BYTES, ShaderProblem};
use super::spec::{Shader, ShaderSource};

/// Reads and checks a shader. A relative path starts at `base_dir`.
pub(crate) fn load(shader: &Shader, base_dir: &Path) -> Result<CheckedShader, LoadShaderError> {
    match &shader.source {
        ShaderSource::Wgsl(source) => {
            check(source, &shader.uniforms).map_err(|problem| LoadShaderError {
                path: None,
                problem,
            })
        }
        ShaderSource::Path(path) => {
            let path = base_dir.join(path);
            read(&path)
                .and_then(|source| check(&source, &shader.uniforms))
                .map_err(|problem| LoadShaderError {
                    path: Some(path),
                    problem,
                })
        }
    }
}

fn read(path: &Path) -> Result<String, ShaderProblem> {
    // Looked at before it is opened: opening a pipe waits for somebody to write to it.
    let metadata = fs::metadata(path).map_err(ShaderProblem::Read)?;
    if !metadata.is_file() {
        return Err(ShaderProblem::NotAFile);
    }
    let source_bytes = metadata.len();
    if source_bytes > MAX_SHADER_BYTES {
        return Err(ShaderProblem::TooLong { source_bytes });
    }
    fs::read_to_string(path).map_err(ShaderProblem::Read)
}
