//! Reading a thread's folder. What is not as the index says is an error that names the file.

use std::path::Path;

use super::thread_files::{CommitFile, FileIndex, OwnFileCommit};
use super::{ARCHIVE, INDEX, archive, disk};
use crate::contents::{CommittedView, Contents};
use crate::error::Error;
use crate::thread_id::ThreadId;

/// The thread's index; none before its first commit.
pub(super) fn index(folder: &Path, id: &ThreadId) -> Result<Option<FileIndex>, Error> {
    let path = folder.join(INDEX);
    if let Some(bytes) = disk::read(&path)? {
        return FileIndex::parse(&bytes, &path, id.as_str()).map(Some);
    }
    // The index comes before all else, so files without one were left by something else than a
    // kill.
    let left = disk::names(folder)?
        .into_iter()
        .find(|name| name == ARCHIVE || name.starts_with("checkpoint_"));
    match left {
        Some(left) => Err(Error::damaged(
            &path,
            format!("it is missing, and `{left}` beside it is there"),
        )),
        None => Ok(None),
    }
}

fn commit(folder: &Path, thread: &str, entry: &OwnFileCommit) -> Result<CommitFile, Error> {
    let path = folder.join(&entry.file);
    let bytes = disk::read(&path)?
        .ok_or_else(|| Error::damaged(&path, "the index names it, and it is missing"))?;
    CommitFile::parse(&bytes, &path, thread, entry.sequence)
}

/// The very bytes of a commit's records.
pub(super) fn raw_records(
    folder: &Path,
    index: &FileIndex,
    entry: &OwnFileCommit,
) -> Result<Vec<u8>, Error> {
    Ok(commit(folder, &index.thread, entry)?
        .records
        .get()
        .as_bytes()
        .to_vec())
}

/// Everything that an index names.
pub(super) fn all(folder: &Path, index: FileIndex) -> Result<Contents, Error> {
    let mut history = Vec::new();
    let mut kept = Vec::new();
    let mut plain = archive::Plain::new();
    for entry in &index.commits {
        let file = commit(folder, &index.thread, entry)?;
        history.extend(file.records(&folder.join(&entry.file))?);
        plain.insert(entry.sequence, file.records.get().as_bytes().to_vec());
        kept.push(CommittedView {
            numbers: entry.first..entry.first.saturating_add(entry.records),
            view: file.view,
            after: file.after,
        });
    }
    let path = folder.join(ARCHIVE);
    if index.archive_bytes > 0 {
        let bytes = disk::read_start(&path, index.archive_bytes)?;
        let short = || {
            Error::damaged(
                &path,
                format!(
                    "it has less than the {} bytes of the index",
                    index.archive_bytes
                ),
            )
        };
        history.extend(archive::records(&bytes.ok_or_else(short)?, plain, &path)?);
    }
    history.sort_by_key(|saved| saved.number);
    if !history
        .iter()
        .map(|saved| saved.number)
        .eq(0..index.records)
    {
        let why = format!(
            "it names {} records, and its files do not hold just those",
            index.records
        );
        return Err(Error::damaged(&folder.join(INDEX), why));
    }
    let contents = Contents {
        sequence: index.sequence,
        history,
        rollbacks: index.rollbacks,
        kept,
    };
    contents
        .check()
        .map_err(|why| Error::damaged(&folder.join(INDEX), why))?;
    Ok(contents)
}
