//! A test that hangs must fail.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs `work` on another thread and returns its result.
///
/// # Panics
///
/// If it has not ended after `limit`, or as `work` does.
pub fn within<R: Send + 'static>(limit: Duration, work: impl FnOnce() -> R + Send + 'static) -> R {
    let (over, ended) = channel::<()>();
    let worker = thread::spawn(move || {
        // Dropped at the end, or by a panic.
        let _over = over;
        work()
    });
    assert_eq!(
        ended.recv_timeout(limit),
        Err(RecvTimeoutError::Disconnected),
        "not over after {limit:?}"
    );
    worker.join().unwrap_or_else(|panic| resume_unwind(panic))
}
