//! What a gate reads: a run's folder, whole or not at all, and of it the replay at the run's size
//! and each strategy's own split.
//!
//! Absent on purpose: mending. A run that was stopped or edited is refused, since what is missing
//! could be what was lost.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use compactometer_disk::input::{self, InputKind, read_text};
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
        let text = read_text(&path, InputKind::MANIFEST).map_err(|source| RunFilesError::Io {
            path: path.clone(),
            source,
        })?;
        let manifest: Manifest =
            serde_json::from_str(&text).map_err(|error| no_manifest(&path, &error.to_string()))?;
        if manifest.version > manifest::VERSION {
            let what = format!(
                "version `{}` is newer than this program's, {}",
                manifest.version,
                manifest::VERSION
            );
            return Err(no_manifest(&path, &what));
        }
        let path = dir.join("records.jsonl");
        let io = |source| RunFilesError::Io {
            path: path.clone(),
            source,
        };
        let file = input::open(&path).map_err(io)?;
        let mut records = Vec::with_capacity(manifest.cases);
        let mut keys = HashSet::new();
        for (at, line) in BufReader::new(file).split(b'\n').enumerate() {
            let line = line.map_err(io)?;
            let damaged = |what: String| {
                let what = format!(
                    ", line {}: {what}; run it again into another folder",
                    at + 1
                );
                RunFilesError::Unusable {
                    path: path.clone(),
                    what,
                }
            };
            let line = std::str::from_utf8(&line)
                .map_err(|error| damaged(format!("invalid UTF-8: {error}")))?;
            let record = Record::from_line(line).map_err(damaged)?;
            if !keys.insert(record.key.clone()) {
                return Err(damaged(format!("the case `{}` is here twice", record.key)));
            }
            let case = &record.case;
            let is_of_models = (&case.summarizer, &case.target, &case.checkpointer)
                == (
                    &manifest.summarizer,
                    &manifest.target,
                    &manifest.checkpointer,
                );
            if !is_of_models || !manifest.strategies.contains(&record.case.strategy) {
                return Err(damaged("a record of another run".to_owned()));
            }
            records.push(record);
        }
        let (found, cases) = (records.len(), manifest.cases);
        if found == cases {
            return Ok(headline(RunFiles { manifest, records }));
        }
        let what = format!(
            " has records of {found} replays and the manifest lists {cases}; the run's own command finishes it"
        );
        Err(RunFilesError::Unusable { path, what })
    }
}

/// The run without its sweeps.
fn headline(mut run: RunFiles) -> RunFiles {
    let retained = run.manifest.retained;
    if !run.manifest.sweep.is_empty() || !run.manifest.splits.is_empty() {
        run.records.retain(|record| !record.case.is_swept(retained));
    }
    let cases = run.records.len();
    let manifest = Manifest {
        sweep: Vec::new(),
        splits: Vec::new(),
        swept_cases: None,
        cases,
        ..run.manifest
    };
    RunFiles { manifest, ..run }
}

fn no_manifest(path: &Path, what: &str) -> RunFilesError {
    let what = format!(" is not a manifest that this version can read: {what}");
    RunFilesError::Unusable {
        path: path.to_owned(),
        what,
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
    /// A file's content cannot be used.
    #[error("`{}`{what}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Where in it, why, and what to do.
        what: String,
    },
}
