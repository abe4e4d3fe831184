//! Simulated models for runs that must be free, fast and exact: the mock, and faults that can be
//! injected into any model.
//!
//! Absent on purpose: scenarios, facts, files and the network. The mock and the faults see only
//! what a model sees.

mod draw;
pub mod faults;
pub mod features;
pub mod mock;
pub mod profile;
mod profile_draws;
mod reading;
mod writing;
