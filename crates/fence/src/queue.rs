//! A device's queue whose submissions can each be waited for.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::ReentrantMutex;

use crate::backend::{FenceBackend, QueueFence, QueueId, open};
use crate::polled::PolledFence;
use crate::probe::probe_capacity;
use crate::shared::{LossListener, Shared};
use crate::slots::{DriverSlot, NoSlot, Pause};
use crate::submission_fence::SubmissionFence;
use crate::watch::{Submission, Watch, WatchThread, Watched};
use crate::{
    Completion, OpenFenceError, PauseError, SubmissionLost, SubmitError, WaitError, deadline_after,
};

/// A device's queue whose submissions can each be waited for.
///
/// There is one for each device in a process, however often it is asked for, so that all who submit
/// through it share one lock, one order and one pause; only of devices that have no fence of their own
/// ([`FenceBackend::Polled`]) each call makes another. Cloning gives another handle on it. Dropping
/// the last one waits until the GPU has finished what was submitted through it, as dropping a
/// `wgpu::Queue` does, but for a minute at most.
#[derive(Clone, Debug)]
pub struct FencedQueue {
    handle: Arc<Handle>,
}

/// Which of wgpu's callbacks proves that a submission is done.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Proof<'a> {
    /// The callback of `map_async` on the whole of this buffer, which the submission writes. The
    /// buffer is mapped for reading when the submission is reported as done.
    Map(&'a wgpu::Buffer),
    /// The callback of `on_submitted_work_done`. It may also wait for what a host submits at the
    /// same moment.
    WorkDone,
}

/// A submission that the GPU has finished.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Done {
    /// When the submit call began, after any wait for the driver.
    pub started: Instant,
    /// When the submit call returned.
    pub submitted: Instant,
}

/// What a queue has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueReport {
    /// Submissions made through the queue, without those of the next line.
    pub submissions: u64,
    /// Empty submissions that were sent behind one whose signal came before its proof: a host's
    /// submission had carried it away, or (on Metal) it overtook the work.
    pub rearmed: u64,
}

struct Handle {
    shared: Arc<Shared>,
    /// Present until the handle is dropped.
    watch: Option<WatchThread>,
}

/// The queues that have been opened.
struct Registry(Vec<(QueueId, Weak<Handle>)>);

/// A submission that was made and is yet to be followed.
struct Made {
    /// What its fence will reach.
    value: u64,
    slot: DriverSlot,
    done: Done,
}

