//! A device under the driver API's validation layers, whose every message fails the test.

use std::sync::{Mutex, Once, PoisonError};

use framefence::{Gpu, GpuOptions};

use crate::never_released;

/// A fresh device, with validation layers.
///
/// # Panics
///
/// If there is no adapter: a machine without a driver fails the tests, it never skips them.
#[must_use]
pub fn gpu() -> Gpu {
    gpu_with(&GpuOptions::default())
}

/// A fresh device as `options` say, with validation layers.
///
/// # Panics
///
/// If it cannot be had.
#[must_use]
pub fn gpu_with(options: &GpuOptions) -> Gpu {
    capture_messages();
    match Gpu::open(&options.clone().with_validation(true)) {
        Ok(gpu) => {
            never_released(gpu.device());
            gpu
        }
        Err(error) => panic!("these tests need a GPU driver, such as Mesa's lavapipe: {error}"),
    }
}

/// The validation layers' messages in this process so far, without those that are known not to be
/// our fault. A test ends with an assertion that there are none.
#[must_use]
pub fn validation_messages() -> Vec<String> {
    MESSAGES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// The messages in this process that were known not to be our fault.
#[must_use]
pub fn allowed_messages() -> Vec<String> {
    ALLOWED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static ALLOWED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// wgpu-hal logs what the validation layers say; with no logger it would be lost.
pub(crate) fn capture_messages() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        log::set_logger(&Collector).expect("no other logger is installed in a test process");
        log::set_max_level(log::LevelFilter::Warn);
    });
}

struct Collector;

impl log::Log for Collector {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("wgpu_hal::vulkan")
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let message = record.args().to_string();
        // Lines that begin with a tab name the objects of the message before.
        if message.starts_with('\t') {
            return;
        }
        let messages = if is_allowed(&message) {
            &ALLOWED
        } else {
            &MESSAGES
        };
        messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(message);
    }

    fn flush(&self) {}
}

/// The one message that is allowed.
///
/// naga writes the WGSL source language into the shaders of debug builds. Layers before 1.3.246
/// (Debian 12 has 1.3.239) do not know that operand of `OpSource` and reject the module. To be
/// removed when the oldest supported distribution has a newer layer.
fn is_allowed(message: &str) -> bool {
    message.contains("Invalid source language operand: 10")
}
