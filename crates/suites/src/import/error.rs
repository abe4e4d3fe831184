//! The errors of an import.

use std::path::PathBuf;

use super::repair::Repair;

/// A transcript that cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read at all.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The suite cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The suite's file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Strict reading found something that needs a repair.
    #[error("{0} (strict: leave out --strict to repair it)")]
    Strict(Repair),
    /// The files hold no transcript of the format, or cannot be joined as requested.
    #[error("{0}")]
    Other(String),
}

/// The number of repairs that an error lists.
const LISTED: usize = 3;

/// All repairs made while reading, the first of them in words, as the end of an error.
pub(super) fn first_repairs(repairs: &[Repair]) -> String {
    let mut text = String::new();
    for (at, repair) in repairs.iter().take(LISTED).enumerate() {
        text += &format!("{} {repair}", if at == 0 { ":" } else { ";" });
    }
    match repairs.len().saturating_sub(LISTED) {
        0 => text,
        more => format!(
            "{text}; and {more} more repair{}",
            if more == 1 { "" } else { "s" }
        ),
    }
}
