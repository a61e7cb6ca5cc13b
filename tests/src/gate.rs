//! Holds the GPU until a test lets it go on.

use framefence::{Gpu, PaintContext, Painter, PainterError, wgpu};

use crate::{Pattern, SharedMemory};

/// Waits one after the other: see the shader. Together they last for a minute or two.
const WORKGROUPS: u32 = 5_000;

/// Keeps commands waiting on the GPU, so that a test can act while a frame is in flight, however
/// fast the GPU is. Dropping the gate opens it.
///
/// The wait is a shader that reads a word of shared memory until the CPU has written it. (A
/// semaphore that the CPU signals would be kinder, but Debian's validation layer loses track of
/// those; and what is submitted behind a submission that waits blocks in lavapipe.)
#[derive(Debug)]
pub struct Gate {
    is_open: SharedMemory,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
}

/// Draws the [`Pattern`], once the gate is open.
#[derive(Debug)]
pub struct GatedPattern {
    pattern: Pattern,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn closed(gpu: &Gpu) -> Self {
        let device = gpu.device();
        let is_open = SharedMemory::new(gpu, 1, 0, wgpu::BufferUsages::STORAGE);
        let module = device.create_shader_module(wgpu::include_wgsl!("gate.wgsl"));
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("gate"),
            layout: None,
            module: &module,
            entry_point: Some("wait"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gate"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: is_open.buffer().as_entire_binding(),
            }],
        });
        Self {
            is_open,
            pipeline,
            bindings,
        }
    }

    /// A painter whose frames wait on the GPU until the gate is open.
    #[must_use]
    pub fn painter(&self) -> GatedPattern {
        GatedPattern {
            pattern: Pattern::default(),
            pipeline: self.pipeline.clone(),
            bindings: self.bindings.clone(),
        }
    }

    /// Commands that wait on the GPU until the gate is open.
    #[must_use]
    pub fn commands(&self, gpu: &Gpu) -> wgpu::CommandBuffer {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        wait(&mut encoder, &self.pipeline, &self.bindings);
        encoder.finish()
    }

    /// Lets what waits go on.
    pub fn open(self) {}
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.is_open.write_first(1);
    }
}

impl Painter for GatedPattern {
    fn overwrites_targets(&self) -> bool {
        true
    }

    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        wait(context.encoder, &self.pipeline, &self.bindings);
        self.pattern.paint(context)
    }
}

fn wait(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    bindings: &wgpu::BindGroup,
) {
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, bindings, &[]);
    pass.dispatch_workgroups(WORKGROUPS, 1, 1);
}
