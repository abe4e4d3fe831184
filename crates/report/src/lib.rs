//! Numbers and pictures from records alone: [`summarize`] computes a [`compactometer_formats::summary::Summary`],
//! [`table`] shows it in a terminal, [`write()`] makes a folder of pages, tables and plots. The same records give the same
//! bytes.
//!
//! Absent on purpose: anything that runs a strategy or calls a model, and anything that names a winner.

pub mod agreement;
mod checks;
mod comparisons;
mod data;
mod decisions;
pub mod explain;
mod fates;
mod formats;
pub mod gate;
mod judged;
pub mod metrics;
mod plots;
mod reasons;
pub mod salience;
mod scale;
mod scores;
mod sizes;
mod stats;
mod suite;
mod summarize;
mod table;
pub mod targets;
pub mod text;
mod warnings;

pub use formats::{Format, ReportError, write, write_formats};
pub use stats::bootstrap::interval as bootstrap_interval;
pub use summarize::summarize;
pub use table::table;
