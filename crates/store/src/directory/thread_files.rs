//! The contents of the files in a thread's folder.

use std::path::Path;

use compactometer_engine::message::MessageId;
use compactometer_engine::record::SessionRecord;
use compactometer_engine::view::Edit;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::contents::Rollback;
use crate::error::Error;
use crate::metadata::Metadata;

/// The format of all files of a thread; its index names it.
pub(super) const FORMAT: u64 = 1;

/// The commit point: what it names holds, all else is left over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileIndex {
    pub(super) format: u64,
    /// The thread's id, so that a folder that was moved or copied by hand is noticed.
    pub(super) thread: String,
    /// As [`crate::contents::Contents::sequence`].
    pub(super) sequence: u64,
    /// How many records there are.
    pub(super) records: u32,
    /// How much of the archive holds.
    pub(super) archive_bytes: u64,
    /// Commits with files of their own, oldest first.
    pub(super) commits: Vec<OwnFileCommit>,
    pub(super) rollbacks: Vec<Rollback>,
    /// What `latest.json` must say; null before the first checkpoint.
    pub(super) latest: Option<Value>,
}

/// A commit with a file of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OwnFileCommit {
    pub(super) file: String,
    pub(super) sequence: u64,
    /// Number of its first record.
    pub(super) first: u32,
    /// How many records it has.
    pub(super) records: u32,
    /// Whether a rollback can name it.
    pub(super) names_version: bool,
}

/// A commit's file. Its records are kept as text, since an older commit may be compressed against
/// their very bytes.
#[derive(Debug, Deserialize)]
pub(super) struct CommitFile {
    pub(super) thread: String,
    pub(super) sequence: u64,
    pub(super) records: Box<RawValue>,
    pub(super) view: Vec<Edit>,
    pub(super) after: MessageId,
}

/// A commit's file, as it is written.
#[derive(Serialize)]
pub(super) struct NewCommitFile<'c> {
    pub(super) thread: &'c str,
    pub(super) sequence: u64,
    pub(super) metadata: Metadata,
    pub(super) records: &'c [SessionRecord],
    pub(super) view: &'c [Edit],
    pub(super) after: MessageId,
}

impl FileIndex {
    pub(super) fn new(thread: &str) -> Self {
        FileIndex {
            format: FORMAT,
            thread: thread.to_owned(),
            sequence: 0,
            records: 0,
            archive_bytes: 0,
            commits: Vec::new(),
            rollbacks: Vec::new(),
            latest: None,
        }
    }

    /// # Errors
    /// [`Error::Newer`], before anything else is looked at; [`Error::Damaged`].
    pub(super) fn parse(bytes: &[u8], path: &Path, thread: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct StoreFormat {
            format: u64,
        }
        let StoreFormat { format } = parse(bytes, path)?;
        if format > FORMAT {
            return Err(Error::Newer {
                path: path.to_owned(),
                found: format,
                known: FORMAT,
            });
        }
        let index: FileIndex = parse(bytes, path)?;
        check_thread(&index.thread, thread, path)?;
        match index.commits.iter().find(|entry| !is_commit(&entry.file)) {
            Some(entry) => Err(Error::damaged(
                path,
                format!("it names `{}`", entry.file.escape_debug()),
            )),
            None => Ok(index),
        }
    }
}

impl CommitFile {
    /// # Errors
    /// [`Error::Damaged`], also where it is another thread's or another commit's.
    pub(super) fn parse(
        bytes: &[u8],
        path: &Path,
        thread: &str,
        sequence: u64,
    ) -> Result<Self, Error> {
        let file: CommitFile = parse(bytes, path)?;
        check_thread(&file.thread, thread, path)?;
        if file.sequence != sequence {
            return Err(Error::damaged(
                path,
                format!(
                    "it holds commit {}, the index names {sequence}",
                    file.sequence
                ),
            ));
        }
        Ok(file)
    }

    pub(super) fn records(&self, path: &Path) -> Result<Vec<SessionRecord>, Error> {
        parse(self.records.get().as_bytes(), path)
    }
}

/// Whether a name is that of a commit's file; no such name leaves its folder.
pub(super) fn is_commit(name: &str) -> bool {
    let middle = name
        .strip_prefix("checkpoint_")
        .and_then(|rest| rest.strip_suffix(".json"));
    middle.is_some_and(|middle| {
        middle
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::damaged(path, error))
}

fn check_thread(found: &str, thread: &str, path: &Path) -> Result<(), Error> {
    if found == thread {
        return Ok(());
    }
    Err(Error::damaged(
        path,
        format!("it belongs to thread `{}`", found.escape_debug()),
    ))
}
