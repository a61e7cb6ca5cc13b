//! Where layers lie in a frame.

use framefence::FrameView;
use glam::{DMat2, DMat3, DVec2, DVec3, IVec2};

use crate::rect::IntRect;

/// The pixels of the canvas, or of a group, and where they lie in the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    /// From its pixels to those of the scaled full frame; a homography.
    pub(crate) frame_from_space: DMat3,
    pub(crate) size: DVec2,
}

/// A layer's box in the frame.
///
/// "Layer pixels" are those of the box, from its top left corner, before scaling and turning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placement {
    pub(crate) frame_from_layer: DMat3,
    /// The part of the box that holds content, in layer pixels.
    pub(crate) visible: Rect,
    /// Pixels of the content for one of the layer.
    pub(crate) content_scale: DVec2,
    /// The content's pixel that lies at the layer's origin.
    pub(crate) content_offset: DVec2,
}

/// A rectangle between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) min: DVec2,
    pub(crate) max: DVec2,
}

/// A layer's geometry at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) position: DVec2,
    /// In parts of the box's size.
    pub(crate) anchor: DVec2,
    pub(crate) scale: DVec2,
    pub(crate) rotation_degrees: f64,
    /// About the horizontal and the vertical axis.
    pub(crate) tilt_degrees: DVec2,
    pub(crate) eye_distance: f64,
}

/// Nearer to the eye than this, in parts of its distance from the canvas, nothing is drawn.
/// `NEAREST` in `layer.wgsl`.
const NEAREST: f64 = 0.01;

impl Space {
    /// The canvas in a frame: as large as fits, in the middle.
    pub(crate) fn canvas(size: DVec2, view: &FrameView) -> Self {
        let frame_size = frame_size(view);
        let scale = (frame_size / size).min_element();
        let offset = (frame_size - size * scale) / 2.0;
        Self {
            frame_from_space: DMat3::from_cols(
                DVec3::new(scale, 0.0, 0.0),
                DVec3::new(0.0, scale, 0.0),
                offset.extend(1.0),
            ),
            size,
        }
    }

    /// The same pixels, moved.
    pub(crate) fn moved(&self, by: DVec2) -> Self {
        Self {
            frame_from_space: self.frame_from_space * DMat3::from_translation(by),
            size: self.size,
        }
    }

    /// The same pixels, grown about the middle.
    pub(crate) fn zoomed(&self, by: f64) -> Self {
        let grown = DMat3::from_scale(DVec2::splat(by));
        let middle = self.size / 2.0;
        Self {
            frame_from_space: self.moved(middle).frame_from_space
                * grown
                * DMat3::from_translation(-middle),
            size: self.size,
        }
    }

    /// How offsets near a point are seen in the frame.
    pub(crate) fn offsets_at(&self, point: DVec2) -> DMat2 {
        let matrix = &self.frame_from_space;
        let seen = *matrix * point.extend(1.0);
        let w = seen.z.max(NEAREST);
        let at = seen.truncate() / w;
        let column = |column: DVec3| (column.truncate() - at * column.z) / w;
        DMat2::from_cols(column(matrix.x_axis), column(matrix.y_axis))
    }

    /// Frame pixels for a pixel near a point, whatever its direction: the side of the square that
    /// has the area in which a square pixel is seen.
    pub(crate) fn scale_at(&self, point: DVec2) -> f64 {
        self.offsets_at(point).determinant().abs().sqrt()
    }
}

impl Geometry {
    /// From layer pixels of a box of `size` to the space that holds the layer.
    pub(crate) fn space_from_layer(&self, size: DVec2) -> DMat3 {
        let place = DMat3::from_translation(self.position);
        let turned = exact_rotation(self.rotation_degrees) * DMat2::from_diagonal(self.scale);
        let centered = DMat3::from_translation(-self.anchor * size);
        place * self.tilt() * DMat3::from_mat2(turned) * centered
    }

    /// Turns the plane about the x axis, then about the y axis, and looks at it from
    /// `eye_distance`: with z away from the eye, a point is seen at (x, y) / (1 + z / distance).
    fn tilt(&self) -> DMat3 {
        let x = exact_rotation(self.tilt_degrees.x).x_axis;
        let y = exact_rotation(self.tilt_degrees.y).x_axis;
        let (cos_x, sin_x, cos_y, sin_y) = (x.x, x.y, y.x, y.y);
        DMat3::from_cols(
            DVec3::new(cos_y, 0.0, sin_y / self.eye_distance),
            DVec3::new(sin_x * sin_y, cos_x, -sin_x * cos_y / self.eye_distance),
            DVec3::Z,
        )
    }
}

