//! Opens every GPU that wgpu offers through Vulkan, Metal or DirectX 12; with `--opengl`, through OpenGL.
//!
//! Exit status 0: at least one opened, each is listed on stdout. Exit status 1: none did.
//! `cargo xtask` asks it whether a driver has to be installed; by hand it tells which adapters
//! there are: `cargo run -p xtask --example gpu_probe`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let backends = match std::env::args().nth(1).as_deref() {
        Some("--opengl") => wgpu::Backends::GL,
        _ => wgpu::Backends::PRIMARY,
    };
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });

    let mut opened = ExitCode::FAILURE;
    for adapter in pollster::block_on(instance.enumerate_adapters(backends)) {
        let info = adapter.get_info();
        let name = format!("{} ({}, {:?})", info.name, info.backend, info.device_type);
        match pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            // OpenGL's may be below wgpu's own.
            required_limits: adapter.limits(),
            ..Default::default()
        })) {
            Ok(_) => {
                println!("{name}");
                opened = ExitCode::SUCCESS;
            }
            Err(error) => eprintln!("{name} does not open: {error}"),
        }
    }
    opened
}
