//! Render pipelines, one for each kind of content.

use crate::texture::TextureBindings;
use crate::uniforms::UniformBuffer;

/// The formats that the compositor draws into.
///
/// It blends sRGB-encoded values, which these formats store as they are. An `…Srgb` target would
/// blend in linear light instead, and a float target is delivered as linear light.
pub(crate) const TARGET_FORMATS: &[wgpu::TextureFormat] = &[
    wgpu::TextureFormat::Rgba8Unorm,
    wgpu::TextureFormat::Bgra8Unorm,
];

/// The layouts of the resources that pipelines read.
#[derive(Debug)]
pub(crate) struct Layouts {
    pub(crate) layer: wgpu::BindGroupLayout,
    layer_only: wgpu::PipelineLayout,
    layer_and_texture: wgpu::PipelineLayout,
}

impl Layouts {
    pub(crate) fn new(device: &wgpu::Device, textures: &TextureBindings) -> Self {
        let layer = UniformBuffer::layout(device);
        let pipeline_layout = |groups: &[Option<&wgpu::BindGroupLayout>]| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("compositor"),
                bind_group_layouts: groups,
                immediate_size: 0,
            })
        };
        Self {
            layer_only: pipeline_layout(&[Some(&layer)]),
            layer_and_texture: pipeline_layout(&[Some(&layer), Some(textures.layout())]),
            layer,
        }
    }
}

/// The pipelines for targets of one format.
#[derive(Debug)]
pub(crate) struct Pipelines {
    pub(crate) solid: wgpu::RenderPipeline,
    pub(crate) linear_gradient: wgpu::RenderPipeline,
    pub(crate) image: wgpu::RenderPipeline,
}

impl Pipelines {
    pub(crate) fn new(
        device: &wgpu::Device,
        layouts: &Layouts,
        format: wgpu::TextureFormat,
    ) -> Self {
        let pipeline = |label, source, layout| pipeline(device, label, source, layout, format);
        Self {
            solid: pipeline("solid", SOLID, &layouts.layer_only),
            linear_gradient: pipeline("linear gradient", LINEAR_GRADIENT, &layouts.layer_only),
            image: pipeline("image", IMAGE, &layouts.layer_and_texture),
        }
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

fn pipeline(
    device: &wgpu::Device,
    label: &str,
    source: &str,
    layout: &wgpu::PipelineLayout,
    format: wgpu::TextureFormat,
) -> wgpu::RenderPipeline {
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
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
