//! What an animated picture shows, put together from the parts that its frames change.

use framefence::Size;

/// The canvas that frames are drawn on one after another; transparent at first.
///
/// Files may state a background colour. It is not drawn, as browsers do not either.
#[derive(Debug)]
pub(crate) struct FrameCanvas {
    size: Size,
    /// RGBA, alpha not multiplied in.
    straight_rgba: Vec<u8>,
}

/// The part of the canvas that a frame changes. What reaches beyond the canvas is cut off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameArea {
    pub(crate) left: u32,
    pub(crate) top: u32,
    pub(crate) size: Size,
}

/// How a frame is put onto the canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameBlend {
    /// Over what is there.
    Over,
    /// In its place.
    Replace,
}

/// What becomes of a frame's area once the frame has been shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameDisposal {
    /// It stays.
    Keep,
    /// It becomes transparent.
    Clear,
    /// It becomes what it was before the frame.
    Restore,
}

impl FrameCanvas {
    pub(crate) fn new(size: Size) -> Self {
        Self {
            size,
            straight_rgba: vec![0; size.width as usize * size.height as usize * 4],
        }
    }

    /// Draws a frame, given as tightly packed straight RGBA of `area.size`, and returns the pixels
    /// of the whole canvas as they are shown.
    pub(crate) fn show(
        &mut self,
        frame_rgba: &[u8],
        area: FrameArea,
        blend: FrameBlend,
        disposal: FrameDisposal,
    ) -> Vec<u8> {
        let rows = self.rows_within(area);
        if disposal == FrameDisposal::Restore {
            let mut shown = self.straight_rgba.clone();
            draw(&mut shown, frame_rgba, &rows, blend);
            return shown;
        }
        draw(&mut self.straight_rgba, frame_rgba, &rows, blend);
        let shown = self.straight_rgba.clone();
        if disposal == FrameDisposal::Clear {
            for row in &rows {
                self.straight_rgba[row.canvas..][..row.bytes].fill(0);
            }
        }
        shown
    }

    fn rows_within(&self, area: FrameArea) -> Vec<Row> {
        let columns = area
            .size
            .width
            .min(self.size.width.saturating_sub(area.left));
        let rows = area
            .size
            .height
            .min(self.size.height.saturating_sub(area.top));
        let byte_offset =
            |x: u32, y: u32, width: u32| (y as usize * width as usize + x as usize) * 4;
        if columns == 0 {
            return Vec::new();
        }
        (0..rows)
            .map(|y| Row {
                frame: byte_offset(0, y, area.size.width),
                canvas: byte_offset(area.left, area.top + y, self.size.width),
                bytes: columns as usize * 4,
            })
            .collect()
    }
}

/// A row of a frame, as offsets in bytes into the frame and the canvas.
struct Row {
    frame: usize,
    canvas: usize,
    bytes: usize,
}

fn draw(canvas_rgba: &mut [u8], frame_rgba: &[u8], rows: &[Row], blend: FrameBlend) {
    for row in rows {
        let source = &frame_rgba[row.frame..][..row.bytes];
        let target = &mut canvas_rgba[row.canvas..][..row.bytes];
        match blend {
            FrameBlend::Replace => target.copy_from_slice(source),
            FrameBlend::Over => {
                let (sources, _) = source.as_chunks();
                let (targets, _) = target.as_chunks_mut();
                for (target, &source) in targets.iter_mut().zip(sources) {
                    *target = over(source, *target);
                }
            }
        }
    }
}

