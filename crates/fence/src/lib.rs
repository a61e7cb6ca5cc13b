//! Submission fences for wgpu.
//!
//! wgpu can be asked to block until a submission is done, but its wait holds locks that nearly
//! every other call needs. [`FencedQueue`] instead gives each submission a fence of its own on the
//! backend's queue and watches those fences from one thread, which holds no lock of wgpu's while
//! it waits. When a fence is signalled, that thread lets wgpu notice and run the submission's
//! callback, and the callback ends the submission: with what the caller asked for, or with the
//! reason why the device was lost.
//!
//! # What is promised
//!
//! * A submission is reported as done only after wgpu itself has said so, by a map or work-done
//!   callback. The fence is a hint that it is time to ask. It can be early: the host submits to
//!   the same queue, and on Vulkan its submission may carry our signal away. Then an empty
//!   submission is sent behind the real one and its signal is waited for.
//! * On DirectX 12 wgpu takes a removed device for one that has done its work. The fence knows
//!   better, and has the last word.
//! * Each wait belongs to one [`Completion`]; waiters share no event and steal no wake-up.
//! * A wait ends at its deadline, and nothing sleeps or polls on a timer; but on Metal the watching
//!   thread looks every two seconds whether the command buffer of the newest signal has failed.
//! * Nothing is ever destroyed that others may use; resources are dropped.
//!
//! # Threads
//!
//! All types are `Send` and `Sync`. Callbacks run on the watching thread, or on any thread that
//! submits to or polls the device at that moment; in a submit of ours, under the submit lock. They
//! must be short. A host's callback that submits through the engine is not made to wait for the
//! driver, but one that waits for a frame waits for itself. An error of wgpu's that a host's callback
//! makes within a submit of ours is taken for that submission's.

mod backend;
mod canary;
mod completion;
#[cfg(windows)]
mod dx12;
mod error;
#[cfg(target_vendor = "apple")]
mod metal;
mod polled;
mod probe;
mod queue;
mod scope;
mod shared;
mod slots;
mod submission_fence;
mod timer;
// wgpu has no Vulkan on Apple's systems.
#[cfg(not(target_vendor = "apple"))]
mod vulkan;
mod watch;

pub use backend::FenceBackend;
pub use completion::{Completion, Expired, deadline_after};
pub use error::{OpenFenceError, PauseError, SubmissionLost, SubmitError, WaitError};
pub use queue::{Done, FencedQueue, Proof, QueueReport, SubmitPause};
pub use scope::capture_errors;
pub use shared::LossListener;
pub use submission_fence::SubmissionFence;

/// What only tests use.
#[doc(hidden)]
pub mod testing {
    #[cfg(windows)]
    pub use crate::dx12::Dx12Fence;
    #[cfg(windows)]
    pub use crate::queue::dx12_fence;
    pub use crate::queue::set_proof_required;
}
