//! What a queue's handles and its watching thread share.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use parking_lot::ReentrantMutex;

use crate::scope::capture_errors;
use crate::slots::DriverSlots;
use crate::vulkan::VulkanFence;
use crate::watch::Watch;
use crate::{SubmissionLost, SubmitError, polled};

pub(crate) struct Shared {
    /// Declared before the device: see its `Drop`.
    pub(crate) backend: Backend,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// The submit lock, around the newest value that some submission carries. wgpu may call back
    /// into the host from within a submit, and the host may submit from there.
    submit: ReentrantMutex<Cell<u64>>,
    pub(crate) capacity: Option<usize>,
    pub(crate) slots: Arc<DriverSlots>,
    pub(crate) watch: Watch,
    pub(crate) lost: OnceLock<SubmissionLost>,
    loss_listeners: Mutex<Vec<Weak<dyn LossListener>>>,
    pub(crate) submissions: AtomicU64,
    pub(crate) rearmed: AtomicU64,
    pub(crate) proof_required: AtomicBool,
}

/// Someone who has more to end than submissions when the device is lost.
pub trait LossListener: Send + Sync {
    /// The device is lost. Called once, from any thread; must be short.
    fn device_lost(&self, lost: &SubmissionLost);
}

pub(crate) enum Backend {
    Vulkan(Box<VulkanFence>),
    Polled,
}

/// One submission that was made: when its fence is due, and what wgpu calls it.
pub(crate) struct Ticket {
    pub(crate) value: u64,
    /// `None` where a panic kept wgpu from telling: then it is waited for all there is.
    pub(crate) index: Option<wgpu::SubmissionIndex>,
}

impl Shared {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        backend: Backend,
        newest: u64,
        capacity: Option<usize>,
    ) -> Self {
        Self {
            backend,
            device: device.clone(),
            queue: queue.clone(),
            submit: ReentrantMutex::new(Cell::new(newest)),
            capacity,
            slots: DriverSlots::new(capacity.map(|places| (places - 1).max(1))),
            watch: Watch::default(),
            lost: OnceLock::new(),
            loss_listeners: Mutex::default(),
            submissions: AtomicU64::new(0),
            rearmed: AtomicU64::new(0),
            proof_required: AtomicBool::new(true),
        }
    }

    /// Blocks until a submission's fence is signalled; says up to which value they are.
    pub(crate) fn wait(&self, ticket: &Ticket) -> Result<u64, SubmissionLost> {
        match &self.backend {
            Backend::Vulkan(fence) => fence.wait(ticket.value),
            Backend::Polled => {
                polled::wait(&self.device, ticket.index.clone()).map(|()| ticket.value)
            }
        }
    }

    /// Blocks until nothing in the driver refers to the fence any more.
    pub(crate) fn wait_for_all(&self) {
        if let Backend::Vulkan(fence) = &self.backend {
            let newest = self.submit.lock().get();
            if let Err(lost) = fence.wait(newest) {
                tracing::debug!(%lost, "the device was lost before the fence was");
            }
        }
    }

    /// Lets wgpu notice what is done and run its callbacks, without waiting.
    pub(crate) fn triage(&self) {
        if let Err(error) = self.device.poll(wgpu::PollType::Poll) {
            tracing::debug!(%error, "triage failed");
        }
    }

    /// Sends an empty submission behind everything that was submitted so far.
    pub(crate) fn rearm(&self) -> Result<Ticket, SubmissionLost> {
        self.rearmed.fetch_add(1, Ordering::Relaxed);
        self.send([]).map_err(|error| match error {
            SubmitError::Lost(lost) => lost,
            refused => SubmissionLost::new(refused.to_string()),
        })
    }

    /// Whether this thread is in the middle of a submit: in a callback of the host's, then.
    pub(crate) fn is_submitting_here(&self) -> bool {
        self.submit.is_owned_by_current_thread()
    }

    pub(crate) fn needs_proof(&self) -> bool {
        self.proof_required.load(Ordering::SeqCst)
    }

    pub(crate) fn lose(&self, reason: SubmissionLost) {
        let lost = self.lost.get_or_init(|| {
            tracing::error!(reason = %reason.reason, "device lost");
            reason
        });
        for submission in self.watch.take_all() {
            submission.finish(Err(lost.clone()));
        }
        let listeners = std::mem::take(&mut *self.lock_listeners());
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.device_lost(lost);
        }
    }

    /// Has `listener` told of the device's loss; at once, if it is lost already.
    pub(crate) fn add_loss_listener(&self, listener: Weak<dyn LossListener>) {
        let mut listeners = self.lock_listeners();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(listener);
        drop(listeners);
        if let Some(lost) = self.lost.get() {
            self.lose(lost.clone());
        }
    }

    fn lock_listeners(&self) -> MutexGuard<'_, Vec<Weak<dyn LossListener>>> {
        self.loss_listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn check(&self) -> Result<(), SubmissionLost> {
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    /// Arms the fence, submits, and finds out whether the submission was made.
    pub(crate) fn send(
        &self,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
    ) -> Result<Ticket, SubmitError> {
        let newest = self.submit.lock();
        let value = newest.get() + 1;
        newest.set(value);
        if let Backend::Vulkan(fence) = &self.backend {
            fence.arm(&self.queue, value);
        }
        // The last thing that a submit does is to run callbacks, the host's among them. A panic in
        // one says nothing about the submission; the fence does.
        let submit = AssertUnwindSafe(|| self.queue.submit(commands));
        let (index, error) = capture_errors(&self.device, || catch_unwind(submit));
        if index.is_err() {
            tracing::error!("a callback in a submit panicked");
        }
        let still_armed = match &self.backend {
            Backend::Vulkan(fence) => fence.disarm(&self.queue),
            Backend::Polled => false,
        };
        if still_armed {
            // Nobody will signal it, so the next submission may.
            newest.set(value - 1);
        }
        drop(newest);
        if let Some(error) = error {
            return Err(SubmitError::Refused {
                reason: error.to_string(),
            });
        }
        if still_armed {
            // wgpu reports a lost device to its lost callback and nowhere else.
            let lost = SubmissionLost::new("the queue took no submission");
            self.lose(lost.clone());
            return Err(SubmitError::Lost(lost));
        }
        Ok(Ticket {
            value,
            index: index.ok(),
        })
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("device", &self.device)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}
