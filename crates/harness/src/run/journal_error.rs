//! Why a run's file cannot be used.

use std::path::PathBuf;

/// A run's file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system refused.
    #[error("cannot use `{}`: {source}; make it readable and writable for this user, or name another folder", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another run writes to it, and its unfinished lines would look torn.
    #[error("another run writes to `{}`; wait for it, or choose another `--out`", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Records or their texts cannot be written.
    #[error(
        "cannot write `{}`: {source}; free space there, or make it writable for this user: finished cases are kept, and the same \
         command resumes", path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The run's files are no longer where they were opened, so nobody will find what is written to
    /// them.
    #[error(
        "the run's folder `{}` was removed or replaced while the run wrote to it; move it back and give the same command to \
         resume, or give the command again to start over", dir.display()
    )]
    Gone {
        /// The folder.
        dir: PathBuf,
    },
    /// A record refers to a text that is not there.
    #[error("`{}` lacks the text `{hash}` of a record; choose another `--out`, or delete the folder to run again", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The text's hash.
        hash: String,
    },
    /// A whole line is damaged.
    #[error("`{}`, line {line}: {what}; choose another `--out`, or delete the folder to run again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What was found.
        what: String,
    },
}
