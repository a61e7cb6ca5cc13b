//! Exact time: a frame's time is a ratio of whole numbers, never a rounded float.

use std::fmt;
use std::str::FromStr;

use num_rational::Ratio;

/// A point in time or a length of time in seconds, exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Ratio<i64>);

impl Time {
    /// The start of a scene.
    pub const ZERO: Self = Self(Ratio::new_raw(0, 1));

    /// `numerator / denominator` seconds.
    ///
    /// # Panics
    ///
    /// If `denominator` is zero.
    #[must_use]
    pub fn from_ratio(numerator: i64, denominator: i64) -> Self {
        Self(Ratio::new(numerator, denominator))
    }

    /// The seconds' numerator in lowest terms.
    #[must_use]
    pub fn numerator(self) -> i64 {
        *self.0.numer()
    }

    /// The seconds' denominator in lowest terms, at least 1.
    #[must_use]
    pub fn denominator(self) -> i64 {
        *self.0.denom()
    }

    /// The nearest `f64`, in seconds, for arithmetic that need not be exact.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.numerator() as f64 / self.denominator() as f64
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}

/// Frames per second as an exact ratio, such as 30000/1001.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameRate {
    numerator: u32,
    denominator: u32,
}

impl FrameRate {
    /// `numerator / denominator` frames per second; `None` if either is zero.
    #[must_use]
    pub fn new(numerator: u32, denominator: u32) -> Option<Self> {
        (numerator != 0 && denominator != 0).then(|| {
            let lowest = Ratio::new(numerator, denominator);
            Self {
                numerator: *lowest.numer(),
                denominator: *lowest.denom(),
            }
        })
    }

    /// The numerator in lowest terms.
    #[must_use]
    pub fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator in lowest terms.
    #[must_use]
    pub fn denominator(self) -> u32 {
        self.denominator
    }

    /// The time at which frame `number` is shown: `number × denominator / numerator` seconds.
    /// `None` if that does not fit 64-bit integers.
    #[must_use]
    pub fn time_of(self, number: u64) -> Option<Time> {
        let elapsed = i64::try_from(number)
            .ok()?
            .checked_mul(i64::from(self.denominator))?;
        Some(Time::from_ratio(elapsed, i64::from(self.numerator)))
    }

    /// The number of frames shown in `duration`: those whose time lies before its end.
    #[must_use]
    pub fn frames_in(self, duration: Time) -> u64 {
        let frames = i128::from(duration.numerator()) * i128::from(self.numerator);
        let per = i128::from(duration.denominator()) * i128::from(self.denominator);
        // Rounded up: a frame that starts before the end is shown.
        u64::try_from((frames + per - 1).div_euclid(per)).unwrap_or(0)
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

/// A frame rate that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not a frame rate; give frames per second as N or N/D, both from 1 up, such as 30 or 30000/1001"
)]
pub struct ParseFrameRateError {
    given: String,
}

impl FromStr for FrameRate {
    type Err = ParseFrameRateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        let parsed = match (numerator.parse(), denominator.parse()) {
            (Ok(numerator), Ok(denominator)) => Self::new(numerator, denominator),
            _ => None,
        };
        parsed.ok_or_else(|| ParseFrameRateError {
            given: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ntsc_frames_have_exact_times() {
        let ntsc: FrameRate = "30000/1001".parse().unwrap();
        assert_eq!(ntsc.time_of(30_000), Some(Time::from_ratio(1001, 1)));
        assert_eq!(ntsc.time_of(1), Some(Time::from_ratio(1001, 30_000)));
        assert_eq!(ntsc.time_of(u64::MAX), None);
    }

    #[test]
    fn a_frame_that_starts_before_the_end_counts() {
        let rate = FrameRate::new(25, 1).unwrap();
        assert_eq!(rate.frames_in(Time::from_ratio(1, 1)), 25);
        assert_eq!(rate.frames_in(Time::from_ratio(101, 100)), 26);
        assert_eq!(rate.frames_in(Time::ZERO), 0);
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        for text in ["", "0", "30/0", "-25", "25.0", "a", "1/2/3", "4294967296"] {
            assert!(text.parse::<FrameRate>().is_err(), "{text:?}");
        }
    }
}
