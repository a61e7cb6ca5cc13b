use std::sync::Arc;
use std::time::Duration;

/// A queue that could not be given fences.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenFenceError {
    /// The driver refused to create a fence.
    #[error("the driver refused a fence: {reason}")]
    Fence {
        /// What it said.
        reason: String,
    },
    /// The operating system refused a thread.
    #[error("the operating system refused a thread to watch submissions: {reason}")]
    Thread {
        /// What it said.
        reason: String,
    },
}

/// A submission that was not made.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// wgpu refused the command buffers; the device is still good.
    #[error("wgpu refused the submission: {reason}")]
    Refused {
        /// What wgpu said.
        reason: String,
    },
    /// The driver takes no more work without blocking, and none of it was done by the deadline.
    #[error("the driver was still busy with {in_driver} earlier submissions after {waited:?}")]
    Busy {
        /// Submissions of the engine that the driver had.
        in_driver: usize,
        /// How long was waited.
        waited: Duration,
    },
    /// Someone holds a [`SubmitPause`](crate::SubmitPause), and did so until the deadline.
    #[error("submissions were still held up after {waited:?}")]
    Paused {
        /// How long was waited.
        waited: Duration,
    },
    /// The device is lost.
    #[error(transparent)]
    Lost(#[from] SubmissionLost),
}

/// Submissions that were not all done in time to pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the driver was still busy with {in_driver} submissions after {waited:?}")]
pub struct PauseError {
    /// Submissions of the engine that the driver had.
    pub in_driver: usize,
    /// How long was waited.
    pub waited: Duration,
}

/// The device was lost, so that a submission's result will never come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the device was lost: {reason}")]
pub struct SubmissionLost {
    /// What wgpu or the driver said.
    pub reason: Arc<str>,
}

impl SubmissionLost {
    /// A loss for `reason`.
    #[must_use]
    pub fn new(reason: impl Into<Arc<str>>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

/// A wait that did not end with finished work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The deadline passed first. The work goes on.
    #[error("the submission was not done after {waited:?}")]
    Timeout {
        /// How long was waited.
        waited: Duration,
    },
    /// The wait was cancelled. The work goes on.
    #[error("the wait was cancelled")]
    Cancelled,
    /// The device is lost.
    #[error(transparent)]
    Lost(#[from] SubmissionLost),
}
