//! Runs steps on the device, one after the other, for the tests of effects.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};

use framefence::Gpu;
use glam::IVec2;
use half::f16;

use super::{DrawUniforms, EffectShader, EffectUniforms, Lut, LutTexture, SURFACE_FORMAT, Step};
use crate::rect::IntRect;

/// A surface's pixels on the CPU, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Surface {
    pub(super) region: IntRect,
    pub(super) pixels: Vec<[f16; 4]>,
}

impl Surface {
    pub(super) fn new(region: IntRect, pixel: impl Fn(i32, i32) -> [f64; 4]) -> Self {
        let pixels = positions(region)
            .map(|(x, y)| pixel(x, y).map(f16::from_f64))
            .collect();
        Self { region, pixels }
    }

    /// Transparent outside the region.
    pub(super) fn at(&self, x: i32, y: i32) -> [f16; 4] {
        if !holds(self.region, x, y) {
            return [f16::ZERO; 4];
        }
        let IntRect { min, max } = self.region;
        self.pixels[((y - min.y) * (max.x - min.x) + (x - min.x)) as usize]
    }

    /// The part in `region`.
    pub(super) fn cropped(&self, region: IntRect) -> Self {
        let region = region.intersect(self.region);
        Self {
            region,
            pixels: positions(region).map(|(x, y)| self.at(x, y)).collect(),
        }
    }
}

fn holds(region: IntRect, x: i32, y: i32) -> bool {
    let position = IVec2::new(x, y);
    region.min.cmple(position).all() && position.cmplt(region.max).all()
}

/// Row by row.
pub(super) fn positions(region: IntRect) -> impl Iterator<Item = (i32, i32)> {
    (region.min.y..region.max.y)
        .flat_map(move |y| (region.min.x..region.max.x).map(move |x| (x, y)))
}

/// The rectangles of this size that `region` is cut into; those at its end are smaller.
pub(super) fn tiles(region: IntRect, size: IVec2) -> impl Iterator<Item = IntRect> {
    let starts = |first: i32, end: i32, step: i32| (first..end).step_by(step as usize);
    starts(region.min.y, region.max.y, size.y).flat_map(move |y| {
        starts(region.min.x, region.max.x, size.x).map(move |x| {
            let min = IVec2::new(x, y);
            IntRect::new(min, min + size).intersect(region)
        })
    })
}

/// An opaque photograph of the examples, from its own top left corner.
pub(super) fn photo(file: &str, region: IntRect) -> Surface {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/assets")
        .join(file);
    let picture = image::open(path).expect("a picture").to_rgba8();
    Surface::new(region, |x, y| {
        let (x, y) = ((x - region.min.x) as u32, (y - region.min.y) as u32);
        picture
            .get_pixel(x, y)
            .0
            .map(|code| f64::from(code) / 255.0)
    })
}

/// White noise in every channel, premultiplied; the same each time.
pub(super) fn noise(region: IntRect) -> Surface {
    Surface::new(region, |x, y| {
        let random = |channel: u64| {
            let place = (x as u64) << 40 ^ (y as u64 & 0xffff_ffff) << 8 ^ channel;
            // The finaliser of SplitMix64.
            let mut bits = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let alpha = random(3);
        [
            random(0) * alpha,
            random(1) * alpha,
            random(2) * alpha,
            alpha,
        ]
    })
}

/// The largest difference of any channel, in 255 code values.
pub(super) fn max_difference(surface: &Surface, expected: &[[f64; 4]]) -> f64 {
    assert_eq!(surface.pixels.len(), expected.len());
    let mut largest: f64 = 0.0;
    for (pixel, expected) in surface.pixels.iter().zip(expected) {
        for (channel, expected) in pixel.iter().zip(expected) {
            assert!(channel.is_finite());
            largest = largest.max((f64::from(*channel) - expected).abs() * 255.0);
        }
    }
    largest
}

/// # Panics
///
/// If the surfaces differ in any bit, naming the first pixel.
pub(super) fn assert_same(actual: &Surface, expected: &Surface, what: impl fmt::Debug) {
    assert_eq!(actual.region, expected.region, "{what:?}");
    let bits = |surface: &Surface, x, y| surface.at(x, y).map(f16::to_bits);
    let differs =
        positions(expected.region).find(|&(x, y)| bits(actual, x, y) != bits(expected, x, y));
    if let Some((x, y)) = differs {
        panic!(
            "{what:?}: at {x}, {y} {:?} instead of {:?}",
            actual.at(x, y),
            expected.at(x, y)
        );
    }
}

/// What the steps make of the source.
pub(super) fn run(steps: &[Step], source: &Surface) -> Surface {
    runner().run(steps, source, None)
}

/// The same with a look-up table for those that read one.
pub(super) fn run_with_lut(steps: &[Step], source: &Surface, lut: &LutTexture) -> Surface {
    runner().run(steps, source, Some(lut))
}

/// The table on the tests' device.
pub(super) fn upload_lut(lut: &Lut<'_>) -> LutTexture {
    let gpu = &runner().gpu;
    LutTexture::new(gpu.device(), gpu.queue(), lut).expect("memory for a table")
}

fn runner() -> &'static Runner {
    static RUNNER: OnceLock<Runner> = OnceLock::new();
    RUNNER.get_or_init(Runner::new)
}

