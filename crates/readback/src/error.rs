use std::error::Error;
use std::time::Duration;

use framefence_fence::SubmissionLost;

use crate::Stage;

/// How a frame ended that was not delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The painter returned an error.
    #[error("the painter failed")]
    Painter {
        /// The painter's own error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The painter panicked. The engine and other frames go on.
    #[error("the painter panicked: {message}")]
    PainterPanicked {
        /// The panic's message.
        message: String,
    },
    /// The painter says that things it needs are not there yet.
    #[error("not ready: still missing {}", missing.join(", "))]
    NotReady {
        /// What is missing, in the painter's words.
        missing: Vec<String>,
    },
    /// wgpu refused what was recorded for the frame; the device is still good.
    #[error("wgpu refused the frame: {reason}")]
    Rejected {
        /// What wgpu said.
        reason: String,
    },
    /// The deadline passed.
    #[error("no frame after {waited:?}: it was waiting for {waiting_for}")]
    Timeout {
        /// How long ago the frame was asked for.
        waited: Duration,
        /// What it was waiting for.
        waiting_for: Stage,
    },
    /// The frame was cancelled or its renderer was dropped before it was painted.
    #[error("the frame was cancelled")]
    Cancelled,
    /// The device is lost, and with it every frame on it.
    #[error(transparent)]
    DeviceLost(#[from] SubmissionLost),
}
