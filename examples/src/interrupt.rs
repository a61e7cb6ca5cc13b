//! Ctrl-C, as something that a waiting thread notices at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use framefence::CancelHandle;

/// Whether Ctrl-C (or a termination signal) has come, and what it is to cancel.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    came: bool,
    waiting_for: Option<CancelHandle>,
}

impl Interrupt {
    /// Takes over Ctrl-C for the rest of the process.
    ///
    /// # Errors
    ///
    /// If that was done before, or the operating system refuses.
    pub fn on_ctrl_c() -> Result<Self> {
        let interrupt = Self::default();
        let handler = interrupt.clone();
        ctrlc::set_handler(move || {
            let mut state = handler.lock();
            state.came = true;
            if let Some(frame) = state.waiting_for.take() {
                frame.cancel();
            }
        })
        .context("Ctrl-C cannot be taken over")?;
        Ok(interrupt)
    }

    /// Whether it has come.
    #[must_use]
    pub fn came(&self) -> bool {
        self.lock().came
    }

    /// Runs `wait`, in which the caller waits for the frame of `handle`, so that Ctrl-C ends it.
    pub fn guard<R>(&self, handle: CancelHandle, wait: impl FnOnce() -> R) -> R {
        let mut state = self.lock();
        if state.came {
            handle.cancel();
        } else {
            state.waiting_for = Some(handle);
        }
        drop(state);
        let result = wait();
        self.lock().waiting_for = None;
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
