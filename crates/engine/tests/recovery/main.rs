//! How checkpoints come back, when they are written, and who writes them (source 000, parts 3, 8 and 9).
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod shown;
mod stage;
mod written;
