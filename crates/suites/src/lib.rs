//! Suites of conversations: generated ones, imported transcripts, questions of a reader's own, samples, and what can be said of any
//! suite before a strategy runs.
//!
//! Absent on purpose: strategies, models, records.

pub mod curate;
pub mod generate;
pub mod import;
pub mod properties;
pub mod sample;
