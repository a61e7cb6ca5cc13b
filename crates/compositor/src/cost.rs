//! What a frame costs.

use std::ops::AddAssign;

/// What was recorded for a frame, in numbers that do not depend on the device.
///
/// What was drawn for the frame before and is still there is not drawn, and counts for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameCost {
    /// Render passes: one for the frame's own target, one or more for each surface that a group or
    /// an effect needs.
    pub passes: u32,
    /// Draws in all passes. A layer takes one, a text one for each of its parts, an effect one for
    /// each of its steps.
    pub draws: u32,
    /// The pixels of the surfaces, and of the target, that passes were recorded for; of a surface
    /// that takes several passes, as often.
    pub surface_pixels: u64,
}

impl AddAssign for FrameCost {
    fn add_assign(&mut self, other: Self) {
        self.passes += other.passes;
        self.draws += other.draws;
        self.surface_pixels += other.surface_pixels;
    }
}
