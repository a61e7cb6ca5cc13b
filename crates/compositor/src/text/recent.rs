//! Results that are kept for their next use, within a budget.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by what they follow from. Once their costs exceed the budget, those that were not used
/// for the longest time go, until half of it is free again: so that a full store is sorted rarely.
pub(super) struct Recent<K, V> {
    kept: HashMap<K, Kept<V>>,
    cost: usize,
    budget: usize,
    uses: u64,
}

struct Kept<V> {
    value: V,
    cost: usize,
    last_use: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Recent<K, V> {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            kept: HashMap::new(),
            cost: 0,
            budget,
            uses: 0,
        }
    }

    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        self.uses += 1;
        let kept = self.kept.get_mut(key)?;
        kept.last_use = self.uses;
        Some(kept.value.clone())
    }

    /// Keeps a value of that cost; one that exceeds the budget alone is not kept.
    pub(super) fn insert(&mut self, key: K, value: V, cost: usize) {
        self.uses += 1;
        let kept = Kept {
            value,
            cost,
            last_use: self.uses,
        };
        self.cost += cost;
        if let Some(replaced) = self.kept.insert(key, kept) {
            self.cost -= replaced.cost;
        }
        if self.cost > self.budget {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let mut by_use: Vec<(u64, usize)> = self
            .kept
            .values()
            .map(|kept| (kept.last_use, kept.cost))
            .collect();
        by_use.sort_unstable();
        let mut cost = self.cost;
        let first_kept = by_use.into_iter().find(|&(_, freed)| {
            let fits = cost <= self.budget / 2;
            cost -= if fits { 0 } else { freed };
            fits
        });
        let first_kept = first_kept.map_or(u64::MAX, |(last_use, _)| last_use);
        self.kept.retain(|_, kept| kept.last_use >= first_kept);
        self.cost = cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let mut recent = Recent::new(10);
        for key in 0..5 {
            recent.insert(key, key, 2);
        }
        assert_eq!(recent.get(&0), Some(0));
        recent.insert(5, 5, 1);
        // 11 exceed 10; of the oldest, 1, 2 and 3 go before no more than 5 remain.
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|key| recent.get(&key).is_some()),
            [true, false, false, false, true, true]
        );
        assert_eq!(recent.cost, 5);
        recent.insert(6, 6, 11);
        assert_eq!(recent.get(&6), None);
        assert_eq!(recent.cost, 0);
    }
}
