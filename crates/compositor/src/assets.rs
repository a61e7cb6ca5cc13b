//! What a scene takes from files.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framefence::{Gpu, Size, Time};

use crate::color::BlendSpace;
use crate::compositor::CompositorError;
use crate::content::Content;
use crate::cube::{CubeLut, LoadLutError, LutProblem};
use crate::custom::{self, CheckedShader, LoadShaderError, Shader, ShaderSource};
use crate::effects::{LutOutOfMemory, LutTexture};
use crate::image_error::LoadImageError;
use crate::image_library::ImageLibrary;
use crate::scene::Scene;
use crate::text::{FontLibrary, FontNotice, Text, TextLayout};
use crate::texture::{ImageTexture, TextureBindings, next_texture_id};
use crate::walk::{self, Visit};

/// The files of a scene, loaded.
#[derive(Debug)]
pub(crate) struct Assets {
    base_dir: PathBuf,
    blend_space: BlendSpace,
    images: ImageLibrary,
    luts: HashMap<PathBuf, LutAsset>,
    fonts: FontLibrary,
    /// By where the source is, and by the names and types of its uniforms.
    shaders: HashMap<ShaderSource, HashMap<String, Arc<CheckedShader>>>,
}

/// A look-up table that shaders can read.
#[derive(Clone, Debug)]
pub(crate) struct LutAsset {
    pub(crate) texture: LutTexture,
    /// A number that no other texture has.
    pub(crate) id: u64,
}

/// The same number is the same table.
impl PartialEq for LutAsset {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Assets {
    pub(crate) fn new(
        bindings: TextureBindings,
        base_dir: PathBuf,
        blend_space: BlendSpace,
    ) -> Self {
        Self {
            images: ImageLibrary::new(bindings, base_dir.clone(), blend_space),
            fonts: FontLibrary::new(base_dir.clone()),
            base_dir,
            blend_space,
            luts: HashMap::new(),
            shaders: HashMap::new(),
        }
    }

    /// The same, with nothing loaded, for scenes of another blending space.
    pub(crate) fn emptied(&self, blend_space: BlendSpace) -> Self {
        Self::new(
            self.images.bindings().clone(),
            self.base_dir.clone(),
            blend_space,
        )
    }

    pub(crate) fn blend_space(&self) -> BlendSpace {
        self.blend_space
    }

    /// Loads all that the scene takes from files and that is not there yet.
    pub(crate) fn load(&mut self, gpu: &Gpu, scene: &Scene) -> Result<(), CompositorError> {
        walk::layers(scene, &mut |Visit { layer, .. }, place| {
            if let Content::Image(image) = &layer.content {
                self.images.load(gpu, &image.path).map_err(|source| {
                    let path = place.field("content").field("image").field("path");
                    CompositorError::Image {
                        place: path.to_string(),
                        source,
                    }
                })?;
            }
            if let Content::Text(text) = &layer.content {
                // Its fonts are read now rather than on the way to a frame.
                self.fonts.layout(text, Time::ZERO);
            }
            if let Content::Shader(shader) = &layer.content {
                self.load_shader(shader).map_err(|source| {
                    let path = place.field("content").field("shader").field("source");
                    CompositorError::Shader {
                        place: path.to_string(),
                        source,
                    }
                })?;
            }
            let lut = layer.grade.as_ref().and_then(|grade| grade.lut.as_ref());
            if let Some(lut) = lut {
                self.load_lut(gpu, &lut.path).map_err(|source| {
                    let path = place.field("grade").field("lut").field("path");
                    CompositorError::Lut {
                        place: path.to_string(),
                        source,
                    }
                })?;
            }
            Ok(())
        })
    }

    fn load_lut(&mut self, gpu: &Gpu, path: &Path) -> Result<(), LoadLutError> {
        if self.luts.contains_key(path) {
            return Ok(());
        }
        let lut = CubeLut::load(&self.base_dir.join(path))?;
        let texture = LutTexture::new(gpu.device(), gpu.queue(), &lut.as_lut()).map_err(
            |LutOutOfMemory { bytes }| LoadLutError {
                path: self.base_dir.join(path),
                problem: LutProblem::OutOfGpuMemory { bytes },
            },
        )?;
        let asset = LutAsset {
            texture,
            id: next_texture_id(),
        };
        self.luts.insert(path.to_owned(), asset);
        Ok(())
    }

    fn load_shader(&mut self, shader: &Shader) -> Result<(), LoadShaderError> {
        if self.shader(shader).is_some() {
            return Ok(());
        }
        let checked = custom::load(shader, &self.base_dir)?;
        let members = custom::uniform_members(&shader.uniforms);
        let of_source = self.shaders.entry(shader.source.clone()).or_default();
        of_source.insert(members, Arc::new(checked));
        Ok(())
    }

    /// Lets go of all that the scene does not need.
    pub(crate) fn keep(&mut self, scene: &Scene) {
        let mut used = HashSet::new();
        let visited: Result<(), Infallible> = walk::layers(scene, &mut |visit, _| {
            if let Content::Shader(shader) = &visit.layer.content {
                used.extend(self.shader(shader).map(|checked| checked.id));
            }
            Ok(())
        });
        let Ok(()) = visited;
        self.shaders.retain(|_, of_source| {
            of_source.retain(|_, checked| used.contains(&checked.id));
            !of_source.is_empty()
        });
        let files: HashSet<_> = scene.files().into_iter().collect();
        self.images.retain(|path| files.contains(path));
        self.luts.retain(|path, _| files.contains(path.as_path()));
    }

    /// The size of an image in pixels. All images have been loaded before the first frame.
    pub(crate) fn image_size(&self, path: &Path) -> Size {
        self.images.size(path).unwrap_or(Size::new(0, 0))
    }

    /// What an image shows when `elapsed` has passed since its start.
    pub(crate) fn image(
        &mut self,
        gpu: &Gpu,
        path: &Path,
        elapsed: Time,
    ) -> Result<ImageTexture, LoadImageError> {
        self.images.texture(gpu, path, elapsed)
    }

    /// A text as it is at `time`.
    pub(crate) fn text(&mut self, text: &Text, time: Time) -> TextLayout {
        self.fonts.layout(text, time)
    }

    /// A shader; all have been loaded before the first frame.
    pub(crate) fn shader(&self, shader: &Shader) -> Option<Arc<CheckedShader>> {
        let members = custom::uniform_members(&shader.uniforms);
        self.shaders.get(&shader.source)?.get(&members).cloned()
    }

    /// The numbers of all shaders that are loaded.
    pub(crate) fn shader_ids(&self) -> HashSet<u64> {
        let shaders = self.shaders.values().flat_map(HashMap::values);
        shaders.map(|shader| shader.id).collect()
    }

    /// What fonts and characters could not be had.
    pub(crate) fn font_notices(&self) -> &[FontNotice] {
        self.fonts.notices()
    }

    /// A look-up table; all have been loaded before the first frame.
    pub(crate) fn lut(&self, path: &Path) -> Option<&LutAsset> {
        self.luts.get(path)
    }
}
