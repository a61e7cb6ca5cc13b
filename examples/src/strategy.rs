//! The ways to render and read back that the measure example times.

use anyhow::Result;
use framefence::Plane;

/// One way to render the gradient and read it back.
///
/// Frames are delivered in the order in which they were started.
pub trait Strategy {
    /// Its name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// Starts a frame in `phase` without waiting for it. No more frames may be started and
    /// undelivered than the depth that the strategy was made with.
    ///
    /// # Errors
    ///
    /// Whatever keeps the frame from being submitted.
    fn start(&mut self, phase: u32) -> Result<()>;

    /// Waits for the oldest frame that was started and calls `look` with its pixels, once, as
    /// soon as the CPU can read them; then gives the frame's memory back.
    ///
    /// # Errors
    ///
    /// Whatever keeps the frame from being delivered.
    fn deliver(&mut self, look: &mut dyn FnMut(Plane<'_>)) -> Result<()>;
}
