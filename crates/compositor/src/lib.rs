//! Scenes as data, drawn by a framefence [`Painter`](framefence::Painter).
//!
//! A [`Scene`] says what is to be seen and when: a canvas, a frame rate, a duration, and layers
//! whose properties are constants or keyframes. It is plain data, read from JSON or built in code.
//! A [`Compositor`] draws it. `docs/scene.md` describes the file format with an example.
//!
//! Every frame follows from the scene and its time alone: nothing is carried from one frame to the
//! next, so frames may be drawn in any order, again, or in tiles, and come out the same.

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
mod uniforms;
mod validate;

pub use animation::{Animatable, Animated, Keyframe};
pub use color::{Color, ParseColorError, PremultipliedColor};
pub use compositor::{Compositor, CompositorError, PaintError};
pub use easing::Easing;
pub use picture::{ImageProblem, LoadImageError, MAX_DECODED_BYTES};
pub use scene::{
    Canvas, Content, GradientStop, ImageFile, Layer, LinearGradient, LoadSceneError, Scene,
    SceneError, Solid,
};
pub use validate::{InvalidValue, MAX_CANVAS_SIDE, MAX_DURATION_SECONDS, MAX_GRADIENT_STOPS};
