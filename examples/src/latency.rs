//! Percentiles of durations.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// The longest duration that can be told from longer ones: one hour.
const MAX_NANOS: u64 = 3_600_000_000_000;

/// Durations as they come in, kept in nanoseconds to three significant digits.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// None yet.
    ///
    /// # Panics
    ///
    /// Never: the histogram's bounds are right.
    #[must_use]
    pub fn new() -> Self {
        Self(Histogram::new_with_bounds(1, MAX_NANOS, 3).expect("bounds in order"))
    }

    /// Adds one.
    pub fn record(&mut self, latency: Duration) {
        self.0
            .saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Their percentiles so far; all zero if there are none.
    #[must_use]
    pub fn percentiles(&self) -> Percentiles {
        let ms = |nanos: u64| nanos as f64 / 1e6;
        Percentiles {
            count: self.0.len(),
            p50_ms: ms(self.0.value_at_quantile(0.50)),
            p95_ms: ms(self.0.value_at_quantile(0.95)),
            p99_ms: ms(self.0.value_at_quantile(0.99)),
            max_ms: ms(self.0.max()),
        }
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

/// Percentiles of durations, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    /// Durations that were recorded.
    pub count: u64,
    /// Half of them were at most this long.
    pub p50_ms: f64,
    /// 95 in 100 of them were at most this long.
    pub p95_ms: f64,
    /// 99 in 100 of them were at most this long.
    pub p99_ms: f64,
    /// None was longer.
    pub max_ms: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_three_digits() {
        let mut latencies = Latencies::new();
        for millis in 1..=100 {
            latencies.record(Duration::from_millis(millis));
        }
        let percentiles = latencies.percentiles();
        let near = |actual: f64, expected: f64| (actual / expected - 1.0).abs() < 1e-3;
        assert_eq!(percentiles.count, 100);
        assert!(near(percentiles.p50_ms, 50.0), "{percentiles:?}");
        assert!(near(percentiles.p95_ms, 95.0), "{percentiles:?}");
        assert!(near(percentiles.p99_ms, 99.0), "{percentiles:?}");
        assert!(near(percentiles.max_ms, 100.0), "{percentiles:?}");
    }
}
