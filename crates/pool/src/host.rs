use std::ops::{Deref, DerefMut};

use crate::{Lease, Pool, PoolReport};

/// A pool of CPU memory, for frames that outlive the GPU's own memory.
///
/// Blocks are found again by their exact length, since the frames of one export are all alike.
/// Cloning gives another handle on the same pool.
#[derive(Clone, Debug)]
pub struct HostPool {
    blocks: Pool<usize, Box<[u8]>>,
}

impl HostPool {
    /// The idle memory that [`HostPool::default`] keeps at most.
    pub const DEFAULT_BUDGET_BYTES: usize = 32 << 20;

    /// A pool that keeps at most `budget_bytes` of idle blocks.
    #[must_use]
    pub fn new(budget_bytes: usize) -> Self {
        Self {
            blocks: Pool::new(budget_bytes),
        }
    }

    /// A block of `len` bytes whose contents are whatever its last owner left in it. For callers
    /// that overwrite all of it.
    #[must_use]
    pub fn acquire(&self, len: usize) -> PooledBytes {
        let block = self.blocks.take(&len).unwrap_or_else(|| self.allocate(len));
        PooledBytes { block }
    }

    /// A block of `len` zeroes.
    #[must_use]
    pub fn acquire_zeroed(&self, len: usize) -> PooledBytes {
        match self.blocks.take(&len) {
            Some(mut block) => {
                block.fill(0);
                PooledBytes { block }
            }
            None => PooledBytes {
                block: self.allocate(len),
            },
        }
    }

    /// What the pool holds now.
    #[must_use]
    pub fn report(&self) -> PoolReport {
        self.blocks.report()
    }

    fn allocate(&self, len: usize) -> Lease<usize, Box<[u8]>> {
        self.blocks.add(len, len, vec![0; len].into_boxed_slice())
    }
}

impl Default for HostPool {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BUDGET_BYTES)
    }
}

/// A block of CPU memory lent by a [`HostPool`]; dropping it releases the block.
///
/// Its last owner is whoever drops it: share it as `Arc<PooledBytes>`, and it is reused only when
/// the last clone is gone.
#[derive(Debug)]
pub struct PooledBytes {
    block: Lease<usize, Box<[u8]>>,
}

impl Deref for PooledBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.block
    }
}

impl DerefMut for PooledBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.block
    }
}
