//! What is to be drawn, as data.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use framefence::{FrameRate, Time};
use serde::{Deserialize, Serialize};

use crate::animation::Animated;
use crate::color::Color;
use crate::exact;
use crate::validate::{self, InvalidValue};

/// The most bytes that a scene file may have: far more than scenes need, and little enough to read.
pub const MAX_SCENE_BYTES: u64 = 64 << 20;

/// A canvas, its duration, and the layers on it.
///
/// All fields are public so that an editor can build and change scenes in code;
/// [`validate`](Self::validate) says whether one can be drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// The version of the format: [`Scene::VERSION`].
    pub version: u32,
    /// What the layers lie on.
    pub canvas: Canvas,
    /// Frames per second.
    #[serde(with = "exact::frame_rate")]
    pub frame_rate: FrameRate,
    /// How long the scene lasts, in seconds; more than 0.
    #[serde(with = "exact::seconds")]
    pub duration: Time,
    /// The layers from the lowest to the topmost.
    #[serde(default)]
    pub layers: Vec<Layer>,
}

/// What the layers lie on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canvas {
    /// Width in pixels, 1 to [`MAX_CANVAS_SIDE`](crate::MAX_CANVAS_SIDE).
    #[serde(deserialize_with = "exact::pixels")]
    pub width: u32,
    /// Height in pixels, 1 to [`MAX_CANVAS_SIDE`](crate::MAX_CANVAS_SIDE).
    #[serde(deserialize_with = "exact::pixels")]
    pub height: u32,
    /// What shows where no layer is; opaque black unless given.
    #[serde(default = "defaults::background")]
    pub background: Animated<Color>,
}

/// A picture on the canvas, for part of the scene's time.
///
/// A layer is a box of the size of its content. The point `anchor` of the box lies at `position` on
/// the canvas; the box is scaled and then rotated about that point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// A name for people; the compositor makes no use of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What is seen.
    pub content: Content,
    /// The first time at which the layer is seen, in seconds from the start of the scene; 0 unless
    /// given.
    #[serde(with = "exact::seconds", default)]
    pub in_point: Time,
    /// The first time at which the layer is no longer seen, later than `in_point`; without it the
    /// layer is seen to the end.
    #[serde(
        with = "exact::seconds::option",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub out_point: Option<Time>,
    /// Where the anchor lies, in pixels of the canvas from its top left corner, x to the right and
    /// y downwards; the middle of the canvas unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Animated<[f64; 2]>>,
    /// The point of the layer that lies at `position`, in parts of its width and height: `[0, 0]`
    /// is the top left corner, `[1, 1]` the bottom right one; the middle unless given.
    #[serde(default = "defaults::middle")]
    pub anchor: Animated<[f64; 2]>,
    /// Canvas pixels for a pixel of the layer, along the layer's own axes; negative mirrors. 1
    /// unless given.
    #[serde(default = "defaults::natural_scale")]
    pub scale: Animated<[f64; 2]>,
    /// Degrees clockwise, not limited to one turn; 0 unless given.
    #[serde(default = "defaults::upright")]
    pub rotation: Animated<f64>,
    /// 0 is invisible, 1 as opaque as the content; 1 unless given. Between keyframes that
    /// overshoot it stays within these bounds.
    #[serde(default = "defaults::opaque")]
    pub opacity: Animated<f64>,
}

/// What is seen in a layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// One colour.
    Solid(Solid),
    /// Colours that change along a line.
    LinearGradient(LinearGradient),
    /// A picture from a file. The layer has the picture's size, in its upright orientation.
    Image(ImageFile),
}

/// A box of one colour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Solid {
    /// Width and height in pixels; those of the canvas unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Animated<[f64; 2]>>,
    /// The colour.
    pub color: Animated<Color>,
}

/// A box of colours that change along the line from `start` to `end` and are constant across it,
/// that is, along its perpendiculars in the layer's own pixels. Before the first stop and after the
/// last one the colour goes on.
///
/// Colours are mixed as sRGB-encoded values with alpha multiplied in, without dithering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearGradient {
    /// Width and height in pixels; those of the canvas unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Animated<[f64; 2]>>,
    /// Where offset 0 lies, in parts of the box's width and height; the middle of the top edge
    /// unless given.
    #[serde(default = "defaults::top")]
    pub start: Animated<[f64; 2]>,
    /// Where offset 1 lies, in the same measure; the middle of the bottom edge unless given. Where
    /// it coincides with `start`, the whole box has the last stop's colour.
    #[serde(default = "defaults::bottom")]
    pub end: Animated<[f64; 2]>,
    /// The colours along the line, 2 to [`MAX_GRADIENT_STOPS`](crate::MAX_GRADIENT_STOPS). An
    /// offset below an earlier one counts as equal to it; at equal offsets the colour jumps.
    pub stops: Vec<GradientStop>,
}

/// A colour on a gradient's line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradientStop {
    /// The place on the line: 0 is its start, 1 its end.
    pub offset: Animated<f64>,
    /// The colour there.
    pub color: Animated<Color>,
}

/// A picture from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageFile {
    /// A PNG or JPEG file; a relative path starts at the folder of the scene file.
    pub path: PathBuf,
}

impl Scene {
    /// The version of the format that this crate reads and writes.
    pub const VERSION: u32 = 1;

    /// A black scene without layers.
    #[must_use]
    pub fn new(width: u32, height: u32, frame_rate: FrameRate, duration: Time) -> Self {
        Self {
            version: Self::VERSION,
            canvas: Canvas {
                width,
                height,
                background: defaults::background(),
            },
            frame_rate,
            duration,
            layers: Vec::new(),
        }
    }

