//! What a queue's handles and its watching thread share.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use parking_lot::ReentrantMutex;

use crate::backend::{Outcome, QueueFence, Signal};
use crate::canary::Canary;
use crate::polled::poll_until;
use crate::scope::capture_errors;
use crate::slots::DriverSlots;
use crate::watch::{Watch, Watched};
use crate::{SubmissionLost, SubmitError, deadline_after};

pub(crate) struct Shared {
    /// Declared before the device: see its `Drop`.
    pub(crate) fence: Box<dyn QueueFence>,
    canary: Canary,
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

impl Shared {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        fence: Box<dyn QueueFence>,
        newest: u64,
        capacity: Option<usize>,
    ) -> Self {
        Self {
            fence,
            canary: Canary::new(device),
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
    pub(crate) fn wait(&self, value: u64) -> Result<u64, SubmissionLost> {
        self.fence.wait(value, deadline_after(Duration::MAX))
    }

    /// Blocks until nothing in the driver refers to the fence any more.
    pub(crate) fn wait_for_all(&self) {
        let newest = self.submit.lock().get();
        if let Err(lost) = self.wait(newest) {
            tracing::debug!(%lost, "the device was lost before the fence was");
        }
    }

    /// Blocks until wgpu itself says that all submissions so far are done.
    pub(crate) fn poll_for_all(&self) -> Result<(), SubmissionLost> {
        poll_until(&self.device, None, deadline_after(Duration::MAX)).map(drop)
    }

    /// Lets wgpu notice what is done and run its callbacks, without waiting.
    pub(crate) fn triage(&self) {
        if let Err(error) = self.device.poll(wgpu::PollType::Poll) {
            tracing::debug!(%error, "triage failed");
        }
    }

    /// Sends an empty submission behind everything that was submitted so far; returns its value.
    pub(crate) fn rearm(&self) -> Result<u64, SubmissionLost> {
        self.rearmed.fetch_add(1, Ordering::Relaxed);
        self.send([]).map_err(|error| match error {
            SubmitError::Lost(lost) => lost,
            refused => SubmissionLost::new(refused.to_string()),
        })
    }

    /// Whether wgpu is to be believed when it says that a submission is done.
    pub(crate) fn confirm(&self) -> Result<(), SubmissionLost> {
        let confirmed = self.fence.confirm();
        if let Err(lost) = &confirmed {
            self.lose(lost.clone());
        }
        confirmed
    }

    /// Whether this thread is in the middle of a submit: in a callback of the host's, then.
    pub(crate) fn is_submitting_here(&self) -> bool {
        self.submit.is_owned_by_current_thread()
    }

    pub(crate) fn needs_proof(&self) -> bool {
        self.proof_required.load(Ordering::SeqCst)
    }

    /// Has the watching thread see a submission to its end.
    pub(crate) fn watch_for(&self, value: u64, watched: Watched) {
        self.watch.push(value, watched);
        if let Some(lost) = self.lost.get() {
            // Whoever told may have come before the push, and then nobody ends it.
            self.lose(lost.clone());
        }
    }

    pub(crate) fn lose(&self, reason: SubmissionLost) {
        let lost = self.lost.get_or_init(|| {
            tracing::error!(reason = %reason.reason, "device lost");
            reason
        });
        for submission in self.watch.take_all() {
            submission.finish(Err(lost.clone()));
        }
        self.slots.lose();
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

    /// Whether the device is lost as far as wgpu knows; if so, all that wait are told.
    pub(crate) fn find_out_whether_lost(&self) {
        if self.lost.get().is_none() && self.canary.is_dead() {
            self.lose(SubmissionLost::new("it maps no memory any more"));
        }
    }

    /// Submits, and finds out whether the submission was made; returns the value that its fence will
    /// reach.
    pub(crate) fn send(
        &self,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
    ) -> Result<u64, SubmitError> {
        let newest = self.submit.lock();
        let value = newest.get() + 1;
        newest.set(value);
        self.fence.before_submit(value);
        // The last thing that a submit does is to run callbacks, the host's among them. A panic in
        // one says nothing about the submission; the fence does.
        let submit = AssertUnwindSafe(|| self.queue.submit(commands));
        let (index, error) = capture_errors(&self.device, || catch_unwind(submit));
        if index.is_err() {
            tracing::error!("a callback in a submit panicked");
        }
        let outcome = match &error {
            Some(_) => Outcome::Refused,
            None => Outcome::Made(index.ok()),
        };
        let signal = self.fence.after_submit(value, outcome);
        if !matches!(signal, Ok(Signal::Sent)) {
            // Nobody will signal it, so the next submission may. One that was made within this one,
            // by a callback, has a later value, which stays the newest.
            if newest.get() == value {
                newest.set(value - 1);
            }
        }
        drop(newest);
        if let Some(error) = error {
            return Err(SubmitError::Refused {
                reason: error.to_string(),
            });
        }
        let lost = match signal {
            Ok(Signal::Sent) => return Ok(value),
            // wgpu reports a lost device to its lost callback and nowhere else.
            Ok(Signal::Withdrawn) => SubmissionLost::new("the queue took no submission"),
            Err(lost) => lost,
        };
        self.lose(lost.clone());
        Err(SubmitError::Lost(lost))
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
