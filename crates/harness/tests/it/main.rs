//! The harness from outside: scenarios in, records out.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "tests"
)]

mod answers;
mod binding;
mod chance;
mod common;
mod contexts;
mod fates;
mod journal;
mod judge;
mod kept;
mod losses;
mod measures;
mod prompted;
mod provider_rules;
mod recorded;
mod recovery;
mod said;
mod shared;
mod sweeps;
