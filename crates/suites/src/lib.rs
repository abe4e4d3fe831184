//! Suites of conversations: generating them, importing transcripts, adding a user's own questions,
//! sampling, and the properties that any suite has before a strategy runs.
//!
//! Absent on purpose: strategies, models, records.

pub mod curate;
mod dice;
mod each;
pub mod embedded;
pub mod generate;
pub mod import;
pub mod properties;
pub mod sample;
pub mod skeletons;
mod suite_spec;
mod walk;

pub use suite_spec::SuiteSpec;
pub use walk::Walk;
