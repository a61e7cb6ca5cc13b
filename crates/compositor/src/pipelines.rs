//! Render pipelines, a few for each kind of draw.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::custom::{CheckedShader, on_large_stack};
use crate::effects::EffectShader;
use crate::layer::BlendMode;
use crate::uniform_buffer::UniformBuffer;

/// The formats that the compositor draws into.
///
/// They store sRGB-encoded values as they are. An `…Srgb` target would encode them once more, and a
/// float target is delivered as linear light.
pub(crate) const TARGET_FORMATS: &[wgpu::TextureFormat] = &[
    wgpu::TextureFormat::Rgba8Unorm,
    wgpu::TextureFormat::Bgra8Unorm,
];

/// The format of surfaces: wide enough for code values, linear light, and sums of both.
pub(crate) use crate::effects::SURFACE_FORMAT;

/// Which pipeline makes a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) target: wgpu::TextureFormat,
    pub(crate) shader: Shader,
    pub(crate) coverage: Coverage,
    pub(crate) is_perspective: bool,
    pub(crate) write: Write,
}

/// How a draw's colours are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shader {
    Solid,
    Shape,
    Gradient {
        kind: GradientKind,
        /// The number of spans between stops.
        span_count: u8,
    },
    /// With one tap for a pixel, or with several.
    Image {
        many_taps: bool,
    },
    Glyphs,
    /// The author's shader of that number.
    Custom {
        id: u64,
        is_linear: bool,
    },
    Composite {
        is_silhouette: bool,
        mask: MaskKind,
        ramp: RampKind,
    },
    Blend(BlendKind),
    Deliver {
        is_linear: bool,
    },
    Effect(EffectShader),
}

/// The line along which a gradient's colours change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GradientKind {
    Linear,
    Radial,
    Conic,
}

/// What of a mask counts; the numbers are those of `MASK` in `layer_composite.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MaskKind {
    None = 0,
    Alpha = 1,
    Luminance = 2,
    InvertedAlpha = 3,
    InvertedLuminance = 4,
}

impl MaskKind {
    pub(crate) fn is_inverted(self) -> bool {
        matches!(self, Self::InvertedAlpha | Self::InvertedLuminance)
    }
}

/// Where on a ramp a surface is seen; the numbers are those of `RAMP` in `layer_composite.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RampKind {
    None = 0,
    High = 1,
    Low = 2,
    HighEdge = 3,
    LowEdge = 4,
}

/// How a surface is mixed with what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlendKind {
    Mode(BlendMode),
    /// It takes the place of what is behind it.
    Replace,
}

/// What part of a draw's bounds is covered; the numbers are those of `COVERAGE` in `layer.wgsl`.
///
/// A variant that leaves work out gives the same bytes where it applies, on a software adapter in
/// less than half the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coverage {
    Whole = 0,
    Box = 1,
    RoundBox = 2,
}

/// How a draw's colours get into the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Write {
    /// Over what is there.
    Over,
    /// Added to what is there.
    Add,
    /// Instead of what is there.
    Replace,
}

/// What a draw reads besides its uniforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    Nothing,
    /// A texture through a sampler.
    Sampled,
    /// Texels of one texture.
    One,
    /// Texels of two.
    Two,
    /// Texels of one, and of a three-dimensional one.
    OneAndTable,
}

impl Shader {
    pub(crate) fn reads(self) -> Reads {
        match self {
            Self::Solid | Self::Shape | Self::Gradient { .. } | Self::Custom { .. } => {
                Reads::Nothing
            }
            Self::Image { .. } => Reads::Sampled,
            Self::Glyphs | Self::Deliver { .. } => Reads::One,
            Self::Composite { .. } | Self::Blend(_) => Reads::Two,
            Self::Effect(effect) if effect.reads_lut() => Reads::OneAndTable,
            Self::Effect(_) => Reads::One,
        }
    }
}

