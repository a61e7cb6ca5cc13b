//! The thread that waits for a device's submissions, in the order in which they were made.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::queue::Done;
use crate::shared::Shared;
use crate::slots::DriverSlot;
use crate::{Completion, SubmissionLost, deadline_after};

/// How long the last handle on a queue waits for what the GPU still has.
const LONGEST_DRAIN: Duration = Duration::from_secs(60);

type OnDone = Box<dyn FnOnce(Result<Done, SubmissionLost>) + Send>;

/// One submission: what is to happen when it is done.
pub(crate) struct Submission {
    /// What its end will say of it.
    done: Done,
    progress: Mutex<Progress>,
}

struct Progress {
    /// Both are taken by the first end; the slot is given back before the caller is told, so that
    /// it can submit at once.
    end: Option<(DriverSlot, OnDone)>,
    /// wgpu has dropped the callback that would have been the proof. A panic in another callback
    /// takes those after it along, and a `Surface::configure` that fails drops all that were due.
    is_callback_gone: bool,
    /// Everything up to the submission is done, so its own work is, too.
    is_passed: bool,
}

impl Submission {
    pub(crate) fn new(
        slot: DriverSlot,
        done: Done,
        on_done: impl FnOnce(Result<Done, SubmissionLost>) + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            done,
            progress: Mutex::new(Progress {
                end: Some((slot, Box::new(on_done))),
                is_callback_gone: false,
                is_passed: false,
            }),
        })
    }

    /// What wgpu's callback holds.
    pub(crate) fn proof(self: &Arc<Self>, shared: &Arc<Shared>) -> ProofCallback {
        ProofCallback {
            submission: Arc::clone(self),
            shared: Arc::downgrade(shared),
        }
    }

    /// Ends the submission, unless that was done before.
    pub(crate) fn finish(&self, result: Result<(), SubmissionLost>) {
        let end = self.lock().end.take();
        if let Some((slot, on_done)) = end {
            drop(slot);
            on_done(result.map(|()| self.done));
        }
    }

    fn is_finished(&self) -> bool {
        self.lock().end.is_none()
    }

    /// Notes that the callback will not come. Says whether the submission is done all the same.
    fn lose_callback(&self) -> bool {
        let mut progress = self.lock();
        progress.is_callback_gone = true;
        progress.is_passed
    }

    /// Notes that the work is done. Says whether no callback will tell.
    fn pass(&self) -> bool {
        let mut progress = self.lock();
        progress.is_passed = true;
        progress.is_callback_gone
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends its submission when wgpu calls it. When wgpu drops it without a call, the watching thread
/// does, which finds out by the order of submissions that the work is done.
pub(crate) struct ProofCallback {
    submission: Arc<Submission>,
    /// Weak: the device keeps the callback.
    shared: Weak<Shared>,
}

impl ProofCallback {
    pub(crate) fn arrived(self, result: Result<(), SubmissionLost>) {
        self.submission.finish(result.and_then(|()| self.confirm()));
    }

    /// Asks the fence whether wgpu is to be believed.
    fn confirm(&self) -> Result<(), SubmissionLost> {
        self.shared.upgrade().map_or(Ok(()), |it| it.confirm())
    }
}

impl Drop for ProofCallback {
    fn drop(&mut self) {
        if self.submission.lose_callback() {
            self.submission.finish(self.confirm());
        }
    }
}

/// A submission whose fence is waited for.
pub(crate) struct Watched {
    submission: Arc<Submission>,
    /// Whether its own signal has come without the proof, and this is the one behind it.
    rearmed: bool,
}

impl Watched {
    pub(crate) fn new(submission: Arc<Submission>) -> Self {
        Self {
            submission,
            rearmed: false,
        }
    }
}

/// The submissions whose fences are waited for, by the value that signals them.
#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    watched: BTreeMap<u64, Watched>,
    /// What the thread has taken out of these. A loss has to find it as well: the submission behind
    /// one may block in the driver, until the GPU is done.
    in_hand: Vec<Arc<Submission>>,
    closed: bool,
}

impl Watch {
    /// Starts the thread. It ends when the watch is closed and nothing is left to wait for.
    pub(crate) fn start(shared: Arc<Shared>) -> io::Result<WatchThread> {
        let ended = Arc::new(Completion::new());
        let at_end = Arc::clone(&ended);
        let thread = thread::Builder::new()
            .name("framefence-watch".into())
            .spawn(move || {
                run(&shared);
                drop(shared);
                // Nobody else completes it.
                let _ = at_end.complete(());
            })?;
        Ok(WatchThread { thread, ended })
    }

