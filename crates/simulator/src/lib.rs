//! Simulated models for runs that must be free, fast and exact: the mock, and faults that can be injected into any model.
//!
//! Absent on purpose: scenarios, facts, files and the network. The mock and the faults see only what a model sees.

mod draw;
mod drawn;
pub mod faults;
pub mod mock;
pub mod profile;
mod reading;
mod writing;
