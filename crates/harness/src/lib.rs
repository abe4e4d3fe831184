//! Replays conversations through compaction strategies, traces every stated fact and writes one record a case.
//!
//! Absent on purpose: any model (it comes in as [`compactometer_engine::model::ChatModel`]) and any statistics (reports
//! compute them from records alone).

mod answers;
mod carriers;
pub mod contender;
pub mod controls;
mod grade;
mod invented;
pub mod journal;
pub mod judge;
pub mod lists;
pub mod loaded;
mod models;
mod order;
pub mod plan;
mod progress;
mod prompted;
mod random;
mod rejections;
pub mod replay;
pub mod run;
mod storage;
mod timings;
mod trace;
mod views;
pub mod watched;
pub mod window;
mod windowed;

pub use views::shared_tokens;
