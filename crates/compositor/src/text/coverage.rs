//! How much of each pixel lies inside an outline.

use glam::DVec2;

use crate::rect::IntRect;

/// The exact area of each pixel of `window` that closed outlines cover.
///
/// Each edge adds to every pixel the area between itself and the right side of the pixel, with the
/// sign of its direction, and the height that it crosses to all pixels on the right of it; their
/// sums along a row are the winding numbers, averaged over each pixel. What is outside the window
/// is left out, but never changes what is inside: all sums are of whole numbers, and each follows
/// from the edge and the pixel alone. So two windows agree wherever they overlap, and frames can be
/// drawn in tiles.
pub(super) struct Coverage {
    window: IntRect,
    /// One more pixel for each row than the window has: edges in the last pixel reach beyond it.
    stride: usize,
    /// Changes of the winding number from pixel to pixel, in [`FULL`]ths.
    changes: Vec<i32>,
}

/// Corners are rounded to this part of a pixel: finer than an edge can show in 8 bits, and coarse
/// enough for thousands of glyphs on top of one another not to overflow.
const UNITS: i64 = 512;

/// The area of a pixel: its height in units times twice its width.
const FULL: i32 = (2 * UNITS * UNITS) as i32;

/// Corners further from the frame than this many pixels are moved there.
const FARTHEST: f64 = (1_i64 << 40) as f64;

impl Coverage {
    pub(super) fn new(window: IntRect) -> Self {
        let size = window.size();
        let stride = size.x as usize + 1;
        Self {
            window,
            stride,
            changes: vec![0; stride * size.y as usize],
        }
    }

    /// Adds a closed outline, by its corners in frame pixels.
    pub(super) fn add_polygon(&mut self, corners: &[DVec2]) {
        let Some(&last) = corners.last() else {
            return;
        };
        let mut from = to_units(last);
        for &corner in corners {
            let to = to_units(corner);
            self.add_edge(from, to);
            from = to;
        }
    }

    /// From 0 outside to 255 inside, by the non-zero rule; rows from top to bottom.
    pub(super) fn finish(self) -> Vec<u8> {
        let width = self.stride - 1;
        let mut bytes = Vec::with_capacity(width * self.window.size().y as usize);
        for row in self.changes.chunks_exact(self.stride) {
            let mut winding = 0_i32;
            bytes.extend(row[..width].iter().map(|change| {
                winding = winding.wrapping_add(*change);
                let covered = i64::from(winding.unsigned_abs().min(FULL as u32));
                ((covered * 255 + i64::from(FULL) / 2) / i64::from(FULL)) as u8
            }));
        }
        bytes
    }

    fn add_edge(&mut self, from: [i64; 2], to: [i64; 2]) {
        let (direction, top, bottom) = match from[1].cmp(&to[1]) {
            std::cmp::Ordering::Less => (1, from, to),
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Greater => (-1, to, from),
        };
        let first = top[1].div_euclid(UNITS).max(i64::from(self.window.min.y));
        let end = (bottom[1] + UNITS - 1).div_euclid(UNITS);
        let end = end.min(i64::from(self.window.max.y));
        let [width, height] = [bottom[0] - top[0], bottom[1] - top[1]];
        let x_at = |y: i64| top[0] + multiply_divide(width, y - top[1], height);
        for row in first..end {
            let y = [top[1].max(row * UNITS), bottom[1].min((row + 1) * UNITS)];
            let x = y.map(x_at);
            self.add_in_row(row, x, direction * (y[1] - y[0]));
        }
    }

    /// Adds the part of an edge in one row of pixels: from `x[0]` to `x[1]`, over `height` units
    /// with their sign.
    fn add_in_row(&mut self, row: i64, x: [i64; 2], height: i64) {
        let [left, right] = [x[0].min(x[1]), x[0].max(x[1])];
        let window = [self.window.min.x, self.window.max.x].map(i64::from);
        let crossed = |column: i64| match column * UNITS {
            boundary if boundary <= left => 0,
            boundary if boundary >= right => height,
            boundary => multiply_divide(height, boundary - left, right - left),
        };
        let row = (row - i64::from(self.window.min.y)) as usize * self.stride;
        let first = left.div_euclid(UNITS);
        let end = (right + UNITS - 1).div_euclid(UNITS).max(first + 1);
        let left_of_window = crossed(window[0].max(first));
        self.add(row, (left_of_window * 2 * UNITS) as i32);

        for column in first.max(window[0])..end.min(window[1]) {
            let height = crossed(column + 1) - crossed(column);
            let start = column * UNITS;
            let from = left.max(start) - start;
            let to = right.min(start + UNITS) - start;
            let index = row + (column - window[0]) as usize;
            self.add(index, (height * (2 * UNITS - from - to)) as i32);
            self.add(index + 1, (height * (from + to)) as i32);
        }
    }

