//! The one way in: a store of either kind, and a thread of it that a session commits to.
//!
//! Absent on purpose: sharing checkpoints between threads; a thread reads and writes only its own
//! data.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use compactometer_engine::record::SessionRecord;
use compactometer_engine::store::{Commit, State, Store, StoreError};

use crate::backend::{Backend, ThreadChange};
use crate::contents::{Contents, Rollback, Size, Version};
use crate::directory::Directory;
use crate::error::Error;
use crate::thread_id::ThreadId;

/// How many commits keep the view that a rollback needs (the strategic plan: "keep only last 10
/// checkpoints").
pub const KEEP: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

/// A store of many threads; each holds one conversation's records and view. Clones share it.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    backend: Arc<dyn Backend>,
}

/// One conversation of a store, as this process knows it. [`Thread::load`] before the first commit
/// to what exists.
pub struct Thread {
    backend: Arc<dyn Backend>,
    id: ThreadId,
    /// The sequence that this process saw last; a commit is refused where another process went on
    /// from it.
    sequence: u64,
    price: Option<Price>,
}

/// US dollars of the calls whose usage is on a record; none where they are unknown.
type Price = Box<dyn Fn(&SessionRecord) -> Option<f64> + Send + Sync>;

/// Which record to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The newest checkpoint that no rollback hides; if there is none, the newest such summary.
    Latest,
    /// The record with this number, rolled back or not.
    Number(u32),
}

impl Checkpoints {
    /// A folder of files (the strategic plan, part 3), made where it is missing. `keep`: [`KEEP`]
    /// unless there is a reason.
    ///
    /// # Errors
    /// [`Error`], where the folder cannot be made or written.
    pub fn in_directory(root: &Path, keep: NonZeroUsize) -> Result<Self, Error> {
        Ok(Checkpoints {
            backend: Arc::new(Directory::open(root, keep)?),
        })
    }

    /// A SQLite database (the threshold plan, step 1), made where it is missing.
    ///
    /// # Errors
    /// [`Error`], where the file cannot be opened, is another program's or a newer version's.
    #[cfg(feature = "sqlite")]
    pub fn in_sqlite(path: &Path, keep: NonZeroUsize) -> Result<Self, Error> {
        Ok(Checkpoints {
            backend: Arc::new(crate::sqlite::Sqlite::open(path, keep)?),
        })
    }

    /// An existing SQLite database, for reading; it may be on a disk that cannot be written.
    ///
    /// # Errors
    /// As [`Checkpoints::in_sqlite`]; and if the disk cannot be written and the database's log
    /// still holds commits.
    #[cfg(feature = "sqlite")]
    pub fn in_sqlite_to_read(path: &Path, keep: NonZeroUsize) -> Result<Self, Error> {
        Ok(Checkpoints {
            backend: Arc::new(crate::sqlite::Sqlite::open_to_read(path, keep)?),
        })
    }

    /// The format that a database was of before opening it brought it to the present one, which
    /// older programs cannot read; none where nothing was changed.
    pub fn older_format(&self) -> Option<u64> {
        self.backend.older()
    }

    /// A thread, existing or new; what a kill left half done is made good.
    ///
    /// # Errors
    /// [`Error::ThreadId`] for an id that no thread can have; else what reading it met.
    pub fn thread(&self, id: &str) -> Result<Thread, Error> {
        let id = ThreadId::parse(id)?;
        self.backend.heal(&id)?;
        Ok(Thread {
            backend: Arc::clone(&self.backend),
            id,
            sequence: 0,
            price: None,
        })
    }

    /// Ids of all threads, sorted.
    ///
    /// # Errors
    /// [`Error`], where the store cannot be read.
    pub fn threads(&self) -> Result<Vec<String>, Error> {
        let mut ids = self.backend.threads()?;
        ids.sort();
        Ok(ids.iter().map(|id| id.as_str().to_owned()).collect())
    }

    /// Deletes all data of a thread, for good: also where a file of it is damaged. One that is not
    /// there is no error.
    ///
    /// # Errors
    /// [`Error`], where the store cannot be written.
    pub fn clear(&self, id: &str) -> Result<(), Error> {
        self.backend.clear(&ThreadId::parse(id)?)
    }

    /// What the whole store takes on disk; empty lock files do not count.
    ///
    /// # Errors
    /// [`Error`], where the store cannot be read.
    pub fn size(&self) -> Result<Size, Error> {
        self.backend.size()
    }
}

