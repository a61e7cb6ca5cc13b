//! Arithmetic on exact times.

use framefence::Time;

/// The time from `start` to `now`, negative if `now` is earlier.
///
/// Exact where the difference fits 64-bit integers in lowest terms, as it does at any common frame
/// rate. Else it is rounded, by less than a microsecond within the longest time of a scene.
pub(crate) fn since(start: Time, now: Time) -> Time {
    let wide = |time: Time| (i128::from(time.numerator()), i128::from(time.denominator()));
    let ((start, start_over), (now, now_over)) = (wide(start), wide(now));
    // Products of two 64-bit integers, and the sum of two such: they fit.
    let numerator = now * start_over - start * now_over;
    let denominator = now_over * start_over;
    let divisor = greatest_common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs());
    let (mut numerator, mut denominator) =
        (numerator / divisor as i128, denominator / divisor as i128);
    loop {
        if let (Ok(numerator), Ok(denominator)) =
            (i64::try_from(numerator), i64::try_from(denominator))
        {
            return Time::from_ratio(numerator, denominator);
        }
        numerator /= 2;
        denominator = (denominator / 2).max(1);
    }
}

/// The time that is `length` after `start`; exact as [`since`] is.
pub(crate) fn after(start: Time, length: Time) -> Time {
    since(
        Time::from_ratio(-length.numerator(), length.denominator()),
        start,
    )
}

/// The time that is `seconds` after `start`, to the microsecond: for moments that need not be exact,
/// but must be the same whenever they are asked for.
pub(crate) fn after_seconds(start: Time, seconds: f64) -> Time {
    const PER_SECOND: f64 = 1e6;
    after(
        start,
        Time::from_ratio((seconds * PER_SECOND).round() as i64, PER_SECOND as i64),
    )
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_exact() {
        let film = Time::from_ratio(1001, 30_000);
        for (start, now, expected) in [
            (Time::ZERO, film, film),
            (film, film, Time::ZERO),
            (film, Time::ZERO, Time::from_ratio(-1001, 30_000)),
            (
                Time::from_ratio(1, 3),
                film,
                Time::from_ratio(-8999, 30_000),
            ),
            (
                Time::from_ratio(i64::MAX - 1, 7),
                Time::from_ratio(i64::MAX, 7),
                Time::from_ratio(1, 7),
            ),
        ] {
            assert_eq!(since(start, now), expected, "{start} to {now}");
        }
    }

    #[test]
    fn a_difference_beyond_64_bits_is_rounded() {
        let third = Time::from_ratio(i64::MAX / 2, i64::MAX / 2 * 2 + 1 - 2);
        let fine = Time::from_ratio(1, i64::MAX);
        let exact = third.as_secs_f64() - fine.as_secs_f64();
        assert!((since(fine, third).as_secs_f64() - exact).abs() < 1e-15);
        let span = since(
            Time::from_ratio(i64::MIN + 1, 1),
            Time::from_ratio(i64::MAX, 1),
        );
        assert_eq!(span, Time::from_ratio(i64::MAX, 1));
    }
}
