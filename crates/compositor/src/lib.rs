//! Scenes as data, drawn by a framefence [`Painter`](framefence::Painter).
//!
//! A [`Scene`] says what is to be seen and when: a canvas, a frame rate, a duration, and layers
//! whose properties are constants or keyframes. It is plain data, read from JSON or built in code.
//! A [`Compositor`] draws it. `docs/scene.md` describes the file format with an example.
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
mod color;
mod compositor;
mod easing;
mod exact;
mod mipmap;
mod picture;
mod pipelines;
mod placement;
mod scene;
mod texture;
mod uniform_buffer;
mod uniforms;
mod validate;

pub use animation::{Animatable, Animated, Keyframe};
pub use color::{Color, ParseColorError, PremultipliedColor};
pub use compositor::{Compositor, CompositorError, PaintError};
pub use easing::Easing;
pub use picture::{ImageProblem, LoadImageError, MAX_DECODED_BYTES};
pub use scene::{
    Canvas, Content, GradientStop, ImageFile, Layer, LinearGradient, LoadSceneError,
    MAX_SCENE_BYTES, Scene, SceneError, Solid,
};
pub use validate::{InvalidValue, MAX_CANVAS_SIDE, MAX_DURATION_SECONDS, MAX_GRADIENT_STOPS};