/// A rotation that is exact at quarters of a turn, so that upright layers have upright edges.
fn exact_rotation(degrees: f64) -> DMat2 {
    let degrees = degrees.rem_euclid(360.0);
    let (sin, cos) = match degrees {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        _ => degrees.to_radians().sin_cos(),
    };
    DMat2::from_cols(DVec2::new(cos, sin), DVec2::new(-sin, cos))
}

impl Rect {
    pub(crate) fn of_size(size: DVec2) -> Self {
        Self {
            min: DVec2::ZERO,
            max: size,
        }
    }

    pub(crate) fn size(self) -> DVec2 {
        self.max - self.min
    }

    pub(crate) fn expand(self, by: f64) -> Self {
        Self {
            min: self.min - by,
            max: self.max + by,
        }
    }
}

impl From<kurbo::Rect> for Rect {
    fn from(rect: kurbo::Rect) -> Self {
        Self {
            min: DVec2::new(rect.x0, rect.y0),
            max: DVec2::new(rect.x1, rect.y1),
        }
    }
}

impl Placement {
    /// The space of the content's own pixels, as the children of a group see it.
    pub(crate) fn content_space(&self, content_size: DVec2) -> Space {
        let layer_from_content = DMat3::from_cols(
            DVec3::new(1.0 / self.content_scale.x, 0.0, 0.0),
            DVec3::new(0.0, 1.0 / self.content_scale.y, 0.0),
            (-self.content_offset / self.content_scale).extend(1.0),
        );
        Space {
            frame_from_space: self.frame_from_layer * layer_from_content,
            size: content_size,
        }
    }

    /// A rectangle of the content's own pixels in those of the layer.
    pub(crate) fn layer_from_content(&self, rect: Rect) -> Rect {
        Rect {
            min: self.layer_point(rect.min),
            max: self.layer_point(rect.max),
        }
    }

    /// A point of the content's own pixels in those of the layer.
    pub(crate) fn layer_point(&self, content: DVec2) -> DVec2 {
        (content - self.content_offset) / self.content_scale
    }

    /// The pixels that a rectangle of the layer touches.
    ///
    /// Empty also if it is so thin that it changes none of them, or cannot be seen at all.
    pub(crate) fn bounds(&self, rect: Rect) -> IntRect {
        // It covers less of any pixel than a fiftieth of an 8-bit step, and its inverse stays small.
        const THINNEST: f64 = 5e-5;
        if rect.size().min_element() <= 0.0 {
            return IntRect::EMPTY;
        }
        if self.is_affine() {
            let sides = DMat2::from_mat3(self.frame_from_layer);
            let area = sides.determinant().abs() * rect.size().element_product();
            let longest =
                (sides.x_axis.length() * rect.size().x).max(sides.y_axis.length() * rect.size().y);
            // The height of the parallelogram over its longer side.
            if longest <= 0.0 || area / longest < THINNEST {
                return IntRect::EMPTY;
            }
        }
        let seen = self.seen_corners(rect);
        match seen.split_first() {
            None => IntRect::EMPTY,
            Some((&first, rest)) => {
                let min = rest.iter().fold(first, |min, &point| min.min(point));
                let max = rest.iter().fold(first, |max, &point| max.max(point));
                IntRect::around(min, max)
            }
        }
    }

    /// The corners of a rectangle of the layer in the frame, cut off where it comes too near to the
    /// eye.
    fn seen_corners(&self, rect: Rect) -> Vec<DVec2> {
        let Rect { min, max } = rect;
        let corners = [min, min.with_x(max.x), max, min.with_y(max.y)]
            .map(|corner| self.frame_from_layer * corner.extend(1.0));
        let mut seen = Vec::with_capacity(8);
        for (index, &corner) in corners.iter().enumerate() {
            let next = corners[(index + 1) % corners.len()];
            if corner.z >= NEAREST {
                seen.push(corner.truncate() / corner.z);
            }
            if (corner.z >= NEAREST) != (next.z >= NEAREST) {
                let part = (NEAREST - corner.z) / (next.z - corner.z);
                seen.push(corner.lerp(next, part).truncate() / NEAREST);
            }
        }
        seen
    }

    pub(crate) fn is_affine(&self) -> bool {
        let matrix = &self.frame_from_layer;
        matrix.x_axis.z == 0.0 && matrix.y_axis.z == 0.0
    }

