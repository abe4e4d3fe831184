//! Suites from outside: specs and transcripts in, scenarios out.
#![allow(missing_docs, reason = "tests")]

mod common;
mod import_shared;
mod secrets;
mod standard;
mod suite;
