//! A repair of what was read.

use std::fmt;

use compactometer_text::code::code;

/// A repair that the importer made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The file, as the user named it.
    pub file: String,
    /// The line, element or message.
    pub place: String,
    /// What was wrong and what was done.
    pub what: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {}: {}", code(&self.file), self.place, self.what)
    }
}

/// A number with its noun.
pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
