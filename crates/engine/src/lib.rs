//! The reference compaction engine: a log of what was said, a view of it that is the next request, strategies that shrink
//! the view, and a session that decides when and checks what they answer.
//!
//! The engine opens no file, uses no network, spawns nothing and reads no clock; time and models come in from outside. It
//! knows nothing of facts, scenarios or measurement.

pub mod budget;
pub mod checkpoint;
pub mod embed;
pub mod estimate;
pub mod event;
mod fit;
pub mod health;
pub mod log;
pub mod memory;
pub mod message;
pub mod meter;
pub mod model;
pub mod params;
pub mod recovery;
pub mod render;
mod retrieve;
mod room;
pub mod saved;
pub mod select;
pub mod session;
pub mod store;
pub mod strategies;
pub mod strategy;
pub mod summary;
pub mod tokens;
pub mod view;
