//! Draws scenes.

use std::path::PathBuf;

use framefence::{FrameView, Gpu, PaintContext, Painter, PainterError, SubmitOrder, Targets};

use crate::assets::Assets;
use crate::cost::FrameCost;
use crate::cube::LoadLutError;
use crate::custom::LoadShaderError;
use crate::evaluate::{MAX_LAYERS_IN_FRAME, evaluate};
use crate::graph::Graph;
use crate::image_error::LoadImageError;
use crate::pipelines::{Pipelines, TARGET_FORMATS};
use crate::plan::Planner;
use crate::scene::Scene;
use crate::text::FontNotice;
use crate::text_textures::TextTextures;
use crate::texture::TextureBindings;
use crate::validate::InvalidValue;

/// Draws a [`Scene`] into targets of the formats `Rgba8Unorm` and `Bgra8Unorm`.
///
/// Colours are blended in the scene's [`BlendSpace`](crate::BlendSpace) with alpha multiplied in, and delivered as
/// sRGB-encoded values, alpha multiplied in. A frame of another size than the canvas shows the
/// canvas as large as fits, in the middle; what remains beside it shows the background and whatever
/// layers reach beyond the canvas.
///
/// A layer that is not seen (outside its time, of no size, with opacity 0, off the target, or
/// behind an opaque one) costs nothing. Others are a draw each, and a few more for each effect.
/// What an effect or a group has drawn is kept until the frame after: where all that decides it
/// stays the same, it is not drawn again. Neither are the layers beneath the lowest one that
/// changes. Frames of several renderers in turn are all drawn whole: what one has drawn, another
/// cannot rely on.
#[derive(Debug)]
pub struct Compositor {
    scene: Scene,
    assets: Assets,
    pipelines: Pipelines,
    text_textures: TextTextures,
    graph: Graph,
    /// The frames that what the graph keeps can be relied on in.
    order: Option<SubmitOrder>,
    last_cost: FrameCost,
}

/// Why a scene cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompositorError {
    /// A value in the scene cannot be drawn.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// An image cannot be used.
    #[error("{place}")]
    Image {
        /// The path of the first value in the scene that names it, such as
        /// `layers[2].content.image.path`.
        place: String,
        /// The file and what is wrong with it.
        source: LoadImageError,
    },
    /// A look-up table cannot be used.
    #[error("{place}")]
    Lut {
        /// The path of the first value in the scene that names it.
        place: String,
        /// The file and what is wrong with it.
        source: LoadLutError,
    },
    /// A shader cannot be used.
    #[error("{place}")]
    Shader {
        /// The path of its source in the scene, such as `layers[2].content.shader.source`.
        place: String,
        /// Where in the source, and what is wrong with it.
        source: LoadShaderError,
    },
}

/// Why the compositor cannot draw a frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaintError {
    /// A colour target of another format.
    #[error("the compositor cannot draw into {format:?}; it can draw into {supported:?}")]
    UnsupportedFormat {
        /// The target's format.
        format: wgpu::TextureFormat,
        /// The formats that it can draw into.
        supported: &'static [wgpu::TextureFormat],
    },
    /// A depth or id target.
    #[error("the compositor draws colours only; {target} was asked for")]
    UnsupportedTarget {
        /// What was asked for.
        target: &'static str,
    },
    /// A group or an effect reaches over more pixels than a texture can hold.
    #[error(
        "a layer with effects needs a surface of {width} × {height} pixels; the device's textures have at most {max_side} on a side, and surfaces less than 2 GiB at 8 bytes a pixel"
    )]
    SurfaceTooLarge {
        /// The columns that are needed.
        width: i32,
        /// The rows.
        height: i32,
        /// The most of either.
        max_side: i32,
    },
    /// The frame shows more layers than are drawn.
    #[error(
        "the frame shows more than {MAX_LAYERS_IN_FRAME} layers, masks and the samples of motion blurs counted"
    )]
    TooManyLayers,
    /// Effects lie in each other so deep, or on so many layers, that the frame cannot be planned.
    #[error(
        "the frame's groups and effects need more surfaces or draws than a frame can have: {surfaces} and {draws} were planned when it was given up"
    )]
    TooManySurfaces {
        /// The surfaces that were planned.
        surfaces: usize,
        /// The draws that were planned.
        draws: usize,
    },
    /// A frame of an animated picture cannot be shown.
    #[error(transparent)]
    Image(#[from] LoadImageError),
}

