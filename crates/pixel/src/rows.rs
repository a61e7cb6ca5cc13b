//! Copying rows between memories of different strides.

use crate::Plane;

impl Plane<'_> {
    /// Copies the samples to `destination`, whose rows start `stride_bytes` apart.
    ///
    /// Bytes of the destination between and behind the rows stay as they are; it may end with the
    /// last row's samples.
    ///
    /// # Errors
    ///
    /// If the stride is shorter than a row or the rows do not fit; nothing was written then.
    pub fn copy_to(&self, destination: &mut [u8], stride_bytes: usize) -> Result<(), CopyError> {
        if stride_bytes < self.row_bytes {
            return Err(CopyError::StrideTooShort {
                stride_bytes,
                row_bytes: self.row_bytes,
            });
        }
        let length = destination.len();
        if self
            .len_bytes_at(stride_bytes)
            .is_none_or(|needed| needed > length)
        {
            return Err(CopyError::DestinationTooShort {
                length_bytes: length,
                stride_bytes,
                row_bytes: self.row_bytes,
                rows: self.height,
            });
        }
        if self.row_bytes == 0 {
            return Ok(());
        }
        if stride_bytes == self.row_bytes && self.stride_bytes == self.row_bytes {
            let samples = &self.bytes[..self.row_bytes * self.height as usize];
            destination[..samples.len()].copy_from_slice(samples);
            return Ok(());
        }
        for (row, destination) in self.rows().zip(destination.chunks_mut(stride_bytes)) {
            destination[..row.len()].copy_from_slice(row);
        }
        Ok(())
    }

    /// Bytes from the first sample to the end of the last one, were rows `stride_bytes` apart.
    fn len_bytes_at(&self, stride_bytes: usize) -> Option<usize> {
        match self.height as usize {
            0 => Some(0),
            rows => stride_bytes
                .checked_mul(rows - 1)?
                .checked_add(self.row_bytes),
        }
    }
}

/// Memory that a plane's rows cannot be copied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// Rows would overlap.
    #[error("rows of {row_bytes} bytes do not fit a stride of {stride_bytes} bytes")]
    StrideTooShort {
        /// The stride that was asked for.
        stride_bytes: usize,
        /// Bytes of a row's samples: the shortest stride.
        row_bytes: usize,
    },
    /// The memory ends before the last row does.
    #[error(
        "{rows} rows of {row_bytes} bytes, {stride_bytes} bytes apart, do not fit a destination \
         of {length_bytes} bytes"
    )]
    DestinationTooShort {
        /// The length of the memory that was given.
        length_bytes: usize,
        /// The stride that was asked for.
        stride_bytes: usize,
        /// Bytes of a row's samples.
        row_bytes: usize,
        /// Rows of the plane.
        rows: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Untouched bytes of a destination.
    const UNTOUCHED: u8 = 0xEE;

    /// Memory of two rows of three bytes, `stride_bytes` apart.
    fn memory(stride_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0; stride_bytes + 3];
        bytes[..3].copy_from_slice(&[1, 2, 3]);
        bytes[stride_bytes..].copy_from_slice(&[4, 5, 6]);
        bytes
    }

    fn plane(bytes: &[u8]) -> Plane<'_> {
        Plane {
            bytes,
            stride_bytes: bytes.len() - 3,
            row_bytes: 3,
            width: 3,
            height: 2,
        }
    }

    #[test]
    fn rows_are_copied_between_any_strides() {
        for from in 3..8 {
            for to in 3..8 {
                for spare in 0..3 {
                    let mut destination = vec![UNTOUCHED; to + 3 + spare];
                    plane(&memory(from))
                        .copy_to(&mut destination, to)
                        .expect("it fits");
                    let mut expected = vec![UNTOUCHED; to + 3 + spare];
                    expected[..3].copy_from_slice(&[1, 2, 3]);
                    expected[to..to + 3].copy_from_slice(&[4, 5, 6]);
                    assert_eq!(destination, expected, "from {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_written() {
        let bytes = memory(4);
        let mut destination = [UNTOUCHED; 7];
        assert_eq!(
            plane(&bytes).copy_to(&mut destination, 2),
            Err(CopyError::StrideTooShort {
                stride_bytes: 2,
                row_bytes: 3
            })
        );
        for stride_bytes in [5, usize::MAX] {
            assert_eq!(
                plane(&bytes).copy_to(&mut destination, stride_bytes),
                Err(CopyError::DestinationTooShort {
                    length_bytes: 7,
                    stride_bytes,
                    row_bytes: 3,
                    rows: 2
                })
            );
        }
        assert_eq!(destination, [UNTOUCHED; 7]);
    }

    #[test]
    fn a_plane_without_samples_needs_no_memory() {
        for (width, height) in [(0, 0), (0, 5), (5, 0)] {
            let empty = Plane {
                bytes: &[],
                stride_bytes: width as usize,
                row_bytes: width as usize,
                width,
                height,
            };
            assert_eq!(empty.copy_to(&mut [], width as usize), Ok(()));
        }
    }
}
