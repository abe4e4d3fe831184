//! Attempts: what each process that worked on a shard has finished.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use compactometer_disk::{LineFile, NotKept, input};
use compactometer_formats::shards::{Begin, CaseLine, End, Shard, ShardLine, VERSION};

use super::part_lines::{BetweenLines, LineAt, LineReader};
use super::{PlanFolder, ShardError};
use crate::run::{FinishedCase, JournalError};

const REMEDY: &str = "delete the file, and its replays run again";

/// What the attempts at a shard have finished.
#[derive(Default)]
pub(super) struct FinishedCases {
    pub(super) files: Vec<PathBuf>,
    /// Each case's file among `files`, its place there and its number of compactions, by its key.
    /// The first that finished it counts.
    pub(super) cases: HashMap<String, (usize, LineAt)>,
}

impl PlanFolder {
    /// The files of a shard's attempts, by number.
    fn attempts_at(&self, shard: Shard) -> Result<Vec<(u32, PathBuf)>, ShardError> {
        let dir = self.attempts();
        let start = format!("{}.", shard.file_name());
        let number = |name: &str| {
            name.strip_prefix(&start)?
                .strip_suffix(".jsonl")?
                .parse::<u32>()
                .ok()
        };
        let entries = std::fs::read_dir(&dir).map_err(ShardError::io("read the folder", &dir))?;
        let mut found = Vec::new();
        for entry in entries {
            let name = entry
                .map_err(ShardError::io("read the folder", &dir))?
                .file_name();
            if let Some(name) = name.to_str()
                && let Some(number) = number(name)
            {
                found.push((number, dir.join(name)));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Reads what a shard's attempts have finished.
    pub(super) fn finished_cases(&self, shard: Shard) -> Result<FinishedCases, ShardError> {
        let mut kept = FinishedCases::default();
        for (_, path) in self.attempts_at(shard)? {
            let file = kept.files.len();
            let mut lines = LineReader::open(&path, REMEDY, BetweenLines::default())?;
            while let Some((line, at)) = lines.next()? {
                match line {
                    ShardLine::Begin(begin) => self.check(&path, &begin, shard)?,
                    ShardLine::Case(case) => {
                        kept.cases.entry(case.key).or_insert((file, at));
                    }
                    ShardLine::End(_) => {}
                }
            }
            kept.files.push(path);
        }
        Ok(kept)
    }

    /// Claims an attempt: a file and a recording that no other process writes to.
    ///
    /// # Errors
    /// [`ShardError::Io`].
    pub fn claim(&self, shard: Shard) -> Result<ShardClaim, ShardError> {
        let others = self.attempts_at(shard)?;
        let mut number = others.last().map_or(1, |(last, _)| last + 1);
        let path = loop {
            let path = self
                .attempts()
                .join(format!("{}.{number}.jsonl", shard.file_name()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => break path,
                // Another worker began at this moment.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(ShardError::io("write", &path)(error)),
            }
        };
        Ok(ShardClaim {
            calls: calls_of(&path),
            earlier: others.iter().map(|(_, path)| calls_of(path)).collect(),
            shard,
            path,
        })
    }

    /// What attempts at all shards spent.
    ///
    /// # Errors
    /// [`ShardError::Io`].
    pub fn spent(&self) -> Result<Vec<Spent>, ShardError> {
        self.all().map(|shard| self.spent_on(shard)).collect()
    }

    fn spent_on(&self, shard: Shard) -> Result<Spent, ShardError> {
        let mut spent = Spent::default();
        for (_, path) in self.attempts_at(shard)? {
            // Its first and its last line.
            let ends = input::read_ends(&path, 4_096).map_err(ShardError::io("read", &path))?;
            let ends = String::from_utf8_lossy(&ends);
            let first = ends
                .lines()
                .next()
                .and_then(|line| ShardLine::parse(line).ok());
            let last = ends
                .lines()
                .last()
                .and_then(|line| ShardLine::parse(line).ok());
            if let Some(ShardLine::Begin(begin)) = first
                && !matches!(last, Some(ShardLine::End(_)))
            {
                spent.open += 1;
                spent.in_flight += begin.jobs;
            }
            spent.calls.push(calls_of(&path));
        }
        Ok(spent)
    }

    /// Begins the attempt.
    pub(super) fn begin(&self, claim: &ShardClaim, jobs: usize) -> Result<Attempt, ShardError> {
        let ShardClaim { path, shard, .. } = claim;
        let (path, shard) = (path.clone(), *shard);
        let mut lines = LineFile::open(&path).map_err(ShardError::io("write", &path))?;
        lines.keep(0).map_err(ShardError::io("write", &path))?;
        let mut attempt = Attempt {
            path,
            lines,
            end: 0,
            cases: 0,
        };
        let begin = Begin {
            version: VERSION,
            plan: self.plan.id.clone(),
            shard,
            jobs: jobs as u32,
        };
        attempt
            .append(&[ShardLine::Begin(begin)])
            .map_err(crate::run::RunError::Write)?;
        Ok(attempt)
    }
}

/// A process's own attempt at a shard.
pub struct ShardClaim {
    shard: Shard,
    path: PathBuf,
    /// The folder for a recording of its calls.
    pub calls: PathBuf,
    /// Those of earlier attempts; some may not exist.
    pub earlier: Vec<PathBuf>,
}

impl Drop for ShardClaim {
    /// Removes the file of an attempt that ended before its beginning, for example since its models
    /// cannot be opened.
    fn drop(&mut self) {
        if std::fs::metadata(&self.path).is_ok_and(|file| file.len() == 0) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What the attempts at a shard spent.
#[derive(Default)]
pub struct Spent {
    /// The folders of their recordings, in the attempts' order; some may not exist.
    pub calls: Vec<PathBuf>,
    /// Attempts that did not end by themselves.
    pub open: u32,
    /// The most calls that were in flight when these ended: one for each thread.
    pub in_flight: u32,
}

/// The recording of an attempt.
fn calls_of(attempt: &Path) -> PathBuf {
    attempt.with_extension("calls")
}

/// The folder for the journal of the requests of an attempt that has this folder for its calls.
pub fn tries_of(calls: &Path) -> PathBuf {
    calls.with_extension("tries")
}

/// An attempt in progress.
pub(super) struct Attempt {
    path: PathBuf,
    lines: LineFile,
    end: u64,
    cases: u32,
}

impl Attempt {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends finished cases; they are kept when this returns. The places of their lines are
    /// returned.
    pub(super) fn keep(&mut self, cases: &[FinishedCase]) -> Result<Vec<LineAt>, JournalError> {
        let line = |case: &FinishedCase| {
            CaseLine::new(
                &case.result.record,
                case.result.texts.iter(),
                case.timings.clone(),
            )
            .map(ShardLine::Case)
        };
        let lines = cases.iter().map(line).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|error| self.failed(NotKept::Io(error.into())))?;
        self.cases += lines.len() as u32;
        self.append(&lines)
    }

    /// Notes that the attempt ends by itself, with no call in flight.
    pub(super) fn end(&mut self) -> Result<(), JournalError> {
        self.append(&[ShardLine::End(End { cases: self.cases })])
            .map(drop)
    }

    fn append(&mut self, lines: &[ShardLine]) -> Result<Vec<LineAt>, JournalError> {
        let mut places = Vec::with_capacity(lines.len());
        for line in lines {
            let line = line
                .to_line()
                .map_err(|error| self.failed(NotKept::Io(error.into())))?;
            self.lines
                .append(line.as_bytes())
                .map_err(|error| self.failed(error))?;
            places.push(LineAt {
                begin: self.end,
                length: line.len() as u64,
            });
            self.end += line.len() as u64;
        }
        self.lines.sync().map_err(|error| self.failed(error))?;
        Ok(places)
    }

    fn failed(&self, error: NotKept) -> JournalError {
        let folder = self
            .path
            .parent()
            .and_then(Path::parent)
            .unwrap_or(&self.path);
        match error {
            NotKept::Io(source) => JournalError::Write {
                path: self.path.clone(),
                source,
            },
            NotKept::Gone => JournalError::Gone {
                dir: folder.to_owned(),
            },
        }
    }
}
