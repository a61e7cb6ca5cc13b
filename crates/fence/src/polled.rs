//! The backend for everything that has no fence of ours (OpenGL, and what is yet to come): wgpu's
//! own wait.
//!
//! It holds wgpu-core's snatch lock while it waits, so a host's `destroy` and `present` stall
//! behind it. That is why the other backends exist.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::SubmissionLost;
use crate::backend::{FenceBackend, Outcome, QueueFence, Signal};
use crate::canary::Canary;

/// No backend of wgpu's gives up a wait before this.
const SHORTEST_LIMIT: Duration = Duration::from_secs(1);

pub(crate) struct PolledFence {
    device: wgpu::Device,
    canary: Canary,
    progress: Mutex<Progress>,
}

/// How far the queue is, as far as was waited for.
#[derive(Default)]
struct Progress {
    reached: u64,
    /// What wgpu calls the submissions beyond. `None` where it did not tell: then it is waited for
    /// all there is.
    pending: BTreeMap<u64, Option<wgpu::SubmissionIndex>>,
}

impl PolledFence {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            canary: Canary::new(device),
            progress: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueFence for PolledFence {
    fn backend(&self) -> FenceBackend {
        FenceBackend::Polled
    }

    fn before_submit(&self, _value: u64) {}

    fn after_submit(&self, value: u64, outcome: Outcome) -> Result<Signal, SubmissionLost> {
        let Outcome::Made(index) = outcome else {
            return Ok(Signal::Withdrawn);
        };
        if self.canary.is_dead() {
            return Ok(Signal::Withdrawn);
        }
        self.lock().pending.insert(value, index);
        Ok(Signal::Sent)
    }

    fn wait(&self, value: u64, deadline: Instant) -> Result<u64, SubmissionLost> {
        // The newest submission up to `value`: a number may have been skipped.
        let index = {
            let progress = self.lock();
            match progress.pending.range(..=value).next_back() {
                Some((_, index)) => index.clone(),
                None => return Ok(progress.reached),
            }
        };
        if poll_until(&self.device, index.as_ref(), deadline)? {
            let mut progress = self.lock();
            progress.pending = progress.pending.split_off(&(value + 1));
            progress.reached = progress.reached.max(value);
        }
        self.reached()
    }

    fn reached(&self) -> Result<u64, SubmissionLost> {
        Ok(self.lock().reached)
    }
}

/// Blocks until the submission is done, or all there are without an index, or `deadline` has passed;
/// says whether it is done. Its callbacks run before this returns, unless another thread has them.
pub(crate) fn poll_until(
    device: &wgpu::Device,
    index: Option<&wgpu::SubmissionIndex>,
    deadline: Instant,
) -> Result<bool, SubmissionLost> {
    loop {
        let started = Instant::now();
        let left = deadline.saturating_duration_since(started);
        if left.is_zero() {
            // Not asked once more: of two threads that ask wgpu with no time to wait, one may panic.
            return Ok(false);
        }
        let wait = wgpu::PollType::Wait {
            submission_index: index.cloned(),
            timeout: Some(left),
        };
        match device.poll(wait) {
            Ok(_) => return Ok(true),
            // OpenGL waits for 2.1 s at most, whatever it is asked, and takes a wait that failed for
            // one that was too short.
            Err(wgpu::PollError::Timeout) => {
                if left > SHORTEST_LIMIT && started.elapsed() < SHORTEST_LIMIT {
                    return Err(SubmissionLost::new("the driver does not wait any more"));
                }
            }
            Err(error) => return Err(SubmissionLost::new(error.to_string())),
        }
    }
}
