//! Which region of each surface of a chain must be drawn.

use glam::IVec2;

use crate::rect::IntRect;

/// What lies around an effect's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeMode {
    /// Nothing, as around a layer.
    Transparent,
    /// At each position the nearest pixel of the source, as a frame goes on for a blur of what is
    /// behind a layer.
    Clamp,
}

/// Which pixels of its source a pixel is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Footprint {
    /// As many before and after it on each axis.
    Window { before: IVec2, after: IVec2 },
    /// Four by four of the level below, around its own two by two.
    Halve,
    /// Two by two of the level above, those nearest.
    Double,
}

/// Where a step draws, and where what it reads is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepRects {
    pub(super) region: IntRect,
    /// In the grid of the step's source: outside, the source is transparent or the same as at the
    /// nearest position inside.
    pub(super) source: IntRect,
}

/// Plans a chain of these footprints: what of each result is needed for the `wanted` part of the
/// last, without what is known to be transparent or a repetition of the edge.
pub(super) fn plan(
    footprints: &[Footprint],
    source: IntRect,
    wanted: IntRect,
    edge: EdgeMode,
) -> Vec<StepRects> {
    let mut known = source;
    let sources: Vec<_> = footprints
        .iter()
        .map(|footprint| {
            let source = known;
            known = footprint.reached(source, edge);
            source
        })
        .collect();
    let mut region = edge.limit(wanted, known);
    let mut steps: Vec<_> = footprints
        .iter()
        .zip(sources)
        .rev()
        .map(|(footprint, source)| {
            let step = StepRects { region, source };
            region = edge.limit(footprint.read(region), source);
            step
        })
        .collect();
    steps.reverse();
    steps
}

impl EdgeMode {
    fn limit(self, wanted: IntRect, known: IntRect) -> IntRect {
        match self {
            Self::Transparent => wanted.intersect(known),
            Self::Clamp if known.is_empty() => IntRect::EMPTY,
            Self::Clamp => wanted.clamp(known),
        }
    }
}

impl Footprint {
    /// The pixels of the source that the pixels of `region` are made of.
    pub(super) fn read(self, region: IntRect) -> IntRect {
        if region.is_empty() {
            return IntRect::EMPTY;
        }
        let IntRect { min, max } = region;
        match self {
            Self::Window { before, after } => IntRect::new(min - before, max + after),
            Self::Halve => IntRect::new(min * 2 - 1, max * 2 + 1),
            // Shifts round down for negative positions too.
            Self::Double => IntRect::new((min - 1) >> 1, (max >> 1) + 1),
        }
    }

    /// The pixels that some pixel of `source` has a part in. Where the source is clamped, also those
    /// at the edge that are made of one pixel only, as all beyond them are.
    fn reached(self, source: IntRect, edge: EdgeMode) -> IntRect {
        if source.is_empty() {
            return IntRect::EMPTY;
        }
        let IntRect { min, max } = source;
        match (self, edge) {
            (Self::Window { before, after }, _) => IntRect::new(min - after, max + before),
            (Self::Halve, EdgeMode::Transparent) => IntRect::new((min - 1) >> 1, (max >> 1) + 1),
            (Self::Halve, EdgeMode::Clamp) => IntRect::new((min >> 1) - 1, ((max + 1) >> 1) + 1),
            (Self::Double, _) => IntRect::new(min * 2 - 1, max * 2 + 1),
        }
    }
}
