//! What OpenH264 and H.264's highest level take.

use framefence::{FrameRate, Size};

/// The most macroblocks (squares of 16×16 pixels) of a picture: MaxFS of levels 5.1 and 5.2 (ITU-T
/// H.264, table A-1), where OpenH264 ends too.
const MAX_MACROBLOCKS: u64 = 36_864;
/// The most macroblocks on one side: √(8 × MaxFS) (ITU-T H.264, A.3.1, items f and g).
const MAX_MACROBLOCKS_PER_SIDE: u64 = 543;
/// MaxMBPS of level 5.2 (ITU-T H.264, table A-1).
const MAX_MACROBLOCKS_PER_SECOND: u64 = 2_073_600;
/// OpenH264 takes no smaller side, in pixels.
const MIN_SIDE: u32 = 16;
/// OpenH264 takes no more frames per second.
const MAX_FRAMES_PER_SECOND: u32 = 60;

/// A video that cannot be H.264, or that OpenH264 does not encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum H264LimitError {
    /// Too many frames per second, whatever their size.
    #[error(
        "H.264 video at {frame_rate} fps cannot be made: OpenH264 takes at most \
         {max_frames_per_second}"
    )]
    FrameRate {
        /// The frame rate that was asked for.
        frame_rate: FrameRate,
        /// The most frames per second.
        max_frames_per_second: u32,
    },
    /// Too many frames per second for their size.
    #[error(
        "H.264 video of {size} cannot be made at {frame_rate} fps: no level goes beyond \
         {max_frames_per_second} fps at this size"
    )]
    FrameRateOfSize {
        /// The size of the frames.
        size: Size,
        /// The frame rate that was asked for.
        frame_rate: FrameRate,
        /// The most whole frames per second at this size.
        max_frames_per_second: u64,
    },
    /// The frames are too large.
    #[error(
        "H.264 video of {size} cannot be made: it has {macroblocks} macroblocks of 16x16 pixels, \
         of {max_macroblocks} at most, or a side over {} pixels; {fitting} would fit",
        16 * MAX_MACROBLOCKS_PER_SIDE
    )]
    TooLarge {
        /// The size of the frames.
        size: Size,
        /// How many macroblocks a frame has.
        macroblocks: u64,
        /// How many it may have.
        max_macroblocks: u64,
        /// A size of about this shape that can be encoded.
        fitting: Size,
    },
    /// The frames are too small.
    #[error(
        "H.264 video of {size} cannot be made: each side takes at least {min_side_pixels} pixels"
    )]
    TooSmall {
        /// The size of the frames.
        size: Size,
        /// The least pixels of a side.
        min_side_pixels: u32,
    },
    /// Chroma covers two by two pixels, and so does the cropping of a picture.
    #[error("H.264 video of {size} cannot be made: 4:2:0 takes even sides, such as {fitting}")]
    OddSize {
        /// The size of the frames.
        size: Size,
        /// The nearest smaller size that can be encoded.
        fitting: Size,
    },
}

/// Checks what is known before the first frame.
pub(crate) fn check_frame_rate(frame_rate: FrameRate) -> Result<(), H264LimitError> {
    let (numerator, denominator) = ratio(frame_rate);
    if numerator > u64::from(MAX_FRAMES_PER_SECOND) * denominator {
        return Err(H264LimitError::FrameRate {
            frame_rate,
            max_frames_per_second: MAX_FRAMES_PER_SECOND,
        });
    }
    Ok(())
}

