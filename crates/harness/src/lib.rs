//! Replays conversations through compaction strategies, traces every stated fact and writes one record for each case.
//!
//! The folders follow a run: [`prepare`] reads a scenario once, [`plan`] makes cases of it, [`run`] gives them to threads, [`replay`]
//! plays one case, [`trace`] follows its facts and [`probes`] asks its questions. [`baselines`] holds the controls.
//!
//! Absent on purpose: any model (it comes in as [`compactometer_engine::model::ChatModel`]) and any statistics (reports
//! compute them from the records).

pub mod baselines;
pub mod plan;
pub mod prepare;
pub mod probes;
pub mod replay;
pub mod run;
pub mod trace;

pub use plan::{entrant as contender, window};
pub use prepare::scenario as loaded;
pub use probes::judge;
pub use run::{fail_fast as watched, journal};
pub use trace::views::shared_tokens;
