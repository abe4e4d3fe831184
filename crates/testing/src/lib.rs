//! Code that the tests of several crates share. No program depends on this crate.

pub mod provider_rules;
pub mod provider_server;
