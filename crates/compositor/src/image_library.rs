//! The images of a scene.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use framefence::{Gpu, Size, Time};

use crate::color::BlendSpace;
use crate::image_error::{ImageProblem, LoadImageError};
use crate::picture::{AnimatedPicture, DecodedImage};
use crate::texture::{ImageTexture, TextureBindings};
use crate::texture_cache::TextureCache;

/// How much GPU memory the frames of all animated pictures together may keep: 12 s of 25 frames of
/// 320 × 240 pixels, or 12 frames of 1920 × 1080.
const FRAME_TEXTURES_BUDGET_BYTES: u64 = 128 << 20;

/// Every image of a scene, by its path in the scene, each file loaded once.
///
/// A still picture becomes a texture when it is loaded. An animated one is decoded then and kept in
/// main memory, whole; a frame becomes a texture when it is first shown, and the textures that have
/// not been shown for longest are given up when there are too many.
#[derive(Debug)]
pub(crate) struct ImageLibrary {
    bindings: TextureBindings,
    base_dir: PathBuf,
    blend_space: BlendSpace,
    images: HashMap<PathBuf, LibraryImage>,
    /// Frames of animated pictures, by path and frame.
    frame_textures: TextureCache<(PathBuf, usize), ImageTexture>,
}

#[derive(Debug)]
enum LibraryImage {
    Still(ImageTexture),
    Animated(AnimatedPicture),
}

impl ImageLibrary {
    /// An empty library. Relative paths start at `base_dir`; textures are made to be blended in
    /// `blend_space`.
    pub(crate) fn new(
        bindings: TextureBindings,
        base_dir: PathBuf,
        blend_space: BlendSpace,
    ) -> Self {
        Self {
            bindings,
            base_dir,
            blend_space,
            images: HashMap::new(),
            frame_textures: TextureCache::new(FRAME_TEXTURES_BUDGET_BYTES),
        }
    }

    pub(crate) fn bindings(&self) -> &TextureBindings {
        &self.bindings
    }

    /// Loads an image, unless it is there already. Blocks until it is decoded.
    pub(crate) fn load(&mut self, gpu: &Gpu, path: &Path) -> Result<(), LoadImageError> {
        if self.images.contains_key(path) {
            return Ok(());
        }
        let image = self
            .read(gpu, path)
            .map_err(|problem| self.error(path, problem))?;
        self.images.insert(path.to_owned(), image);
        Ok(())
    }

    /// Lets go of all images but those that `keep` says yes to.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Path) -> bool) {
        self.images.retain(|path, _| keep(path));
        self.frame_textures.retain(|(path, _)| keep(path));
    }

    /// The size of a loaded image in pixels, upright.
    pub(crate) fn size(&self, path: &Path) -> Option<Size> {
        self.images.get(path).map(|image| match image {
            LibraryImage::Still(texture) => texture.size,
            LibraryImage::Animated(animation) => animation.size(),
        })
    }

    /// What the image shows when `elapsed` has passed since its start. An image that has not been
    /// loaded is loaded now.
    ///
    /// The texture lives as long as somebody holds it, whatever the library gives up meanwhile.
    pub(crate) fn texture(
        &mut self,
        gpu: &Gpu,
        path: &Path,
        elapsed: Time,
    ) -> Result<ImageTexture, LoadImageError> {
        self.load(gpu, path)?;
        let animation = match &self.images[path] {
            LibraryImage::Still(texture) => return Ok(texture.clone()),
            LibraryImage::Animated(animation) => animation,
        };
        let frame = animation.timeline.frame_at(elapsed);
        let key = (path.to_owned(), frame);
        if let Some(texture) = self.frame_textures.get(&key) {
            return Ok(texture);
        }
        let texture = self
            .bindings
            .upload(gpu, &animation.frames[frame], self.blend_space)
            .map_err(|problem| self.error(path, problem))?;
        self.frame_textures
            .insert(key, texture.clone(), texture.gpu_bytes);
        Ok(texture)
    }

    fn read(&self, gpu: &Gpu, path: &Path) -> Result<LibraryImage, ImageProblem> {
        match DecodedImage::load(&self.base_dir.join(path))? {
            DecodedImage::Still(picture) => self
                .bindings
                .upload(gpu, &picture, self.blend_space)
                .map(LibraryImage::Still),
            DecodedImage::Animated(animation) => Ok(LibraryImage::Animated(animation)),
        }
    }

    fn error(&self, path: &Path, problem: ImageProblem) -> LoadImageError {
        LoadImageError {
            path: self.base_dir.join(path),
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use gif::{Encoder, Frame};

    use super::*;
    use crate::pipelines::Pipelines;

    /// A picture of 2 × 1 pixels, red for 100 ms and green then, and its folder.
    fn red_and_green() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("moving.gif")).unwrap();
        let mut encoder = Encoder::new(file, 2, 1, &[255, 0, 0, 0, 255, 0]).unwrap();
        for color in 0..2 {
            let frame = Frame {
                delay: 10,
                width: 2,
                height: 1,
                buffer: vec![color; 2].into(),
                ..Frame::default()
            };
            encoder.write_frame(&frame).unwrap();
        }
        folder
    }

    fn library(gpu: &Gpu, folder: &Path) -> ImageLibrary {
        let layout = Pipelines::new(gpu.device()).layouts().sampled.clone();
        let bindings = TextureBindings::new(gpu.device(), layout);
        ImageLibrary::new(bindings, folder.to_owned(), BlendSpace::Srgb)
    }

    #[test]
    fn a_frame_becomes_a_texture_once_while_there_is_room() {
        let gpu = framefence_tests::gpu();
        let folder = red_and_green();
        let mut library = library(&gpu, folder.path());
        let path = Path::new("moving.gif");
        let shown = |library: &mut ImageLibrary, time_ms| {
            let elapsed = Time::from_ratio(time_ms, 1000);
            library.texture(&gpu, path, elapsed).unwrap().bind_group
        };

        let red = shown(&mut library, 0);
        let green = shown(&mut library, 100);
        assert_ne!(red, green);
        assert_eq!(shown(&mut library, 50), red);
        assert_eq!(shown(&mut library, 5000), green);

        // Two pixels and their average: room for one frame.
        library.frame_textures = TextureCache::new(12);
        let red = shown(&mut library, 0);
        assert_eq!(shown(&mut library, 1), red);
        shown(&mut library, 100);
        assert_ne!(shown(&mut library, 0), red);
    }

    #[test]
    fn an_image_that_is_let_go_is_read_again() {
        let gpu = framefence_tests::gpu();
        let folder = red_and_green();
        let mut library = library(&gpu, folder.path());
        let path = Path::new("moving.gif");
        library.load(&gpu, path).unwrap();
        library.texture(&gpu, path, Time::ZERO).unwrap();
        assert_eq!(library.size(path), Some(Size::new(2, 1)));

        fs::write(folder.path().join("moving.gif"), "").unwrap();
        library.retain(|kept| kept == path);
        library.load(&gpu, path).unwrap();

        library.retain(|_| false);
        assert_eq!(library.size(path), None);
        let error = library.texture(&gpu, path, Time::ZERO).unwrap_err();
        assert!(matches!(error.problem, ImageProblem::Empty));
        assert_eq!(error.path, folder.path().join("moving.gif"));
    }
}
