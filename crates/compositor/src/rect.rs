//! Rectangles of whole pixels.

use glam::{DVec2, IVec2};

/// A rectangle of pixels on an integer grid; coordinates may be negative.
///
/// It is empty where `max` is not above `min` on both axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct IntRect {
    /// The first column and row.
    pub(crate) min: IVec2,
    /// The column and row after the last.
    pub(crate) max: IVec2,
}

/// Coordinates stay below this, so that sums of a few of them do not overflow and are exact as f32.
pub(crate) const FARTHEST: f64 = (1 << 22) as f64;

impl IntRect {
    pub(crate) const EMPTY: Self = Self {
        min: IVec2::ZERO,
        max: IVec2::ZERO,
    };

    pub(crate) const fn new(min: IVec2, max: IVec2) -> Self {
        Self { min, max }
    }

    /// The pixels that the rectangle between two points touches.
    pub(crate) fn around(min: DVec2, max: DVec2) -> Self {
        let farthest = DVec2::splat(FARTHEST);
        let clamp = |point: DVec2| point.clamp(-farthest, farthest).as_ivec2();
        Self::new(clamp(min.floor()), clamp(max.ceil()))
    }

    pub(crate) fn is_empty(self) -> bool {
        self.min.cmpge(self.max).any()
    }

    /// Width and height; zero if empty.
    pub(crate) fn size(self) -> IVec2 {
        match self.is_empty() {
            true => IVec2::ZERO,
            false => self.max - self.min,
        }
    }

    /// The number of pixels.
    pub(crate) fn area(self) -> u64 {
        let size = self.size().as_u64vec2();
        size.x * size.y
    }

    /// The pixels in both.
    pub(crate) fn intersect(self, other: Self) -> Self {
        let common = Self::new(self.min.max(other.min), self.max.min(other.max));
        match common.is_empty() {
            true => Self::EMPTY,
            false => common,
        }
    }

    /// The smallest rectangle that holds both.
    pub(crate) fn union(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Self::new(self.min.min(other.min), self.max.max(other.max)),
        }
    }

    /// Whether every pixel of `other` is in this one.
    pub(crate) fn contains(self, other: Self) -> bool {
        other.is_empty() || self.intersect(other) == other
    }

    /// The rectangle with `margin` pixels more on every side, fewer if negative. What is empty stays
    /// so.
    pub(crate) fn expand(self, margin: i32) -> Self {
        self.expand_by(IVec2::splat(margin))
    }

    /// The same with a margin for each axis.
    pub(crate) fn expand_by(self, margin: IVec2) -> Self {
        let expanded = Self::new(self.min - margin, self.max + margin);
        match self.is_empty() || expanded.is_empty() {
            true => Self::EMPTY,
            false => expanded,
        }
    }

    /// The pixels of `into`, which is not empty, that the pixels of this one are moved to when each
    /// goes to the nearest.
    pub(crate) fn clamp(self, into: Self) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let last = into.max - 1;
        Self::new(
            self.min.clamp(into.min, last),
            (self.max - 1).clamp(into.min, last) + 1,
        )
    }

    pub(crate) fn translate(self, by: IVec2) -> Self {
        Self::new(self.min + by, self.max + by)
    }

    /// The smallest rectangle around it whose coordinates are even.
    pub(crate) fn even(self) -> Self {
        Self::new(self.min & !1, (self.max + 1) & !1)
    }

    /// The rectangle in bands of at most so many rows each, from the top.
    pub(crate) fn bands(self, rows: i32) -> impl Iterator<Item = Self> {
        let Self { min, max } = self;
        (min.y..max.y)
            .step_by(rows.max(1) as usize)
            .map(move |top| Self::new(min.with_y(top), max.with_y((top + rows).min(max.y))))
    }

    pub(crate) fn corners(self) -> [IVec2; 4] {
        let Self { min, max } = self;
        [min, max, min.with_x(max.x), min.with_y(max.y)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(min: [i32; 2], max: [i32; 2]) -> IntRect {
        IntRect::new(min.into(), max.into())
    }

    #[test]
    fn rectangles_that_only_touch_have_nothing_in_common() {
        let left = rect([-4, -2], [1, 3]);
        assert_eq!(left.intersect(rect([1, -2], [5, 3])), IntRect::EMPTY);
        assert_eq!(left.intersect(rect([0, -9], [5, 0])), rect([0, -2], [1, 0]));
    }

    #[test]
    fn a_union_takes_nothing_from_what_is_empty() {
        let some = rect([5, 6], [7, 8]);
        assert_eq!(IntRect::EMPTY.union(some), some);
        assert_eq!(some.union(rect([9, 9], [9, 12])), some);
        assert_eq!(some.union(rect([-1, 7], [0, 9])), rect([-1, 6], [7, 9]));
    }

    #[test]
    fn what_is_empty_does_not_grow() {
        assert_eq!(IntRect::EMPTY.expand(3), IntRect::EMPTY);
        assert_eq!(rect([0, 0], [4, 4]).expand(-2), IntRect::EMPTY);
        assert_eq!(rect([0, 0], [4, 4]).expand(-1), rect([1, 1], [3, 3]));
        assert_eq!(rect([3, 3], [2, 9]).size(), IVec2::ZERO);
    }

    #[test]
    fn a_rectangle_beside_another_is_clamped_to_its_edge() {
        let frame = rect([0, 0], [10, 10]);
        assert_eq!(rect([-8, 4], [-5, 20]).clamp(frame), rect([0, 4], [1, 10]));
        assert_eq!(rect([12, -3], [15, 2]).clamp(frame), rect([9, 0], [10, 2]));
    }

    #[test]
    fn everything_contains_what_is_empty() {
        let some = rect([5, 6], [7, 8]);
        assert!(some.contains(IntRect::EMPTY) && some.contains(some));
        assert!(!some.contains(some.expand(1)));
    }
}
