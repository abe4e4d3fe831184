//! The engine from outside: messages in, views and events out.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests"
)]

mod composed;
mod defaults;
mod faithful;
mod invariants;
mod journey;
mod memory;
mod progressive;
mod recovery;
mod rounds;
mod session;
mod tokens;
mod view;
