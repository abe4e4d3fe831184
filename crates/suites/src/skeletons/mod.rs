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
mod render;
mod session_limits;
mod spec;
mod words;

use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_text::arguments::{ArgumentPurpose, arguments};
use serde_json::Value;

pub use extract::extract;
pub use file::{SkeletonError, read, write};
pub use format::Skeletons;
pub use render::render;
pub use spec::{SkeletonSpec, open, save};

/// An atom with capitals at these places.
fn cased(atom: &str, capitals: &[u16]) -> String {
    let letters = atom.chars().enumerate();
    letters
        .map(|(place, letter)| match capitals.contains(&(place as u16)) {
            true => letter.to_ascii_uppercase(),
            false => letter,
        })
        .collect()
}

/// The tokens (o200k_base) of an atom after a slash, with its humps.
fn tokens_of(atom: &str, humps: &[u16]) -> u32 {
    Encoding::O200k.count_text(&format!("/{}", cased(atom, humps)))
}

/// Whether the agent writes the argument of that name, which says nothing of where it acts.
fn is_authored(name: &str, value: &Value) -> bool {
    let named = serde_json::json!({ name: value });
    let first = arguments(&named).into_iter().next();
    first.is_some_and(|argument| argument.purpose == ArgumentPurpose::Authored)
}

#[cfg(test)]
mod tests;
