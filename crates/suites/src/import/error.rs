//! The errors of an import.

use std::fmt;
use std::path::PathBuf;

use super::report::Repair;
use super::secrets::TableError;

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
    /// The file is empty.
    #[error("`{}` is empty; expected a transcript", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file has another format.
    #[error("`{}`, line 1: expected {expected}{hint}", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// The format that the importer reads.
        expected: &'static str,
        /// The format that the file seems to have.
        hint: String,
    },
    /// The file violates its format and cannot be repaired.
    #[error("`{file}`, {place}: {what}")]
    Broken {
        /// The file.
        file: String,
        /// The line or element.
        place: String,
        /// What was found and what was expected.
        what: String,
    },
    /// Strict reading found something that needs a repair.
    #[error("{0} (strict: leave out --strict to repair it)")]
    Strict(Repair),
    /// No file contains a conversation.
    #[error("no conversation of format `{importer}` in {files} file(s){repairs}")]
    NoConversation {
        /// The format.
        importer: &'static str,
        /// Number of files read.
        files: usize,
        /// The repairs that removed their content.
        repairs: FirstRepairs,
    },
    /// Sessions cannot be joined this way.
    #[error("cannot join sessions of `{asked}` groups: expected 2 to {groups}, the number of groups imported")]
    Concat {
        /// The number of groups requested.
        asked: usize,
        /// The number of groups imported.
        groups: usize,
    },
    /// The table of secrets is invalid, which is a bug in this program.
    #[error("table of secrets: {0}")]
    Secrets(#[from] TableError),
}

/// All repairs made while reading. `Display` lists the first.
#[derive(Debug)]
pub struct FirstRepairs(pub Vec<Repair>);

/// The number of repairs that an error lists.
const LISTED: usize = 3;

impl fmt::Display for FirstRepairs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, repair) in self.0.iter().take(LISTED).enumerate() {
            write!(out, "{} {repair}", if at == 0 { ":" } else { ";" })?;
        }
        match self.0.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(out, "; and {more} more repair{}", if more == 1 { "" } else { "s" }),
        }
    }
}
