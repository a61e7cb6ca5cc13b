//! Blocks of CPU memory: what is live is never touched, what is handed out as zeroed is zero.

use std::sync::{Arc, Barrier};
use std::thread;

use framefence_pool::{HostPool, PooledBytes};

const BLOCKS: usize = 18;
const BLOCK_BYTES: usize = 2 << 20;
const CYCLES: usize = 24;

/// Bytes that differ between blocks and between any two words of one block, so that a block
/// written to, swapped or shifted is noticed.
fn pattern(seed: usize) -> Vec<u8> {
    (0..BLOCK_BYTES as u64 / 8)
        .flat_map(|word| {
            (word | (seed as u64 + 1) << 32)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .to_le_bytes()
        })
        .collect()
}

/// Blocks filled with their patterns, and those patterns.
fn filled_blocks(pool: &HostPool) -> (Vec<PooledBytes>, Vec<Vec<u8>>) {
    (0..BLOCKS)
        .map(|index| {
            let expected = pattern(index);
            let mut block = pool.acquire(BLOCK_BYTES);
            block.copy_from_slice(&expected);
            (block, expected)
        })
        .unzip()
}

fn assert_intact<'a>(
    blocks: impl IntoIterator<Item = &'a PooledBytes>,
    expected: &[Vec<u8>],
    when: &str,
) {
    for (index, (block, expected)) in blocks.into_iter().zip(expected).enumerate() {
        assert!(**block == **expected, "block {index} changed {when}");
    }
}

fn assert_within_budget(pool: &HostPool) {
    let idle_bytes = pool.report().idle_bytes;
    assert!(
        idle_bytes <= HostPool::DEFAULT_BUDGET_BYTES,
        "{idle_bytes} bytes are idle"
    );
}

/// Takes one dirty and one zeroed block, leaves other bytes in both and releases them.
fn churn(pool: &HostPool) {
    let mut dirty = pool.acquire(BLOCK_BYTES);
    dirty.fill(0xA5);
    assert_within_budget(pool);
    let mut zeroed = pool.acquire_zeroed(BLOCK_BYTES);
    assert!(is_zero(&zeroed), "a stale byte was handed out as zeroed");
    zeroed.fill(0x5A);
    assert_within_budget(pool);
    drop(dirty);
    assert_within_budget(pool);
    drop(zeroed);
    assert_within_budget(pool);
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |seen, byte| seen | byte) == 0
}

#[test]
fn live_blocks_keep_their_bytes_and_released_ones_come_back_zeroed() {
    let pool = HostPool::default();
    let (mut blocks, mut expected) = filled_blocks(&pool);
    assert_eq!(pool.report().live_bytes, BLOCKS * BLOCK_BYTES);

    for cycle in 0..CYCLES {
        churn(&pool);
        assert_intact(&blocks, &expected, &format!("in cycle {cycle}"));
    }

    // The owners let go one by one: more than the budget holds, so the oldest idle ones go.
    while let Some(block) = blocks.pop() {
        expected.pop();
        drop(block);
        assert_within_budget(&pool);
        assert_intact(&blocks, &expected, "when another was released");
    }
    let report = pool.report();
    assert_eq!((report.live_count, report.live_bytes), (0, 0));
    assert_eq!(report.idle_bytes, HostPool::DEFAULT_BUDGET_BYTES);

    for cycle in 0..CYCLES {
        // All of them at once: every block that was ever released passes through here.
        let mut zeroed: Vec<_> = (0..BLOCKS)
            .map(|_| pool.acquire_zeroed(BLOCK_BYTES))
            .collect();
        for block in &mut zeroed {
            assert!(
                is_zero(block),
                "a stale byte was handed out in cycle {cycle}"
            );
            block.fill(0xFF);
        }
        for block in zeroed {
            drop(block);
            assert_within_budget(&pool);
        }
    }
    assert!(pool.report().reused >= (CYCLES * 16) as u64);
}

#[test]
fn a_shared_block_is_reused_only_after_its_last_owner_on_any_thread() {
    const OWNERS: usize = 3;
    let pool = HostPool::default();
    let (blocks, expected) = filled_blocks(&pool);
    let blocks: Vec<_> = blocks.into_iter().map(Arc::new).collect();
    let expected = Arc::new(expected);
    // All owners and the churning thread meet here after each half.
    let half_time = Arc::new(Barrier::new(OWNERS + 1));

    let owners: Vec<_> = (0..OWNERS)
        .map(|owner| {
            let mut blocks = blocks.clone();
            let expected = Arc::clone(&expected);
            let half_time = Arc::clone(&half_time);
            thread::spawn(move || {
                half_time.wait();
                // The first owner lets go now, the others while blocks are churned again.
                if owner == 0 {
                    blocks.clear();
                }
                half_time.wait();
                while let Some(block) = blocks.pop() {
                    assert_intact([&*block], &expected[blocks.len()..], "while others let go");
                }
            })
        })
        .collect();
    drop(blocks);

    for _ in 0..CYCLES {
        churn(&pool);
    }
    half_time.wait();
    half_time.wait();
    for _ in 0..CYCLES {
        churn(&pool);
    }
    for owner in owners {
        owner.join().expect("its blocks were intact");
    }
    assert_within_budget(&pool);
    assert_eq!(pool.report().live_count, 0);
}

#[test]
fn a_released_block_is_lent_again_as_it_was() {
    let pool = HostPool::default();
    let mut block = pool.acquire(64);
    block.fill(7);
    let address = block.as_ptr();
    drop(block);
    assert_ne!(pool.acquire(65).as_ptr(), address, "another length");
    let again = pool.acquire(64);
    assert_eq!(again.as_ptr(), address);
    assert_eq!(*again, [7; 64]);
}

#[test]
fn empty_blocks_are_blocks() {
    let pool = HostPool::new(0);
    assert!(pool.acquire(0).is_empty());
    assert!(pool.acquire_zeroed(0).is_empty());
    drop(pool.acquire_zeroed(1));
    assert_eq!(pool.report().idle_bytes, 0);
}

#[test]
fn pools_and_blocks_cross_threads() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<HostPool>();
    assert_send_sync::<PooledBytes>();
}