    fn add(&mut self, index: usize, change: i32) {
        self.changes[index] = self.changes[index].wrapping_add(change);
    }
}

fn to_units(corner: DVec2) -> [i64; 2] {
    let far = DVec2::splat(FARTHEST);
    let units = (corner.clamp(-far, far) * UNITS as f64).round();
    [units.x as i64, units.y as i64]
}

/// `a * b / divisor` to the nearest whole number, for a divisor above 0.
fn multiply_divide(a: i64, b: i64, divisor: i64) -> i64 {
    match a.checked_mul(b).and_then(|product| product.checked_mul(2)) {
        Some(twice) => (twice + divisor).div_euclid(2 * divisor),
        None => {
            let [a, b, divisor] = [a, b, divisor].map(i128::from);
            ((2 * a * b + divisor).div_euclid(2 * divisor)) as i64
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rect(min: [i32; 2], max: [i32; 2]) -> IntRect {
        IntRect::new(min.into(), max.into())
    }

    fn covered(window: IntRect, polygons: &[Vec<DVec2>]) -> Vec<u8> {
        let mut coverage = Coverage::new(window);
        for polygon in polygons {
            coverage.add_polygon(polygon);
        }
        coverage.finish()
    }

    fn points<const N: usize>(points: [[f64; 2]; N]) -> Vec<DVec2> {
        points.map(DVec2::from).to_vec()
    }

    #[test]
    fn coverage_is_the_area_of_the_pixel_inside() {
        let window = rect([0, 0], [4, 1]);
        let box_ = points([[0.5, 0.25], [2.75, 0.25], [2.75, 1.0], [0.5, 1.0]]);
        assert_eq!(covered(window, &[box_]), [96, 191, 143, 0]);
        let triangle = points([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]);
        // 7/8, 5/8, 3/8 and 1/8.
        assert_eq!(covered(window, &[triangle]), [223, 159, 96, 32]);
    }

    #[test]
    fn overlapping_outlines_do_not_add_up_and_holes_are_empty() {
        let window = rect([0, 0], [3, 1]);
        let box_ =
            |left: f64, right: f64| points([[left, 0.0], [right, 0.0], [right, 1.0], [left, 1.0]]);
        assert_eq!(
            covered(window, &[box_(0.0, 2.0), box_(1.0, 3.0)]),
            [255, 255, 255]
        );
        let hole = box_(1.0, 2.0).into_iter().rev().collect();
        assert_eq!(covered(window, &[box_(0.0, 3.0), hole]), [255, 0, 255]);
    }

    #[test]
    fn an_outline_far_larger_than_the_frame_covers_it_exactly() {
        let window = rect([100, 50], [103, 52]);
        let far = 1e9;
        let half = points([[101.5, -far], [far, -far], [far, far], [101.5, far]]);
        assert_eq!(covered(window, &[half]), [0, 128, 255, 0, 128, 255]);
    }

    proptest! {
        #[test]
        fn windows_agree_where_they_overlap(
            corners in prop::collection::vec((-20.0..40.0, -20.0..40.0), 3..12),
            cut in (0..16, 0..16),
        ) {
            let polygon: Vec<_> = corners.into_iter().map(DVec2::from).collect();
            let whole = covered(rect([0, 0], [16, 16]), std::slice::from_ref(&polygon));
            let part = rect([cut.0, cut.1], [16, 16]);
            let bytes = covered(part, &[polygon]);
            let expected: Vec<u8> = (cut.1..16)
                .flat_map(|y| (cut.0..16).map(move |x| (y * 16 + x) as usize))
                .map(|index| whole[index])
                .collect();
            prop_assert_eq!(bytes, expected);
        }
    }
}