struct Runner {
    gpu: Gpu,
    uniforms_layout: wgpu::BindGroupLayout,
    source_layout: wgpu::BindGroupLayout,
    source_and_lut_layout: wgpu::BindGroupLayout,
    pipelines: Mutex<HashMap<EffectShader, wgpu::RenderPipeline>>,
}

struct GpuSurface {
    region: IntRect,
    texture: wgpu::Texture,
}

impl Runner {
    fn new() -> Self {
        let gpu = framefence_tests::gpu();
        let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
            gpu.device()
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some("effect"),
                    entries,
                })
        };
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty,
            count: None,
        };
        let uniforms = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let texture = |view_dimension| wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension,
            multisampled: false,
        };
        let surface = entry(0, texture(wgpu::TextureViewDimension::D2));
        let lut = entry(1, texture(wgpu::TextureViewDimension::D3));
        Self {
            uniforms_layout: layout(&[entry(0, uniforms), entry(1, uniforms)]),
            source_layout: layout(&[surface]),
            source_and_lut_layout: layout(&[surface, lut]),
            pipelines: Mutex::default(),
            gpu,
        }
    }

    fn run(&self, steps: &[Step], source: &Surface, lut: Option<&LutTexture>) -> Surface {
        let device = self.gpu.device();
        let mut surface = self.upload(source);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for step in steps {
            if step.region.is_empty() {
                return Surface::new(IntRect::EMPTY, |_, _| [0.0; 4]);
            }
            surface = self.draw(&mut encoder, step, &surface, lut);
        }
        let result = self.download(encoder, &surface);
        assert_eq!(
            framefence_tests::validation_messages(),
            Vec::<String>::new()
        );
        result
    }

    fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        step: &Step,
        source: &GpuSurface,
        lut: Option<&LutTexture>,
    ) -> GpuSurface {
        let device = self.gpu.device();
        let target = self.surface(step.region);
        let buffer = |bytes: &[u8]| {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("effect"),
                size: bytes.len() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.gpu.queue().write_buffer(&buffer, 0, bytes);
            buffer
        };
        let size = target.texture.size();
        let size = IVec2::new(size.width as i32, size.height as i32);
        let draw = DrawUniforms::new(step.region, target.region.min, size, source.region);
        let draw = buffer(bytemuck::bytes_of(&draw));
        assert!(step.uniforms.bytes().len() <= EffectUniforms::MAX_BYTES);
        let effect = buffer(step.uniforms.bytes());
        let bind = |layout, resources: &[wgpu::BindingResource<'_>]| {
            let entries: Vec<_> = (0..)
                .zip(resources)
                .map(|(binding, resource)| wgpu::BindGroupEntry {
                    binding,
                    resource: resource.clone(),
                })
                .collect();
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("effect"),
                layout,
                entries: &entries,
            })
        };
        let uniforms = bind(
            &self.uniforms_layout,
            &[draw.as_entire_binding(), effect.as_entire_binding()],
        );
        let source_view = view(&source.texture);
        let mut textures = vec![wgpu::BindingResource::TextureView(&source_view)];
        if step.shader.reads_lut() {
            let lut = lut.expect("a table for the step that reads one");
            textures.push(wgpu::BindingResource::TextureView(&lut.view));
        }
        let textures = bind(self.textures_layout(step.shader), &textures);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(step.shader.label()),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view(&target.texture),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(GARBAGE),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        pass.set_pipeline(&self.pipeline(step.shader));
        pass.set_bind_group(0, &uniforms, &[]);
        pass.set_bind_group(1, &textures, &[]);
        pass.draw(0..4, 0..1);
        drop(pass);
        target
    }

    fn pipeline(&self, shader: EffectShader) -> wgpu::RenderPipeline {
        let mut pipelines = self
            .pipelines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        pipelines
            .entry(shader)
            .or_insert_with(|| self.compile(shader))
            .clone()
    }

    fn compile(&self, shader: EffectShader) -> wgpu::RenderPipeline {
        let device = self.gpu.device();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(shader.label()),
            source: wgpu::ShaderSource::Wgsl(shader.source().into()),
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(shader.label()),
            bind_group_layouts: &[
                Some(&self.uniforms_layout),
                Some(self.textures_layout(shader)),
            ],
            immediate_size: 0,
        });
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(shader.label()),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState {
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(shader.fragment()),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &shader.constants(),
                    ..wgpu::PipelineCompilationOptions::default()
                },
                targets: &[Some(SURFACE_FORMAT.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    fn textures_layout(&self, shader: EffectShader) -> &wgpu::BindGroupLayout {
        match shader.reads_lut() {
            true => &self.source_and_lut_layout,
            false => &self.source_layout,
        }
    }

    /// With some room that nothing may read.
    fn surface(&self, region: IntRect) -> GpuSurface {
        let texture = self.gpu.device().create_texture(&wgpu::TextureDescriptor {
            label: Some("surface"),
            size: extent(IntRect::new(region.min, region.max + ROOM)),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: SURFACE_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        GpuSurface { region, texture }
    }

    fn upload(&self, surface: &Surface) -> GpuSurface {
        let uploaded = self.surface(surface.region);
        let garbage = [GARBAGE.r, GARBAGE.g, GARBAGE.b, GARBAGE.a].map(f16::from_f64);
        let all = IntRect::new(surface.region.min, surface.region.max + ROOM);
        let texels: Vec<_> = positions(all)
            .map(|(x, y)| match holds(surface.region, x, y) {
                true => surface.at(x, y),
                false => garbage,
            })
            .collect();
        self.gpu.queue().write_texture(
            uploaded.texture.as_image_copy(),
            bytemuck::cast_slice(&texels),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(extent(all).width * BYTES_PER_PIXEL),
                rows_per_image: None,
            },
            extent(all),
        );
        uploaded
    }

    fn download(&self, mut encoder: wgpu::CommandEncoder, surface: &GpuSurface) -> Surface {
        let device = self.gpu.device();
        let size = extent(surface.region);
        let row_bytes = size.width * BYTES_PER_PIXEL;
        let pitch = row_bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("surface"),
            size: u64::from(pitch) * u64::from(size.height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.copy_texture_to_buffer(
            surface.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(pitch),
                    rows_per_image: None,
                },
            },
            size,
        );
        self.gpu.queue().submit([encoder.finish()]);
        let (sender, mapped) = mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            sender.send(result).expect("the test waits");
        });
        device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("the device works");
        mapped
            .recv()
            .expect("the callback ran")
            .expect("the buffer is mapped");
        let bytes = buffer.get_mapped_range(..).expect("it is mapped");
        let pixels = bytes
            .chunks(pitch as usize)
            .flat_map(|row| row[..row_bytes as usize].chunks_exact(BYTES_PER_PIXEL as usize))
            .map(|pixel| {
                std::array::from_fn(|channel| {
                    f16::from_ne_bytes([pixel[channel * 2], pixel[channel * 2 + 1]])
                })
            })
            .collect();
        Surface {
            region: surface.region,
            pixels,
        }
    }
}

const BYTES_PER_PIXEL: u32 = 8;
/// By how many texels textures are larger than what they hold.
const ROOM: IVec2 = IVec2::new(5, 3);
/// What is there.
const GARBAGE: wgpu::Color = wgpu::Color {
    r: 9.0,
    g: -8.0,
    b: 7.0,
    a: 6.0,
};

fn extent(region: IntRect) -> wgpu::Extent3d {
    let size = region.size();
    wgpu::Extent3d {
        width: size.x as u32,
        height: size.y as u32,
        depth_or_array_layers: 1,
    }
}

fn view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
