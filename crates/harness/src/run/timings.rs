//! The file of measured times in a run's folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use compactometer_disk::{input, write_whole};
use compactometer_formats::record::Record;
use compactometer_formats::timings::{CaseTimings, Timings};

use super::journal_error::JournalError;

const FILE: &str = "timings.json";

/// The measured times of a run in progress.
pub(crate) struct TimingsFile {
    path: PathBuf,
    timings: Timings,
}

impl TimingsFile {
    /// Reads the folder's file. A file that cannot be read counts as empty, since only times are
    /// lost.
    pub(crate) fn open(dir: &Path) -> Self {
        let path = dir.join(FILE);
        let text = input::open(&path)
            .and_then(std::io::read_to_string)
            .unwrap_or_default();
        TimingsFile {
            path,
            timings: Timings::parse(&text).unwrap_or_default(),
        }
    }

    /// Moves measured times out of the cases' records and adds the seconds that each case took. If
    /// a server was called, the file is written at once: its latencies cannot be measured again.
    ///
    /// # Errors
    /// [`JournalError::Write`] and [`JournalError::Gone`].
    pub(crate) fn take<'r>(
        &mut self,
        cases: impl Iterator<Item = (&'r mut Record, f64)>,
    ) -> Result<(), JournalError> {
        let mut is_measured = false;
        for (record, seconds) in cases {
            let timings = CaseTimings::take(record, seconds);
            is_measured |= !timings.calls.is_empty();
            self.timings.cases.insert(record.key.clone(), timings);
        }
        if is_measured { self.write() } else { Ok(()) }
    }

    /// # Errors
    /// [`JournalError::Write`] and [`JournalError::Gone`].
    pub(crate) fn write(&self) -> Result<(), JournalError> {
        let written = serde_json::to_string_pretty(&self.timings)
            .map_err(std::io::Error::from)
            .and_then(|json| write_whole(&self.path, |out| writeln!(out, "{json}")));
        written.map_err(|source| match (source.kind(), self.path.parent()) {
            (ErrorKind::NotFound, Some(dir)) => JournalError::Gone {
                dir: dir.to_owned(),
            },
            _ => JournalError::Write {
                path: self.path.clone(),
                source,
            },
        })
    }

    /// Puts measured times back into these records.
    pub(crate) fn put(&self, records: &mut [Record]) {
        for record in records {
            if let Some(timings) = self.timings.cases.get(&record.key) {
                timings.put(record);
            }
        }
    }
}
