//! The lowest layers of the frame, kept as one picture for as long as they stay the same.
//!
//! What lies under everything that moves is drawn once: in the second frame that begins with the
//! same draws as the one before, the pixels are copied when those draws have been made, and copied
//! back at the start of every frame that begins with them. Copies are exact, so that frames are the
//! same to the byte with and without.

use crate::surface_pool::{SurfacePool, SurfaceTexture};

#[derive(Debug, Default)]
pub(crate) struct Backdrop {
    /// The key of the frame before, its draws in order.
    last_key: Vec<u8>,
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    /// All that decides the pixels.
    key: Vec<u8>,
    texture: SurfaceTexture,
    /// The number of frames for which it has been of no use.
    idle_frames: u32,
}

/// What a frame takes from the backdrop and what it leaves for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BackdropUse {
    /// The first so many draws need not be made: their pixels are there.
    pub(crate) restored_draws: usize,
    /// When so many draws have been made, the pixels are to be kept; none if that is not more.
    pub(crate) kept_draws: usize,
}

/// A picture that is not used for this many frames is let go.
const MAX_IDLE_FRAMES: u32 = 8;

/// Copying a frame is worth it where it saves draws of this part of it or more. On a software adapter
/// drawing a pixel takes ten to a hundred times as long as copying it; a GPU takes about as long.
const MIN_SAVED_PART: u64 = 4;

impl Backdrop {
    /// Looks at the draws of a frame of `frame_pixels`, whose `key` holds them in order: where each
    /// ends in the key, and the pixels that it may change.
    pub(crate) fn plan(
        &mut self,
        key: &[u8],
        draws: &[(usize, u64)],
        frame_pixels: u64,
    ) -> BackdropUse {
        let same_bytes = self
            .last_key
            .iter()
            .zip(key)
            .take_while(|(last, now)| last == now);
        let same_bytes = same_bytes.count();
        self.last_key.clear();
        self.last_key.extend(key);
        let draws_within = |bytes| draws.partition_point(|&(key_end, _)| key_end <= bytes);
        let restored_draws = match &mut self.kept {
            Some(kept) if key.starts_with(&kept.key) => {
                kept.idle_frames = 0;
                draws_within(kept.key.len())
            }
            _ => 0,
        };
        let kept_draws = draws_within(same_bytes).max(restored_draws);
        let saved: u64 = draws[restored_draws..kept_draws]
            .iter()
            .map(|&(_, pixels)| pixels)
            .sum();
        BackdropUse {
            restored_draws,
            kept_draws: match saved * MIN_SAVED_PART >= frame_pixels {
                true => kept_draws,
                false => restored_draws,
            },
        }
    }

    /// The texture with the pixels of the restored draws.
    pub(crate) fn texture(&self) -> Option<&SurfaceTexture> {
        self.kept.as_ref().map(|kept| &kept.texture)
    }

    /// Keeps pixels instead of those that were kept before.
    pub(crate) fn keep(&mut self, key: &[u8], texture: SurfaceTexture, pool: &mut SurfacePool) {
        let kept = Kept {
            key: key.to_vec(),
            texture,
            idle_frames: 0,
        };
        if let Some(before) = self.kept.replace(kept) {
            pool.give_back(before.texture);
        }
    }

    /// Lets go, once a frame, of what has not been needed for long.
    pub(crate) fn trim(&mut self, pool: &mut SurfacePool) {
        let Some(kept) = &mut self.kept else {
            return;
        };
        kept.idle_frames += 1;
        if kept.idle_frames > MAX_IDLE_FRAMES
            && let Some(kept) = self.kept.take()
        {
            pool.give_back(kept.texture);
        }
    }
}
