//! Code shared by the tests of several crates. No program depends on this crate.

pub mod hostile;
pub mod model;
pub mod provider_rules;
pub mod provider_server;
pub mod scenario;
