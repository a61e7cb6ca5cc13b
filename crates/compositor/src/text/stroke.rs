//! Lines around glyphs.

use std::collections::HashMap;
use std::sync::Arc;

use kurbo::{BezPath, Cap, Join, Shape, Stroke, StrokeOpts};

/// Outlines of glyphs' outlines, of one width: stroking costs more than all the rest.
#[derive(Default)]
pub(super) struct Strokes {
    pen: Option<Pen>,
    by_shape: HashMap<u32, Arc<BezPath>>,
}

/// What outlines are drawn with.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Pen {
    /// How far the line reaches beyond the glyph, in ems.
    reach: f64,
    /// How far it may be off, in ems.
    tolerance: f64,
}

impl Pen {
    /// A pen whose line is off by at most `tolerance` ems. The nearest power of two below is taken,
    /// so that a text that slowly grows is not stroked anew for each frame.
    pub(super) fn new(reach: f64, tolerance: f64) -> Self {
        Self {
            reach,
            tolerance: tolerance.log2().floor().exp2(),
        }
    }
}

impl Strokes {
    /// The line around `path`, which is the shape of that index; its area counts as positive.
    pub(super) fn of(&mut self, shape: u32, path: &BezPath, pen: Pen) -> Arc<BezPath> {
        if self.pen != Some(pen) {
            self.by_shape.clear();
            self.pen = Some(pen);
        }
        self.by_shape
            .entry(shape)
            .or_insert_with(|| Arc::new(stroke(path, pen)))
            .clone()
    }
}

fn stroke(path: &BezPath, pen: Pen) -> BezPath {
    let style = Stroke::new(2.0 * pen.reach)
        .with_join(Join::Round)
        .with_caps(Cap::Round);
    let stroked = kurbo::stroke(path, &style, &StrokeOpts::default(), pen.tolerance);
    if stroked.area() < 0.0 {
        stroked.reverse_subpaths()
    } else {
        stroked
    }
}