    /// How shaders find the layer from pixels of the frame; `None` if the layer is seen edge-on.
    pub(crate) fn pixel_map(&self, view: &FrameView) -> Option<PixelMap> {
        let layer_from_frame = self.frame_from_layer.inverse();
        if !layer_from_frame.is_finite() {
            return None;
        }
        let origin = self.origin(view);
        let from_offset = layer_from_frame * DMat3::from_translation(origin.as_dvec2());
        Some(if self.is_affine() {
            PixelMap::affine(from_offset, origin)
        } else {
            let middle = (self.visible.min + self.visible.max) / 2.0;
            // So that w is as in `frame_from_layer`, positive in front of the eye: inverting gives
            // the reciprocal up to a factor.
            PixelMap::perspective(from_offset, middle, origin)
        })
    }

    /// The whole pixel nearest to the middle of what is seen of the layer, within the frame.
    ///
    /// Shaders count pixels from there, which keeps their 32-bit floats small and exact where the
    /// layer is seen. It does not depend on the tile.
    fn origin(&self, view: &FrameView) -> IVec2 {
        let bounds = self.bounds(self.visible);
        let frame = IVec2::ZERO.max(frame_size(view).as_ivec2());
        ((bounds.min + bounds.max) / 2).clamp(IVec2::ZERO, frame)
    }
}

/// How a shader finds its place in a layer.
///
/// "Local" positions are counted from the layer's pixel `reference`, along the layer's axes. For
/// affine placements their unit along each axis is the pixel of the frame, measured across the box's
/// edges, so that distances from edges are distances in the frame; in perspective it is the pixel of
/// the layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PixelMap {
    /// The pixel of the full frame that offsets are counted from.
    pub(crate) origin: IVec2,
    /// From offsets to local positions, homogeneous.
    pub(crate) local_from_offset: DMat3,
    pub(crate) reference: DVec2,
    /// Local units for a pixel of the layer.
    pub(crate) local_per_layer: DVec2,
    pub(crate) is_affine: bool,
}

impl PixelMap {
    fn affine(layer_from_offset: DMat3, origin: IVec2) -> Self {
        let linear = DMat2::from_mat3(layer_from_offset);
        let local_per_layer = 1.0 / DVec2::new(linear.row(0).length(), linear.row(1).length());
        Self {
            origin,
            local_from_offset: DMat3::from_mat2(DMat2::from_diagonal(local_per_layer) * linear),
            reference: layer_from_offset.z_axis.truncate(),
            local_per_layer,
            is_affine: true,
        }
    }

    fn perspective(layer_from_offset: DMat3, reference: DVec2, origin: IVec2) -> Self {
        Self {
            origin,
            local_from_offset: DMat3::from_translation(-reference) * layer_from_offset,
            reference,
            local_per_layer: DVec2::ONE,
            is_affine: false,
        }
    }

    /// The local position of a pixel corner, for affine maps and points in front of the eye.
    pub(crate) fn local_at(&self, frame: DVec2) -> DVec2 {
        let offset = frame - self.origin.as_dvec2();
        let local = self.local_from_offset * offset.extend(1.0);
        local.truncate() / local.z
    }

    /// A rectangle of the layer in local units: from the reference to its near edges, negative
    /// where that lies outside, and to its far ones.
    pub(crate) fn edges(&self, rect: Rect) -> (DVec2, DVec2) {
        (
            (self.reference - rect.min) * self.local_per_layer,
            (rect.max - self.reference) * self.local_per_layer,
        )
    }

    /// Whether every pixel of `bounds` lies wholly within a rectangle of the layer, for shaders too,
    /// which count in 32-bit floats. Those of an upright box's edges against whole pixels are exact;
    /// others need a margin.
    pub(crate) fn covers(&self, rect: Rect, bounds: IntRect) -> bool {
        if !self.is_affine {
            return false;
        }
        let is_upright = self
            .local_from_offset
            .to_cols_array()
            .iter()
            .all(|entry| [0.0, 1.0, -1.0].contains(entry));
        let margin = DVec2::splat(if is_upright { 0.0 } else { 0.01 });
        let (near, far) = self.edges(rect);
        bounds.corners().into_iter().all(|corner| {
            let local = self.local_at(corner.as_dvec2());
            (near + local).cmpge(margin).all() && (far - local).cmpge(margin).all()
        })
    }
}

/// The size of the scaled full frame.
pub(crate) fn frame_size(view: &FrameView) -> DVec2 {
    DVec2::new(
        f64::from(view.full_size.width),
        f64::from(view.full_size.height),
    ) * f64::from(view.scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_of_a_turn_are_exact() {
        for (degrees, x_axis) in [
            (0.0, DVec2::X),
            (90.0, DVec2::Y),
            (-90.0, DVec2::NEG_Y),
            (540.0, DVec2::NEG_X),
        ] {
            assert_eq!(exact_rotation(degrees).x_axis, x_axis, "{degrees}");
        }
    }
}
