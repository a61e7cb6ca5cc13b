//! What a pool keeps, in which order it lets go, and when values are dropped.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use framefence_pool::{Lease, Pool};

/// Reports its own drop.
struct Tracked {
    name: &'static str,
    dropped: mpsc::Sender<&'static str>,
}

impl Drop for Tracked {
    fn drop(&mut self) {
        // The test may be over before the pool is.
        let _ = self.dropped.send(self.name);
    }
}

struct TrackedPool {
    pool: Pool<&'static str, Tracked>,
    sender: mpsc::Sender<&'static str>,
    drops: mpsc::Receiver<&'static str>,
}

impl TrackedPool {
    fn new(budget_bytes: usize) -> Self {
        let (sender, drops) = mpsc::channel();
        let pool = Pool::new(budget_bytes);
        Self {
            pool,
            sender,
            drops,
        }
    }

    fn add(&self, name: &'static str, size_bytes: usize) -> Lease<&'static str, Tracked> {
        let dropped = self.sender.clone();
        self.pool.add(name, size_bytes, Tracked { name, dropped })
    }

    /// The values dropped since the last call, in their order.
    fn dropped(&self) -> Vec<&'static str> {
        self.drops.try_iter().collect()
    }
}

#[test]
fn the_values_idle_for_longest_make_room() {
    let tracked = TrackedPool::new(10);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| tracked.add(name, 4));
    drop(b);
    drop(a);
    assert!(tracked.dropped().is_empty());
    drop(c);
    assert_eq!(tracked.dropped(), ["b"]);
    drop(tracked.pool.take(&"a").expect("still idle"));
    drop(d);
    assert_eq!(
        tracked.dropped(),
        ["c"],
        "a was lent since c was released, so c has been idle for longer"
    );
    let report = tracked.pool.report();
    assert_eq!((report.idle_count, report.idle_bytes), (2, 8));
    assert_eq!((report.made, report.reused, report.evicted), (4, 1, 2));
}

#[test]
fn one_large_value_drives_out_as_many_as_it_needs() {
    let tracked = TrackedPool::new(10);
    let small = ["a", "b", "c"].map(|name| tracked.add(name, 3));
    let large = tracked.add("large", 6);
    drop(small);
    drop(large);
    assert_eq!(tracked.dropped(), ["a", "b"]);
    assert_eq!(tracked.pool.report().idle_bytes, 9);
}

#[test]
fn a_value_larger_than_the_budget_goes_alone() {
    let tracked = TrackedPool::new(10);
    let small = tracked.add("small", 10);
    let large = tracked.add("large", 11);
    drop(small);
    drop(large);
    assert_eq!(tracked.dropped(), ["large"]);
    assert!(tracked.pool.take(&"large").is_none());
    assert!(tracked.pool.take(&"small").is_some());
}

#[test]
fn only_the_same_description_is_lent_again_and_the_newest_first() {
    let pool = Pool::new(100);
    let first = pool.add("small", 1, 1);
    let second = pool.add("small", 1, 2);
    drop(first);
    drop(second);
    assert!(pool.take(&"large").is_none());
    let newest = pool.take(&"small").expect("two are idle");
    assert_eq!((*newest, *newest.key()), (2, "small"));
    let oldest = pool.take(&"small").expect("one is idle");
    assert_eq!(*oldest, 1);
    assert!(pool.take(&"small").is_none());
}

#[test]
fn clearing_drops_what_is_idle_and_nothing_else() {
    let tracked = TrackedPool::new(10);
    let live = tracked.add("live", 5);
    drop(tracked.add("idle", 5));
    tracked.pool.clear();
    assert_eq!(tracked.dropped(), ["idle"]);
    assert_eq!(live.name, "live");
    drop(live);
    assert!(tracked.pool.take(&"live").is_some());
}

#[test]
fn a_lease_outlives_its_pool() {
    let tracked = TrackedPool::new(10);
    let live = tracked.add("live", 5);
    drop(tracked.add("idle", 5));
    let TrackedPool { pool, drops, .. } = tracked;
    drop(pool);
    assert_eq!(live.name, "live");
    drop(live);
    let mut dropped: Vec<_> = drops.try_iter().collect();
    dropped.sort_unstable();
    assert_eq!(dropped, ["idle", "live"]);
}

/// A value that asks its pool for a report when it is dropped, as a value does whose own drop
/// takes a lock that another user of the pool holds.
struct Inquisitive {
    pool: Pool<u8, Inquisitive>,
    idle_counts: mpsc::Sender<usize>,
}

impl Drop for Inquisitive {
    fn drop(&mut self) {
        let _ = self.idle_counts.send(self.pool.report().idle_count);
    }
}

#[test]
fn values_are_dropped_outside_the_lock() {
    let (sender, idle_counts) = mpsc::channel();
    // On a thread of its own: if the lock is held, that thread hangs, not the test.
    thread::spawn(move || {
        let pool = Pool::new(10);
        let value = || Inquisitive {
            pool: pool.clone(),
            idle_counts: sender.clone(),
        };
        drop(pool.add(0, 11, value()));
        let both = [pool.add(1, 6, value()), pool.add(2, 6, value())];
        drop(both);
        pool.clear();
    });
    let deadline = Duration::from_secs(30);
    let counts: Result<Vec<_>, _> = (0..3).map(|_| idle_counts.recv_timeout(deadline)).collect();
    assert_eq!(
        counts,
        Ok(vec![0, 1, 0]),
        "idle values as seen by one too large, one evicted and one cleared"
    );
}
