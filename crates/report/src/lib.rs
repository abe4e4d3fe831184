//! Numbers and pictures from records alone: [`summarize`] computes a
//! [`compactometer_formats::summary::Summary`], [`table`] shows it in a terminal, [`write()`] makes
//! a folder of pages, tables and plots. The same records give the same bytes.
//!
//! Absent on purpose: anything that runs a strategy or calls a model, and anything that names a
//! winner.

pub mod agreement;
mod data;
mod document;
pub mod gate;
pub mod losses;
pub mod metrics;
mod numbers;
mod phrases;
pub mod record_tables;
mod render;
mod stats;
mod summary;
mod version;
pub mod vocabulary;

pub use data::run_files::{RunFiles, RunFilesError};
pub use render::sources::page as sources_page;
pub use render::targets_shown::by_target;
pub use render::{
    PAPER_FOLDER, ReportError, ReportPart, Screen, by_version, cases::Cases, explain, table, write,
    write_formats, write_paper,
};
pub use stats::bootstrap::interval as bootstrap_interval;
pub use stats::sign_flip::FEWEST_UNITS as FEWEST_TO_COMPARE;
pub use summary::{other_mocks, summarize, targets};

#[cfg(test)]
#[path = "../tests/it/common/mod.rs"]
mod common;
