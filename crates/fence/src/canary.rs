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
}

impl Canary {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            buffer: Mutex::new(unused_buffer(device)),
        }
    }

    /// Whether the device is lost as far as wgpu knows. It was not, if not, at any time before: no
    /// device comes back. Takes about as long as a few atomic operations; waits for nothing.
    pub(crate) fn is_dead(&self) -> bool {
        let mut buffer = self.buffer.lock();
        // A lost device refuses the unmap as well, which is not for the host's handler of errors.
        let (is_dead, _) = capture_errors(&self.device, || {
            if !refuses_map(&buffer) {
                return false;
            }
            // Another thread's poll that was about to map the buffer when it was unmapped here has left
            // it mapped, and that is refused as well. A new buffer has no past.
            *buffer = unused_buffer(&self.device);
            refuses_map(&buffer)
        });
        is_dead
    }
}

fn unused_buffer(device: &wgpu::Device) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("framefence canary"),
        size: 4,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// Whether wgpu refuses to map the buffer. A map that it does not refuse is still pending when the
/// call returns, and is given up then.
fn refuses_map(buffer: &wgpu::Buffer) -> bool {
    let refused = Arc::new(AtomicBool::new(false));
    let refuse = Arc::clone(&refused);
    buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
        if mapped.is_err() {
            refuse.store(true, Ordering::Relaxed);
        }
    });
    let is_refused = refused.load(Ordering::Relaxed);
    buffer.unmap();
    is_refused
}
