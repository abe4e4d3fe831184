//! Inputs for measurements of Compactometer itself: texts by kind, conversations by length, and a
//! counter and a model of negligible cost. Everything is seeded, so that two measurements do the
//! same work.
//!
//! Absent on purpose: limits and verdicts, which belong to the scripts that run this crate's
//! programs.

pub mod cheap;
pub mod conversations;
pub mod cpu;
pub mod paths;
pub mod texts;
mod words;
