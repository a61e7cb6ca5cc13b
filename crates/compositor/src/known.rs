//! What surfaces hold, so that they need not be drawn again.

use std::collections::{HashMap, HashSet};

use crate::surface_pool::{SurfacePool, SurfaceTexture};

/// What a finished surface holds. Surfaces with the same key hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ContentId(pub(crate) u64);

/// The contents of this frame and of the one before.
#[derive(Debug, Default)]
pub(crate) struct Known {
    by_key: HashMap<Vec<u8>, ContentId>,
    textures: HashMap<ContentId, SurfaceTexture>,
    texture_bytes: u64,
    count: u64,
}

/// As long as the textures take more than this, those that the frame has read are not kept for the
/// next one.
const MAX_KEPT_BYTES: u64 = 512 << 20;

impl Known {
    /// The content that a surface of this key has.
    pub(crate) fn find(&mut self, key: &[u8]) -> ContentId {
        if let Some(&content) = self.by_key.get(key) {
            return content;
        }
        let content = ContentId(self.count);
        self.count += 1;
        self.by_key.insert(key.to_vec(), content);
        content
    }

    /// The texture that holds a content, if it is still there.
    pub(crate) fn texture(&self, content: ContentId) -> Option<&SurfaceTexture> {
        self.textures.get(&content)
    }

    /// Takes a texture that a content is about to be drawn into.
    pub(crate) fn insert(&mut self, content: ContentId, texture: SurfaceTexture) {
        self.texture_bytes += texture.bytes();
        self.textures.insert(content, texture);
    }

    /// Lets go of a content that the frame does not read any more, if too much is held.
    pub(crate) fn has_been_read(&mut self, content: ContentId, pool: &mut SurfacePool) {
        if self.texture_bytes > MAX_KEPT_BYTES {
            self.remove(content, pool);
        }
    }

    /// Forgets all contents but those of this frame.
    pub(crate) fn keep(&mut self, used: &HashSet<ContentId>, pool: &mut SurfacePool) {
        self.by_key.retain(|_, content| used.contains(content));
        let textures = self.textures.keys();
        let unused: Vec<_> = textures
            .filter(|&content| !used.contains(content))
            .copied()
            .collect();
        for content in unused {
            self.remove(content, pool);
        }
    }

    fn remove(&mut self, content: ContentId, pool: &mut SurfacePool) {
        if let Some(texture) = self.textures.remove(&content) {
            self.texture_bytes -= texture.bytes();
            pool.give_back(texture);
        }
    }
}
