//! Staging buffers: where the GPU copies pixels to and the CPU reads them from.

use framefence_pool::Lease;

/// Mapped bytes of a staging buffer, lent to the images of one frame.
#[derive(Debug)]
pub struct StagedBytes {
    // Declared before the lease: the view must be gone when the buffer goes back to be unmapped.
    view: wgpu::BufferView,
    _buffer: Lease<u64, wgpu::Buffer>,
}

impl StagedBytes {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.view
    }
}
