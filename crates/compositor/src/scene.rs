//! What is to be drawn, as data.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use framefence::{FrameRate, Time};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::animation::Animated;
use crate::color::{BlendSpace, Color};
use crate::exact;
use crate::layer::Layer;
#[cfg(feature = "schema")]
use crate::schema::{self, range};
use crate::validate::{self, InvalidValue};
use crate::walk;

/// The most bytes that a scene file may have: far more than scenes need, and little enough to read.
pub const MAX_SCENE_BYTES: u64 = 64 << 20;

/// A canvas, its duration, and the layers on it.
///
/// All fields are public so that an editor can build and change scenes in code;
/// [`validate`](Self::validate) says whether one can be drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Where the JSON Schema of the format is, for editors: nothing reads it here.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The version of the format: [`Scene::VERSION`].
    #[cfg_attr(feature = "schema", schemars(with = "range::Version"))]
    pub version: u32,
    /// What the layers lie on.
    pub canvas: Canvas,
    /// Frames per second.
    #[serde(with = "exact::frame_rate")]
    #[cfg_attr(feature = "schema", schemars(with = "schema::Rate"))]
    pub frame_rate: FrameRate,
    /// How long the scene lasts, in seconds; more than 0.
    #[serde(with = "exact::seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "schema::Duration"))]
    pub duration: Time,
    /// The values in which colours are mixed.
    #[serde(default)]
    pub blend_space: BlendSpace,
    /// The layers from the lowest to the topmost.
    #[serde(default)]
    pub layers: Vec<Layer>,
}

/// What the layers lie on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Canvas {
    /// Width in pixels, 1 to [`MAX_CANVAS_SIDE`](crate::MAX_CANVAS_SIDE).
    #[serde(deserialize_with = "exact::pixels")]
    #[cfg_attr(feature = "schema", schemars(with = "range::Pixels"))]
    pub width: u32,
    /// Height in pixels, 1 to [`MAX_CANVAS_SIDE`](crate::MAX_CANVAS_SIDE).
    #[serde(deserialize_with = "exact::pixels")]
    #[cfg_attr(feature = "schema", schemars(with = "range::Pixels"))]
    pub height: u32,
    /// What shows where no layer is; opaque black unless given.
    #[serde(default = "defaults::background")]
    pub background: Animated<Color>,
}

impl Scene {
    /// The version of the format that this crate reads and writes.
    pub const VERSION: u32 = 1;

    /// A black scene without layers.
    #[must_use]
    pub fn new(width: u32, height: u32, frame_rate: FrameRate, duration: Time) -> Self {
        Self {
            schema: None,
            version: Self::VERSION,
            canvas: Canvas {
                width,
                height,
                background: defaults::background(),
            },
            frame_rate,
            duration,
            blend_space: BlendSpace::default(),
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
            .map_err(|error| SceneError::from_located(error, text))?;
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

    /// The files that the scene is made of, as it names them; some perhaps more than once.
    #[must_use]
    pub fn files(&self) -> Vec<&Path> {
        let mut files = Vec::new();
        let visited: Result<(), Infallible> = walk::layers(self, &mut |visit, _| {
            files.extend(visit.layer.files());
            Ok(())
        });
        match visited {
            Ok(()) => files,
        }
    }

    /// The number of frames in the scene.
    #[must_use]
    pub fn frame_count(&self) -> u64 {
        self.frame_rate.frames_in(self.duration)
    }
}

mod defaults {
    use super::{Animated, Color};

    pub(super) fn background() -> Animated<Color> {
        Color::BLACK.into()
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
    /// Groups lie too deep in each other to be read.
    #[error(
        "the scene is nested too deep; a layer may lie in at most {} groups and sequences",
        validate::MAX_GROUP_DEPTH
    )]
    TooDeep,
    /// A value cannot be drawn.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
}

impl SceneError {
    fn from_located(error: serde_path_to_error::Error<serde_json::Error>, text: &str) -> Self {
        let path = error.path().to_string();
        let source = error.into_inner();
        if source.to_string().starts_with("recursion limit exceeded") {
            return Self::TooDeep;
        }
        // To serde_json some are errors of syntax that are one value's to the author.
        let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
        if source.is_data() || is_json {
            let path = match path.as_str() {
                "." => "the scene".to_owned(),
                _ => path,
            };
            let source = match source.to_string().starts_with("expected value") {
                // An enumeration with no variant or with several.
                true => serde_json::Error::custom(format_args!(
                    "expected exactly one kind at line {} column {}",
                    source.line(),
                    source.column()
                )),
                false => source,
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
