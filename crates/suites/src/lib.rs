//! Suites of conversations: generating them, importing transcripts, adding a user's own questions,
//! sampling, and the properties that any suite has before a strategy runs.
//!
//! Absent on purpose: strategies, models, records.

pub mod curate;
mod dice;
pub mod generate;
pub mod import;
pub mod properties;
pub mod sample;
pub mod skeletons;
mod walk;

pub use walk::Walk;