    /// Reads a scene from JSON and validates it.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its place in the text or its path in the scene.
    pub fn from_json(text: &str) -> Result<Self, SceneError> {
        /// A later version is to be named as such, not by the first field that is new in it.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }

        if let Ok(Versioned { version }) = serde_json::from_str(text)
            && version != Self::VERSION
        {
            return Err(SceneError::Version { version });
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let scene: Self = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(SceneError::from_located)?;
        deserializer.end().map_err(SceneError::Syntax)?;
        scene.validate()?;
        Ok(scene)
    }

    /// Reads a scene file and validates the scene. Image paths in it are relative to the file's
    /// folder, which the caller hands to the compositor.
    ///
    /// # Errors
    ///
    /// If the path is not that of a file, the file cannot be read or has more than
    /// [`MAX_SCENE_BYTES`](crate::MAX_SCENE_BYTES), or for what [`from_json`](Self::from_json) refuses.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadSceneError> {
        let path = path.as_ref();
        let read_error = |source| LoadSceneError::Read {
            path: path.to_owned(),
            source,
        };
        // Looked at before it is opened: opening a pipe waits for somebody to write to it.
        let metadata = fs::metadata(path).map_err(read_error)?;
        if !metadata.is_file() {
            return Err(LoadSceneError::NotAFile {
                path: path.to_owned(),
            });
        }
        if metadata.len() > MAX_SCENE_BYTES {
            return Err(LoadSceneError::TooLarge {
                path: path.to_owned(),
                file_bytes: metadata.len(),
            });
        }
        let text = fs::read_to_string(path).map_err(read_error)?;
        Self::from_json(&text).map_err(|source| LoadSceneError::Scene {
            path: path.to_owned(),
            source,
        })
    }

    /// Checks all that the types leave open: ranges, finite numbers, the order of keyframes.
    ///
    /// # Errors
    ///
    /// The first value, in the order of the fields, that cannot be drawn.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        validate::scene(self)
    }

    /// The number of frames in the scene.
    #[must_use]
    pub fn frame_count(&self) -> u64 {
        self.frame_rate.frames_in(self.duration)
    }
}

impl Layer {
    /// A layer with `content` that is seen all the time, as it is, in the middle of the canvas.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self {
            name: String::new(),
            content,
            in_point: Time::ZERO,
            out_point: None,
            position: None,
            anchor: defaults::middle(),
            scale: defaults::natural_scale(),
            rotation: defaults::upright(),
            opacity: defaults::opaque(),
        }
    }

    /// Whether the layer is seen at `time`.
    #[must_use]
    pub fn is_active(&self, time: Time) -> bool {
        time >= self.in_point && self.out_point.is_none_or(|out_point| time < out_point)
    }
}

impl LinearGradient {
    /// A gradient from top to bottom that fills the canvas.
    #[must_use]
    pub fn new(stops: Vec<GradientStop>) -> Self {
        Self {
            size: None,
            start: defaults::top(),
            end: defaults::bottom(),
            stops,
        }
    }
}

mod defaults {
    use super::{Animated, Color};

    pub(super) fn background() -> Animated<Color> {
        Color::BLACK.into()
    }

    pub(super) fn middle() -> Animated<[f64; 2]> {
        [0.5, 0.5].into()
    }

    pub(super) fn natural_scale() -> Animated<[f64; 2]> {
        [1.0, 1.0].into()
    }

    pub(super) fn upright() -> Animated<f64> {
        0.0.into()
    }

    pub(super) fn opaque() -> Animated<f64> {
        1.0.into()
    }

    pub(super) fn top() -> Animated<[f64; 2]> {
        [0.5, 0.0].into()
    }

    pub(super) fn bottom() -> Animated<[f64; 2]> {
        [0.5, 1.0].into()
    }
}

/// Why a text is not a scene.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The text is not JSON; the source says where it stops being so.
    #[error("the scene is not valid JSON")]
    Syntax(#[source] serde_json::Error),
    /// A field is unknown, missing, or of the wrong kind.
    #[error("{path}")]
    Field {
        /// The path of the value in the scene, such as `layers[2].opacity`.
        path: String,
        /// What was found, what is allowed, and the line.
        source: serde_json::Error,
    },
    /// The scene is of a version that this crate does not know.
    #[error(
        "the scene is of version {version}; this program reads version {}",
        Scene::VERSION
    )]
    Version {
        /// The version it names.
        version: u32,
    },
    /// A value cannot be drawn.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
}

impl SceneError {
    fn from_located(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let path = error.path().to_string();
        let source = error.into_inner();
        // To serde_json these are errors of syntax; to the author they are one value's.
        let is_value = path != "."
            && ["number out of range", "trailing characters"]
                .iter()
                .any(|problem| source.to_string().starts_with(problem));
        if source.is_data() || is_value {
            let path = match path.as_str() {
                "." => "the scene".to_owned(),
                _ => path,
            };
            Self::Field { path, source }
        } else {
            Self::Syntax(source)
        }
    }
}

/// Why a scene file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadSceneError {
    /// The file could not be read, or is not UTF-8 text.
    #[error("cannot read the scene file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The path is that of a folder, a pipe or a device.
    #[error("the scene {} is a folder, a pipe or a device, not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than any scene may be.
    #[error(
        "the scene file {} has {file_bytes} bytes; at most {MAX_SCENE_BYTES} are allowed",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        file_bytes: u64,
    },
    /// The file was read and is not a scene.
    #[error("cannot use the scene file {}", path.display())]
    Scene {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SceneError,
    },
}
