//! Render targets, staging rings, and frames that lend mapped GPU memory.

mod frame;
mod region;
mod staging;
mod time;

pub use frame::{Frame, FrameMemory, Image, Timings};
pub use region::Region;
pub use staging::StagedBytes;
pub use time::{FrameRate, ParseFrameRateError, Time};
