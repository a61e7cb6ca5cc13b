//! The end of one submission.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use crate::{Completion, WaitError};

/// The end of one submission, to be waited for by any number of threads and tasks.
///
/// Waits can be cancelled, and end when the device is lost. Dropping the fence changes nothing for
/// the submission. Cloning gives another handle on it.
#[derive(Clone, Debug)]
#[must_use = "a fence that nobody waits for says nothing"]
pub struct SubmissionFence {
    pub(crate) completion: Arc<Completion<Result<(), WaitError>>>,
    pub(crate) submitted: Instant,
    pub(crate) deadline: Instant,
}

impl SubmissionFence {
    /// Whether the submission's work is done, without waiting.
    #[must_use]
    pub fn is_signaled(&self) -> bool {
        self.completion.peek().is_some_and(|end| end.is_ok())
    }

    /// Blocks until the work is done or the submission's timeout is over.
    ///
    /// # Errors
    ///
    /// [`WaitError`] if the wait ended in another way.
    pub fn wait(&self) -> Result<(), WaitError> {
        self.wait_until(self.deadline)
    }

    /// Blocks until the work is done or `deadline` has passed; one in the past only asks.
    ///
    /// # Errors
    ///
    /// [`WaitError`] if the wait ended in another way.
    pub fn wait_until(&self, deadline: Instant) -> Result<(), WaitError> {
        // The end, if there is one, is read below.
        let _ = self.completion.wait_until(deadline);
        self.end()
    }

    /// Ends every wait for this fence with [`WaitError::Cancelled`], unless the work is done.
    pub fn cancel(&self) {
        // A fence that has its end keeps it.
        let _ = self.completion.complete(Err(WaitError::Cancelled));
    }

    fn end(&self) -> Result<(), WaitError> {
        let timeout = || {
            Err(WaitError::Timeout {
                waited: self.submitted.elapsed(),
            })
        };
        self.completion.peek().unwrap_or_else(timeout)
    }
}

impl IntoFuture for SubmissionFence {
    type Output = Result<(), WaitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    /// Resolves when the work is done or the submission's timeout is over; on any executor.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            // The end, if there is one, is read below.
            let _ = self.completion.reached(self.deadline).await;
            self.end()
        })
    }
}
