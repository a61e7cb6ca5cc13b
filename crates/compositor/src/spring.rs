//! The movement of a damped spring.

#[cfg(feature = "schema")]
use crate::schema::range;
use serde::{Deserialize, Serialize};

/// A mass on a spring that is released at the keyframe and comes to rest at the next one's value.
///
/// Its movement takes as long as mass, stiffness and damping make it, in seconds, however far away
/// the next keyframe is. What is left of the way when that one comes is spread evenly over the
/// time between them, so that the value arrives there exactly.
///
/// With damping below 2 √(`mass` × `stiffness`) the value overshoots and swings; with more it creeps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Spring {
    /// In kilograms; 1 unless given.
    #[cfg_attr(feature = "schema", schemars(with = "range::Mass"))]
    pub mass: f64,
    /// The force that pulls towards the end, in newtons for the whole way; 100 unless given.
    #[cfg_attr(feature = "schema", schemars(with = "range::Stiffness"))]
    pub stiffness: f64,
    /// The force that brakes, in newtons at one way per second; 10 unless given.
    #[cfg_attr(feature = "schema", schemars(with = "range::Damping"))]
    pub damping: f64,
    /// The speed at the keyframe, in ways per second; negative leads away from the end. 0 unless
    /// given.
    #[cfg_attr(feature = "schema", schemars(with = "range::Progress"))]
    pub velocity: f64,
}

impl Default for Spring {
    fn default() -> Self {
        Self {
            mass: 1.0,
            stiffness: 100.0,
            damping: 10.0,
            velocity: 0.0,
        }
    }
}

impl Spring {
    /// How far the value has come when `elapsed`, 0 to 1, of the `seconds` between the keyframes
    /// has passed: 0 at the first, 1 at the second, beyond them where it overshoots.
    pub(crate) fn progress(&self, elapsed: f64, seconds: f64) -> f64 {
        let left_at_end = 1.0 - self.position(seconds);
        self.position(elapsed * seconds) + left_at_end * elapsed
    }

