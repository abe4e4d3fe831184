//! What a gate reads: a run's folder, whole or not at all.
//!
//! Absent on purpose: mending. A run that was stopped or edited is refused, since what is missing could be what was lost.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use compactometer_disk::input::{self, Kind, read_text};
use compactometer_formats::manifest::{self, Manifest};
use compactometer_formats::record::Record;

/// A finished run.
pub struct RunFiles {
    /// What it was resolved to.
    pub manifest: Manifest,
    /// One for each case.
    pub records: Vec<Record>,
}

impl RunFiles {
    /// Reads a run's folder.
    ///
    /// # Errors
    /// [`RunFilesError`] where the folder holds no whole run of a version that this program reads.
    pub fn read(dir: &Path) -> Result<Self, RunFilesError> {
        let path = dir.join("manifest.json");
        let text =
            read_text(&path, Kind::MANIFEST).map_err(|source| RunFilesError::Io { path: path.clone(), source })?;
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|error| RunFilesError::Manifest { path: path.clone(), what: error.to_string() })?;
        if manifest.version > manifest::VERSION {
            let what = format!("version `{}` is newer than this program's, {}", manifest.version, manifest::VERSION);
            return Err(RunFilesError::Manifest { path, what });
        }
        let path = dir.join("records.jsonl");
        let io = |source| RunFilesError::Io { path: path.clone(), source };
        let file = input::open(&path).map_err(io)?;
        let mut records = Vec::with_capacity(manifest.cases);
        let mut keys = HashSet::new();
        for (at, line) in BufReader::new(file).split(b'\n').enumerate() {
            let line = line.map_err(io)?;
            let damaged = |what: String| RunFilesError::Line { path: path.clone(), line: at + 1, what };
            let line = std::str::from_utf8(&line).map_err(|error| damaged(format!("invalid UTF-8: {error}")))?;
            let record = Record::from_line(line).map_err(damaged)?;
            if !keys.insert(record.key.clone()) {
                return Err(damaged(format!("the case `{}` is here twice", record.key)));
            }
            let is_of_models =
                (&record.case.summarizer, &record.case.target) == (&manifest.summarizer, &manifest.target);
            if !is_of_models || !manifest.strategies.contains(&record.case.strategy) {
                return Err(damaged("a record of another run".to_owned()));
            }
            records.push(record);
        }
        match records.len() == manifest.cases {
            true => Ok(RunFiles { manifest, records }),
            false => Err(RunFilesError::Incomplete { path, found: records.len(), cases: manifest.cases }),
        }
    }
}

/// A folder that holds no whole run.
#[derive(Debug, thiserror::Error)]
pub enum RunFilesError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The manifest cannot be used.
    #[error("`{}` is no manifest that this program reads: {what}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A record cannot be used.
    #[error("`{}`, line {line}: {what}; run it again into another folder", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What was found.
        what: String,
    },
    /// Cases are missing, or there are more than were planned.
    #[error("`{}` has records of {found} cases and the manifest lists {cases}; the run's own command finishes it", path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// Records there.
        found: usize,
        /// Cases of the run.
        cases: usize,
    },
}
