//! Draws scenes.

use std::collections::HashMap;
use std::path::PathBuf;

use framefence::{ColorTarget, FrameView, Gpu, PaintContext, Painter, PainterError, Targets, Time};
use glam::DVec2;

use crate::animation::Animated;
use crate::picture::LoadImageError;
use crate::pipelines::{ContentShader, LayerShader, PipelineKey, Pipelines, TARGET_FORMATS};
use crate::placement::{CanvasFit, LayerGeometry};
use crate::scene::{Content, Layer, Scene};
use crate::texture::{ImageTexture, TextureBindings};
use crate::uniform_buffer::UniformBuffer;
use crate::uniforms::{GradientUniforms, ImageUniforms, LayerUniforms, SolidUniforms};
use crate::validate::InvalidValue;

/// Draws a [`Scene`] into targets of the formats `Rgba8Unorm` and `Bgra8Unorm`.
///
/// Colours are blended as sRGB-encoded values with alpha multiplied in, and so they are delivered:
/// the output is premultiplied. A frame of another size than the canvas shows the canvas as large
/// as fits, in the middle; what remains beside it shows the background and whatever layers reach
/// beyond the canvas.
///
/// A layer that is not seen — outside its time, of no size, with opacity 0, or off the target —
/// costs nothing. All others are one draw each.
#[derive(Debug)]
pub struct Compositor {
    scene: Scene,
    base_dir: PathBuf,
    /// Every image of the scene, by its path in the scene.
    textures: HashMap<PathBuf, ImageTexture>,
    bindings: TextureBindings,
    pipelines: Pipelines,
    uniforms: UniformBuffer,
    /// The draws of the frame that is being painted; kept for its memory.
    draws: Vec<Draw>,
}

/// What is drawn with one slot of the uniform buffer.
#[derive(Debug)]
struct Draw {
    shader: LayerShader,
    /// The picture, if the shader shows one.
    texture: Option<wgpu::BindGroup>,
}

/// Why a scene cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompositorError {
    /// A value in the scene cannot be drawn.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// An image cannot be used.
    #[error("layers[{layer}].content.image.path")]
    Image {
        /// The index of the first layer that shows it.
        layer: usize,
        /// The file and what is wrong with it.
        source: LoadImageError,
    },
}

/// Why the compositor cannot draw into the targets that it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
}

impl Compositor {
    /// Validates the scene and loads its images. Relative image paths start at `base_dir`: for a
    /// scene file, its folder.
    ///
    /// Blocks until all images are decoded, so it is not for a UI thread. Each path is loaded once,
    /// however many layers show it. A picture larger than the device's textures is halved until it
    /// fits.
    ///
    /// # Errors
    ///
    /// If a value of the scene cannot be drawn, or an image cannot be used.
    pub fn new(
        gpu: &Gpu,
        scene: Scene,
        base_dir: impl Into<PathBuf>,
    ) -> Result<Self, CompositorError> {
        scene.validate()?;
        let device = gpu.device();
        let bindings = TextureBindings::new(device);
        let pipelines = Pipelines::new(device, &bindings);
        let uniforms = UniformBuffer::new(device, pipelines.layer_layout());
        let mut compositor = Self {
            scene,
            base_dir: base_dir.into(),
            textures: HashMap::new(),
            bindings,
            pipelines,
            uniforms,
            draws: Vec::new(),
        };
        compositor.textures = compositor.load_textures(gpu, &compositor.scene)?;
        Ok(compositor)
    }

    /// The scene that is drawn.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Draws another scene from now on. Images that both scenes show are kept as they were loaded;
    /// the others are loaded or let go. `gpu` is the one that the compositor was made with.
    ///
    /// Blocks until all new images are decoded.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); the compositor then still draws the scene it had.
    pub fn set_scene(&mut self, gpu: &Gpu, scene: Scene) -> Result<(), CompositorError> {
        scene.validate()?;
        self.textures = self.load_textures(gpu, &scene)?;
        self.scene = scene;
        Ok(())
    }

    fn load_textures(
        &self,
        gpu: &Gpu,
        scene: &Scene,
    ) -> Result<HashMap<PathBuf, ImageTexture>, CompositorError> {
        let mut textures: HashMap<PathBuf, ImageTexture> = HashMap::new();
        for (index, layer) in scene.layers.iter().enumerate() {
            let Content::Image(image) = &layer.content else {
                continue;
            };
            if textures.contains_key(&image.path) {
                continue;
            }
            let texture = match self.textures.get(&image.path) {
                Some(texture) => texture.clone(),
                None => self
                    .bindings
                    .load(gpu, &self.base_dir.join(&image.path))
                    .map_err(|source| CompositorError::Image {
                        layer: index,
                        source,
                    })?,
            };
            textures.insert(image.path.clone(), texture);
        }
        Ok(textures)
    }

