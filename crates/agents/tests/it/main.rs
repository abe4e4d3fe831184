//! Plays of small conversations to an agent that a test scripts.
#![allow(clippy::unwrap_used, reason = "a test")]

mod agent;
mod plays;
