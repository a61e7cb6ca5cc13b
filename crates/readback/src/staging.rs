//! Staging buffers: where the GPU copies pixels to and the CPU reads them from.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};
use std::time::Instant;

use framefence_fence::capture_errors;
use framefence_pool::{Lease, Pool, PoolReport};

use crate::FrameTicket;

/// The staging buffers of one renderer, used again and again.
///
/// A buffer that its frame has let go of is only noted; it is unmapped at the next
/// [`acquire`](Self::acquire), on the engine's thread, because unmapping takes wgpu's locks and a
/// frame may be dropped on a thread that must not wait for those. Only a frame that outlives its
/// renderer is unmapped where it is dropped.
#[derive(Debug)]
pub struct StagingRing {
    device: wgpu::Device,
    max_live_bytes: u64,
    buffers: Pool<u64, wgpu::Buffer>,
    turn: Mutex<()>,
    returned: Mutex<ReturnedBuffers>,
    came_back: Condvar,
}

#[derive(Debug, Default)]
struct ReturnedBuffers {
    /// All of them mapped.
    buffers: Vec<Lease<u64, wgpu::Buffer>>,
    /// How often buffers came back or were made free.
    times: u64,
    is_closed: bool,
}

/// All the staging memory that may be live is, and none came back before the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingFull {
    /// Bytes that frames hold, in flight or lent.
    pub live_bytes: u64,
}

impl StagingRing {
    /// A ring that has at most `max_live_bytes` in flight and lent, but always at least one
    /// buffer, and keeps at most `idle_budget_bytes` for later.
    #[must_use]
    pub fn new(device: wgpu::Device, max_live_bytes: u64, idle_budget_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            device,
            max_live_bytes,
            buffers: Pool::new(idle_budget_bytes),
            turn: Mutex::new(()),
            returned: Mutex::default(),
            came_back: Condvar::new(),
        })
    }

    /// A buffer of at least `size_bytes`, unmapped, for the frame of `ticket`. Blocks while too many
    /// bytes are live.
    ///
    /// # Errors
    ///
    /// [`RingFull`] if that is still so at the frame's deadline, or when it is no longer wanted.
    pub fn acquire(
        self: &Arc<Self>,
        size_bytes: u64,
        ticket: &FrameTicket,
    ) -> Result<StagingBuffer, RingFull> {
        let size_bytes = size_bytes.next_multiple_of(u64::from(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT));
        let mut is_watching_ticket = false;
        loop {
            let seen = self.lock().times;
            let live_bytes = match self.try_acquire(size_bytes) {
                Ok(lease) => {
                    return Ok(StagingBuffer {
                        lease: Some(lease),
                        mapped: false,
                        ring: Arc::clone(self),
                    });
                }
                Err(RingFull { live_bytes }) => live_bytes,
            };
            if !is_watching_ticket {
                ticket.wake_when_ended(&Waker::from(Arc::clone(self)));
                is_watching_ticket = true;
            }
            if !self.wait_for_return(seen, ticket) {
                return Err(RingFull { live_bytes });
            }
        }
    }

    /// From now on, buffers are unmapped and dropped where they are given back: there is no engine
    /// thread any more.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.recycle();
        self.buffers.clear();
    }

    /// What the ring holds.
    #[must_use]
    pub fn report(&self) -> PoolReport {
        self.buffers.report()
    }

    /// Unmaps what came back and lets it be used again.
    fn recycle(&self) {
        let came_back = std::mem::take(&mut self.lock().buffers);
        if came_back.is_empty() {
            return;
        }
        for buffer in came_back {
            let (_, error) = capture_errors(&self.device, || buffer.unmap());
            if let Some(error) = error {
                // Only a device that went down has unmapped it before us.
                tracing::debug!(%error, "a staging buffer was gone already");
                buffer.discard();
            }
        }
        // One large buffer may make room for several frames, and only now is there room.
        self.lock().times += 1;
        self.came_back.notify_all();
    }

    fn try_acquire(&self, size_bytes: u64) -> Result<Lease<u64, wgpu::Buffer>, RingFull> {
        self.recycle();
        // Looking at the limit and taking are one step.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let live_bytes = self.buffers.report().live_bytes as u64;
        if live_bytes > 0 && live_bytes + size_bytes > self.max_live_bytes {
            return Err(RingFull { live_bytes });
        }
        Ok(self.buffers.take(&size_bytes).unwrap_or_else(|| {
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("framefence staging"),
                size: size_bytes,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.buffers.add(size_bytes, size_bytes as usize, buffer)
        }))
    }

    /// Blocks until a buffer came back since there had been `seen` times; says whether one did while
    /// the frame was wanted.
    fn wait_for_return(&self, seen: u64, ticket: &FrameTicket) -> bool {
        let mut returned = self.lock();
        while returned.times == seen {
            let left = ticket.deadline().saturating_duration_since(Instant::now());
            if left.is_zero() || !ticket.is_wanted() {
                return false;
            }
            let woken = self.came_back.wait_timeout(returned, left);
            returned = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, ReturnedBuffers> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A frame that waits for memory and is ended meanwhile wakes its ring.
impl Wake for StagingRing {
    fn wake(self: Arc<Self>) {
        // Under the lock, so that it does not fall between a waiter's look and its wait.
        let _returned = self.lock();
        self.came_back.notify_all();
    }
}

/// A staging buffer in use; dropping it gives it back to its ring, without taking a lock of wgpu's
/// unless the ring is closed.
#[derive(Debug)]
pub struct StagingBuffer {
    /// Present until the buffer is given back.
    lease: Option<Lease<u64, wgpu::Buffer>>,
    /// Whether its bytes were lent, so that it has to be unmapped before it is used again.
    mapped: bool,
    ring: Arc<StagingRing>,
}

impl StagingBuffer {
    /// The buffer, to be copied to and mapped.
    ///
    /// # Panics
    ///
    /// Never: the buffer is there until it is dropped.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        self.lease
            .as_ref()
            .expect("a staging buffer is there until it is dropped")
    }

    /// Lends the bytes of the buffer, whose map callback has run.
    ///
    /// # Errors
    ///
    /// wgpu's, if the buffer is not mapped after all.
    pub fn into_mapped(mut self) -> Result<StagedBytes, wgpu::MapRangeError> {
        let view = self.buffer().get_mapped_range(..)?;
        self.mapped = true;
        Ok(StagedBytes {
            mapped: Arc::new(Mapped {
                view,
                _buffer: self,
            }),
        })
    }
}

impl Drop for StagingBuffer {
    fn drop(&mut self) {
        let Some(buffer) = self.lease.take() else {
            return;
        };
        let mapped = if self.mapped {
            Some(buffer)
        } else {
            // Its frame ended some other way than delivered: whether it is mapped, or about to be,
            // is not known, and such a buffer spoils every frame that uses it.
            buffer.discard();
            None
        };
        // Counted only now that there is room, or whoever looked in between would sleep on.
        let mut returned = self.ring.lock();
        returned.buffers.extend(mapped);
        returned.times += 1;
        let is_closed = returned.is_closed;
        drop(returned);
        if is_closed {
            self.ring.close();
        } else {
            self.ring.came_back.notify_all();
        }
    }
}

/// Mapped bytes of a staging buffer, lent to the images of one frame.
#[derive(Clone, Debug)]
pub struct StagedBytes {
    mapped: Arc<Mapped>,
}

#[derive(Debug)]
struct Mapped {
    // Declared before the buffer: a buffer with a live view cannot be unmapped.
    view: wgpu::BufferView,
    _buffer: StagingBuffer,
}

impl StagedBytes {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.mapped.view
    }
}
