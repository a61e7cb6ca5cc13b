//! Scenes as data, drawn by a framefence [`Painter`](framefence::Painter).
//!
//! A [`Scene`] says what is to be seen and when: a canvas, a frame rate, a duration, and layers
//! whose properties are constants or keyframes. It is plain data, read from JSON or built in code.
//! A [`Compositor`] draws it. `docs/scene.md` describes the file format with pictures. With the
//! feature `schema`, `Scene::json_schema` gives it as a JSON Schema.
//!
//! Every frame follows from the scene and its time alone: nothing is carried from one frame to the
//! next, so frames may be drawn in any order, again, or in tiles, and come out the same.
//!
//! ```no_run
//! use framefence::{FrameRequest, Gpu, GpuOptions, Renderer, RendererOptions, Size};
//! use framefence_compositor::{Compositor, Scene};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gpu = Gpu::open(&GpuOptions::default())?;
//! let scene = Scene::load("film/scene.json")?;
//! let size = Size::new(scene.canvas.width, scene.canvas.height);
//! let time = scene.frame_rate.time_of(25).ok_or("too late")?;
//! let mut compositor = Compositor::new(&gpu, scene, "film")?;
//!
//! let renderer = Renderer::new(&gpu, RendererOptions::default())?;
//! let request = FrameRequest::new(25, time, size);
//! let frame = renderer.submit_now(&mut compositor, &request)?.wait()?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod animation;
mod assets;
mod backdrop;
mod color;
mod compositor;
mod content;
mod cost;
mod cube;
#[cfg(test)]
mod cube_reference;
mod custom;
mod easing;
mod effects;
mod evaluate;
mod exact;
mod frame_canvas;
mod gif_file;
mod graph;
mod image_error;
mod image_library;
mod known;
mod layer;
mod mipmap;
mod node;
mod picture;
mod pipelines;
mod place;
mod placement;
mod plan;
mod recording;
mod rect;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod spring;
mod submission;
mod surface_pool;
mod text;
mod text_textures;
mod texture;
mod texture_cache;
mod time;
mod timeline;
mod uniform_buffer;
mod uniforms;
mod validate;
mod walk;
mod webp_file;

pub use animation::{Animatable, Animated, Keyframe};
pub use color::{BlendSpace, Color, ParseColorError, PremultipliedColor};
pub use compositor::{Compositor, CompositorError, PaintError};
pub use content::{
    Clip, ConicGradient, Content, Direction, GradientStop, Group, ImageFile, LinearGradient,
    RadialGradient, Sequence, Shape, Solid, Stroke, StrokeAlign, Transition, TransitionKind,
};
pub use cost::FrameCost;
pub use cube::{
    LUT_1D_SIZES, LUT_3D_SIZES, LoadLutError, LutLineProblem, LutProblem, MAX_LUT_FILE_BYTES,
};
pub use custom::{
    LoadShaderError, MAX_OPERATIONS_IN_LOOPS, MAX_SHADER_BYTES, MAX_SHADER_OPERATIONS,
    MAX_UNIFORMS, MAX_VARIABLE_BYTES, Shader, ShaderProblem, ShaderSource, Uniform,
};
pub use easing::Easing;
pub use evaluate::MAX_LAYERS_IN_FRAME;
pub use image_error::{ImageProblem, LoadImageError, MAX_ANIMATION_FRAMES, MAX_DECODED_BYTES};
pub use layer::{
    BlendMode, Corners, Crop, Fit, FitMode, Grade, Layer, Lut, Mask, MaskChannel, MotionBlur,
    Shadow, Tilt,
};
pub use scene::{Canvas, LoadSceneError, MAX_SCENE_BYTES, Scene, SceneError};
pub use spring::Spring;
pub use text::{
    FontFamilies, FontFamily, FontNotice, FontProblem, MAX_FONT_FAMILIES, MAX_TEXT_BYTES, Text,
    TextAlign, TextBackground, TextOutline, WordHighlight, WordTime,
};
pub use validate::{
    InvalidValue, MAX_BLUR, MAX_CANVAS_SIDE, MAX_DURATION_SECONDS, MAX_GRADIENT_STOPS,
    MAX_GROUP_DEPTH, MAX_MASK_CHAIN, MAX_MOTION_SAMPLES,
};
