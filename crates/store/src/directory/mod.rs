//! A store as a folder of files, in the layout of the strategic plan.
//!
//! `<root>/<thread>/checkpoints/.checkpoint_index` is the commit point: it is replaced by a synced
//! file in one rename, after all that it names was written and synced. A kill at any moment so
//! leaves the commit before or the new one; what is left over is taken away when the thread is next
//! opened. `latest.json` is derived from the index.

mod archive;
mod disk;
mod memory_file;
mod read;
#[cfg(test)]
mod tests;
mod thread_files;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use compactometer_engine::record::RecordKind;
use serde_json::Value;

use self::disk::Hold;
use self::thread_files::{CommitFile, FileIndex, NewCommitFile, OwnFileCommit};
use crate::backend::{Backend, ThreadChange, check_follows};
use crate::contents::{Contents, Size, names_version, to_fold};
use crate::error::Error;
use crate::metadata::{self, Metadata};
use crate::thread_id::ThreadId;

/// A folder with one folder for each thread.
#[derive(Debug)]
pub(crate) struct Directory {
    root: PathBuf,
    keep: usize,
}

const LOCKS: &str = ".locks";
const CHECKPOINTS: &str = "checkpoints";
const REMOVED: &str = ".checkpoints_removed";
const INDEX: &str = ".checkpoint_index";
const LATEST: &str = "latest.json";
const ARCHIVE: &str = "history.zst";

/// Threads share this many locks, so that no lock outlives its thread.
const LOCK_FILES: u8 = 64;

impl Directory {
    pub(crate) fn open(root: &Path, keep: NonZeroUsize) -> Result<Self, Error> {
        disk::create_folder(&root.join(LOCKS))?;
        Ok(Directory {
            root: root.to_owned(),
            keep: keep.get(),
        })
    }

    fn thread(&self, id: &ThreadId) -> PathBuf {
        self.root.join(id.folder())
    }

    fn folder(&self, id: &ThreadId) -> PathBuf {
        self.thread(id).join(CHECKPOINTS)
    }

    fn lock(&self, id: &ThreadId, hold: Hold) -> Result<fs::File, Error> {
        let hash = id
            .folder()
            .bytes()
            .fold(0_u8, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte));
        disk::lock(
            &self.root.join(LOCKS).join((hash % LOCK_FILES).to_string()),
            hold,
        )
    }

    /// The folder of a thread's first commit, with an index that names nothing.
    fn create(&self, id: &ThreadId) -> Result<FileIndex, Error> {
        let folder = self.folder(id);
        disk::create_folder(&folder)?;
        // Before the index is written, since a thread with an index is not made again.
        disk::sync_folder(&self.root)?;
        let index = FileIndex::new(id.as_str());
        write_index(&folder, &index)?;
        Ok(index)
    }

    /// Moves the oldest commits into the archive until `keep` are left; gives the names of their
    /// files.
    fn fold(&self, folder: &Path, index: &mut FileIndex) -> Result<Vec<String>, Error> {
        let mut frames = Vec::new();
        let mut folded = Vec::new();
        loop {
            let names = index
                .commits
                .iter()
                .map(|entry| entry.names_version)
                .collect::<Vec<_>>();
            let Some(at) = to_fold(&names, self.keep) else {
                break;
            };
            let entry = index.commits.remove(at);
            if entry.records > 0 {
                let newer = index.commits[at..].iter().find(|newer| newer.records > 0);
                let newer = newer
                    .map(|newer| Ok((newer.sequence, read::raw_records(folder, index, newer)?)))
                    .transpose()?;
                let dictionary = newer
                    .as_ref()
                    .map(|(sequence, records)| (*sequence, records.as_slice()));
                let records = read::raw_records(folder, index, &entry)?;
                let path = folder.join(ARCHIVE);
                frames.extend(
                    archive::frame(entry.sequence, &records, dictionary)
                        .map_err(Error::io("fill", &path))?,
                );
            }
            folded.push(entry.file);
        }
        if !frames.is_empty() {
            disk::append(&folder.join(ARCHIVE), index.archive_bytes, &frames)?;
            index.archive_bytes += frames.len() as u64;
        }
        Ok(folded)
    }
}