/// The pipelines that have been needed so far, and the layouts of what they read.
#[derive(Debug)]
pub(crate) struct Pipelines {
    layouts: Layouts,
    pipelines: HashMap<PipelineId, wgpu::RenderPipeline>,
    by_key: HashMap<PipelineKey, PipelineId>,
    /// Those of scenes' authors, by their numbers.
    shaders: HashMap<u64, Arc<CheckedShader>>,
    count: u32,
}

/// The layouts of what draws read.
#[derive(Debug)]
pub(crate) struct Layouts {
    pub(crate) uniforms: wgpu::BindGroupLayout,
    pub(crate) sampled: wgpu::BindGroupLayout,
    pub(crate) one: wgpu::BindGroupLayout,
    pub(crate) two: wgpu::BindGroupLayout,
    pub(crate) one_and_table: wgpu::BindGroupLayout,
}

/// A pipeline, by the order in which they were first needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PipelineId(pub(crate) u32);

impl Pipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self {
            layouts: Layouts::new(device),
            pipelines: HashMap::new(),
            by_key: HashMap::new(),
            shaders: HashMap::new(),
            count: 0,
        }
    }

    pub(crate) fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// Takes note of an author's shader, for pipelines that name its number.
    pub(crate) fn know(&mut self, shader: &Arc<CheckedShader>) {
        self.shaders
            .entry(shader.id)
            .or_insert_with(|| shader.clone());
    }

    /// Forgets all authors' shaders but those of these numbers.
    pub(crate) fn keep(&mut self, used: &HashSet<u64>) {
        self.shaders.retain(|id, _| used.contains(id));
        let pipelines = &mut self.pipelines;
        self.by_key.retain(|key, pipeline| {
            let is_used = match key.shader {
                Shader::Custom { id, .. } => used.contains(&id),
                _ => true,
            };
            if !is_used {
                pipelines.remove(pipeline);
            }
            is_used
        });
    }

    /// The pipeline for `key`, compiled when it is first needed.
    pub(crate) fn find(&mut self, device: &wgpu::Device, key: PipelineKey) -> PipelineId {
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let program = Program::new(key, &self.shaders);
        let compile = || compile(device, &self.layouts, key, &program);
        let pipeline = match key.shader {
            // Where the system starts no thread, the stack at hand has to do.
            Shader::Custom { .. } => on_large_stack(compile).unwrap_or_else(|_| compile()),
            _ => compile(),
        };
        let id = PipelineId(self.count);
        self.count += 1;
        self.pipelines.insert(id, pipeline);
        self.by_key.insert(key, id);
        id
    }

    pub(crate) fn get(&self, id: PipelineId) -> &wgpu::RenderPipeline {
        &self.pipelines[&id]
    }
}

impl Layouts {
    fn new(device: &wgpu::Device) -> Self {
        let texture = |binding: u32, filterable: bool| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        };
        let table = wgpu::BindGroupLayoutEntry {
            binding: 1,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: false },
                view_dimension: wgpu::TextureViewDimension::D3,
                multisampled: false,
            },
            count: None,
        };
        let sampler = wgpu::BindGroupLayoutEntry {
            binding: 1,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
            count: None,
        };
        let layout = |label: &str, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries,
            })
        };
        Self {
            uniforms: UniformBuffer::layout(device),
            sampled: layout("picture", &[texture(0, true), sampler]),
            one: layout("surface", &[texture(0, false)]),
            two: layout("two surfaces", &[texture(0, false), texture(1, false)]),
            one_and_table: layout("surface and table", &[texture(0, false), table]),
        }
    }

    pub(crate) fn of(&self, reads: Reads) -> Option<&wgpu::BindGroupLayout> {
        match reads {
            Reads::Nothing => None,
            Reads::Sampled => Some(&self.sampled),
            Reads::One => Some(&self.one),
            Reads::Two => Some(&self.two),
            Reads::OneAndTable => Some(&self.one_and_table),
        }
    }
}

/// The source of a shader file with what all layers share.
macro_rules! layer_shader {
    ($file:literal) => {
        concat!(
            include_str!("../../../shaders/layer.wgsl"),
            include_str!(concat!("../../../shaders/", $file))
        )
    };
}