impl Compositor {
    /// Validates the scene and loads its files. Relative paths start at `base_dir`: for a scene
    /// file, its folder.
    ///
    /// Blocks until all images are decoded, so it is not for a UI thread. Each path is loaded once,
    /// however many layers show it. A picture larger than the device's textures is halved until it
    /// fits.
    ///
    /// # Errors
    ///
    /// If a value of the scene cannot be drawn, or a file cannot be used.
    pub fn new(
        gpu: &Gpu,
        scene: Scene,
        base_dir: impl Into<PathBuf>,
    ) -> Result<Self, CompositorError> {
        scene.validate()?;
        let device = gpu.device();
        let pipelines = Pipelines::new(device);
        let bindings = TextureBindings::new(device, pipelines.layouts().sampled.clone());
        let mut assets = Assets::new(bindings, base_dir.into(), scene.blend_space);
        assets.load(gpu, &scene)?;
        Ok(Self {
            scene,
            assets,
            text_textures: TextTextures::default(),
            graph: Graph::new(device, &pipelines),
            order: None,
            pipelines,
            last_cost: FrameCost::default(),
        })
    }

    /// The scene that is drawn.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The fonts and characters that texts ask for and that could not be had so far, each with what
    /// is used instead. Each is logged once as a warning, too.
    ///
    /// Fonts are looked for as a scene is loaded; characters that only a later moment shows may be
    /// missed later.
    #[must_use]
    pub fn font_notices(&self) -> &[FontNotice] {
        self.assets.font_notices()
    }

    /// What the last frame took, all of its targets together; of a frame that failed, what was
    /// recorded until then. Nothing before the first frame.
    #[must_use]
    pub fn last_cost(&self) -> FrameCost {
        self.last_cost
    }

    /// Draws another scene from now on. Files that both scenes need are kept as they were loaded;
    /// the others are loaded or let go. `gpu` is the one that the compositor was made with.
    ///
    /// Blocks until all new images are decoded.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); the compositor then still draws the scene it had.
    pub fn set_scene(&mut self, gpu: &Gpu, scene: Scene) -> Result<(), CompositorError> {
        scene.validate()?;
        if scene.blend_space == self.assets.blend_space() {
            let loaded = self.assets.load(gpu, &scene);
            if loaded.is_ok() {
                self.scene = scene;
            }
            self.assets.keep(&self.scene);
            self.pipelines.keep(&self.assets.shader_ids());
            return loaded;
        }
        let mut assets = self.assets.emptied(scene.blend_space);
        assets.load(gpu, &scene)?;
        self.assets = assets;
        self.scene = scene;
        self.pipelines.keep(&self.assets.shader_ids());
        Ok(())
    }

    fn plan(
        &mut self,
        gpu: &Gpu,
        view: &FrameView,
        target_format: wgpu::TextureFormat,
    ) -> Result<(), PaintError> {
        let nodes = evaluate(&self.scene, gpu, &mut self.assets, view)?;
        let blend_space = self.scene.blend_space;
        let background = blend_space.encode(self.scene.canvas.background.at(view.time));
        let [r, g, b, a] = background.to_array();
        self.graph.clear();
        Planner {
            gpu,
            graph: &mut self.graph,
            pipelines: &mut self.pipelines,
            text_textures: &mut self.text_textures,
            blend_space,
            target_format,
            canvas: None,
        }
        .frame(&nodes, wgpu::Color { r, g, b, a }, view)
    }
}

impl Painter for Compositor {
    /// True: every frame begins with the background.
    fn overwrites_targets(&self) -> bool {
        true
    }

    /// Draws the scene at the view's time into every colour target.
    ///
    /// # Errors
    ///
    /// [`PaintError`], if there are targets that the compositor cannot draw into, or the scene at
    /// this time is more than can be drawn.
    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        self.last_cost = FrameCost::default();
        check_targets(&context.targets)?;
        if self.order != Some(context.order) {
            // Frames of another order may not have been submitted yet: neither what they draw nor
            // the memory that they read is there for this one.
            self.graph = Graph::new(context.gpu.device(), &self.pipelines);
            self.order = Some(context.order);
        }
        for target in context.targets.colors {
            self.plan(context.gpu, &context.view, target.format)?;
            self.last_cost +=
                self.graph
                    .record(context.gpu, context.encoder, &self.pipelines, &target.view);
        }
        self.text_textures.trim();
        Ok(())
    }
}

fn check_targets(targets: &Targets<'_>) -> Result<(), PaintError> {
    for (target, asked_for) in [("depth", targets.depth), ("ids", targets.ids)] {
        if asked_for.is_some() {
            return Err(PaintError::UnsupportedTarget { target });
        }
    }
    let unsupported = targets
        .colors
        .iter()
        .find(|target| !TARGET_FORMATS.contains(&target.format));
    match unsupported {
        Some(target) => Err(PaintError::UnsupportedFormat {
            format: target.format,
            supported: TARGET_FORMATS,
        }),
        None => Ok(()),
    }
}
