//! Frames between request and delivery: how many, and how they end.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use framefence_fence::{LossListener, SubmissionLost};
use framefence_pool::PoolReport;
use framefence_readback::{Frame, FrameError, FrameTicket, PendingFrame, pending_frame};

use crate::stats::{Recorder, Stats};

/// The frames of one renderer that are between request and delivery.
///
/// It refers to nothing of the GPU: the last of a renderer's frames may end on the thread that
/// watches the device, which must not be the one to let go of it.
pub(crate) struct Traffic {
    depth: usize,
    counts: Mutex<Counts>,
    /// One of the counts has gone down.
    went_down: Condvar,
    /// The tickets of all of them.
    tickets: Mutex<Vec<FrameTicket>>,
    lost: OnceLock<SubmissionLost>,
    recorder: Mutex<Recorder>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    /// Frames that take one of the places.
    in_flight: usize,
    /// Frames whose waiters have not been told of their end.
    undelivered: usize,
}

impl Traffic {
    pub(crate) fn new(depth: usize) -> Arc<Self> {
        Arc::new(Self {
            depth,
            counts: Mutex::default(),
            went_down: Condvar::new(),
            tickets: Mutex::default(),
            lost: OnceLock::new(),
            recorder: Mutex::new(Recorder::new()),
        })
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Waits until there is room for a frame. `None` if there is none at the deadline. On a lost
    /// device there is always room, for a frame that ends at once.
    pub(crate) fn take_off(
        self: &Arc<Self>,
        number: u64,
        asked: Instant,
        deadline: Instant,
    ) -> Option<(PendingFrame, Flight)> {
        let has_room = |counts: Counts| counts.in_flight < self.depth || self.lost.get().is_some();
        let mut counts = self.wait_until(deadline, has_room)?;
        counts.in_flight += 1;
        counts.undelivered += 1;
        drop(counts);
        self.lock_recorder().requested += 1;
        let (pending, ticket) = pending_frame(number, asked, deadline);
        self.lock_tickets().push(ticket.clone());
        if let Some(lost) = self.lost.get() {
            // It may have been lost just before the ticket was known.
            ticket.finish(Err(FrameError::DeviceLost(lost.clone())));
        }
        Some((
            pending,
            Flight {
                traffic: Some(Arc::clone(self)),
                ticket,
            },
        ))
    }

    /// Blocks until every frame has ended; says whether that came about before the deadline.
    pub(crate) fn wait_for_landings(&self, deadline: Instant) -> bool {
        self.wait_until(deadline, |counts| counts.undelivered == 0)
            .is_some()
    }

    pub(crate) fn stats(&self, staging: PoolReport, targets: PoolReport) -> Stats {
        self.lock_recorder().snapshot(staging, targets)
    }

    fn wait_until(
        &self,
        deadline: Instant,
        condition: impl Fn(Counts) -> bool,
    ) -> Option<MutexGuard<'_, Counts>> {
        let mut counts = self.lock_counts();
        while !condition(*counts) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let woken = self.went_down.wait_timeout(counts, left);
            counts = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(counts)
    }

    /// Frees a frame's place, then tells its waiter of its end, so that it can submit at once.
    fn land(&self, ticket: &FrameTicket, result: Result<Frame, FrameError>) {
        self.lock_tickets().retain(|known| !known.is_same(ticket));
        self.lock_counts().in_flight -= 1;
        self.went_down.notify_one();
        self.deliver(ticket, result);
        self.lock_counts().undelivered -= 1;
        self.went_down.notify_one();
    }

    fn lock_counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn lock_tickets(&self) -> MutexGuard<'_, Vec<FrameTicket>> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_recorder(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LossListener for Traffic {
    /// Ends the frames that have not come to the GPU as well, and lets in those that wait to.
    fn device_lost(&self, lost: &SubmissionLost) {
        let _ = self.lost.set(lost.clone());
        let tickets = self.lock_tickets().clone();
        for ticket in tickets {
            ticket.finish(Err(FrameError::DeviceLost(lost.clone())));
        }
        // Under the lock, so that it does not fall between a waiter's look and its wait.
        let _counts = self.lock_counts();
        self.went_down.notify_all();
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

    /// Ends the frame.
    pub(crate) fn end(mut self, result: Result<Frame, FrameError>) {
        self.finish(result);
    }

    fn finish(&mut self, result: Result<Frame, FrameError>) {
        if let Some(traffic) = self.traffic.take() {
            traffic.land(&self.ticket, result);
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