    pub(crate) fn push(&self, value: u64, watched: Watched) {
        self.lock().watched.insert(value, watched);
        self.changed.notify_one();
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    pub(crate) fn take_all(&self) -> Vec<Arc<Submission>> {
        let mut state = self.lock();
        let mut all = std::mem::take(&mut state.in_hand);
        let watched = std::mem::take(&mut state.watched);
        all.extend(watched.into_values().map(|watched| watched.submission));
        all
    }

    /// The value of the submission that will be done next; blocks while there is none. `None` when
    /// closed.
    fn next(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            if let Some((&value, _)) = state.watched.first_key_value() {
                return Some(value);
            }
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn take_reached(&self, value: u64) -> BTreeMap<u64, Watched> {
        let mut state = self.lock();
        let later = state.watched.split_off(&(value + 1));
        let reached = std::mem::replace(&mut state.watched, later);
        let in_hand = reached.values().map(|it| Arc::clone(&it.submission));
        state.in_hand.extend(in_hand);
        reached
    }

    /// All that was taken is finished or watched again.
    fn hand_back(&self) {
        self.lock().in_hand.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread of a watch.
pub(crate) struct WatchThread {
    thread: JoinHandle<()>,
    ended: Arc<Completion<()>>,
}

impl WatchThread {
    pub(crate) fn is_current(&self) -> bool {
        self.thread.thread().id() == thread::current().id()
    }

    /// Waits for the thread's end, unless this is the thread, or the GPU does not come to an end.
    pub(crate) fn join(self) {
        let deadline = deadline_after(LONGEST_DRAIN);
        if !self.is_current() && self.ended.wait_until(deadline).is_ok() {
            // A panic in it was reported when it happened.
            let _ = self.thread.join();
        }
    }
}

fn run(shared: &Shared) {
    while let Some(value) = shared.watch.next() {
        let wait = || tracing::trace_span!("gpu_wait").in_scope(|| shared.wait(value));
        let reached = match guard_wait(wait) {
            Ok(reached) => reached,
            Err(lost) => {
                shared.lose(lost);
                continue;
            }
        };
        let done = shared.watch.take_reached(reached);
        triage(shared);
        if done
            .values()
            .any(|watched| !watched.submission.is_finished())
        {
            // wgpu's own fence is signalled by the same submission, right after ours. Where a thread
            // of the driver signals both (Mesa's does), waking up here may have taken the CPU from
            // it between the two, and it gets on as soon as we give way. Once: a signal that was
            // carried away is not waited for like this.
            thread::yield_now();
            triage(shared);
        }
        for watched in done.into_values() {
            settle(shared, watched);
        }
        shared.watch.hand_back();
    }
    // A host's submission may still carry a signal whose own submission was refused.
    shared.wait_for_all();
}

/// Lets wgpu run the callbacks of what is done, the host's among them.
fn triage(shared: &Shared) {
    guard(|| tracing::trace_span!("triage").in_scope(|| shared.triage()));
}

/// A panic in a callback of the host must not end every wait to come.
fn guard<R>(call: impl FnOnce() -> R) -> Option<R> {
    let result = catch_unwind(AssertUnwindSafe(call));
    if result.is_err() {
        tracing::error!("a callback on the device panicked, or wgpu at its loss");
    }
    result.ok()
}

/// wgpu's own wait runs callbacks, the host's among them. One that panics is gone when the wait is
/// taken up again; a wait that panics by itself would do so for ever.
fn guard_wait<R>(wait: impl Fn() -> Result<R, SubmissionLost>) -> Result<R, SubmissionLost> {
    let waited = guard(&wait).or_else(|| guard(&wait));
    waited.unwrap_or_else(|| Err(SubmissionLost::new("wgpu panicked")))
}

/// Sees to it that a submission whose signal has come is finished.
fn settle(shared: &Shared, watched: Watched) {
    let Watched {
        submission,
        rearmed,
    } = watched;
    if submission.is_finished() {
        return;
    }
    if !shared.needs_proof() {
        submission.finish(Ok(()));
    } else if !rearmed {
        // While it is held nobody's pause begins; and if one has begun, the submission is finished.
        let _slot = shared.slots.take_another();
        if submission.is_finished() {
            return;
        }
        // The signal was carried away by an earlier submission of the host, or came before its work's
        // end.
        match tracing::trace_span!("rearm").in_scope(|| shared.rearm()) {
            Ok(value) => {
                let watched = Watched {
                    submission,
                    rearmed: true,
                };
                shared.watch_for(value, watched);
            }
            Err(lost) => submission.finish(Err(lost)),
        }
    } else if !shared.fence.is_ordered() {
        // Both signals came too early. wgpu's own wait holds its locks, but it does not end before
        // the work.
        match guard_wait(|| shared.poll_for_all()) {
            Ok(()) => pass(shared, &submission),
            Err(lost) => submission.finish(Err(lost)),
        }
    } else {
        pass(shared, &submission);
    }
}

/// Everything up to the submission is done, and wgpu has been asked: another thread that asked at the
/// same moment holds the callback and is about to run it, unless it is gone.
fn pass(shared: &Shared, submission: &Submission) {
    if submission.pass() {
        submission.finish(shared.confirm());
    }
}
