//! Where finished frames go.

use std::error::Error;

use framefence_readback::Frame;

/// Takes the frames of an export, in order.
///
/// A sink owns what it has been given: dropping it before [`finish`](Self::finish) leaves nothing
/// half-written under a final name.
pub trait FrameSink: Send {
    /// What can go wrong while writing.
    type Error: Error + Send + Sync + 'static;
    /// What a finished sink says it has made.
    type Output;

    /// The number of frames that the sink has a use for, if it is limited: rendering more would be
    /// in vain.
    fn frame_limit(&self) -> Option<u64> {
        None
    }

    /// Takes the next frame. Its memory is lent for the length of the call; a sink that needs it
    /// longer copies it.
    ///
    /// # Errors
    ///
    /// Whatever keeps the frame from being written. The sink is not used again.
    fn write(&mut self, frame: &Frame) -> Result<(), Self::Error>;

    /// Completes what was written and makes it appear under its final name.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being complete.
    fn finish(self) -> Result<Self::Output, Self::Error>;
}
