//! Render targets, staging rings, and frames that lend mapped GPU memory.
//!
//! A frame goes from a target (a texture that a painter drew into) through a copy into a staging
//! buffer, which is mapped when the GPU is done; a [`Frame`] lends the mapped bytes and gives the
//! buffer back to its ring when it is dropped. A [`PendingFrame`] is the wait in between.
//!
//! All types are `Send`; all but [`PendingFrame`]'s futures are `Sync`.

#![forbid(unsafe_code)]

mod error;
mod frame;
mod layout;
mod pending;
mod region;
mod staging;
mod target;
mod time;

pub use error::FrameError;
pub use frame::{Frame, FrameMemory, Image, Timings};
pub use layout::StagingLayout;
pub use pending::{CancelHandle, FrameTicket, PendingFrame, Stage, pending_frame};
pub use region::Region;
pub use staging::{RingFull, StagedBytes, StagingBuffer, StagingRing};
pub use target::{Target, TargetDescriptor, TargetPool, target_format};
pub use time::{FrameRate, ParseFrameRateError, Time};