    /// Makes the draws of the layers that are seen in `view`, and hands their uniforms to the
    /// queue.
    fn plan(&mut self, gpu: &Gpu, view: &FrameView) {
        self.uniforms.clear();
        self.draws.clear();
        let canvas = &self.scene.canvas;
        let canvas_size = DVec2::new(f64::from(canvas.width), f64::from(canvas.height));
        let fit = CanvasFit::new(canvas_size, view);
        for layer in &self.scene.layers {
            let opacity = layer.opacity.at(view.time).clamp(0.0, 1.0);
            if opacity == 0.0 || !layer.is_active(view.time) {
                continue;
            }
            let geometry = geometry(layer, &self.textures, canvas_size, view.time);
            let frame_box = fit.place(&geometry);
            let Some(bounds) = frame_box.bounds_in(view) else {
                continue;
            };
            let origin = fit.origin(&frame_box);
            let place = LayerUniforms::new(&frame_box, origin, &bounds, view);
            let content = frame_box.content_map(origin.as_dvec2());
            let mut texture = None;
            let shader = match &layer.content {
                Content::Solid(solid) => {
                    let color = solid.color.at(view.time).faded(opacity);
                    self.uniforms.push(&place, &SolidUniforms::new(color));
                    ContentShader::Solid
                }
                Content::LinearGradient(gradient) => {
                    let paint = GradientUniforms::new(
                        gradient,
                        view.time,
                        opacity,
                        geometry.content_size,
                        &content,
                    );
                    self.uniforms.push(&place, &paint);
                    ContentShader::LinearGradient {
                        span_count: gradient.stops.len() as u8 - 1,
                    }
                }
                Content::Image(image) => {
                    let picture = &self.textures[&image.path];
                    let paint = ImageUniforms::new(&content, picture.texture_size, opacity);
                    self.uniforms.push(&place, &paint);
                    texture = Some(picture.bind_group.clone());
                    ContentShader::Image {
                        many_taps: paint.has_many_taps(),
                    }
                }
            };
            self.draws.push(Draw {
                shader: LayerShader {
                    content: shader,
                    covers_bounds: bounds.covered,
                },
                texture,
            });
        }
        self.uniforms
            .upload(gpu.device(), gpu.queue(), self.pipelines.layer_layout());
    }

    fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &ColorTarget,
        time: Time,
    ) {
        let [r, g, b, a] = self.scene.canvas.background.at(time).0;
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("compositor"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        for (slot, draw) in self.draws.iter().enumerate() {
            let key = PipelineKey {
                target: target.format,
                shader: draw.shader,
            };
            pass.set_pipeline(self.pipelines.get(gpu.device(), key));
            if let Some(texture) = &draw.texture {
                pass.set_bind_group(1, texture, &[]);
            }
            pass.set_bind_group(0, self.uniforms.bind_group(), &UniformBuffer::offsets(slot));
            pass.draw(0..4, 0..1);
        }
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
    /// [`PaintError`], if there are targets that the compositor cannot draw into.
    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        check_targets(&context.targets)?;
        self.plan(context.gpu, &context.view);
        for target in context.targets.colors {
            self.record(context.gpu, context.encoder, target, context.view.time);
        }
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

/// The layer's geometry at `time`. Sizes and positions that it leaves open follow from the canvas.
fn geometry(
    layer: &Layer,
    textures: &HashMap<PathBuf, ImageTexture>,
    canvas_size: DVec2,
    time: Time,
) -> LayerGeometry {
    let box_size = |size: &Option<Animated<[f64; 2]>>| match size {
        // An overshoot between keyframes may go below nothing.
        Some(size) => DVec2::from(size.at(time)).max(DVec2::ZERO),
        None => canvas_size,
    };
    let content_size = match &layer.content {
        Content::Solid(solid) => box_size(&solid.size),
        Content::LinearGradient(gradient) => box_size(&gradient.size),
        Content::Image(image) => {
            let size = textures[&image.path].size;
            DVec2::new(f64::from(size.width), f64::from(size.height))
        }
    };
    let position = match &layer.position {
        Some(position) => position.at(time).into(),
        None => canvas_size / 2.0,
    };
    LayerGeometry {
        content_size,
        position,
        anchor: layer.anchor.at(time).into(),
        scale: layer.scale.at(time).into(),
        rotation_degrees: layer.rotation.at(time),
    }
}
