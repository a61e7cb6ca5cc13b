//! What shaders read about each draw.

use bytemuck::{Pod, Zeroable};
use framefence::Size;
use glam::{DMat2, DVec2, DVec4, IVec2};

use crate::placement::{PixelMap, Placement, Rect};
use crate::rect::IntRect;
use crate::validate::MAX_GRADIENT_STOPS;

/// `Layer` in `layer.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct LayerUniforms {
    local_from_offset: [[f32; 4]; 3],
    near_edges: [f32; 2],
    far_edges: [f32; 2],
    corner: [f32; 2],
    corner_exponent: f32,
    dither: f32,
    origin: [i32; 2],
    tile_origin: [i32; 2],
    bounds: [i32; 4],
    target_size: [f32; 2],
    padding: [u32; 2],
}

/// What a draw covers: whole pixels, or the box of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    pub(crate) map: PixelMap,
    pub(crate) rect: Rect,
    pub(crate) corner: Corner,
}

/// How round the corners of an outline are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corner {
    /// How far they reach along the sides, in layer pixels.
    pub(crate) extent: DVec2,
    pub(crate) exponent: f32,
}

impl LayerUniforms {
    /// A draw of the pixels `bounds` into a surface that holds the pixels `target`.
    pub(crate) fn new(
        outline: Option<&Outline>,
        bounds: IntRect,
        target: IntRect,
        dither: f32,
    ) -> Self {
        let first = bounds.min - target.min;
        let last = bounds.max - target.min;
        let mut uniforms = Self {
            dither,
            tile_origin: target.min.to_array(),
            bounds: [first.x, first.y, last.x, last.y],
            target_size: target.size().as_vec2().to_array(),
            ..Self::zeroed()
        };
        if let Some(outline) = outline {
            uniforms.outline(outline);
        }
        uniforms
    }

    fn outline(&mut self, outline: &Outline) {
        let Outline { map, rect, corner } = outline;
        let (near, far) = map.edges(*rect);
        let columns = map.local_from_offset.to_cols_array_2d();
        self.local_from_offset = columns.map(|[x, y, w]| [x as f32, y as f32, w as f32, 0.0]);
        self.near_edges = near.as_vec2().to_array();
        self.far_edges = far.as_vec2().to_array();
        self.corner = (corner.extent * map.local_per_layer).as_vec2().to_array();
        self.corner_exponent = corner.exponent;
        self.origin = map.origin.to_array();
    }
}

/// `Solid` in `layer_solid.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct SolidUniforms {
    color: [f32; 4],
}

impl SolidUniforms {
    pub(crate) fn new(color: DVec4) -> Self {
        Self {
            color: color.as_vec4().to_array(),
        }
    }
}

/// `Shape` in `layer_shape.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ShapeUniforms {
    fill: [f32; 4],
    stroke: [f32; 4],
    outwards: [f32; 2],
    inwards: [f32; 2],
    opacity: f32,
    padding: [f32; 3],
}

impl ShapeUniforms {
    /// A stroke that reaches `outwards` beyond the edge and `inwards` into the shape, in layer
    /// pixels.
    pub(crate) fn new(
        fill: DVec4,
        stroke: DVec4,
        outwards: f64,
        inwards: f64,
        opacity: f64,
        map: &PixelMap,
    ) -> Self {
        let local = |length: f64| (map.local_per_layer * length).as_vec2().to_array();
        Self {
            fill: fill.as_vec4().to_array(),
            stroke: stroke.as_vec4().to_array(),
            outwards: local(outwards),
            inwards: local(inwards),
            opacity: opacity as f32,
            padding: [0.0; 3],
        }
    }
}

/// `Gradient` in `layer_gradient.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct GradientUniforms {
    first_color: [f32; 4],
    spans: [SpanUniforms; MAX_GRADIENT_STOPS - 1],
    from_local: [[f32; 2]; 2],
    at_origin: [f32; 2],
    padding: [f32; 2],
}

/// `Span` in `layer_gradient.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct SpanUniforms {
    color_change: [f32; 4],
    start: f32,
    inverse_length: f32,
    padding: [f32; 2],
}

impl GradientUniforms {
    /// Colours `stops` by offset, 2 to 16, in the space whose position at the layer's pixel `p` is
    /// `matrix (p - center)`.
    pub(crate) fn new(
        stops: &[(f64, DVec4)],
        matrix: DMat2,
        center: DVec2,
        opacity: f64,
        map: &PixelMap,
    ) -> Self {
        let from_local = matrix * DMat2::from_diagonal(1.0 / map.local_per_layer);
        let mut uniforms = Self {
            from_local: from_local.as_mat2().to_cols_array_2d(),
            at_origin: (matrix * (map.reference - center)).as_vec2().to_array(),
            ..Self::zeroed()
        };
        let (mut start, mut color) = stops[0];
        uniforms.first_color = (color * opacity).as_vec4().to_array();
        for (span, &(offset, next_color)) in uniforms.spans.iter_mut().zip(&stops[1..]) {
            let end = offset.max(start);
            span.start = start as f32;
            span.inverse_length = (end - start).recip().min(f32::MAX.into()) as f32;
            span.color_change = ((next_color - color) * opacity).as_vec4().to_array();
            (start, color) = (end, next_color);
        }
        uniforms
    }
}

/// `Image` in `layer_image.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ImageUniforms {
    texture_from_local: [f32; 2],
    texture_at_origin: [f32; 2],
    tap_step: [f32; 2],
    tap_count: u32,
    level: f32,
    opacity: f32,
    padding: f32,
}