impl FencedQueue {
    /// The fenced queue of `device`, made at the first call for it.
    ///
    /// The first call measures how many submissions the driver takes before its submit call
    /// blocks, with a few small draws: some milliseconds, and tens of them on a software adapter.
    ///
    /// # Errors
    ///
    /// [`OpenFenceError`] if the driver or the operating system refuses what it needs.
    pub fn of(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, OpenFenceError> {
        let Some(id) = QueueId::of(device, queue) else {
            return Self::polled(device, queue);
        };
        // Re-entrant: a callback of the host's that runs in a submit of the probe may open one, too.
        static REGISTRY: ReentrantMutex<RefCell<Registry>> =
            ReentrantMutex::new(RefCell::new(Registry(Vec::new())));
        let registry = REGISTRY.lock();
        if let Some(handle) = registry.borrow().find(id) {
            return Ok(Self { handle });
        }
        let fence = open(id, device, queue)?;
        let mut newest = 0;
        let capacity = probe_capacity(device, queue, &*fence, &mut newest);
        let handle = Handle::start(device, queue, fence, newest, capacity)?;
        let handle = Arc::new(handle);
        // By a callback, then, that ran meanwhile.
        let opened_before = registry.borrow().find(id);
        if let Some(handle) = opened_before {
            return Ok(Self { handle });
        }
        registry.borrow_mut().add(id, &handle);
        Ok(Self { handle })
    }

    /// A queue that is waited for through wgpu's own poll, which holds wgpu's snatch lock: for
    /// devices that have nothing better, and for comparison. Nothing is armed, so each call makes one
    /// of its own.
    ///
    /// # Errors
    ///
    /// [`OpenFenceError`] if the operating system refuses what it needs.
    pub fn polled(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, OpenFenceError> {
        let fence = Box::new(PolledFence::new(device));
        let handle = Handle::start(device, queue, fence, 0, None)?;
        Ok(Self {
            handle: Arc::new(handle),
        })
    }

    /// How the end of a submission is noticed on this device.
    #[must_use]
    pub fn backend(&self) -> FenceBackend {
        self.shared().fence.backend()
    }

    /// How many submissions the driver takes before its submit call blocks, as far as was found
    /// out; `None` if it took as many as were tried.
    ///
    /// The engine keeps one fewer in the driver, but at least one: the last place is the host's,
    /// whose submits would otherwise block behind ours and hold wgpu's locks meanwhile.
    #[must_use]
    pub fn driver_capacity(&self) -> Option<usize> {
        self.shared().capacity
    }

    /// Submits `commands` and calls `on_done` exactly once: when `proof` says that the GPU has
    /// finished them, when the device is lost, or before this returns if nothing was submitted.
    /// Whatever `on_done` holds lives until then. Says whether there was a submission.
    ///
    /// Blocks while the driver is full, until `deadline` at most. `on_done` must be short and must
    /// not submit: it runs on the watching thread, or inside anyone's submit or poll.
    pub fn submit_then(
        &self,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
        proof: Proof<'_>,
        deadline: Instant,
        on_done: impl FnOnce(Result<Done, SubmitError>) + Send + 'static,
    ) -> bool {
        match self.make_submission(commands, deadline) {
            Ok(made) => {
                self.follow(made, proof, |end| on_done(end.map_err(SubmitError::Lost)));
                true
            }
            Err(error) => {
                on_done(Err(error));
                false
            }
        }
    }

    /// Submits `commands` and returns their fence, whose waits end after `timeout` from now at
    /// the latest. Blocks while the driver is full.
    ///
    /// # Errors
    ///
    /// [`SubmitError`] if nothing was submitted.
    pub fn submit(
        &self,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
        timeout: Duration,
    ) -> Result<SubmissionFence, SubmitError> {
        let submitted = Instant::now();
        let deadline = deadline_after(timeout);
        let made = self.make_submission(commands, deadline)?;
        let completion = Arc::new(Completion::new());
        let fence = SubmissionFence {
            completion: Arc::clone(&completion),
            submitted,
            deadline,
        };
        self.follow(made, Proof::WorkDone, move |result| {
            // A cancelled fence has its end already.
            let _ = completion.complete(result.map(drop).map_err(WaitError::Lost));
        });
        Ok(fence)
    }

    fn make_submission(
        &self,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
        deadline: Instant,
    ) -> Result<Made, SubmitError> {
        let shared = self.shared();
        let asked = Instant::now();
        let slot = tracing::trace_span!("driver_slot").in_scope(|| match self.is_in_callback() {
            true => shared.slots.acquire_another(deadline),
            false => shared.slots.acquire(deadline),
        });
        let slot = slot.map_err(|no_slot| {
            let waited = asked.elapsed();
            match no_slot {
                NoSlot::Full { in_driver } => SubmitError::Busy { in_driver, waited },
                NoSlot::Paused => SubmitError::Paused { waited },
            }
        })?;
        shared.check()?;
        let started = Instant::now();
        let value = tracing::trace_span!("submit").in_scope(|| shared.send(commands))?;
        let done = Done {
            started,
            submitted: Instant::now(),
        };
        shared.submissions.fetch_add(1, Ordering::Relaxed);
        Ok(Made { value, slot, done })
    }

    /// Sees a submission that was made to its end.
    fn follow(
        &self,
        Made { value, slot, done }: Made,
        proof: Proof<'_>,
        on_done: impl FnOnce(Result<Done, SubmissionLost>) + Send + 'static,
    ) {
        let shared = self.shared();
        let submission = Submission::new(slot, done, on_done);
        let callback = submission.proof(shared);
        match proof {
            Proof::Map(buffer) => buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
                callback.arrived(mapped.map_err(|error| SubmissionLost::new(error.to_string())));
            }),
            Proof::WorkDone => {
                shared
                    .queue
                    .on_submitted_work_done(move || callback.arrived(Ok(())));
            }
        }
        // Only now: a submission whose fence is signalled before its callback is registered would
        // be taken for one whose signal was carried away.
        shared.watch_for(value, Watched::new(submission));
    }

    /// A function that ends every wait on this device with the reason it is given, and has what is
    /// submitted from then on refused. For whoever owns the device's lost callback: wgpu tells
    /// nobody else. It does not keep the queue alive.
    pub fn lost_marker(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let handle = Arc::downgrade(&self.handle);
        move |reason| {
            if let Some(handle) = handle.upgrade() {
                handle.shared.lose(SubmissionLost::new(reason));
            }
        }
    }

