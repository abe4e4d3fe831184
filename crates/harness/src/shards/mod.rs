//! A run in parts: a plan's folder, from which several processes run one shard each, on any
//! machines that share it.
//!
//! A worker appends finished cases to an attempt of its own, and takes over those of earlier
//! attempts. The finished shard becomes a part, which only the first worker can create, so that no
//! case counts twice. A merge reads parts only and writes the folder that one process would have
//! written. Nothing here depends on a clock, and no worker waits for another.
//!
//! Absent on purpose: starting, watching and restarting workers, which job schedulers do.

mod attempts;
mod dealing;
mod error;
mod finished_parts;
mod folder;
mod merge;
mod part_lines;
mod status;
mod worker;

pub use attempts::{ShardClaim, Spent, tries_of};
pub use dealing::deal;
pub use error::ShardError;
pub use folder::{Named, PlanFolder};
pub use merge::{Merged, merge};
pub use status::{ShardStatus, Status, status};
pub use worker::{ShardOutcome, Worker};
