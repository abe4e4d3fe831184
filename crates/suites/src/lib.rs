//! Suites of conversations: generating them, importing transcripts, adding a user's own questions,
//! sampling, and the properties that any suite has before a strategy runs.
//!
//! Absent on purpose: strategies, models, records.

pub mod curate;
pub mod generate;
pub mod import;
pub mod properties;
pub mod sample;
mod walk;

pub use walk::Walk;
