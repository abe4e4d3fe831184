//! Everything that can go wrong in a store. Each text names the place and what to do.

use std::io;
use std::path::{Path, PathBuf};

use compactometer_engine::store::StoreError;

/// Why a store could not do what was asked. What was kept before stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No thread can have this id.
    #[error("thread id {id} {why}")]
    ThreadId {
        /// The id as a quoted, cut and escaped text, or how long it is.
        id: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The file system refused.
    #[error("cannot {doing} `{}`: {cause}{}", path.display(), advice(cause))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What it answered; not a source of this error, whose text says it with what to do.
        cause: io::Error,
    },
    /// The database refused.
    #[cfg(feature = "sqlite")]
    #[error("cannot {doing} in `{}`: {cause}{}", path.display(), sqlite_advice(cause))]
    Sqlite {
        /// What was tried.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// What it answered; not a source of this error, whose text says it with what to do.
        cause: rusqlite::Error,
    },
    /// The database is no longer where it was opened, so nobody will find what is written to it.
    #[cfg(feature = "sqlite")]
    #[error("`{}` was removed or replaced while it was in use: move it back, or start over", path.display())]
    Gone {
        /// The database.
        path: PathBuf,
    },
    /// Something in the store is torn, or was not written by this library.
    #[error("`{}` is not a whole file of this store: {why}; it was left as it is: restore it from a copy, or move it away", path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// What does not hold.
        why: String,
    },
    /// A later version of this library wrote it.
    #[error("`{}` has format {found}; this version reads up to {known}: use the newer version that wrote it", path.display())]
    Newer {
        /// Where.
        path: PathBuf,
        /// The format that it names.
        found: u64,
        /// The latest format that is known.
        known: u64,
    },
    /// A read-only database has commits in its log, and SQLite cannot read a log without writing.
    #[cfg(feature = "sqlite")]
    #[error(
        "`{}` is on a disk that cannot be written, and its latest commits are in `{}`; copy both files to another folder and \
         name the copy",
        path.display(),
        log.display()
    )]
    LogUnread {
        /// The database.
        path: PathBuf,
        /// Its log.
        log: PathBuf,
    },
    /// Somebody else committed to the thread in the meantime.
    #[error(
        "thread `{thread}` changed since it was loaded ({what}): load it again and restore the session from that"
    )]
    Conflict {
        /// The thread.
        thread: String,
        /// What was expected and what is there.
        what: String,
    },
    /// Another process holds the thread for longer than a commit takes.
    #[error("`{}` has been locked for {seconds} s: end the process that holds it", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// There is no such record.
    #[error("thread `{thread}` has no {what}; it has {has}")]
    Missing {
        /// The thread.
        thread: String,
        /// What was asked for.
        what: String,
        /// What there is.
        has: String,
    },
}

impl Error {
    /// Whether the disk is full: nothing that a caller passed was wrong.
    pub fn is_of_full_disk(&self) -> bool {
        match self {
            Error::Io { cause, .. } => FULL.contains(&cause.kind()),
            #[cfg(feature = "sqlite")]
            Error::Sqlite { cause, .. } => {
                cause.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
            }
            _ => false,
        }
    }

    /// Whether only writing is impossible: the database may still be read.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_of_place(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        let Error::Sqlite { cause, .. } = self else {
            return false;
        };
        matches!(
            cause.sqlite_error_code(),
            Some(CannotOpen | PermissionDenied | ReadOnly)
        )
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |cause| Error::Io { doing, path, cause }
    }

    pub(crate) fn damaged(path: &Path, why: impl ToString) -> Error {
        Error::Damaged {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }
}

/// The file system's errors on a full disk.
const FULL: [io::ErrorKind; 2] = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];

fn advice(cause: &io::Error) -> &'static str {
    match cause.kind() {
        kind if FULL.contains(&kind) => "; nothing was lost: free space there, then commit again",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; nothing was lost: make the folder writable for this user, or name another"
        }
        io::ErrorKind::NotFound => "; move back what was removed, or start over",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "; name a folder",
        _ => "; what was committed before is kept: check the disk, then try again",
    }
}

#[cfg(feature = "sqlite")]
/// What to do about an error, for its text.
fn sqlite_advice(error: &rusqlite::Error) -> &'static str {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "; nothing was lost: free space there, then commit again",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "; nothing was lost: make file and folder writable for this user, or name another file"
        }
        Some(ErrorCode::CannotOpen) => {
            "; nothing was lost: name a file in a folder that exists, and make both writable for this user"
        }
        Some(ErrorCode::NotADatabase) => "; it was left as it is: name another file",
        Some(ErrorCode::DatabaseCorrupt) => "; restore the file from a copy",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; end the process that holds it"
        }
        Some(ErrorCode::SystemIoFailure) => {
            "; what was committed before is kept: check the disk, then try again"
        }
        _ => "",
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        StoreError(error.to_string())
    }
}
