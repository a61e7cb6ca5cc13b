//! Random use of a pool, checked against a model that is plain enough to be read.

use std::cell::RefCell;
use std::rc::Rc;

use framefence_pool::{Lease, Pool, PoolReport};
use proptest::prelude::*;

const BUDGET_BYTES: usize = 16;

/// Each description's size; the last does not fit the budget.
const SIZES_BYTES: [usize; 5] = [0, 1, 5, 16, 17];

#[derive(Clone, Debug)]
enum Step {
    /// Lend a value of this description, making it if none is idle.
    Acquire(usize),
    /// Release the live value at this place, counted round.
    Release(usize),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        10 => (0..SIZES_BYTES.len()).prop_map(Step::Acquire),
        10 => any::<usize>().prop_map(Step::Release),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 0..200)
}

type DropLog = Rc<RefCell<Vec<u64>>>;

/// A value with a name that no other has.
struct Value {
    id: u64,
    drops: DropLog,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.drops.borrow_mut().push(self.id);
    }
}

/// Names and descriptions of the values that a pool should hold.
#[derive(Default)]
struct Model {
    live: Vec<(u64, usize)>,
    /// Oldest first.
    idle: Vec<(u64, usize)>,
    dropped: Vec<u64>,
    made: u64,
    reused: u64,
}

impl Model {
    fn acquire(&mut self, key: usize) -> u64 {
        let newest = self.idle.iter().rposition(|value| value.1 == key);
        let value = match newest {
            Some(place) => {
                self.reused += 1;
                self.idle.remove(place)
            }
            None => {
                self.made += 1;
                (self.made, key)
            }
        };
        self.live.push(value);
        value.0
    }

    fn release(&mut self, place: usize) {
        let value = self.live.remove(place);
        if SIZES_BYTES[value.1] > BUDGET_BYTES {
            self.dropped.push(value.0);
            return;
        }
        self.idle.push(value);
        while size_bytes(&self.idle) > BUDGET_BYTES {
            self.dropped.push(self.idle.remove(0).0);
        }
    }

    fn clear(&mut self) {
        self.dropped
            .extend(self.idle.drain(..).map(|value| value.0));
    }
}

fn size_bytes(values: &[(u64, usize)]) -> usize {
    values.iter().map(|value| SIZES_BYTES[value.1]).sum()
}

fn assert_agrees(report: PoolReport, model: &Model) -> Result<(), TestCaseError> {
    prop_assert!(report.idle_bytes <= BUDGET_BYTES);
    prop_assert_eq!(report.idle_bytes, size_bytes(&model.idle));
    prop_assert_eq!(report.idle_count, model.idle.len());
    prop_assert_eq!(report.live_bytes, size_bytes(&model.live));
    prop_assert_eq!(report.live_count, model.live.len());
    prop_assert_eq!(report.made, model.made);
    prop_assert_eq!(report.reused, model.reused);
    prop_assert_eq!(report.evicted, model.dropped.len() as u64);
    Ok(())
}

proptest! {
    #[test]
    fn a_pool_does_what_its_model_does(steps in steps()) {
        let pool = Pool::new(BUDGET_BYTES);
        let drops = DropLog::default();
        let mut leases: Vec<Lease<usize, Value>> = Vec::new();
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Acquire(key) => {
                    let expected = model.acquire(key);
                    let lease = pool.take(&key).unwrap_or_else(|| {
                        let value = Value { id: model.made, drops: Rc::clone(&drops) };
                        pool.add(key, SIZES_BYTES[key], value)
                    });
                    prop_assert_eq!(lease.id, expected);
                    prop_assert_eq!(*lease.key(), key);
                    leases.push(lease);
                }
                Step::Release(_) if leases.is_empty() => {}
                Step::Release(place) => {
                    let place = place % leases.len();
                    drop(leases.remove(place));
                    model.release(place);
                }
                Step::Clear => {
                    pool.clear();
                    model.clear();
                }
            }
            prop_assert_eq!(&*drops.borrow(), &model.dropped);
            assert_agrees(pool.report(), &model)?;
        }
    }
}
