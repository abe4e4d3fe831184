//! Every file format that Compactometer reads or writes, and the importers of foreign transcripts.
//!
//! Absent on purpose: anything that runs a strategy or computes a result.

pub mod answer;
pub mod baseline;
pub mod choice;
pub mod code;
pub mod curate;
pub mod fate;
pub mod formats;
pub mod import;
pub mod input;
pub mod manifest;
pub mod matcher;
pub mod mock;
pub mod prices;
pub mod property;
pub mod record;
pub mod scenario;
pub mod stands;
pub mod suite;
pub mod summary;
pub mod timings;
