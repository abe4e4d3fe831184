//! Inputs of whatever measures Compactometer itself: texts by kind, conversations by length, a counter and a model that cost
//! next to nothing. All of it comes from a seed, so that two measurements are of the same work.
//!
//! Absent on purpose: limits and verdicts. Those are of the scripts that run this crate's programs.

pub mod cheap;
pub mod conversations;
pub mod cpu;
pub mod paths;
pub mod texts;
mod words;