/// Checks that there is a level for pictures of `size` at `frame_rate`.
pub(crate) fn check_size(size: Size, frame_rate: FrameRate) -> Result<(), H264LimitError> {
    if size.width < MIN_SIDE || size.height < MIN_SIDE {
        return Err(H264LimitError::TooSmall {
            size,
            min_side_pixels: MIN_SIDE,
        });
    }
    let macroblocks = macroblocks(size);
    let longest = u64::from(size.width.max(size.height)).div_ceil(16);
    if macroblocks > MAX_MACROBLOCKS || longest > MAX_MACROBLOCKS_PER_SIDE {
        return Err(H264LimitError::TooLarge {
            size,
            macroblocks,
            max_macroblocks: MAX_MACROBLOCKS,
            fitting: largest_of_this_shape(size),
        });
    }
    if !size.width.is_multiple_of(2) || !size.height.is_multiple_of(2) {
        return Err(H264LimitError::OddSize {
            size,
            fitting: Size::new(size.width & !1, size.height & !1),
        });
    }
    let (numerator, denominator) = ratio(frame_rate);
    if macroblocks * numerator > MAX_MACROBLOCKS_PER_SECOND * denominator {
        return Err(H264LimitError::FrameRateOfSize {
            size,
            frame_rate,
            max_frames_per_second: MAX_MACROBLOCKS_PER_SECOND / macroblocks,
        });
    }
    Ok(())
}

fn ratio(frame_rate: FrameRate) -> (u64, u64) {
    (
        u64::from(frame_rate.numerator()),
        u64::from(frame_rate.denominator()),
    )
}

fn macroblocks(size: Size) -> u64 {
    u64::from(size.width).div_ceil(16) * u64::from(size.height).div_ceil(16)
}

/// A size of whole macroblocks, about as large as can be, of the aspect ratio of `size`.
fn largest_of_this_shape(size: Size) -> Size {
    let by_area = (MAX_MACROBLOCKS as f64 / macroblocks(size) as f64).sqrt();
    let by_side = (MAX_MACROBLOCKS_PER_SIDE * 16) as f64 / f64::from(size.width.max(size.height));
    let scale = by_area.min(by_side);
    let scaled = |side: u32| ((f64::from(side) * scale) as u32 & !15).max(MIN_SIDE);
    Size::new(scaled(size.width), scaled(size.height))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> FrameRate {
        text.parse().expect("a frame rate")
    }

    #[test]
    fn the_limits_are_inclusive() {
        for (size, frame_rate) in [
            (Size::new(16, 16), "60"),
            (Size::new(1920, 1080), "60"),
            (Size::new(3840, 2160), "60"),
            (Size::new(2160, 3840), "60000/1001"),
            (Size::new(4096, 2160), "60"),
            (Size::new(4096, 2304), "56"),
            (Size::new(8688, 1072), "30"),
        ] {
            let frame_rate = rate(frame_rate);
            assert_eq!(check_frame_rate(frame_rate), Ok(()));
            assert_eq!(check_size(size, frame_rate), Ok(()), "{size}");
        }
    }

    #[test]
    fn what_is_refused_is_told_what_fits() {
        for (size, frame_rate, expected) in [
            (
                Size::new(1920, 14),
                "30",
                "H.264 video of 1920x14 cannot be made: each side takes at least 16 pixels",
            ),
            (
                Size::new(1921, 1081),
                "30",
                "H.264 video of 1921x1081 cannot be made: 4:2:0 takes even sides, such as \
                 1920x1080",
            ),
            (
                Size::new(4096, 2306),
                "30",
                "H.264 video of 4096x2306 cannot be made: it has 37120 macroblocks of 16x16 \
                 pixels, of 36864 at most, or a side over 8688 pixels; 4080x2288 would fit",
            ),
            (
                Size::new(10000, 100),
                "30",
                "H.264 video of 10000x100 cannot be made: it has 4375 macroblocks of 16x16 \
                 pixels, of 36864 at most, or a side over 8688 pixels; 8688x80 would fit",
            ),
            (
                Size::new(4096, 2304),
                "60",
                "H.264 video of 4096x2304 cannot be made at 60 fps: no level goes beyond 56 fps \
                 at this size",
            ),
        ] {
            let error = check_size(size, rate(frame_rate)).expect_err("refused");
            assert_eq!(error.to_string(), expected);
            if let H264LimitError::TooLarge { fitting, .. } = error {
                assert_eq!(check_size(fitting, rate("30")), Ok(()));
            }
        }
        let error = check_frame_rate(rate("60001/1000")).expect_err("refused");
        assert_eq!(
            error.to_string(),
            "H.264 video at 60001/1000 fps cannot be made: OpenH264 takes at most 60"
        );
    }
}
