//! How long each stage takes, over all frames of a renderer.

use std::time::Duration;

use framefence_pool::PoolReport;
use framefence_readback::Timings;
use hdrhistogram::Histogram;

/// What a renderer has done since it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Frames that were taken on.
    pub requested: u64,
    /// Frames that were finished and delivered to their waiters.
    pub delivered: u64,
    /// Frames that were finished, or dropped before, after their waiters had cancelled them or
    /// their deadline had passed.
    pub abandoned: u64,
    /// Frames that ended in an error of their painter, of wgpu or of the device.
    pub failed: u64,
    /// From the request until the painter was called.
    pub queued: Percentiles,
    /// The painter's recording and the engine's own.
    pub paint: Percentiles,
    /// Waiting for staging memory, and until the driver could take the submission.
    pub wait: Percentiles,
    /// The submit call.
    pub submit: Percentiles,
    /// From the submit's return until wgpu reported the work as done.
    pub gpu: Percentiles,
    /// What a frame itself took, without its waits behind other frames.
    pub render_readback: Percentiles,
    /// From the request until the frame could be delivered.
    pub total: Percentiles,
    /// The staging memory. What frames have let go of counts as live until the next frame takes it
    /// back.
    pub staging: PoolReport,
    /// The render targets.
    pub targets: PoolReport,
}

/// Percentiles of a duration, exact to 1 % and to a microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Percentiles {
    /// Half of all were no longer than this.
    pub p50: Duration,
    /// 95 % were no longer than this.
    pub p95: Duration,
    /// 99 % were no longer than this.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

/// Collects what [`Stats`] reports.
pub(crate) struct Recorder {
    pub(crate) requested: u64,
    pub(crate) delivered: u64,
    pub(crate) abandoned: u64,
    pub(crate) failed: u64,
    queued: Durations,
    paint: Durations,
    wait: Durations,
    submit: Durations,
    gpu: Durations,
    render_readback: Durations,
    total: Durations,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            requested: 0,
            delivered: 0,
            abandoned: 0,
            failed: 0,
            queued: Durations::new(),
            paint: Durations::new(),
            wait: Durations::new(),
            submit: Durations::new(),
            gpu: Durations::new(),
            render_readback: Durations::new(),
            total: Durations::new(),
        }
    }

    pub(crate) fn record(&mut self, timings: &Timings) {
        self.queued.record(timings.queued);
        self.paint.record(timings.paint);
        self.wait.record(timings.wait);
        self.submit.record(timings.submit);
        self.gpu.record(timings.gpu);
        self.render_readback.record(timings.render_readback());
        self.total.record(timings.total());
    }

    pub(crate) fn snapshot(&self, staging: PoolReport, targets: PoolReport) -> Stats {
        Stats {
            requested: self.requested,
            delivered: self.delivered,
            abandoned: self.abandoned,
            failed: self.failed,
            queued: self.queued.percentiles(),
            paint: self.paint.percentiles(),
            wait: self.wait.percentiles(),
            submit: self.submit.percentiles(),
            gpu: self.gpu.percentiles(),
            render_readback: self.render_readback.percentiles(),
            total: self.total.percentiles(),
            staging,
            targets,
        }
    }
}

/// A histogram of durations between a microsecond and an hour; some 30 KiB.
struct Durations(Histogram<u64>);

impl Durations {
    const LONGEST_NANOS: u64 = 3_600_000_000_000;

    fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1_000, Self::LONGEST_NANOS, 2);
        Self(histogram.expect("1 µs to 1 h at two digits are bounds that hdrhistogram accepts"))
    }

    fn record(&mut self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.0
            .saturating_record(nanos.clamp(1, Self::LONGEST_NANOS));
    }

    fn percentiles(&self) -> Percentiles {
        let at = |quantile| Duration::from_nanos(self.0.value_at_quantile(quantile));
        Percentiles {
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: Duration::from_nanos(self.0.max()),
        }
    }
}
