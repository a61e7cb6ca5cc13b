//! When the frames of an animated picture are shown.

use std::num::NonZeroU32;

use framefence::Time;

/// The start of each frame, and how often all of them are played.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// Milliseconds from the start of a round, ascending from 0. Whole: no format is finer.
    starts_ms: Vec<u64>,
    /// The length of a round; more than 0.
    round_ms: u64,
    /// `None` is for ever.
    rounds: Option<NonZeroU32>,
}

impl Timeline {
    /// The timeline of at least one frame; `delays_ms` says how long each is shown.
    ///
    /// Delays of 10 ms and less are played as 100 ms, as browsers do: files of the time when no
    /// program was faster say 0 and mean "at a moderate speed".
    pub(crate) fn new(
        delays_ms: impl IntoIterator<Item = u32>,
        rounds: Option<NonZeroU32>,
    ) -> Self {
        let mut starts_ms = Vec::new();
        let mut round_ms = 0;
        for delay_ms in delays_ms {
            starts_ms.push(round_ms);
            round_ms += match delay_ms {
                0..=10 => 100,
                delay_ms => u64::from(delay_ms),
            };
        }
        Self {
            starts_ms,
            round_ms,
            rounds,
        }
    }

    /// The frame that is shown when `elapsed` has passed since the first one: a function of the
    /// time alone. Before the start it is the first frame, after the last round the last.
    pub(crate) fn frame_at(&self, elapsed: Time) -> usize {
        // Frames start at whole milliseconds, so rounding down loses nothing.
        let elapsed_ms =
            (i128::from(elapsed.numerator()) * 1000).div_euclid(i128::from(elapsed.denominator()));
        let round_ms = i128::from(self.round_ms);
        if elapsed_ms < 0 {
            return 0;
        }
        let is_over = |rounds: NonZeroU32| elapsed_ms >= round_ms * i128::from(rounds.get());
        if self.rounds.is_some_and(is_over) {
            return self.starts_ms.len() - 1;
        }
        let in_round_ms = (elapsed_ms % round_ms) as u64;
        self.starts_ms
            .partition_point(|&start_ms| start_ms <= in_round_ms)
            - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: i64) -> Time {
        Time::from_ratio(millis, 1000)
    }

    fn frames_at(timeline: &Timeline, times_ms: &[i64]) -> Vec<usize> {
        times_ms
            .iter()
            .map(|&time_ms| timeline.frame_at(millis(time_ms)))
            .collect()
    }

    #[test]
    fn a_frame_is_shown_from_its_start_to_the_next() {
        let timeline = Timeline::new([20, 30, 50], None);
        assert_eq!(
            frames_at(&timeline, &[0, 19, 20, 49, 50, 99]),
            [0, 0, 1, 1, 2, 2]
        );
        // A third of a frame of film before 20 ms, and exactly there.
        assert_eq!(timeline.frame_at(Time::from_ratio(59_999, 3_000_000)), 0);
        assert_eq!(timeline.frame_at(Time::from_ratio(1, 50)), 1);
    }

    #[test]
    fn before_the_start_the_first_frame_is_shown() {
        let timeline = Timeline::new([20, 30], None);
        assert_eq!(timeline.frame_at(Time::from_ratio(-1, i64::MAX)), 0);
        assert_eq!(timeline.frame_at(millis(-1)), 0);
        assert_eq!(timeline.frame_at(Time::from_ratio(i64::MIN + 1, 1)), 0);
    }

    #[test]
    fn without_an_end_the_frames_come_round_for_ever() {
        let timeline = Timeline::new([20, 30], None);
        assert_eq!(frames_at(&timeline, &[50, 70, 100, 120]), [0, 1, 0, 1]);
        // i64::MAX seconds are 0 ms into a round of 50 ms.
        assert_eq!(timeline.frame_at(Time::from_ratio(i64::MAX, 1)), 0);
    }

    #[test]
    fn after_the_last_round_the_last_frame_stays() {
        let timeline = Timeline::new([20, 30], NonZeroU32::new(2));
        assert_eq!(
            frames_at(&timeline, &[49, 50, 99, 100, 101, 1_000_000]),
            [1, 0, 1, 1, 1, 1]
        );
        let endless = Timeline::new([20, 30], NonZeroU32::new(u32::MAX));
        assert_eq!(endless.frame_at(Time::from_ratio(i64::MAX, 1)), 1);
    }

    #[test]
    fn delays_of_ten_milliseconds_and_less_are_played_as_a_hundred() {
        let timeline = Timeline::new([0, 10, 11, 20], None);
        assert_eq!(
            frames_at(&timeline, &[99, 100, 199, 200, 210, 211, 230, 231]),
            [0, 1, 1, 2, 2, 3, 3, 0]
        );
    }
}
