//! What takes the place of a model in a run that must be free, fast and exact: the mock, and faults that strike any model.
//!
//! Absent on purpose: scenarios, facts, files and the network. Both see what a model sees.

pub mod faults;
pub mod mock;
