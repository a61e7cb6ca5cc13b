//! The backend for everything that has no fence of ours: wgpu's own wait.
//!
//! It holds wgpu-core's snatch lock while it waits, so a host's `destroy` and `present` stall
//! behind it. That is why the other backends exist.

use crate::SubmissionLost;

/// Blocks until the submission is done, or all there are without an index; its callbacks run before this returns.
pub(crate) fn wait(
    device: &wgpu::Device,
    index: Option<wgpu::SubmissionIndex>,
) -> Result<(), SubmissionLost> {
    let wait = wgpu::PollType::Wait {
        submission_index: index,
        timeout: None,
    };
    loop {
        match device.poll(wait.clone()) {
            Ok(_) => return Ok(()),
            // GLES waits for 2.1 s at most, whatever it is asked.
            Err(wgpu::PollError::Timeout) => {}
            Err(error) => return Err(SubmissionLost::new(error.to_string())),
        }
    }
}