/// Source-over of colours whose alpha is not multiplied in, rounded to nearest (WebP Container
/// Specification, "Alpha-blending"; Porter and Duff, "Compositing Digital Images", 1984).
fn over(source: [u8; 4], target: [u8; 4]) -> [u8; 4] {
    let source_alpha = u32::from(source[3]);
    if source_alpha == 0 {
        return target;
    }
    // In parts of 255 × 255, so that all is whole numbers.
    let source_weight = source_alpha * 255;
    let target_weight = u32::from(target[3]) * (255 - source_alpha);
    let alpha = source_weight + target_weight;
    let channel = |index: usize| {
        let sum =
            u32::from(source[index]) * source_weight + u32::from(target[index]) * target_weight;
        ((sum + alpha / 2) / alpha) as u8
    };
    [
        channel(0),
        channel(1),
        channel(2),
        ((alpha + 127) / 255) as u8,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const GREEN: [u8; 4] = [0, 255, 0, 255];
    const CLEAR: [u8; 4] = [0; 4];

    fn area(left: u32, top: u32, width: u32, height: u32) -> FrameArea {
        FrameArea {
            left,
            top,
            size: Size::new(width, height),
        }
    }

    fn show(
        canvas: &mut FrameCanvas,
        color: [u8; 4],
        area: FrameArea,
        blend: FrameBlend,
        disposal: FrameDisposal,
    ) -> Vec<[u8; 4]> {
        let frame = color.repeat((area.size.width * area.size.height) as usize);
        let shown = canvas.show(&frame, area, blend, disposal);
        shown.as_chunks().0.to_vec()
    }

    #[test]
    fn a_kept_frame_stays_and_the_next_is_drawn_over_it() {
        let mut canvas = FrameCanvas::new(Size::new(3, 1));
        let (over, keep) = (FrameBlend::Over, FrameDisposal::Keep);
        let shown = show(&mut canvas, RED, area(0, 0, 2, 1), over, keep);
        assert_eq!(shown, [RED, RED, CLEAR]);
        let shown = show(&mut canvas, GREEN, area(1, 0, 2, 1), over, keep);
        assert_eq!(shown, [RED, GREEN, GREEN]);
        let shown = show(&mut canvas, CLEAR, area(0, 0, 3, 1), over, keep);
        assert_eq!(shown, [RED, GREEN, GREEN]);
    }

    #[test]
    fn a_cleared_frame_leaves_a_hole_of_its_own_size() {
        let mut canvas = FrameCanvas::new(Size::new(3, 1));
        let over = FrameBlend::Over;
        show(
            &mut canvas,
            RED,
            area(0, 0, 3, 1),
            over,
            FrameDisposal::Keep,
        );
        let shown = show(
            &mut canvas,
            GREEN,
            area(1, 0, 1, 1),
            over,
            FrameDisposal::Clear,
        );
        assert_eq!(shown, [RED, GREEN, RED]);
        let shown = show(
            &mut canvas,
            GREEN,
            area(2, 0, 1, 1),
            over,
            FrameDisposal::Keep,
        );
        assert_eq!(shown, [RED, CLEAR, GREEN]);
    }

    #[test]
    fn a_restored_frame_leaves_what_was_there() {
        let mut canvas = FrameCanvas::new(Size::new(2, 1));
        let over = FrameBlend::Over;
        show(
            &mut canvas,
            RED,
            area(0, 0, 2, 1),
            over,
            FrameDisposal::Keep,
        );
        let shown = show(
            &mut canvas,
            GREEN,
            area(0, 0, 2, 1),
            over,
            FrameDisposal::Restore,
        );
        assert_eq!(shown, [GREEN, GREEN]);
        let shown = show(
            &mut canvas,
            GREEN,
            area(1, 0, 1, 1),
            over,
            FrameDisposal::Keep,
        );
        assert_eq!(shown, [RED, GREEN]);
    }

    #[test]
    fn a_replacing_frame_takes_its_transparency_along() {
        let mut canvas = FrameCanvas::new(Size::new(2, 1));
        let keep = FrameDisposal::Keep;
        show(&mut canvas, RED, area(0, 0, 2, 1), FrameBlend::Over, keep);
        let glass = [10, 20, 30, 40];
        let replace = FrameBlend::Replace;
        let shown = show(&mut canvas, glass, area(1, 0, 1, 1), replace, keep);
        assert_eq!(shown, [RED, glass]);
    }

    #[test]
    fn what_lies_beyond_the_canvas_is_cut_off() {
        let mut canvas = FrameCanvas::new(Size::new(2, 2));
        let (over, clear) = (FrameBlend::Over, FrameDisposal::Clear);
        let shown = show(&mut canvas, RED, area(1, 1, 5, 5), over, clear);
        assert_eq!(shown, [CLEAR, CLEAR, CLEAR, RED]);
        for outside in [area(2, 0, 1, 1), area(0, 2, 1, 1), area(9, 9, 3, 3)] {
            let shown = show(&mut canvas, RED, outside, over, clear);
            assert_eq!(shown, [CLEAR; 4]);
        }
    }

    /// Against the formula in f64.
    #[test]
    fn every_blend_of_two_alphas_is_rounded_to_nearest() {
        for source_alpha in 0..=255_u8 {
            for target_alpha in 1..=255_u8 {
                let (source, target) = ([200, 3, 77, source_alpha], [10, 250, 78, target_alpha]);
                let [a, b] = [source_alpha, target_alpha].map(|alpha| f64::from(alpha) / 255.0);
                let alpha = a + b * (1.0 - a);
                let expected: [f64; 4] = std::array::from_fn(|index| match index {
                    3 => alpha * 255.0,
                    _ => {
                        (f64::from(source[index]) * a + f64::from(target[index]) * b * (1.0 - a))
                            / alpha
                    }
                });
                for (given, expected) in over(source, target).into_iter().zip(expected) {
                    let error = (f64::from(given) - expected).abs();
                    assert!(error <= 0.5 + 1e-9, "{source:?} over {target:?}");
                }
            }
        }
    }
}
