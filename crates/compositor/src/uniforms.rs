//! What shaders read about each layer.

use bytemuck::{Pod, Zeroable};
use framefence::{FrameView, Size, Time};
use glam::{DVec2, DVec4, IVec2};

use crate::color::PremultipliedColor;
use crate::placement::{Bounds, ContentMap, FrameBox};
use crate::scene::{GradientStop, LinearGradient};
use crate::validate::MAX_GRADIENT_STOPS;

/// `Layer` in `layer.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct LayerUniforms {
    box_from_frame: [[f32; 2]; 2],
    near_edges: [f32; 2],
    far_edges: [f32; 2],
    origin: [i32; 2],
    tile_origin: [i32; 2],
    bounds: [i32; 4],
    target_size: [f32; 2],
    padding: [u32; 2],
}

impl LayerUniforms {
    pub(crate) fn new(
        frame_box: &FrameBox,
        origin: IVec2,
        bounds: &Bounds,
        view: &FrameView,
    ) -> Self {
        let near_edges = frame_box.box_from_frame(origin.as_dvec2());
        let far_edges = frame_box.size() - near_edges;
        Self {
            box_from_frame: frame_box
                .rotation()
                .transpose()
                .as_mat2()
                .to_cols_array_2d(),
            near_edges: near_edges.as_vec2().to_array(),
            far_edges: far_edges.as_vec2().to_array(),
            origin: origin.to_array(),
            tile_origin: view.tile_origin.map(|position| position as i32),
            bounds: [bounds.first.x, bounds.first.y, bounds.last.x, bounds.last.y],
            target_size: [
                view.target_size.width as f32,
                view.target_size.height as f32,
            ],
            padding: [0; 2],
        }
    }
}

/// `Solid` in `layer_solid.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct SolidUniforms {
    color: [f32; 4],
}

impl SolidUniforms {
    pub(crate) fn new(color: PremultipliedColor) -> Self {
        Self {
            color: color.to_f32(),
        }
    }
}

/// `LinearGradient` in `layer_linear_gradient.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct GradientUniforms {
    first_color: [f32; 4],
    spans: [SpanUniforms; MAX_GRADIENT_STOPS - 1],
    line: [f32; 2],
    line_at_origin: f32,
    padding: f32,
}

/// `Span` in `layer_linear_gradient.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct SpanUniforms {
    color_change: [f32; 4],
    start: f32,
    inverse_length: f32,
    padding: [f32; 2],
}

impl GradientUniforms {
    pub(crate) fn new(
        gradient: &LinearGradient,
        time: Time,
        opacity: f64,
        content_size: DVec2,
        content: &ContentMap,
    ) -> Self {
        const BEYOND_ALL_STOPS: f32 = 2.0;

        let mut uniforms = Self::zeroed();
        let stop_at = |stop: &GradientStop| {
            let color = stop.color.at(time).faded(opacity);
            // An overshoot between keyframes may leave the line.
            let offset = stop.offset.at(time).clamp(0.0, 1.0);
            (offset, DVec4::from(color.0))
        };
        let (mut start, mut color) = stop_at(&gradient.stops[0]);
        uniforms.first_color = color.as_vec4().to_array();
        for (span, stop) in uniforms.spans.iter_mut().zip(&gradient.stops[1..]) {
            let (offset, next_color) = stop_at(stop);
            let end = offset.max(start);
            span.start = start as f32;
            span.inverse_length = (end - start).recip().min(f32::MAX.into()) as f32;
            span.color_change = (next_color - color).as_vec4().to_array();
            (start, color) = (end, next_color);
        }

        let start = DVec2::from(gradient.start.at(time)) * content_size;
        let line = DVec2::from(gradient.end.at(time)) * content_size - start;
        let length_squared = line.length_squared();
        if length_squared > 0.0 {
            // The place of a point p on the line is (p - start) · line / |line|².
            let per_pixel = line / length_squared;
            let from_start = content.at_origin * content_size - start;
            uniforms.line = (content.from_box * content_size * per_pixel)
                .as_vec2()
                .to_array();
            uniforms.line_at_origin = from_start.dot(per_pixel) as f32;
        } else {
            uniforms.line_at_origin = BEYOND_ALL_STOPS;
        }
        uniforms
    }
}

/// `Image` in `layer_image.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct ImageUniforms {
    texture_from_box: [f32; 2],
    texture_at_origin: [f32; 2],
    tap_step: [f32; 2],
    tap_count: u32,
    level: f32,
    opacity: f32,
    padding: f32,
}

impl ImageUniforms {
    /// Chooses how a pixel's footprint in the texture is sampled. The map is affine and the box's
    /// axes are the texture's, so one choice holds for all of the layer.
    ///
    /// A footprint that is longer than wide is covered by taps of its width along its length, as
    /// anisotropic filtering does. It is done here rather than by the sampler so that it is the
    /// same on every device; lavapipe's aliases even where both scales are equal.
    pub(crate) fn new(content: &ContentMap, texture_size: Size, opacity: f64) -> Self {
        const MAX_TAPS: f64 = 16.0;

        let texture_size = DVec2::new(texture_size.width.into(), texture_size.height.into());
        let texels = content.from_box.abs() * texture_size;
        let length = texels.max_element();
        let width = texels.min_element().max(length / MAX_TAPS).max(1.0);
        // A little below, so that rounding does not make two taps of one.
        let tap_count = (length / width - 1e-3).ceil().max(1.0);
        let along = DVec2::select(texels.cmpeq(DVec2::splat(length)), DVec2::ONE, DVec2::ZERO);
        // The outer taps end where the footprint does.
        let spread = (1.0 - width / length).max(0.0);
        let tap_step = along * content.from_box * spread / (tap_count - 1.0).max(1.0);
        Self {
            texture_from_box: content.from_box.as_vec2().to_array(),
            texture_at_origin: content.at_origin.as_vec2().to_array(),
            tap_step: tap_step.as_vec2().to_array(),
            tap_count: tap_count as u32,
            level: width.log2() as f32,
            opacity: opacity as f32,
            padding: 0.0,
        }
    }

    /// Whether the shader takes more than one tap.
    pub(crate) fn has_many_taps(&self) -> bool {
        self.tap_count > 1
    }
}
