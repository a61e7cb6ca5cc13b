//! A frame that is on its way.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Waker;
use std::time::Instant;

use framefence_fence::Completion;

use crate::{Frame, FrameError};

/// A frame that was asked for. It ends in exactly one of a [`Frame`] and a [`FrameError`].
///
/// Wait for it on this thread with [`wait`](Self::wait), or `.await` it on any executor. Dropping
/// it cancels its delivery; its memory is used again once the GPU is done with it.
#[derive(Debug)]
#[must_use = "dropping a pending frame cancels it"]
pub struct PendingFrame {
    shared: Arc<Shared>,
}

/// The engine's end of a [`PendingFrame`].
#[derive(Clone, Debug)]
pub struct FrameTicket {
    shared: Arc<Shared>,
}

/// Ends a frame's delivery from anywhere.
#[derive(Clone, Debug)]
pub struct CancelHandle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    completion: Completion<Result<Frame, FrameError>>,
    stage: AtomicU8,
    number: u64,
    asked: Instant,
    deadline: Instant,
}

/// How far a frame has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// It waits for its renderer.
    Queued,
    /// Its painter is at work.
    Paint,
    /// It waits for staging memory that other frames hold.
    StagingMemory,
    /// It waits until the driver can take another submission.
    Driver,
    /// The GPU has it.
    Gpu,
}

impl Stage {
    const ALL: [Self; 5] = [
        Self::Queued,
        Self::Paint,
        Self::StagingMemory,
        Self::Driver,
        Self::Gpu,
    ];
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Queued => "its turn in the renderer",
            Self::Paint => "its painter",
            Self::StagingMemory => "staging memory that other frames hold",
            Self::Driver => "room in the driver",
            Self::Gpu => "the GPU",
        })
    }
}

/// A pending frame, asked for at `asked`, and the ticket that ends it. All its waits end at
/// `deadline`.
pub fn pending_frame(
    number: u64,
    asked: Instant,
    deadline: Instant,
) -> (PendingFrame, FrameTicket) {
    let shared = Arc::new(Shared {
        completion: Completion::new(),
        stage: AtomicU8::new(0),
        number,
        asked,
        deadline,
    });
    (
        PendingFrame {
            shared: Arc::clone(&shared),
        },
        FrameTicket { shared },
    )
}

impl PendingFrame {
    /// The frame's number, as its request gave it.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.shared.number
    }

    /// Whether the frame has ended, so that a wait returns at once.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.shared.completion.is_complete()
    }

    /// How far the frame has come.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.shared.stage()
    }

    /// Blocks until the frame is there or its request's timeout is over. Takes no lock of wgpu's.
    ///
    /// # Errors
    ///
    /// [`FrameError`] if it ends in another way.
    pub fn wait(self) -> Result<Frame, FrameError> {
        let deadline = self.shared.deadline;
        self.wait_until(deadline)
    }

    /// Blocks until the frame is there or `deadline` has passed, which then is the frame's end.
    ///
    /// # Errors
    ///
    /// [`FrameError`] if it ends in another way.
    pub fn wait_until(self, deadline: Instant) -> Result<Frame, FrameError> {
        // The end, if there is one, is taken below.
        let _ = self.shared.completion.wait_until(deadline);
        self.shared.end()
    }

    /// A handle that cancels the frame from another thread while this one waits for it.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl IntoFuture for PendingFrame {
    type Output = Result<Frame, FrameError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Resolves when the frame is there or its request's timeout is over, on any executor;
    /// dropping the future cancels the frame.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            // The end, if there is one, is taken below.
            let _ = self.shared.completion.reached(self.shared.deadline).await;
            self.shared.end()
        })
    }
}

impl Drop for PendingFrame {
    fn drop(&mut self) {
        self.shared.cancel();
        // Nobody else can take a frame that has come; a cancel handle must not keep its memory.
        drop(self.shared.completion.take());
    }
}

impl CancelHandle {
    /// Ends the frame with [`FrameError::Cancelled`], unless it has ended before.
    pub fn cancel(&self) {
        self.shared.cancel();
    }
}

impl FrameTicket {
    /// Whether nobody has ended the frame yet, so that work on it is of use.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.shared.completion.is_complete()
    }

    /// Wakes `waker` when the frame is no longer wanted.
    pub fn wake_when_ended(&self, waker: &Waker) {
        self.shared.completion.wake_when_complete(waker);
    }

    /// When every wait for the frame ends.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.shared.deadline
    }

    /// Whether both are tickets of one frame.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// When the frame was asked for.
    #[must_use]
    pub fn asked(&self) -> Instant {
        self.shared.asked
    }

    /// Notes how far the frame has come.
    pub fn enter(&self, stage: Stage) {
        self.shared.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// The error of a frame whose deadline has passed in the stage it is in.
    #[must_use]
    pub fn timeout(&self) -> FrameError {
        self.shared.timeout()
    }

    /// Ends the frame, unless that was done before; says whether this was its end. A frame that
    /// comes too late is dropped here, which gives its memory back.
    pub fn finish(&self, result: Result<Frame, FrameError>) -> bool {
        self.shared.completion.complete(result).is_ok()
    }
}

impl Shared {
    fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed))]
    }

    fn cancel(&self) {
        // A frame that has its end keeps it.
        let _ = self.completion.complete(Err(FrameError::Cancelled));
    }

    /// The frame's end: the one it has, or else that its deadline has passed.
    fn end(&self) -> Result<Frame, FrameError> {
        // A frame that has its end keeps it.
        let _ = self.completion.complete(Err(self.timeout()));
        self.completion.take().unwrap_or(Err(FrameError::Cancelled))
    }

    fn timeout(&self) -> FrameError {
        FrameError::Timeout {
            waited: self.asked.elapsed(),
            waiting_for: self.stage(),
        }
    }
}
