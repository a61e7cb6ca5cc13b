//! Devices that outlive the tests.

use framefence::wgpu;

/// Keeps the device for the rest of the process, where it would be a DirectX 12 one.
///
/// Wine 8, under which those tests run on Linux, crashes when the last handle on such a device goes.
pub fn never_released(device: &wgpu::Device) {
    if cfg!(windows) {
        std::mem::forget(device.clone());
    }
}