/// A shader's module, the entry point of its fragments, and the values of its overrides.
struct Program<'a> {
    source: &'a str,
    fragment: &'static str,
    constants: Vec<(&'static str, f64)>,
}

impl<'a> Program<'a> {
    fn new(key: PipelineKey, authors: &'a HashMap<u64, Arc<CheckedShader>>) -> Self {
        if let Shader::Effect(effect) = key.shader {
            return Self {
                source: effect.source(),
                fragment: effect.fragment(),
                constants: effect.constants(),
            };
        }
        let (source, mut constants) = layer_source(key.shader, authors);
        constants.push(("COVERAGE", f64::from(key.coverage as u8)));
        constants.push(("PERSPECTIVE", f64::from(key.is_perspective)));
        Self {
            source,
            fragment: "fragment",
            constants,
        }
    }
}

fn layer_source(
    shader: Shader,
    authors: &HashMap<u64, Arc<CheckedShader>>,
) -> (&str, Vec<(&'static str, f64)>) {
    match shader {
        Shader::Solid => (layer_shader!("layer_solid.wgsl"), vec![]),
        Shader::Shape => (layer_shader!("layer_shape.wgsl"), vec![]),
        Shader::Gradient { kind, span_count } => (
            layer_shader!("layer_gradient.wgsl"),
            vec![
                ("KIND", f64::from(kind as u8)),
                ("SPAN_COUNT", f64::from(span_count)),
            ],
        ),
        Shader::Image { many_taps } => (
            layer_shader!("layer_image.wgsl"),
            vec![("MANY_TAPS", f64::from(many_taps))],
        ),
        Shader::Glyphs => (layer_shader!("layer_glyphs.wgsl"), vec![]),
        Shader::Custom { id, is_linear } => {
            (&authors[&id].wgsl, vec![("LINEAR", f64::from(is_linear))])
        }
        Shader::Composite {
            is_silhouette,
            mask,
            ramp,
        } => (
            layer_shader!("layer_composite.wgsl"),
            vec![
                ("SILHOUETTE", f64::from(is_silhouette)),
                ("MASK", f64::from(mask as u8)),
                ("RAMP", f64::from(ramp as u8)),
            ],
        ),
        Shader::Blend(kind) => {
            const REPLACE: u8 = 100;
            let mode = match kind {
                BlendKind::Mode(mode) => mode as u8,
                BlendKind::Replace => REPLACE,
            };
            (
                layer_shader!("layer_blend.wgsl"),
                vec![("MODE", f64::from(mode))],
            )
        }
        Shader::Deliver { is_linear } => (
            layer_shader!("layer_deliver.wgsl"),
            vec![("LINEAR", f64::from(is_linear))],
        ),
        Shader::Effect(effect) => (effect.source(), effect.constants()),
    }
}

fn compile(
    device: &wgpu::Device,
    layouts: &Layouts,
    key: PipelineKey,
    program: &Program<'_>,
) -> wgpu::RenderPipeline {
    let label = match key.shader {
        Shader::Effect(effect) => effect.label().to_owned(),
        shader => format!("{shader:?}"),
    };
    let Program {
        source,
        fragment,
        constants,
    } = program;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl((*source).into()),
    });
    let mut groups = vec![Some(&layouts.uniforms)];
    groups.extend(layouts.of(key.shader.reads()).map(Some));
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(&label),
        bind_group_layouts: &groups,
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(&label),
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
            entry_point: Some(fragment),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                ..wgpu::PipelineCompilationOptions::default()
            },
            targets: &[Some(wgpu::ColorTargetState {
                format: key.target,
                blend: blend_state(key.write),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn blend_state(write: Write) -> Option<wgpu::BlendState> {
    let sum = wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::One,
        dst_factor: wgpu::BlendFactor::One,
        operation: wgpu::BlendOperation::Add,
    };
    match write {
        Write::Over => Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
        Write::Add => Some(wgpu::BlendState {
            color: sum,
            alpha: sum,
        }),
        Write::Replace => None,
    }
}
