//! Suites at their boundaries: specs and transcripts go in, scenarios come out.
#![allow(missing_docs, reason = "tests")]

mod agentic;
mod agents;
mod common;
mod import_agents;
mod import_compacted;
mod import_exports;
mod import_shared;
mod secrets;
mod standard;
mod suite;
