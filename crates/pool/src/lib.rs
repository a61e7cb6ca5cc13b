//! Memory pools with a byte budget, which reuse a block only after its last owner has let go.
//!
//! [`Pool`] keeps anything that is costly to make, keyed by its whole description. [`HostPool`]
//! keeps blocks of CPU memory, keyed by their length.
//!
//! What is lent is never counted against the budget and never touched: the budget bounds what lies
//! idle. All types are `Send` and `Sync` where their contents are; a [`Lease`] may outlive its pool.

#![forbid(unsafe_code)]

mod host;
mod pool;

pub use host::{HostPool, PooledBytes};
pub use pool::{Lease, Pool, PoolReport};