impl ImageUniforms {
    /// A picture whose texture coordinates are `scale p + offset` at the layer's pixel `p`.
    ///
    /// Chooses how a pixel's footprint in the texture is sampled. Where the map is affine and the
    /// box's axes are the texture's, one choice holds for all of the layer.
    ///
    /// A footprint that is longer than wide is covered by taps of its width along its length, as
    /// anisotropic filtering does. It is done here rather than by the sampler so that it is the
    /// same on every device; lavapipe's aliases even where both scales are equal.
    pub(crate) fn new(
        scale: DVec2,
        offset: DVec2,
        texture_size: Size,
        opacity: f64,
        map: &PixelMap,
    ) -> Self {
        const MAX_TAPS: f64 = 16.0;

        let from_local = scale / map.local_per_layer;
        let texture_size = DVec2::new(texture_size.width.into(), texture_size.height.into());
        let texels = from_local.abs() * texture_size;
        let length = texels.max_element();
        let width = texels.min_element().max(length / MAX_TAPS).max(1.0);
        // A little below, so that rounding does not make two taps of one.
        let tap_count = (length / width - 1e-3).ceil().max(1.0);
        let along = DVec2::select(texels.cmpeq(DVec2::splat(length)), DVec2::ONE, DVec2::ZERO);
        // The outer taps end where the footprint does.
        let spread = (1.0 - width / length).max(0.0);
        let tap_step = along * from_local * spread / (tap_count - 1.0).max(1.0);
        Self {
            texture_from_local: from_local.as_vec2().to_array(),
            texture_at_origin: (scale * map.reference + offset).as_vec2().to_array(),
            tap_step: tap_step.as_vec2().to_array(),
            tap_count: tap_count as u32,
            level: width.log2() as f32,
            opacity: opacity as f32,
            padding: 0.0,
        }
    }

    /// Whether the shader takes more than one tap, if the map is affine.
    pub(crate) fn has_many_taps(&self) -> bool {
        self.tap_count > 1
    }
}

/// `Composite` in `layer_composite.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct CompositeUniforms {
    pub(crate) color: [f32; 4],
    source_origin: [i32; 2],
    source_size: [i32; 2],
    mask_origin: [i32; 2],
    mask_size: [i32; 2],
    ramp: [f32; 4],
    shift: [f32; 2],
    padding: [f32; 2],
}

impl CompositeUniforms {
    /// All of a surface of the pixels `source`, in its own colours at `opacity`.
    pub(crate) fn new(source: IntRect, opacity: f64) -> Self {
        Self {
            color: [opacity as f32; 4],
            source_origin: source.min.to_array(),
            source_size: source.size().to_array(),
            ..Self::zeroed()
        }
    }

    /// Its alpha only, as a silhouette of one colour, moved by `offset`.
    pub(crate) fn silhouette(source: IntRect, color: DVec4, offset: DVec2) -> Self {
        let whole = offset.floor();
        Self {
            color: color.as_vec4().to_array(),
            source_origin: (source.min + whole.as_ivec2()).to_array(),
            shift: (offset - whole).as_vec2().to_array(),
            ..Self::new(source, 1.0)
        }
    }

    /// Seen through a mask of the pixels `mask`.
    pub(crate) fn masked(self, mask: IntRect) -> Self {
        Self {
            mask_origin: mask.min.to_array(),
            mask_size: mask.size().to_array(),
            ..self
        }
    }

    /// Seen along a ramp that grows by `slope` along the local axes from `start` at their origin.
    pub(crate) fn with_ramp(self, slope: DVec2, start: f64) -> Self {
        Self {
            ramp: [slope.x as f32, slope.y as f32, start as f32, 0.0],
            ..self
        }
    }
}

/// `Blend` in `layer_blend.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct BlendUniforms {
    opacity: f32,
    padding: u32,
    source_origin: [i32; 2],
    source_size: [i32; 2],
    backdrop_origin: [i32; 2],
}

impl BlendUniforms {
    pub(crate) fn new(source: IntRect, backdrop: IntRect, opacity: f64) -> Self {
        Self {
            opacity: opacity as f32,
            padding: 0,
            source_origin: source.min.to_array(),
            source_size: source.size().to_array(),
            backdrop_origin: backdrop.min.to_array(),
        }
    }
}

/// `Glyphs` in `layer_glyphs.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct GlyphUniforms {
    color: [f32; 4],
    mask_origin: [i32; 2],
    padding: [u32; 2],
}

impl GlyphUniforms {
    pub(crate) fn new(color: DVec4, mask_origin: IVec2) -> Self {
        Self {
            color: color.as_vec4().to_array(),
            mask_origin: mask_origin.to_array(),
            padding: [0; 2],
        }
    }
}

/// `Custom` in `layer_custom.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct CustomUniforms {
    position_from_local: [f32; 2],
    position_at_origin: [f32; 2],
    size: [f32; 2],
    seconds: f32,
    opacity: f32,
}

impl CustomUniforms {
    /// A box of `content_size` in its own pixels, placed by `placement`.
    pub(crate) fn new(
        placement: &Placement,
        map: &PixelMap,
        content_size: DVec2,
        seconds: f64,
        opacity: f64,
    ) -> Self {
        let scale = placement.content_scale;
        Self {
            position_from_local: (scale / map.local_per_layer).as_vec2().to_array(),
            position_at_origin: (scale * map.reference + placement.content_offset)
                .as_vec2()
                .to_array(),
            size: content_size.as_vec2().to_array(),
            seconds: seconds as f32,
            opacity: opacity as f32,
        }
    }
}

/// `Deliver` in `layer_deliver.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct DeliverUniforms {
    source_origin: [i32; 2],
    padding: [u32; 2],
}

impl DeliverUniforms {
    pub(crate) fn new(source: IntRect) -> Self {
        Self {
            source_origin: source.min.to_array(),
            padding: [0; 2],
        }
    }
}
