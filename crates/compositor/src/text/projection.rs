//! From ems to frame pixels.

use glam::{DMat3, DVec2, DVec3, IVec2};
use kurbo::{BezPath, PathEl, Point, Rect};

use super::coverage::Coverage;
use crate::rect::IntRect;

/// How far, in frame pixels, the corners of a flattened curve may lie from the curve: a hundredth
/// changes no pixel's coverage by more than 3 of 255, and most by none.
const TOLERANCE: f64 = 0.01;

/// The same for the line around a glyph: stroking costs more than flattening.
pub(super) const STROKE_TOLERANCE: f64 = 0.02;

/// Where ems lie in the frame, as a homography may have it.
///
/// The part of a shape that lies behind the viewer, or too close before him to have a place in the
/// frame, is cut off.
#[derive(Clone, Copy)]
pub(super) struct Projection {
    frame_from_em: DMat3,
    /// The depth at which shapes are cut off.
    near: f64,
}

impl Projection {
    /// The projection of a layer to the frame, for shapes in `bounds`; nothing if none of it is
    /// before the viewer, or the matrix has no inverse.
    pub(super) fn new(frame_from_layer: DMat3, bounds: Rect) -> Option<Self> {
        let farthest = corners(bounds)
            .map(|corner| (frame_from_layer * corner.extend(1.0)).z)
            .into_iter()
            .fold(0.0, f64::max);
        let is_usable = frame_from_layer.is_finite() && frame_from_layer.determinant() != 0.0;
        (is_usable && farthest > 0.0).then_some(Self {
            frame_from_em: frame_from_layer,
            near: farthest / 1_000.0,
        })
    }

    /// The same for shapes in ems of `em` layer pixels about `origin`.
    pub(super) fn of_glyph(self, origin: DVec2, em: f64) -> Self {
        let layer_from_em = DMat3::from_translation(origin) * DMat3::from_scale(DVec2::splat(em));
        Self {
            frame_from_em: self.frame_from_em * layer_from_em,
            ..self
        }
    }

    /// The frame pixels that a shape in `bounds` may touch within `clip`.
    pub(super) fn touched(self, bounds: Rect, clip: IntRect) -> IntRect {
        let projected = corners(bounds).map(|corner| self.frame_from_em * corner.extend(1.0));
        if projected.iter().any(|corner| corner.z < self.near) {
            return clip;
        }
        let points = projected.map(|corner| corner.truncate() / corner.z);
        let min = points.into_iter().fold(DVec2::INFINITY, DVec2::min);
        let max = points.into_iter().fold(DVec2::NEG_INFINITY, DVec2::max);
        // Rounding to parts of a pixel may carry a corner into the next one. The conversions
        // saturate.
        let pixel = |point: DVec2| IVec2::new(point.x as i32, point.y as i32);
        let reach = IntRect {
            min: pixel((min - 0.01).floor()),
            max: pixel((max + 0.01).ceil()),
        };
        reach.intersect(clip)
    }

    /// Adds a shape that lies in `bounds`.
    pub(super) fn trace(self, path: &BezPath, bounds: Rect, coverage: &mut Coverage) {
        let tolerance = TOLERANCE / self.largest_scale(bounds);
        let mut contour: Vec<DVec3> = Vec::new();
        let mut finish = |contour: &mut Vec<DVec3>| {
            let points: Vec<DVec2> = self
                .before_viewer(contour)
                .into_iter()
                .map(|corner| corner.truncate() / corner.z)
                .collect();
            coverage.add_polygon(&points);
            contour.clear();
        };
        kurbo::flatten(path, tolerance, |element| match element {
            PathEl::MoveTo(point) => {
                finish(&mut contour);
                contour.push(self.apply(point));
            }
            PathEl::LineTo(point) => contour.push(self.apply(point)),
            PathEl::ClosePath => {}
            PathEl::QuadTo(..) | PathEl::CurveTo(..) => {
                unreachable!("a flattened path has no curves")
            }
        });
        finish(&mut contour);
    }

    /// The most frame pixels that an em takes in any direction within `bounds`.
    pub(super) fn largest_scale(self, bounds: Rect) -> f64 {
        corners(bounds)
            .map(|corner| self.scale_at(corner))
            .into_iter()
            .fold(f64::MIN_POSITIVE, f64::max)
    }

    /// Where the middle of a frame pixel lies, in ems; nothing where it is beyond the horizon.
    pub(super) fn em_from_frame(self) -> impl Fn(DVec2) -> Option<DVec2> {
        let em_from_frame = self.frame_from_em.inverse();
        move |point| {
            let em = em_from_frame * point.extend(1.0);
            let is_seen = em.z > 0.0 && em.z * self.near < 1.0;
            is_seen.then(|| em.truncate() / em.z)
        }
    }

    fn apply(self, point: Point) -> DVec3 {
        self.frame_from_em * DVec3::new(point.x, point.y, 1.0)
    }

    /// The Frobenius norm of the derivative, which is not below the largest stretch.
    fn scale_at(self, em: DVec2) -> f64 {
        let frame = self.frame_from_em * em.extend(1.0);
        let depth = frame.z.max(self.near);
        let place = frame.truncate() / depth;
        let along = |axis: DVec3| (axis.truncate() - place * axis.z) / depth;
        let [x, y] = [self.frame_from_em.x_axis, self.frame_from_em.y_axis].map(along);
        (x.length_squared() + y.length_squared()).sqrt()
    }

    /// The contour without what lies nearer than `near`, by Sutherland and Hodgman's algorithm.
    fn before_viewer(self, contour: &[DVec3]) -> Vec<DVec3> {
        let Some(&last) = contour.last() else {
            return Vec::new();
        };
        let mut kept = Vec::with_capacity(contour.len());
        let mut from = last;
        for &to in contour {
            if (from.z < self.near) != (to.z < self.near) {
                kept.push(from.lerp(to, (self.near - from.z) / (to.z - from.z)));
            }
            if to.z >= self.near {
                kept.push(to);
            }
            from = to;
        }
        kept
    }
}

fn corners(bounds: Rect) -> [DVec2; 4] {
    let Rect { x0, y0, x1, y1 } = bounds;
    [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(DVec2::from)
}