impl Thread {
    /// Gives each record's cost: US dollars of the calls whose usage it has. Without it, costs are
    /// unknown.
    #[must_use]
    pub fn priced(
        self,
        price: impl Fn(&SessionRecord) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Thread {
            price: Some(Box::new(price)),
            ..self
        }
    }

    /// What was committed last, for a session to start from. What was rolled back counts as failed
    /// attempts.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Newer`] or what reading met.
    pub fn load(&mut self) -> Result<State, Error> {
        let contents = self.backend.read(&self.id)?;
        self.sequence = contents.sequence;
        Ok(contents.into_state())
    }

    /// Every record, oldest first.
    ///
    /// # Errors
    /// As [`Thread::load`].
    pub fn versions(&self) -> Result<Vec<Version>, Error> {
        Ok(self.backend.read(&self.id)?.versions())
    }

    /// One record as it was written.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is none; else as [`Thread::load`].
    pub fn show(&self, which: Which) -> Result<SessionRecord, Error> {
        let contents = self.backend.read(&self.id)?;
        let found = match which {
            Which::Latest => contents.latest(),
            Which::Number(number) => contents.history.iter().find(|saved| saved.number == number),
        };
        found.cloned().ok_or_else(|| match which {
            Which::Latest => self.missing("checkpoint or summary that holds".to_owned(), &contents),
            Which::Number(number) => self.missing(format!("record {number}"), &contents),
        })
    }

    /// Goes back to the view after the commit of that record, and gives the state from there on.
    /// Nothing is deleted: later records stay listed, and one can go forth to them again while
    /// their view is kept. Messages said since follow the view as they were said.
    ///
    /// # Errors
    /// [`Error::Missing`] where the record's view is not among those kept; [`Error::Conflict`]
    /// where another process committed meanwhile; else as [`Thread::load`].
    pub fn rollback(&mut self, number: u32) -> Result<State, Error> {
        let contents = self.backend.read(&self.id)?;
        let Some(kept) = contents.kept_with(number) else {
            return Err(self.missing(format!("kept view of record {number}"), &contents));
        };
        let rollback = Rollback {
            at: contents.history.len() as u32,
            to: kept.numbers.end - 1,
        };
        let commit = Commit {
            saved: &[],
            view: &kept.view,
            after: kept.after,
        };
        let change = ThreadChange {
            commit,
            rollback: Some(rollback),
            costs: Vec::new(),
        };
        self.backend.append(&self.id, contents.sequence, &change)?;
        self.load()
    }

    /// The document that the agent keeps beside the conversation (the agent loop, section 8:
    /// `MEMORY.md`), for `compactometer_engine::memory::document`; none where none was written.
    ///
    /// # Errors
    /// [`Error`], where it cannot be read or is not text.
    pub fn memory_document(&self) -> Result<Option<String>, Error> {
        self.backend.memory_document(&self.id)
    }

    /// Puts a document in place of the one before, whole or not at all; the last writer wins. No
    /// commit or rollback touches it; clearing the thread deletes it.
    ///
    /// # Errors
    /// [`Error`], where it cannot be written; the one before stays.
    pub fn set_memory_document(&self, text: &str) -> Result<(), Error> {
        self.backend.set_memory_document(&self.id, text)
    }

    /// Keeps a session's decisions as [`Store::commit`] does, but with a typed error.
    ///
    /// # Errors
    /// [`Error`]; earlier commits stay as they were.
    pub fn append(&mut self, commit: &Commit<'_>) -> Result<(), Error> {
        let cost = |saved: &SessionRecord| self.price.as_ref().and_then(|price| price(saved));
        let change = ThreadChange {
            commit: *commit,
            rollback: None,
            costs: commit.saved.iter().map(cost).collect(),
        };
        self.backend.append(&self.id, self.sequence, &change)?;
        self.sequence += 1;
        Ok(())
    }

    fn missing(&self, what: String, contents: &Contents) -> Error {
        let restorable = contents
            .versions()
            .into_iter()
            .filter(|version| version.restorable);
        let numbers = restorable
            .map(|version| version.number.to_string())
            .collect::<Vec<_>>();
        let views = if numbers.is_empty() {
            "none".to_owned()
        } else {
            numbers.join(", ")
        };
        let has = format!(
            "{} records, with the views of: {views}",
            contents.history.len()
        );
        Error::Missing {
            thread: self.id.to_string(),
            what,
            has,
        }
    }
}

impl Store for Thread {
    fn commit(&mut self, commit: &Commit<'_>) -> Result<(), StoreError> {
        Ok(self.append(commit)?)
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Thread")
            .field("id", &self.id)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}