impl Backend for Directory {
    fn heal(&self, id: &ThreadId) -> Result<(), Error> {
        if !self.thread(id).exists() {
            return Ok(());
        }
        let _lock = self.lock(id, Hold::Alone)?;
        disk::remove_folder(&self.thread(id).join(REMOVED))?;
        let folder = self.folder(id);
        if let Some(index) = read::index(&folder, id)? {
            // On a full disk the thread can be read all the same; the next opening tries again.
            let _ = tidy(&folder, &index);
        }
        Ok(())
    }

    fn read(&self, id: &ThreadId) -> Result<Contents, Error> {
        let _lock = self.lock(id, Hold::Shared)?;
        let folder = self.folder(id);
        match read::index(&folder, id)? {
            Some(index) => read::all(&folder, index),
            None => Ok(Contents::default()),
        }
    }

    fn append(&self, id: &ThreadId, expected: u64, change: &ThreadChange<'_>) -> Result<(), Error> {
        let _lock = self.lock(id, Hold::Alone)?;
        let folder = self.folder(id);
        let found = read::index(&folder, id)?;
        let at = found
            .as_ref()
            .map_or((0, 0), |index| (index.sequence, index.records));
        check_follows(id, (expected, at.0), at.1, change)?;
        let index = found.map_or_else(|| self.create(id), Ok)?;
        let mut index = next(index, change);
        let entry = &index.commits[index.commits.len() - 1];
        disk::replace(
            &folder.join(&entry.file),
            &commit_file(id, entry.sequence, change),
        )?;
        if change.rollback.is_some() {
            let contents = read::all(&folder, index.clone())?;
            index.latest = latest_of(id, &contents);
        }
        let folded = self.fold(&folder, &mut index)?;
        disk::sync_folder(&folder)?;
        write_index(&folder, &index)?;
        // It holds from here on; what fails now is made good when the thread is next opened.
        for file in folded {
            let _ = disk::remove_file(&folder.join(file));
        }
        let _ = write_latest(&folder, &index);
        Ok(())
    }

    fn threads(&self) -> Result<Vec<ThreadId>, Error> {
        let ids = disk::names(&self.root)?
            .into_iter()
            .filter_map(|name| ThreadId::of_folder(&name));
        Ok(ids
            .filter(|id| self.folder(id).join(INDEX).exists())
            .collect())
    }

    fn clear(&self, id: &ThreadId) -> Result<(), Error> {
        let _lock = self.lock(id, Hold::Alone)?;
        let (thread, removed) = (self.thread(id), self.thread(id).join(REMOVED));
        disk::remove_folder(&removed)?;
        if !self.folder(id).exists() {
            return Ok(());
        }
        disk::rename(&self.folder(id), &removed)?;
        disk::sync_folder(&thread)?;
        disk::remove_folder(&removed)?;
        // Where the agent keeps more of the thread here, the folder stays.
        let _ = fs::remove_dir(&thread);
        Ok(())
    }

    fn size(&self) -> Result<Size, Error> {
        let mut size = Size::default();
        for name in disk::names(&self.root)?
            .iter()
            .filter(|name| ThreadId::of_folder(name).is_some())
        {
            let folder = self.root.join(name).join(CHECKPOINTS);
            for file in disk::names(&folder)? {
                let path = folder.join(file);
                size.bytes += fs::metadata(&path)
                    .map_err(Error::io("read the size of", &path))?
                    .len();
                size.files += 1;
            }
        }
        Ok(size)
    }

    fn memory_document(&self, id: &ThreadId) -> Result<Option<String>, Error> {
        let _lock = self.lock(id, Hold::Shared)?;
        memory_file::read(&self.folder(id))
    }

    fn set_memory_document(&self, id: &ThreadId, text: &str) -> Result<(), Error> {
        let _lock = self.lock(id, Hold::Alone)?;
        memory_file::write(&self.folder(id), text)?;
        disk::sync_folder(&self.root)
    }
}

