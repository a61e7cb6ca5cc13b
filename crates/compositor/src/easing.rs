//! How a value moves from one keyframe to the next.

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::schema::BezierControl;
use crate::spring::Spring;

/// How a value moves from a keyframe to the one after it.
///
/// The named curves are those of CSS Easing Functions Level 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Easing {
    /// Stays until the next keyframe, then jumps.
    Hold,
    /// Moves at constant speed.
    #[default]
    Linear,
    /// Starts quickly, ends slowly: `cubic_bezier` 0.25, 0.1, 0.25, 1.
    Ease,
    /// Starts slowly: `cubic_bezier` 0.42, 0, 1, 1.
    EaseIn,
    /// Ends slowly: `cubic_bezier` 0, 0, 0.58, 1.
    EaseOut,
    /// Starts and ends slowly: `cubic_bezier` 0.42, 0, 0.58, 1.
    EaseInOut,
    /// Follows the cubic Bézier curve from (0, 0) to (1, 1) with the control points (x1, y1) and
    /// (x2, y2), given as `[x1, y1, x2, y2]`. x is time: x1 and x2 lie from 0 to 1, so that a time
    /// has one value. y is progress and may leave that range, which makes the value overshoot.
    #[cfg_attr(feature = "schema", schemars(with = "BezierControl"))]
    CubicBezier([f64; 4]),
    /// Swings or creeps as a spring does, in real seconds.
    Spring(Spring),
}

impl Easing {
    /// How far the value has come when `elapsed`, 0 to 1, of the time between the keyframes has
    /// passed. 0 is the first keyframe's value, 1 the second's. `seconds` is that time; only springs
    /// depend on it.
    #[must_use]
    pub fn progress(self, elapsed: f64, seconds: f64) -> f64 {
        let elapsed = elapsed.clamp(0.0, 1.0);
        let control = match self {
            Self::Hold => return if elapsed < 1.0 { 0.0 } else { 1.0 },
            Self::Linear => return elapsed,
            Self::Ease => [0.25, 0.1, 0.25, 1.0],
            Self::EaseIn => [0.42, 0.0, 1.0, 1.0],
            Self::EaseOut => [0.0, 0.0, 0.58, 1.0],
            Self::EaseInOut => [0.42, 0.0, 0.58, 1.0],
            Self::CubicBezier(control) => control,
            Self::Spring(spring) => return spring.progress(elapsed, seconds),
        };
        let [x1, y1, x2, y2] = control;
        if elapsed == 0.0 || elapsed == 1.0 {
            return elapsed;
        }
        bezier(y1, y2, parameter_at(x1, x2, elapsed))
    }
}

/// One coordinate of the curve at `t`, its end points being 0 and 1.
fn bezier(first: f64, second: f64, t: f64) -> f64 {
    let rest = 1.0 - t;
    3.0 * rest * rest * t * first + 3.0 * rest * t * t * second + t * t * t
}

fn bezier_slope(first: f64, second: f64, t: f64) -> f64 {
    let rest = 1.0 - t;
    3.0 * rest * rest * first + 6.0 * rest * t * (second - first) + 3.0 * t * t * (1.0 - second)
}

/// The curve parameter at which x is `x`; x grows with the parameter.
///
/// Newton's method inside a shrinking bracket: it converges quickly where the curve is steep, and
/// the bracket holds it where the slope vanishes.
fn parameter_at(x1: f64, x2: f64, x: f64) -> f64 {
    const ACCURACY: f64 = 1e-14;
    // A bracket halved this often is as narrow as the accuracy.
    const MAX_STEPS: usize = 64;

    let (mut low, mut high) = (0.0, 1.0);
    let mut t = x;
    for _ in 0..MAX_STEPS {
        let miss = bezier(x1, x2, t) - x;
        if miss.abs() < ACCURACY {
            break;
        }
        if miss < 0.0 {
            low = t;
        } else {
            high = t;
        }
        let newton = t - miss / bezier_slope(x1, x2, t);
        t = if newton > low && newton < high {
            newton
        } else {
            f64::midpoint(low, high)
        };
    }
    t
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hold_jumps_at_the_end() {
        assert_eq!(Easing::Hold.progress(0.0, 1.0), 0.0);
        assert_eq!(Easing::Hold.progress(0.999_999, 1.0), 0.0);
        assert_eq!(Easing::Hold.progress(1.0, 1.0), 1.0);
    }

    /// With x1 = 1/3 and x2 = 2/3 time is the parameter, so y has the closed form of a cubic.
    #[test]
    fn a_curve_whose_x_is_linear_has_the_closed_form_of_its_y() {
        let easing = Easing::CubicBezier([1.0 / 3.0, 0.0, 2.0 / 3.0, 0.0]);
        for step in 0..=100 {
            let t = f64::from(step) / 100.0;
            assert!((easing.progress(t, 1.0) - t * t * t).abs() < 1e-12, "{t}");
        }
    }

    /// With both controls' x at 0, x = t³; with y1 = y2 = 1, 1 - y = (1 - t)³.
    #[test]
    fn a_curve_with_a_vertical_start_is_solved_exactly() {
        let easing = Easing::CubicBezier([0.0, 1.0, 0.0, 1.0]);
        for step in 0..=1000 {
            let x = f64::from(step) / 1000.0;
            let expected = 1.0 - (1.0 - x.cbrt()).powi(3);
            assert!((easing.progress(x, 1.0) - expected).abs() < 1e-9, "{x}");
        }
    }

    /// With x1 = 1 and x2 = 0, x = 1/2 + 4 (t - 1/2)³: its slope vanishes in the middle, where
    /// Newton alone would fail and the rounding of x costs most.
    #[test]
    fn a_curve_that_stands_still_in_the_middle_is_solved() {
        let easing = Easing::CubicBezier([1.0, 0.0, 0.0, 1.0]);
        for step in 0..=1000 {
            let x = f64::from(step) / 1000.0;
            let t = 0.5 + ((x - 0.5) / 4.0).cbrt();
            let expected = 3.0 * (1.0 - t) * t * t + t * t * t;
            assert!((easing.progress(x, 1.0) - expected).abs() < 1e-4, "{x}");
        }
    }

    proptest! {
        #[test]
        fn the_parameter_found_is_the_one_asked_for(
            x1 in 0.0..=1.0, x2 in 0.0..=1.0, x in 0.0..=1.0,
        ) {
            prop_assert!((bezier(x1, x2, parameter_at(x1, x2, x)) - x).abs() < 1e-12);
        }

        #[test]
        fn a_curve_that_does_not_overshoot_never_goes_back(
            x1 in 0.0..=1.0, y1 in 0.0..=1.0, x2 in 0.0..=1.0, y2 in 0.0..=1.0,
            a in 0.0..=1.0, b in 0.0..=1.0,
        ) {
            let easing = Easing::CubicBezier([x1, y1, x2, y2]);
            let (early, late) = if a < b { (a, b) } else { (b, a) };
            prop_assert!(easing.progress(early, 1.0) <= easing.progress(late, 1.0) + 1e-9);
        }

        #[test]
        fn a_curve_on_the_diagonal_is_linear(x1 in 0.0..=1.0, x2 in 0.0..=1.0, x in 0.0..=1.0) {
            let progress = Easing::CubicBezier([x1, x1, x2, x2]).progress(x, 1.0);
            prop_assert!((progress - x).abs() < 1e-12);
        }
    }
}
