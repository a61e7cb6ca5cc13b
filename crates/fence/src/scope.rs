use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs `work` and collects the first error that wgpu reports for calls made on `device` by this
/// thread meanwhile, of any kind but a lost device, which wgpu reports nowhere but in its
/// device-lost callback.
pub fn capture_errors<R>(
    device: &wgpu::Device,
    work: impl FnOnce() -> R,
) -> (R, Option<wgpu::Error>) {
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let result = work();
    // Scopes are popped in the reverse order of their creation.
    let errors = [
        now(validation.pop()),
        now(memory.pop()),
        now(internal.pop()),
    ];
    (result, errors.into_iter().flatten().next())
}

/// The result of a future that native backends resolve at once.
fn now(popped: impl Future<Output = Option<wgpu::Error>>) -> Option<wgpu::Error> {
    match pin!(popped).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(error) => error,
        Poll::Pending => None,
    }
}