/// The index after a change; its last entry is the change's own.
fn next(mut index: FileIndex, change: &ThreadChange<'_>) -> FileIndex {
    let saved = change.commit.saved;
    index.sequence += 1;
    let time = saved
        .last()
        .and_then(|saved| saved.created_at_ms)
        .and_then(metadata::timestamp);
    let time = time.map_or("untimed".to_owned(), |time| {
        time.strftime("%Y%m%d_%H%M%S").to_string()
    });
    index.commits.push(OwnFileCommit {
        // The sequence keeps two commits of one second apart.
        file: format!("checkpoint_{time}_{:06}.json", index.sequence),
        sequence: index.sequence,
        first: index.records,
        records: saved.len() as u32,
        names_version: names_version(saved),
    });
    index.records += saved.len() as u32;
    index.rollbacks.extend(change.rollback);
    let metadata = Metadata::of_commit(&index.thread, saved, cost(change));
    if let Some(checkpoint) = saved
        .iter()
        .rev()
        .find(|saved| saved.kind == RecordKind::Checkpoint)
    {
        index.latest = Some(metadata::document(&checkpoint.body, &metadata));
    } else if let (Some(latest), Some(error)) = (&mut index.latest, metadata.extraction_error) {
        // A failed attempt never takes the place of a good checkpoint; it is told beside it.
        if let Some(metadata) = latest.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("extraction_error".to_owned(), Value::String(error));
        }
    }
    index
}

fn cost(change: &ThreadChange<'_>) -> Option<f64> {
    change
        .costs
        .iter()
        .copied()
        .sum::<Option<f64>>()
        .filter(|_| !change.costs.is_empty())
}

fn commit_file(id: &ThreadId, sequence: u64, change: &ThreadChange<'_>) -> Vec<u8> {
    let file = NewCommitFile {
        thread: id.as_str(),
        sequence,
        metadata: Metadata::of_commit(id.as_str(), change.commit.saved, cost(change)),
        records: change.commit.saved,
        view: change.commit.view,
        after: change.commit.after,
    };
    // Only strings, numbers and lists: nothing that JSON refuses.
    serde_json::to_vec(&file).unwrap_or_default()
}

/// After a rollback: the newest checkpoint that still holds. Its cost is not told again.
fn latest_of(id: &ThreadId, contents: &Contents) -> Option<Value> {
    let saved = contents
        .latest()
        .filter(|saved| saved.kind == RecordKind::Checkpoint)?;
    let metadata = Metadata::of_commit(id.as_str(), std::slice::from_ref(saved), None);
    Some(metadata::document(&saved.body, &metadata))
}

fn write_index(folder: &Path, index: &FileIndex) -> Result<(), Error> {
    disk::replace(
        &folder.join(INDEX),
        &serde_json::to_vec(index).unwrap_or_default(),
    )?;
    disk::sync_folder(folder)
}

/// Takes away what a kill left, and writes `latest.json` where it is not as the index says.
fn tidy(folder: &Path, index: &FileIndex) -> Result<(), Error> {
    for name in disk::names(folder)? {
        if is_left_over(folder, index, &name) {
            disk::remove_file(&folder.join(name))?;
        }
    }
    write_latest(folder, index)
}

/// A commit's file that the index does not name, or a file that was being written. What this store
/// did not write is not its to remove.
fn is_left_over(folder: &Path, index: &FileIndex, name: &str) -> bool {
    let whole = name.strip_suffix(".partial");
    match whole {
        Some(whole) => {
            [INDEX, LATEST, memory_file::FILE].contains(&whole) || thread_files::is_commit(whole)
        }
        None if thread_files::is_commit(name)
            && !index.commits.iter().any(|entry| entry.file == name) =>
        {
            let bytes = fs::read(folder.join(name)).unwrap_or_default();
            let file = serde_json::from_slice::<CommitFile>(&bytes);
            file.is_ok_and(|file| file.thread == index.thread)
        }
        None => false,
    }
}

fn write_latest(folder: &Path, index: &FileIndex) -> Result<(), Error> {
    let path = folder.join(LATEST);
    let found = disk::read(&path)?;
    match &index.latest {
        None if found.is_none() => Ok(()),
        None => disk::remove_file(&path),
        Some(latest) => {
            let text = format!("{latest:#}\n").into_bytes();
            if found.as_ref() == Some(&text) {
                Ok(())
            } else {
                disk::replace(&path, &text)
            }
        }
    }
}
