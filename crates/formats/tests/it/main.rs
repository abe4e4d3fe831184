//! The file formats from outside: files in, values or errors out.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod input;
mod record;
mod suite;
mod timings;
