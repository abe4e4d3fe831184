//! The file of measured times of a run's folder.

use std::path::{Path, PathBuf};

use compactometer_schema::record::Record;
use compactometer_schema::timings::{CaseTimings, Timings};
use compactometer_schema::whole::write_whole;

const FILE: &str = "timings.json";

/// The measured times of a run under way.
pub(crate) struct TimingsFile {
    path: PathBuf,
    timings: Timings,
}

impl TimingsFile {
    /// Those of the folder; none where there are none that can be read, since nothing but times would be lost.
    pub(crate) fn open(dir: &Path) -> Self {
        let path = dir.join(FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        TimingsFile { path, timings: Timings::parse(&text).unwrap_or_default() }
    }

    /// Moves what was measured in a case out of its record. The file is written at once where a server was called: its latencies
    /// cannot be measured again.
    pub(crate) fn take(&mut self, record: &mut Record, seconds: f64) -> std::io::Result<()> {
        let timings = CaseTimings::take(record, seconds);
        let is_measured = !timings.calls.is_empty();
        self.timings.cases.insert(record.key.clone(), timings);
        if is_measured { self.write() } else { Ok(()) }
    }

    pub(crate) fn write(&self) -> std::io::Result<()> {
        let json = serde_json::to_string_pretty(&self.timings)?;
        write_whole(&self.path, |out| writeln!(out, "{json}"))
    }

    /// Puts back what was measured in these cases.
    pub(crate) fn put(&self, records: &mut [Record]) {
        for record in records {
            if let Some(timings) = self.timings.cases.get(&record.key) {
                timings.put(record);
            }
        }
    }
}
