//! Stores that keep what a session saved, behind [`compactometer_engine::store::Store`]: a folder
//! of files after the strategic plan, or a SQLite database after the threshold plan. What was
//! committed last is what loads, whatever was killed in between.
//!
//! Absent on purpose: the log of what was said, which stays with whoever holds the conversation;
//! facts; a clock, since times come with the records; a cache, since the next reader may be another
//! process.

mod backend;
mod checkpoints;
mod contents;
mod directory;
mod error;
mod metadata;
mod packing;
#[cfg(feature = "sqlite")]
mod sqlite;
mod thread_id;

pub use checkpoints::{Checkpoints, KEEP, Thread, Which};
pub use contents::{Size, Version};
pub use error::Error;
