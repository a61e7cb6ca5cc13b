//! Finds out whether wgpu has given a device up.
//!
//! wgpu tells one callback of a lost device, and that is the host's. A submit to a lost device
//! reports nothing at all, and nor do waits. What does report it is the mapping of a buffer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::scope::capture_errors;

/// A buffer of four bytes that nobody ever uses.
#[derive(Debug)]
pub(crate) struct Canary {
    device: wgpu::Device,
    buffer: Mutex<wgpu::Buffer>,
    refused: Arc<AtomicBool>,
}

impl Canary {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("framefence canary"),
            size: 4,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self {
            device: device.clone(),
            buffer: Mutex::new(buffer),
            refused: Arc::default(),
        }
    }

    /// Whether the device is lost as far as wgpu knows. It was not, if not, at any time before: no
    /// device comes back. Takes about as long as a few atomic operations; waits for nothing.
    pub(crate) fn is_dead(&self) -> bool {
        let buffer = self.buffer.lock();
        let refused = Arc::clone(&self.refused);
        // The map of a device that is well is still pending when this returns, and ends in an error
        // only when it is given up below.
        self.refused.store(false, Ordering::Relaxed);
        // An unmap of a device that is lost is an error, which is not for the host's handler.
        let (is_dead, _) = capture_errors(&self.device, || {
            buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
                if mapped.is_err() {
                    refused.store(true, Ordering::Relaxed);
                }
            });
            let is_dead = self.refused.load(Ordering::Relaxed);
            buffer.unmap();
            is_dead
        });
        is_dead
    }
}
