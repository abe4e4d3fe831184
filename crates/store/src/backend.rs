//! What every kind of store can do, and the change of a thread that it keeps.

use std::fmt;

use compactometer_engine::store::Commit;

use crate::contents::{Contents, Rollback, Size};
use crate::error::Error;
use crate::thread_id::ThreadId;

/// What a kind of store does. `expected` is the sequence that the caller read.
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// The format before this process brought it to the present one; none where it was left as it
    /// is.
    fn older(&self) -> Option<u64> {
        None
    }
    /// Makes good what a kill left half done; a thread that never was stays so.
    fn heal(&self, id: &ThreadId) -> Result<(), Error>;
    fn read(&self, id: &ThreadId) -> Result<Contents, Error>;
    fn append(&self, id: &ThreadId, expected: u64, change: &ThreadChange<'_>) -> Result<(), Error>;
    fn threads(&self) -> Result<Vec<ThreadId>, Error>;
    fn clear(&self, id: &ThreadId) -> Result<(), Error>;
    fn size(&self) -> Result<Size, Error>;
    fn memory_document(&self, id: &ThreadId) -> Result<Option<String>, Error>;
    fn set_memory_document(&self, id: &ThreadId, text: &str) -> Result<(), Error>;
}

/// One step of a thread.
#[derive(Debug)]
pub(crate) struct ThreadChange<'c> {
    pub(crate) commit: Commit<'c>,
    pub(crate) rollback: Option<Rollback>,
    /// US dollars of each record's calls, as many as there are records.
    pub(crate) costs: Vec<Option<f64>>,
}

/// Whether a change goes on from what is there.
///
/// # Errors
/// [`Error::Conflict`], saying how not.
pub(crate) fn check_follows(
    id: &ThreadId,
    (expected, sequence): (u64, u64),
    records: u32,
    change: &ThreadChange<'_>,
) -> Result<(), Error> {
    let conflict = |what| {
        Err(Error::Conflict {
            thread: id.to_string(),
            what,
        })
    };
    if expected != sequence {
        return conflict(format!("commit {expected} was loaded, {sequence} is there"));
    }
    let numbers = change.commit.saved.iter().map(|saved| saved.number);
    if let Some((at, number)) = (records..).zip(numbers).find(|(at, number)| at != number) {
        return conflict(format!("record {number} was to be kept where {at} is next"));
    }
    Ok(())
}