    /// Where the mass is, 0 being its start and 1 its rest: the solution of
    /// `mass x″ = -stiffness (x - 1) - damping x′` with `x(0) = 0` and `x′(0) = velocity`.
    ///
    /// With `decay = damping / 2 mass` and `square = stiffness / mass - decay²` it is
    /// `x = 1 + e^(-decay t) (-cos(√square t) + (velocity - decay) sin(√square t) / √square)`.
    /// Where `square` is negative, cosine and sine of an imaginary number are hyperbolic; at 0
    /// the quotient is `t`. The three cases are limits of each other, and are computed so that
    /// nothing cancels or overflows near and far from where they meet.
    fn position(&self, seconds: f64) -> f64 {
        let decay = self.damping / (2.0 * self.mass);
        let natural_square = self.stiffness / self.mass;
        let square = natural_square - decay * decay;
        let frequency = square.abs().sqrt();
        let angle = frequency * seconds;
        // Both with e^(-decay t) multiplied in.
        let (cosine, sine_by_frequency) = if square >= 0.0 {
            let envelope = (-decay * seconds).exp();
            let sinc = if angle > 0.0 {
                angle.sin() / angle
            } else {
                1.0
            };
            (envelope * angle.cos(), envelope * seconds * sinc)
        } else {
            // decay - frequency, of which the subtraction would leave little.
            let slower_decay = natural_square / (decay + frequency);
            let envelope = (-slower_decay * seconds).exp();
            let double = 2.0 * angle;
            let quotient = if double > 0.0 {
                -(-double).exp_m1() / double
            } else {
                1.0
            };
            (
                envelope * f64::midpoint(1.0, (-double).exp()),
                envelope * seconds * quotient,
            )
        };
        1.0 - cosine + (self.velocity - decay) * sine_by_frequency
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spring(mass: f64, stiffness: f64, damping: f64, velocity: f64) -> Spring {
        Spring {
            mass,
            stiffness,
            damping,
            velocity,
        }
    }

    /// The position by the classical Runge-Kutta method of fourth order.
    fn integrated(spring: &Spring, seconds: f64, steps: u32) -> f64 {
        let slope = |[x, speed]: [f64; 2]| {
            let force = -spring.stiffness * (x - 1.0) - spring.damping * speed;
            [speed, force / spring.mass]
        };
        let step = seconds / f64::from(steps);
        let mut state = [0.0, spring.velocity];
        for _ in 0..steps {
            let moved =
                |along: [f64; 2], by: f64| [state[0] + along[0] * by, state[1] + along[1] * by];
            let first = slope(state);
            let second = slope(moved(first, step / 2.0));
            let third = slope(moved(second, step / 2.0));
            let fourth = slope(moved(third, step));
            state = std::array::from_fn(|index| {
                let sum = first[index] + 2.0 * (second[index] + third[index]) + fourth[index];
                state[index] + step / 6.0 * sum
            });
        }
        state[0]
    }

    #[test]
    fn the_position_is_that_of_the_integrated_movement() {
        for spring in [
            Spring::default(),
            spring(1.0, 100.0, 0.0, 0.0),
            spring(1.0, 100.0, 20.0, 0.0),
            spring(1.0, 100.0, 20.0, 30.0),
            spring(1.0, 100.0, 50.0, -7.0),
            spring(2.5, 40.0, 3.0, -5.0),
            spring(0.5, 300.0, 70.0, 12.0),
        ] {
            for step in 0..=40 {
                let seconds = f64::from(step) / 20.0;
                let expected = integrated(&spring, seconds, 20_000);
                let error = (spring.position(seconds) - expected).abs();
                assert!(error < 1e-9, "{spring:?} after {seconds} s: {error:e}");
            }
        }
    }

    /// Critical damping is 20. Nearer than 1e-6 the movements differ by less than is tested.
    #[test]
    fn the_cases_meet() {
        for exponent in 6..=17 {
            let nearly = 10.0_f64.powi(-exponent);
            for step in 0..=200 {
                let seconds = f64::from(step) / 40.0;
                let critical = spring(1.0, 100.0, 20.0, 3.0).position(seconds);
                for damping in [20.0 - nearly, 20.0 + nearly] {
                    let position = spring(1.0, 100.0, damping, 3.0).position(seconds);
                    let error = (position - critical).abs();
                    assert!(
                        error < nearly + 1e-14,
                        "{damping} after {seconds} s: {error:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_next_value_is_reached_exactly() {
        for seconds in [1e-9, 0.05, 0.4, 3.0, 1e6] {
            for spring in [Spring::default(), spring(1.0, 100.0, 0.0, 50.0)] {
                assert_eq!(spring.progress(0.0, seconds), 0.0);
                assert_eq!(spring.progress(1.0, seconds), 1.0);
            }
        }
        // Long before the next keyframe it is there, and stays.
        for elapsed in [0.5, 0.75, 0.999] {
            assert_eq!(Spring::default().progress(elapsed, 20.0), 1.0);
        }
    }

    #[test]
    fn what_is_left_is_spread_over_the_way() {
        let spring = spring(1.0, 100.0, 0.0, 0.0);
        // x = 1 - cos 10 t: after a quarter of its period of 0.2 π s it is at 1, after half at 2.
        let half_period = std::f64::consts::PI / 10.0;
        assert!((spring.progress(0.5, half_period) - (1.0 - 0.5)).abs() < 1e-12);
        assert!((spring.progress(0.5, 2.0 * half_period) - (2.0 + 0.5)).abs() < 1e-12);
    }

    proptest! {
        /// The ranges are those that scenes are validated for.
        #[test]
        fn the_value_is_always_a_number(
            mass in -3.0..=3.0, stiffness in -3.0..=6.0, damping in -9.0..=6.0,
            velocity in -100.0..=100.0, elapsed in 0.0..=1.0, seconds in -18.0..=6.0,
        ) {
            let [mass, stiffness, damping, seconds] =
                [mass, stiffness, damping, seconds].map(|exponent| 10.0_f64.powf(exponent));
            let spring = spring(mass, stiffness, damping, velocity);
            prop_assert!(spring.progress(elapsed, seconds).is_finite());
        }

        /// A spring does not gain energy: the swing is at most that of the undamped one.
        #[test]
        fn the_swing_has_a_bound(
            mass in 0.001..=1000.0, stiffness in 0.001..=1e6, damping in 0.0..=1e6,
            velocity in -100.0..=100.0, seconds in 0.0..=100.0,
        ) {
            let position = spring(mass, stiffness, damping, velocity).position(seconds);
            let swing = (1.0 + velocity * velocity * mass / stiffness).sqrt();
            prop_assert!((position - 1.0).abs() <= swing * (1.0 + 1e-9));
        }
    }
}
