//! A store as a SQLite database, with the table of the threshold plan. One transaction a commit;
//! write-ahead log, synced at each.

mod memory_row;
mod open;
mod query;
mod records;
mod rows;
mod summaries;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use compactometer_disk::Identity;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::backend::{Backend, ThreadChange, check_follows};
use crate::contents::{Contents, Size};
use crate::error::Error;
use crate::thread_id::ThreadId;

/// A database with the threads of one store. All threads of a process share its connection.
#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    /// SQLite continues to write to a file that has lost its name.
    identity: Identity,
    keep: usize,
    /// The version that it was of before this process brought it to the present one.
    older: Option<u64>,
    connection: Mutex<Connection>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, keep: NonZeroUsize) -> Result<Self, Error> {
        let (connection, older) = open::open(path)?;
        Ok(Sqlite {
            older,
            ..Self::new(connection, path, keep)?
        })
    }

    /// For a disk that may not be writable.
    pub(crate) fn open_to_read(path: &Path, keep: NonZeroUsize) -> Result<Self, Error> {
        Self::new(open::open_to_read(path)?, path, keep)
    }

    fn new(connection: Connection, path: &Path, keep: NonZeroUsize) -> Result<Self, Error> {
        let identity = Identity::new(&std::fs::metadata(path).map_err(Error::io("look up", path))?);
        Ok(Sqlite {
            path: path.to_owned(),
            identity,
            keep: keep.get(),
            older: None,
            connection: Mutex::new(connection),
        })
    }

    /// A transaction leaves nothing half done, so one that panicked does not spoil the connection.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn begin<'c>(
        &self,
        connection: &'c mut Connection,
        doing: &'static str,
    ) -> Result<Transaction<'c>, Error> {
        connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(self.cannot(doing))
    }

    /// Ends a change; it is kept if this succeeds.
    fn keep(&self, transaction: Transaction<'_>) -> Result<(), Error> {
        transaction.commit().map_err(self.cannot("commit"))?;
        if self.identity.is_at(&self.path) {
            Ok(())
        } else {
            Err(Error::Gone {
                path: self.path.clone(),
            })
        }
    }

    fn cannot(&self, doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
        cannot(doing, &self.path)
    }
}

impl Backend for Sqlite {
    fn older(&self) -> Option<u64> {
        self.older
    }

    fn heal(&self, _id: &ThreadId) -> Result<(), Error> {
        // The database rolls back by itself what a kill left.
        Ok(())
    }

    fn read(&self, id: &ThreadId) -> Result<Contents, Error> {
        let mut connection = self.connection();
        let transaction = connection
            .transaction()
            .map_err(self.cannot("read a thread"))?;
        rows::read(&transaction, id, &self.path)
    }

    fn append(&self, id: &ThreadId, expected: u64, change: &ThreadChange<'_>) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = self.begin(&mut connection, "begin a commit")?;
        let (sequence, records) =
            rows::ends(&transaction, id).map_err(self.cannot("read a thread"))?;
        check_follows(id, (expected, sequence), records, change)?;
        // Before the new records are written, so that they take the place of the packed ones.
        records::pack_old(&transaction, id, &self.path)?;
        rows::write(&transaction, id, (sequence + 1, records), change)
            .map_err(self.cannot("write a commit"))?;
        rows::forget_views(&transaction, id, self.keep).map_err(self.cannot("remove old views"))?;
        summaries::hide_old(&transaction, id.as_str(), self.keep)
            .map_err(self.cannot("hide old summaries"))?;
        self.keep(transaction)
    }

    fn threads(&self) -> Result<Vec<ThreadId>, Error> {
        let ids = rows::threads(&self.connection()).map_err(self.cannot("list threads"))?;
        ids.iter()
            .map(|id| ThreadId::parse(id).map_err(|error| Error::damaged(&self.path, error)))
            .collect()
    }

    fn clear(&self, id: &ThreadId) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = self.begin(&mut connection, "begin a deletion")?;
        rows::clear(&transaction, id).map_err(self.cannot("delete a thread"))?;
        memory_row::clear(&transaction, id).map_err(self.cannot("delete a thread"))?;
        self.keep(transaction)?;
        // The write-ahead log still holds what was deleted. Where another process reads, its next
        // emptying takes it.
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(self.cannot("empty the log"))
    }

    fn size(&self) -> Result<Size, Error> {
        let mut size = Size::default();
        for end in ["", "-wal", "-shm"] {
            if let Ok(metadata) = std::fs::metadata(with_ending(&self.path, end)) {
                size.bytes += metadata.len();
                size.files += 1;
            }
        }
        Ok(size)
    }

    fn memory_document(&self, id: &ThreadId) -> Result<Option<String>, Error> {
        memory_row::read(&self.connection(), id).map_err(self.cannot("read a memory document"))
    }

    fn set_memory_document(&self, id: &ThreadId, text: &str) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = self.begin(&mut connection, "begin a change")?;
        memory_row::write(&transaction, id, text)
            .map_err(self.cannot("write a memory document"))?;
        self.keep(transaction)
    }
}

/// The name of a file beside the database.
fn with_ending(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    PathBuf::from(path)
}

fn cannot(doing: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |cause| Error::Sqlite { doing, path, cause }
}
