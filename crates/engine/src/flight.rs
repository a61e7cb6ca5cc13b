//! Frames between request and delivery: how many, and how they end.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use framefence_pool::PoolReport;
use framefence_readback::{Frame, FrameError, FrameTicket, PendingFrame, pending_frame};

use crate::stats::{Recorder, Stats};

/// The frames of one renderer that are between request and delivery.
///
/// It refers to nothing of the GPU: the last of a renderer's frames may end on the thread that
/// watches the device, which must not be the one to let go of it.
pub(crate) struct Traffic {
    depth: usize,
    in_flight: Mutex<usize>,
    /// A frame is no longer in flight.
    landed: Condvar,
    recorder: Mutex<Recorder>,
}

impl Traffic {
    pub(crate) fn new(depth: usize) -> Arc<Self> {
        Arc::new(Self {
            depth,
            in_flight: Mutex::new(0),
            landed: Condvar::new(),
            recorder: Mutex::new(Recorder::new()),
        })
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Waits until there is room for a frame. `None` if there is none at the deadline.
    pub(crate) fn take_off(
        self: &Arc<Self>,
        number: u64,
        deadline: Instant,
    ) -> Option<(PendingFrame, Flight)> {
        let mut in_flight = self.wait_until(deadline, |in_flight| in_flight < self.depth)?;
        *in_flight += 1;
        drop(in_flight);
        self.lock_recorder().requested += 1;
        let (pending, ticket) = pending_frame(number, deadline);
        Some((
            pending,
            Flight {
                traffic: Some(Arc::clone(self)),
                ticket,
            },
        ))
    }

    /// Blocks until no frame is in flight; says whether that came about before the deadline.
    pub(crate) fn wait_for_landings(&self, deadline: Instant) -> bool {
        self.wait_until(deadline, |in_flight| in_flight == 0)
            .is_some()
    }

    pub(crate) fn stats(&self, staging: PoolReport, targets: PoolReport) -> Stats {
        self.lock_recorder().snapshot(staging, targets)
    }

    fn wait_until(
        &self,
        deadline: Instant,
        condition: impl Fn(usize) -> bool,
    ) -> Option<MutexGuard<'_, usize>> {
        let mut in_flight = self
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while !condition(*in_flight) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let woken = self.landed.wait_timeout(in_flight, left);
            in_flight = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(in_flight)
    }

    fn land(&self) {
        *self
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner) -= 1;
        self.landed.notify_one();
    }

    /// Ends a frame and counts how.
    fn deliver(&self, ticket: &FrameTicket, result: Result<Frame, FrameError>) {
        let is_failure = match &result {
            Ok(_) | Err(FrameError::Cancelled | FrameError::Timeout { .. }) => false,
            Err(_) => true,
        };
        // Counted before the waiter is told, so that it finds itself in the numbers.
        let mut recorder = self.lock_recorder();
        match &result {
            Ok(frame) => {
                recorder.delivered += 1;
                recorder.record(&frame.timings());
            }
            Err(_) if is_failure => recorder.failed += 1,
            Err(_) => recorder.abandoned += 1,
        }
        drop(recorder);
        let is_frame = result.is_ok();
        let was_wanted = ticket.finish(result);
        if is_frame && !was_wanted {
            let mut recorder = self.lock_recorder();
            recorder.delivered -= 1;
            recorder.abandoned += 1;
        }
    }

    fn lock_recorder(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A frame between request and delivery. It takes one of the places that a renderer's depth
/// allows, until it ends.
pub(crate) struct Flight {
    /// Present until the frame ends.
    traffic: Option<Arc<Traffic>>,
    ticket: FrameTicket,
}

impl Flight {
    /// The frame's ticket, to look at; the flight ends it.
    pub(crate) fn ticket(&self) -> &FrameTicket {
        &self.ticket
    }

    /// Frees the frame's place and ends it, in this order, so that its waiter can submit at once.
    pub(crate) fn end(mut self, result: Result<Frame, FrameError>) {
        self.finish(result);
    }

    fn finish(&mut self, result: Result<Frame, FrameError>) {
        if let Some(traffic) = self.traffic.take() {
            traffic.land();
            traffic.deliver(&self.ticket, result);
        }
    }
}

impl Drop for Flight {
    /// Only a panic on the frame's way drops a flight that has not ended.
    fn drop(&mut self) {
        self.finish(Err(FrameError::Rejected {
            reason: "the engine panicked".to_owned(),
        }));
    }
}
