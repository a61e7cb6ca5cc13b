//! Where a layer lies in a frame, as shaders take it.

use framefence::FrameView;
use glam::{DMat2, DVec2, IVec2};

/// A rotated rectangle in the pixels of the scaled full frame.
///
/// Its own axes carry "box space": pixels from its top left corner, before mirroring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrameBox {
    center: DVec2,
    /// Width and height; never negative.
    size: DVec2,
    /// Turns the box's axes to the frame's.
    rotation: DMat2,
    /// Whether the content runs against the box's axes.
    mirrored: [bool; 2],
}

/// The pixels of a target that a box touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The first column and row.
    pub(crate) first: IVec2,
    /// The column and row after the last.
    pub(crate) last: IVec2,
    /// Whether the box covers all of them wholly.
    pub(crate) covered: bool,
}

/// Places in a layer's content, in parts of its width and height from its top left corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentMap {
    /// The place that is seen at the origin.
    pub(crate) at_origin: DVec2,
    /// How much further the place is a pixel further along each axis of the box.
    pub(crate) from_box: DVec2,
}

/// A layer's geometry at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerGeometry {
    /// Width and height of the content in its own pixels.
    pub(crate) content_size: DVec2,
    /// Where the anchor lies on the canvas.
    pub(crate) position: DVec2,
    /// The anchor in parts of the content's size.
    pub(crate) anchor: DVec2,
    pub(crate) scale: DVec2,
    pub(crate) rotation_degrees: f64,
}

/// How the canvas is shown in a frame: as large as fits, in the middle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanvasFit {
    /// Frame pixels for a pixel of the canvas, the view's scale included.
    scale: f64,
    offset: DVec2,
    frame_size: DVec2,
}

impl CanvasFit {
    pub(crate) fn new(canvas: DVec2, view: &FrameView) -> Self {
        let full_size = DVec2::new(
            f64::from(view.full_size.width),
            f64::from(view.full_size.height),
        );
        let frame_size = full_size * f64::from(view.scale);
        let scale = (frame_size / canvas).min_element();
        Self {
            scale,
            offset: (frame_size - canvas * scale) / 2.0,
            frame_size,
        }
    }

    pub(crate) fn place(&self, layer: &LayerGeometry) -> FrameBox {
        let rotation = DMat2::from_angle(layer.rotation_degrees.to_radians());
        let from_anchor = (DVec2::splat(0.5) - layer.anchor) * layer.content_size * layer.scale;
        FrameBox {
            center: (layer.position + rotation * from_anchor) * self.scale + self.offset,
            size: layer.content_size * layer.scale.abs() * self.scale,
            rotation,
            mirrored: [layer.scale.x < 0.0, layer.scale.y < 0.0],
        }
    }

    /// The whole pixel nearest to the middle of `layer` within the frame.
    ///
    /// Shaders count pixels from there, which keeps their 32-bit floats small and exact where the
    /// layer is seen. It does not depend on the tile.
    pub(crate) fn origin(&self, layer: &FrameBox) -> IVec2 {
        layer
            .center
            .clamp(DVec2::ZERO, self.frame_size)
            .round()
            .as_ivec2()
    }
}

impl FrameBox {
    pub(crate) fn size(&self) -> DVec2 {
        self.size
    }

    pub(crate) fn rotation(&self) -> DMat2 {
        self.rotation
    }

    /// Where a point of the frame lies in box space.
    pub(crate) fn box_from_frame(&self, point: DVec2) -> DVec2 {
        self.rotation.transpose() * (point - self.center) + self.size / 2.0
    }

    /// Where the content lies in box space, seen from a point of the frame.
    pub(crate) fn content_map(&self, origin: DVec2) -> ContentMap {
        let from_box = self
            .mirrored
            .map(|mirrored| if mirrored { -1.0 } else { 1.0 });
        let from_box = DVec2::from(from_box) / self.size;
        let from_middle = self.box_from_frame(origin) - self.size / 2.0;
        ContentMap {
            at_origin: DVec2::splat(0.5) + from_middle * from_box,
            from_box,
        }
    }

    /// The pixels of the target that the box touches; `None` if there are none, or if the box is
    /// so thin that it changes none of them.
    pub(crate) fn bounds_in(&self, view: &FrameView) -> Option<Bounds> {
        // It covers less of any pixel than a fiftieth of an 8-bit step, and its inverse stays small.
        const THINNEST: f64 = 5e-5;
        if self.size.min_element() < THINNEST {
            return None;
        }
        let half = self.rotation.abs() * self.size / 2.0;
        let tile_origin = DVec2::new(
            f64::from(view.tile_origin[0]),
            f64::from(view.tile_origin[1]),
        );
        let target_size = DVec2::new(
            f64::from(view.target_size.width),
            f64::from(view.target_size.height),
        );
        let clamp = |corner: DVec2| {
            (corner - tile_origin)
                .clamp(DVec2::ZERO, target_size)
                .as_ivec2()
        };
        let first = clamp((self.center - half).floor());
        let last = clamp((self.center + half).ceil());
        first.cmplt(last).all().then(|| Bounds {
            first,
            last,
            covered: [first, last, first.with_x(last.x), first.with_y(last.y)]
                .into_iter()
                .all(|corner| self.holds(corner.as_dvec2() + tile_origin)),
        })
    }

    /// Whether a point of the frame lies within the box, for shaders too, which count in 32-bit
    /// floats. Those of an upright box's edges against whole pixels are exact; others need a margin.
    fn holds(&self, point: DVec2) -> bool {
        let is_upright = self.rotation == DMat2::IDENTITY;
        let margin = DVec2::splat(if is_upright { 0.0 } else { 0.01 });
        let point = self.box_from_frame(point);
        point.cmpge(margin).all() && point.cmple(self.size - margin).all()
    }
}
