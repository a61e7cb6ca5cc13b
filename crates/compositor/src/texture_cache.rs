//! Values that are kept as long as there is room.

use std::collections::HashMap;
use std::hash::Hash;

/// Values of known sizes, the longest unused of which give way when room is needed.
#[derive(Debug)]
pub(crate) struct TextureCache<K, V> {
    budget_bytes: u64,
    held_bytes: u64,
    /// Counts uses, so that the longest unused value is found.
    uses: u64,
    entries: HashMap<K, Entry<V>>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: u64,
    last_use: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> TextureCache<K, V> {
    /// An empty cache that holds at most `budget_bytes`, or a single value that is larger.
    pub(crate) fn new(budget_bytes: u64) -> Self {
        Self {
            budget_bytes,
            held_bytes: 0,
            uses: 0,
            entries: HashMap::new(),
        }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        entry.last_use = self.uses;
        Some(entry.value.clone())
    }

    /// Keeps a value; its key must be new.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: u64) {
        while self.held_bytes + bytes > self.budget_bytes {
            let longest_unused = self.entries.iter().min_by_key(|(_, entry)| entry.last_use);
            let Some(key) = longest_unused.map(|(key, _)| key.clone()) else {
                break;
            };
            self.remove(&key);
        }
        self.uses += 1;
        self.held_bytes += bytes;
        let last_use = self.uses;
        let entry = Entry {
            value,
            bytes,
            last_use,
        };
        self.entries.insert(key, entry);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        self.entries.retain(|key, _| keep(key));
        self.held_bytes = self.entries.values().map(|entry| entry.bytes).sum();
    }

    fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.held_bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(cache: &mut TextureCache<u32, char>) -> Vec<u32> {
        let mut keys: Vec<_> = cache.entries.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn the_longest_unused_gives_way() {
        let mut cache = TextureCache::new(100);
        cache.insert(1, 'a', 40);
        cache.insert(2, 'b', 40);
        assert_eq!(cache.get(&1), Some('a'));
        cache.insert(3, 'c', 30);
        assert_eq!(cache.get(&2), None);
        assert_eq!(cache.get(&1), Some('a'));
        assert_eq!(cache.get(&3), Some('c'));
    }

    #[test]
    fn as_many_give_way_as_are_needed_and_no_more() {
        let mut cache = TextureCache::new(100);
        for key in 0..10 {
            cache.insert(key, 'x', 10);
        }
        assert_eq!(held(&mut cache).len(), 10);
        cache.insert(10, 'y', 25);
        assert_eq!(held(&mut cache), [3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn a_value_larger_than_the_budget_is_held_alone() {
        let mut cache = TextureCache::new(100);
        cache.insert(1, 'a', 60);
        cache.insert(2, 'b', 500);
        assert_eq!(held(&mut cache), [2]);
        cache.insert(3, 'c', 60);
        assert_eq!(held(&mut cache), [3]);
    }

    #[test]
    fn what_is_let_go_makes_room() {
        let mut cache = TextureCache::new(100);
        cache.insert(1, 'a', 60);
        cache.insert(2, 'b', 40);
        cache.retain(|&key| key != 1);
        cache.insert(3, 'c', 60);
        assert_eq!(held(&mut cache), [2, 3]);
    }
}
