//! Reports from outside: records in, files out.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod agreement;
mod answers;
mod candidates;
mod cases;
mod common;
mod comparisons;
mod cost;
mod fates;
mod files;
mod gate;
mod imports;
mod judged;
mod methodology;
mod numbers;
mod protocols;
mod screen;
mod selection;
mod suite;
mod targets;
