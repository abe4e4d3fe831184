//! Every file format that Compactometer reads or writes.
//!
//! Absent on purpose: anything that runs a strategy or computes a result.

pub mod added_text;
pub mod baseline;
pub mod fate;
pub mod losses;
pub mod manifest;
pub mod mock_name;
pub mod prices;
pub mod property;
pub mod protocol;
pub mod record;
pub mod scenario;
pub mod schemas;
pub mod shards;
pub mod strategy_protocol;
pub mod suite;
pub mod summary;
pub mod timings;
pub mod view_breakdown;

pub use record::answer;
