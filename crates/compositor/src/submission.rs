//! Whether recorded commands have been submitted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notices recordings that were thrown away: their textures do not hold what was recorded.
#[derive(Debug, Default)]
pub(crate) struct Discarded(Arc<AtomicBool>);

impl Discarded {
    /// Watches over what has been recorded into `encoder` so far.
    pub(crate) fn watch(&self, encoder: &wgpu::CommandEncoder) {
        let recording = Recording {
            discarded: self.0.clone(),
            is_done: false,
        };
        // An encoder that is dropped drops this without calling it.
        encoder.on_submitted_work_done(move || recording.finish());
    }

    /// Whether a recording was thrown away since this was asked last.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

struct Recording {
    discarded: Arc<AtomicBool>,
    is_done: bool,
}

impl Recording {
    fn finish(mut self) {
        self.is_done = true;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.is_done {
            self.discarded.store(true, Ordering::Release);
        }
    }
}
