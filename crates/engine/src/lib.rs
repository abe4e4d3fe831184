//! The reference compaction engine: a log of what was said, a view of it that is the next request, strategies that shrink
//! the view, and a session that decides when and checks what they answer.
//!
//! The engine opens no file, uses no network, starts no thread and reads no clock; time and models come in from outside. It
//! knows nothing of facts, scenarios or measurement. Each folder imports only folders that come before it in this list:
//! `message`, `tokens`, `ledger`, `model`, `conversation`, `budget`, `checkpoint`, `memory`, `recovery`, `strategy`, `strategies`,
//! `session`.

pub mod budget;
pub mod checkpoint;
mod conversation;
pub mod ledger;
pub mod memory;
pub mod message;
pub mod model;
pub mod recovery;
pub mod session;
pub mod strategies;
pub mod strategy;
pub mod tokens;

pub use budget::estimate;
pub use conversation::{log, record, render, view};
pub use model::{embed, meter};
pub use session::{event, health, store};
pub use strategy::{journey, params, selection, summary};
