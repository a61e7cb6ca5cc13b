//! Render pipelines, a few for each kind of content.

use std::collections::HashMap;

use crate::texture::TextureBindings;
use crate::uniform_buffer::UniformBuffer;

/// The formats that the compositor draws into.
///
/// It blends sRGB-encoded values, which these formats store as they are. An `…Srgb` target would
/// blend in linear light instead, and a float target is delivered as linear light.
pub(crate) const TARGET_FORMATS: &[wgpu::TextureFormat] = &[
    wgpu::TextureFormat::Rgba8Unorm,
    wgpu::TextureFormat::Bgra8Unorm,
];

/// Which pipeline draws a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) target: wgpu::TextureFormat,
    pub(crate) shader: LayerShader,
}

/// How a layer is shaded. Variants that leave work out give the same bytes, on a software adapter
/// in less than half the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LayerShader {
    pub(crate) content: ContentShader,
    /// Whether the layer covers every pixel of its bounds wholly, as backgrounds do.
    pub(crate) covers_bounds: bool,
}

/// How a layer's colours are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ContentShader {
    Solid,
    /// With this many spans between stops.
    LinearGradient {
        span_count: u8,
    },
    /// With one tap for a pixel, or with several.
    Image {
        many_taps: bool,
    },
}

/// The pipelines that have been needed so far, and the layouts of what they read.
#[derive(Debug)]
pub(crate) struct Pipelines {
    layer_layout: wgpu::BindGroupLayout,
    layer_only: wgpu::PipelineLayout,
    layer_and_texture: wgpu::PipelineLayout,
    pipelines: HashMap<PipelineKey, wgpu::RenderPipeline>,
}

impl Pipelines {
    pub(crate) fn new(device: &wgpu::Device, textures: &TextureBindings) -> Self {
        let layer_layout = UniformBuffer::layout(device);
        let pipeline_layout = |groups: &[Option<&wgpu::BindGroupLayout>]| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("compositor"),
                bind_group_layouts: groups,
                immediate_size: 0,
            })
        };
        Self {
            layer_only: pipeline_layout(&[Some(&layer_layout)]),
            layer_and_texture: pipeline_layout(&[Some(&layer_layout), Some(textures.layout())]),
            layer_layout,
            pipelines: HashMap::new(),
        }
    }

    /// The layout of [`UniformBuffer`]'s bind group.
    pub(crate) fn layer_layout(&self) -> &wgpu::BindGroupLayout {
        &self.layer_layout
    }

    /// The pipeline for `key`, compiled when it is first needed.
    pub(crate) fn get(&mut self, device: &wgpu::Device, key: PipelineKey) -> &wgpu::RenderPipeline {
        let Self {
            layer_only,
            layer_and_texture,
            pipelines,
            ..
        } = self;
        pipelines.entry(key).or_insert_with(|| {
            let layout = match key.shader.content {
                ContentShader::Solid | ContentShader::LinearGradient { .. } => layer_only,
                ContentShader::Image { .. } => layer_and_texture,
            };
            compile(device, layout, key)
        })
    }
}

const SOLID: &str = concat!(
    include_str!("../../../shaders/layer.wgsl"),
    include_str!("../../../shaders/layer_solid.wgsl")
);
const LINEAR_GRADIENT: &str = concat!(
    include_str!("../../../shaders/layer.wgsl"),
    include_str!("../../../shaders/layer_linear_gradient.wgsl")
);
const IMAGE: &str = concat!(
    include_str!("../../../shaders/layer.wgsl"),
    include_str!("../../../shaders/layer_image.wgsl")
);

fn compile(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    key: PipelineKey,
) -> wgpu::RenderPipeline {
    let covers_bounds = ("COVERS_BOUNDS", f64::from(key.shader.covers_bounds));
    let (label, source, constants) = match key.shader.content {
        ContentShader::Solid => ("solid", SOLID, vec![covers_bounds]),
        ContentShader::LinearGradient { span_count } => {
            let span_count = ("SPAN_COUNT", f64::from(span_count));
            (
                "linear gradient",
                LINEAR_GRADIENT,
                vec![covers_bounds, span_count],
            )
        }
        ContentShader::Image { many_taps } => {
            let many_taps = ("MANY_TAPS", f64::from(many_taps));
            ("image", IMAGE, vec![covers_bounds, many_taps])
        }
    };
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(label),
        layout: Some(layout),
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
            entry_point: Some("fragment"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                ..wgpu::PipelineCompilationOptions::default()
            },
            targets: &[Some(wgpu::ColorTargetState {
                format: key.target,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
