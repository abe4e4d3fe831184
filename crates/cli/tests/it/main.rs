//! The program from outside: arguments and files in, output and exit codes out.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod absence;
mod agreement;
mod attacks;
mod cases;
mod checkpoint;
mod checkpointer;
mod common;
mod doctor;
mod explain;
mod gate;
mod generate;
mod honesty;
mod hook;
mod inputs;
mod judge;
mod losses;
mod memory;
mod mistakes;
mod mock;
mod models;
mod money;
mod outcome;
mod probes;
mod program;
mod provider_rules;
mod removed;
mod report;
mod schema;
mod serve;
mod settings;
mod shared_data;
mod shipped;
mod summarizer;
mod terminal;
mod transcripts;
