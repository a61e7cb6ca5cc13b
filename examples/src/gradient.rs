//! The job that the measure example times: a full-screen linear gradient in RGBA8.

use std::ops::Range;

use anyhow::{Result, ensure};
use framefence::{Plane, Size};

/// The job's shader: entry points [`VERTEX`] and [`FRAGMENT`], constants `width` and `height`.
pub const WGSL: &str = include_str!("../../shaders/measure_gradient.wgsl");

/// The vertex entry point. It draws [`VERTICES`] without buffers; its instance is the phase.
pub const VERTEX: &str = "cover";

/// The fragment entry point.
pub const FRAGMENT: &str = "gradient";

/// The vertices of one draw.
pub const VERTICES: Range<u32> = 0..3;

/// Phases there are, from 0 up. Frames that follow each other have different phases, so that a
/// stale frame cannot pass for the right one.
pub const PHASES: u32 = 16;

/// Bytes of one pixel.
pub const BYTES_PER_PIXEL: u32 = 4;

/// The values of the shader's constants for a target of `size`, by name.
#[must_use]
pub fn constants(size: Size) -> [(&'static str, f64); 2] {
    [
        ("width", f64::from(size.width)),
        ("height", f64::from(size.height)),
    ]
}

/// A pipeline that draws the gradient into `Rgba8Unorm` targets of `size`.
#[must_use]
pub fn pipeline(device: &wgpu::Device, size: Size) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("measure gradient"),
        source: wgpu::ShaderSource::Wgsl(WGSL.into()),
    });
    let constants = constants(size);
    let compilation_options = wgpu::PipelineCompilationOptions {
        constants: &constants,
        ..Default::default()
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("measure gradient"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(VERTEX),
            // The constants belong to the fragment stage; the vertex stage has none.
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(FRAGMENT),
            compilation_options,
            targets: &[Some(wgpu::TextureFormat::Rgba8Unorm.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// Records the draw of one frame in `phase` into `target`.
///
/// The pass loads what the target held: the draw covers all of it, and clearing it first would
/// cost a software adapter as much as half the draw.
pub fn draw(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::RenderPipeline,
    target: &wgpu::TextureView,
    phase: u32,
) {
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("measure gradient"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: target,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Load,
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    });
    pass.set_pipeline(pipeline);
    pass.draw(VERTICES, phase..phase + 1);
}

/// Checks a few pixels: the corners and the centre.
///
/// # Errors
///
/// If one of them is off by more than 1 in red or green, or at all in blue or alpha.
pub fn spot_check(pixels: Plane<'_>, phase: u32) -> Result<()> {
    let (right, bottom) = (pixels.width - 1, pixels.height - 1);
    for (x, y) in [
        (0, 0),
        (right, 0),
        (right / 2, bottom / 2),
        (0, bottom),
        (right, bottom),
    ] {
        check_pixel(pixels, x, y, phase)?;
    }
    Ok(())
}

/// Checks every pixel, as [`spot_check`] does a few.
///
/// # Errors
///
/// If one of them is off by more than 1 in red or green, or at all in blue or alpha.
pub fn check(pixels: Plane<'_>, phase: u32) -> Result<()> {
    for y in 0..pixels.height {
        for x in 0..pixels.width {
            check_pixel(pixels, x, y, phase)?;
        }
    }
    Ok(())
}

fn check_pixel(pixels: Plane<'_>, x: u32, y: u32, phase: u32) -> Result<()> {
    let start = x as usize * BYTES_PER_PIXEL as usize;
    let actual = &pixels.row(y)[start..][..BYTES_PER_PIXEL as usize];
    let expected = pixel(Size::new(pixels.width, pixels.height), x, y, phase);
    ensure!(
        actual[0].abs_diff(expected[0]) <= 1
            && actual[1].abs_diff(expected[1]) <= 1
            && actual[2..] == expected[2..],
        "pixel {x},{y} of a frame in phase {phase} is {actual:?}, not {expected:?}",
    );
    Ok(())
}

/// The gradient's pixel at `x`, `y`, computed here: the GPU may round red and green the other way.
fn pixel(size: Size, x: u32, y: u32, phase: u32) -> [u8; 4] {
    let along = 0.5
        * ((f64::from(x) + 0.5) / f64::from(size.width)
            + (f64::from(y) + 0.5) / f64::from(size.height));
    let mix = |start: f64, end: f64| ((start + (end - start) * along) * 255.0).round() as u8;
    [mix(0.1, 1.0), mix(0.9, 0.2), (phase * 16) as u8, 255]
}