    /// Tells `listener` when the device is lost, for as long as it lives; at once, if it is.
    pub fn add_loss_listener<L: LossListener + 'static>(&self, listener: &Arc<L>) {
        let listener: Weak<L> = Arc::downgrade(listener);
        self.shared().add_loss_listener(listener);
    }

    /// Why the device was lost, if it was.
    #[must_use]
    pub fn lost(&self) -> Option<SubmissionLost> {
        self.shared().lost.get().cloned()
    }

    /// Like [`lost`](Self::lost), but asks wgpu. For whoever met an error that a lost device would
    /// explain.
    #[must_use]
    pub fn find_out_whether_lost(&self) -> Option<SubmissionLost> {
        self.shared().find_out_whether_lost();
        self.lost()
    }

    /// Keeps all submissions back that come through this queue, and waits until those that were made
    /// are done: then the driver has nothing of ours until the pause is dropped.
    ///
    /// For a host that is about to call `Surface::configure`, which waits for the device and fails
    /// (`GpuWaitTimeout`) when another thread submits meanwhile; on Vulkan it also has the driver wait
    /// for the device without keeping others from its queue, which is not allowed. What the host itself
    /// submits is its own matter. A thread that holds a pause and submits through the queue waits for
    /// itself, until its deadline. Any number of threads can hold one at a time. A callback that runs in
    /// a submit of ours or on the watching thread gets a pause at once or not at all: it would wait for
    /// itself.
    ///
    /// # Errors
    ///
    /// [`PauseError`] if the driver was busy for longer than `timeout`; then nothing is kept back.
    pub fn pause(&self, timeout: Duration) -> Result<SubmitPause, PauseError> {
        let asked = Instant::now();
        let deadline = match self.is_in_callback() {
            true => asked,
            false => deadline_after(timeout),
        };
        match self.shared().slots.pause(deadline) {
            Ok(pause) => Ok(SubmitPause { _pause: pause }),
            Err(in_driver) => Err(PauseError {
                in_driver,
                waited: asked.elapsed(),
            }),
        }
    }

    /// Whether this is a callback of the host's that holds up what would empty the driver.
    fn is_in_callback(&self) -> bool {
        self.is_watched_by_this_thread() || self.shared().is_submitting_here()
    }

    /// Whether this is the thread that watches the queue, which must not wait for it.
    #[must_use]
    pub fn is_watched_by_this_thread(&self) -> bool {
        self.handle
            .watch
            .as_ref()
            .is_some_and(WatchThread::is_current)
    }

    /// What the queue has done.
    #[must_use]
    pub fn report(&self) -> QueueReport {
        QueueReport {
            submissions: self.shared().submissions.load(Ordering::Relaxed),
            rearmed: self.shared().rearmed.load(Ordering::Relaxed),
        }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }
}

/// While it lives, nothing is submitted through the queue it is of. See [`FencedQueue::pause`].
#[derive(Debug)]
#[must_use = "submissions go on as soon as it is dropped"]
pub struct SubmitPause {
    _pause: Pause,
}

/// With `false`, the signal alone ends a submission: what the engine would be without its proof.
pub fn set_proof_required(queue: &FencedQueue, required: bool) {
    queue
        .shared()
        .proof_required
        .store(required, Ordering::SeqCst);
}

/// The fence of a queue that has one of DirectX 12.
#[cfg(windows)]
pub fn dx12_fence(queue: &FencedQueue) -> Option<&crate::dx12::Dx12Fence> {
    let fence: &dyn std::any::Any = &*queue.shared().fence;
    fence.downcast_ref()
}

impl Registry {
    fn find(&self, id: QueueId) -> Option<Arc<Handle>> {
        let known = self.0.iter().filter(|(known, _)| *known == id);
        { known }.find_map(|(_, handle)| handle.upgrade())
    }

    fn add(&mut self, id: QueueId, handle: &Arc<Handle>) {
        self.0.retain(|(_, handle)| handle.strong_count() > 0);
        self.0.push((id, Arc::downgrade(handle)));
    }
}

impl Handle {
    fn start(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        fence: Box<dyn QueueFence>,
        newest: u64,
        capacity: Option<usize>,
    ) -> Result<Self, OpenFenceError> {
        let shared = Shared::new(device, queue, fence, newest, capacity);
        let shared = Arc::new(shared);
        let watch = Watch::start(Arc::clone(&shared)).map_err(|error| OpenFenceError::Thread {
            reason: error.to_string(),
        })?;
        Ok(Self {
            shared,
            watch: Some(watch),
        })
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shared.fmt(f)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.watch.close();
        // The device must not go down on a detached thread while the process is ending.
        if let Some(watch) = self.watch.take() {
            watch.join();
        }
    }
}
