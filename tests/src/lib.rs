//! What the integration tests share: a device under validation, painters with known pixels, and
//! the means to act while a frame is in flight.

mod gate;
mod host;
mod in_flight;
mod never_released;
mod pattern;
mod shared_memory;
mod validation;
mod watchdog;

pub use gate::{Gate, GatedPattern};
pub use host::Host;
pub use in_flight::{submit_gated, wait_for};
pub use never_released::never_released;
pub use pattern::Pattern;
pub use shared_memory::SharedMemory;
pub use validation::{allowed_messages, gpu, gpu_with, validation_messages};
pub use watchdog::within;
