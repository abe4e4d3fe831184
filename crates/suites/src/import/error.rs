//! Why an import fails.

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
        /// Why.
        source: std::io::Error,
    },
    /// Nothing stands in the file.
    #[error("`{}` is empty; expected a transcript", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is of another format.
    #[error("`{}`, line 1: expected {expected}{hint}", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// What the importer reads.
        expected: &'static str,
        /// What the file seems to be.
        hint: String,
    },
    /// The file breaks its format where no repair is possible.
    #[error("`{file}`, {place}: {what}")]
    Broken {
        /// The file.
        file: String,
        /// Line or element.
        place: String,
        /// What was found and what was expected.
        what: String,
    },
    /// Strict reading met something that it would have to repair.
    #[error("{0} (strict: leave out --strict to repair it)")]
    Strict(Repair),
    /// No file holds a conversation.
    #[error("no conversation of format `{importer}` in {files} file(s){repairs}")]
    NoConversation {
        /// The format.
        importer: &'static str,
        /// Number of files read.
        files: usize,
        /// What emptied them.
        repairs: FirstRepairs,
    },
    /// Sessions cannot be joined this way.
    #[error("cannot join sessions of `{asked}` groups: expected 2 to {groups}, the number of groups imported")]
    Concat {
        /// Groups asked for.
        asked: usize,
        /// Groups there are.
        groups: usize,
    },
    /// The table of secrets cannot be used: a bug in this program.
    #[error("table of secrets: {0}")]
    Secrets(#[from] TableError),
}

/// All repairs of a read; its display lists the first.
#[derive(Debug)]
pub struct FirstRepairs(pub Vec<Repair>);

/// Repairs that an error lists.
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
