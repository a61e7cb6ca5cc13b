//! A painter whose every pixel is known.

use framefence::{ColorTarget, Frame, PaintContext, Painter, PainterError, Plane, Size, wgpu};

/// Draws a pattern that differs in every pixel, frame and size, of arithmetic on whole numbers.
///
/// Each frame can be made to take as long as a test needs, by a loop that every pixel runs.
#[derive(Debug, Default)]
pub struct Pattern {
    pipelines: Vec<(wgpu::TextureFormat, wgpu::RenderPipeline)>,
    /// Rounds of a loop that every pixel runs before it is written.
    pub iterations: u32,
}

impl Pattern {
    /// A pattern whose every pixel runs `iterations` rounds of a loop first.
    #[must_use]
    pub fn slow(iterations: u32) -> Self {
        Self {
            pipelines: Vec::new(),
            iterations,
        }
    }

    /// The RGBA8 bytes of pixel (`x`, `y`) of frame `number`.
    #[must_use]
    pub fn pixel(number: u64, x: u32, y: u32) -> [u8; 4] {
        let number = number as u32;
        let mixed = x.wrapping_mul(31) ^ y.wrapping_mul(17) ^ number.wrapping_mul(101);
        [x as u8, y as u8, number as u8, mixed as u8]
    }

    /// How many pixels of a whole RGBA8 image are not those of frame `number`.
    #[must_use]
    pub fn wrong_pixels(number: u64, plane: &Plane<'_>) -> usize {
        let is_wrong = |x: usize, y: usize, pixel: &[u8]| {
            pixel != Self::pixel(number, x as u32, y as u32).as_slice()
        };
        let wrong_in_row = |(y, row): (usize, &[u8])| {
            let pixels = row.chunks(4).enumerate();
            pixels.filter(|(x, pixel)| is_wrong(*x, y, pixel)).count()
        };
        plane.rows().enumerate().map(wrong_in_row).sum()
    }

    /// Asserts that a whole frame, delivered as RGBA8, shows the pattern of its number.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn assert_shown(frame: &Frame) {
        let plane = frame.image().plane();
        assert!(plane.width > 0 && plane.height > 0);
        let wrong = Self::wrong_pixels(frame.number(), &plane);
        assert_eq!(wrong, 0, "wrong pixels in frame {}", frame.number());
    }

    /// A texture of RGBA8 to [`draw`](Self::draw) into, which may also be used as `usage` says.
    #[must_use]
    pub fn target(device: &wgpu::Device, size: Size, usage: wgpu::TextureUsages) -> wgpu::Texture {
        device.create_texture(&wgpu::TextureDescriptor {
            label: Some("pattern"),
            size: wgpu::Extent3d {
                width: size.width,
                height: size.height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        })
    }

    /// Records the part of frame `number` that begins at `origin`, for tests that have no renderer.
    pub fn draw(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        (view, format): (&wgpu::TextureView, wgpu::TextureFormat),
        [x, y]: [u32; 2],
        number: u64,
    ) {
        let pipeline = self.pipeline(device, format);
        let words = [x, y, number as u32, self.iterations];
        let contents = words.map(u32::to_le_bytes).concat();
        let frame = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pattern frame"),
            size: contents.len() as u64,
            usage: wgpu::BufferUsages::VERTEX,
            mapped_at_creation: true,
        });
        // A lost device gives no memory, which must not be the painter's fault.
        if let Ok(mut mapped) = frame.get_mapped_range_mut(..) {
            mapped.copy_from_slice(&contents);
        }
        frame.unmap();
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("pattern"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        pass.set_vertex_buffer(0, frame.slice(..));
        pass.draw(0..3, 0..1);
    }

    fn pipeline(
        &mut self,
        device: &wgpu::Device,
        format: wgpu::TextureFormat,
    ) -> wgpu::RenderPipeline {
        if let Some((_, pipeline)) = self.pipelines.iter().find(|(known, _)| *known == format) {
            return pipeline.clone();
        }
        let module = device.create_shader_module(wgpu::include_wgsl!("pattern.wgsl"));
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("pattern"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(FRAME)],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        self.pipelines.push((format, pipeline.clone()));
        pipeline
    }
}

/// Four words of the one instance.
const FRAME: wgpu::VertexBufferLayout<'_> = wgpu::VertexBufferLayout {
    array_stride: 16,
    step_mode: wgpu::VertexStepMode::Instance,
    attributes: &wgpu::vertex_attr_array![0 => Uint32x4],
};

impl Painter for Pattern {
    fn overwrites_targets(&self) -> bool {
        true
    }

    fn paint(&mut self, context: &mut PaintContext<'_>) -> Result<(), PainterError> {
        let ColorTarget { view, format, .. } = context.targets.color();
        self.draw(
            context.gpu.device(),
            context.encoder,
            (view, *format),
            context.view.tile_origin,
            context.view.number,
        );
        Ok(())
    }
}
