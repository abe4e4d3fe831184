//! Skeletons: the structure of sessions as numbers, without a word of them.
//!
//! A skeleton holds who spoke, how long and when, what was called, and which values stand where. A
//! value is punctuation and atoms that values share, so that the same file is the same file in a
//! listing, in a call and in prose. [`extract()`] makes skeletons of conversations, and [`render()`]
//! makes conversations of skeletons, with fresh names and with filler in place of text.
//!
//! Absent on purpose: facts. The finder of exact values reads rendered conversations like any others.

mod extract;
mod file;
mod format;
mod limits;
mod render;
mod spec;
mod words;

use compactometer_text::arguments::{Purpose, arguments};
use serde_json::Value;

pub use extract::extract;
pub use file::{SkeletonError, read, write};
pub use format::Skeletons;
pub use render::render;
pub use spec::{SkeletonSpec, open, save};

/// Whether the agent writes the argument of that name, which says nothing of where it acts.
fn is_authored(name: &str, value: &Value) -> bool {
    let named = serde_json::json!({ name: value });
    let first = arguments(&named).into_iter().next();
    first.is_some_and(|argument| argument.purpose == Purpose::Authored)
}

#[cfg(test)]
mod tests;
