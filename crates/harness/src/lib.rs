//! Replays conversations through compaction strategies, traces every stated fact and writes one
//! record for each case.
//!
//! The folders follow a run: [`prepare`] reads a scenario once, [`plan`] makes cases of it under
//! the limits that a protocol sets, [`run`] gives them to threads, `replay` plays one case,
//! [`trace`] follows its facts, and [`probes`] asks its questions. [`losses`] shows what recorded
//! compactions lost, and [`ledgers`] what a ledger adds to them. [`controls`] holds the controls,
//! and [`entrants`] names everything that can be compared.
//!
//! Absent on purpose: any model (it comes in as [`compactometer_engine::model::ChatModel`]) and any
//! statistics (reports compute them from the records).

pub mod additions;
pub mod controls;
pub mod entrants;
pub mod ledgers;
pub mod losses;
pub mod plan;
pub mod prepare;
pub mod probes;
mod replay;
pub mod run;
pub mod shards;
pub mod trace;
