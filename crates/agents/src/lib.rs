//! Agents of others, unmodified, as rows of a comparison: `--agent NAME` beside strategies.
//!
//! A conversation is played to the agent. Its model is a server on this machine, which answers each
//! of its turns with the recorded one; the conversation's tools answer what was recorded; a request
//! for a summary goes to the run's summarizer. Before each turn, what the agent's request holds of
//! the conversation is the view of the case, so an agent is followed as any strategy is.
//!
//! Absent on purpose: what an agent would have done. The recorded turns go on whatever was lost.

mod by_hand;
mod child;
mod counts;
mod definition;
mod desk;
mod fill;
mod folder;
mod mask;
mod play;
mod play_log;
mod process;
mod request_view;
mod row;
mod shell;
mod stage;
pub mod tools;
mod turn;

pub use by_hand::ByHand;
pub use definition::{Definition, Install, Tools, all, by_name};
pub use folder::abandon;
pub use row::AgentRow;
