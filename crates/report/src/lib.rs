//! Numbers and pictures from records alone.
mod checks;
mod data;
mod fates;
mod formats;
pub mod metrics;
mod plots;
mod reasons;
mod stats;
mod summarize;
mod table;
pub mod text;
mod warnings;

pub use formats::{ReportError, write};
pub use summarize::summarize;
pub use table::table;
