//! The files of a run: records and texts, appended in case order, so that an interrupted run can
//! resume.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use compactometer_disk::{LineFile, NotKept, input};
use compactometer_formats::record::{ContextRow, Record, TextRow, text_hash};

use super::journal_error::JournalError;
use super::timings::TimingsFile;
use crate::trace::CaseResult;

pub(super) const RECORDS: &str = "records.jsonl";
pub(super) const TEXTS: &str = "texts.jsonl";

/// The records and texts of one run, open for appending. Nobody else can append until it is
/// dropped.
pub struct Journal {
    dir: PathBuf,
    records: LineFile,
    texts: LineFile,
    known_texts: HashSet<String>,
}

impl Journal {
    /// Opens a run's files and returns the number of applied compactions of each record in them, by
    /// its key. A torn last line, as an interrupted write leaves it, is cut off. The lines before
    /// it are synced, since they count as kept from here on.
    ///
    /// # Errors
    /// [`JournalError`] if a file cannot be used, another run writes to it, or a line before the
    /// last is damaged.
    pub fn open(dir: &Path) -> Result<(Self, BTreeMap<String, u32>), JournalError> {
        let texts_path = dir.join(TEXTS);
        let (texts, rows) = open_lines(&texts_path, text_row)?;
        let known_texts = rows.into_iter().map(|row| row.hash).collect::<HashSet<_>>();
        let mut missing = None;
        let (records, done) = open_lines(&dir.join(RECORDS), |line| {
            let record = record(line)?;
            if missing.is_none() {
                missing = named_texts(&record)
                    .find(|hash| !known_texts.contains(*hash))
                    .map(str::to_owned);
            }
            let rounds = record.rounds();
            Ok((record.key, rounds))
        })?;
        match missing {
            Some(hash) => Err(JournalError::Missing {
                path: texts_path,
                hash,
            }),
            None => Ok((
                Journal {
                    dir: dir.to_owned(),
                    records,
                    texts,
                    known_texts,
                },
                done.into_iter().collect(),
            )),
        }
    }

    /// Appends cases; they are kept when this returns. Their texts are synced before their records
    /// are written, so that no power failure leaves a record without its texts. Many cases cost as
    /// many syncs as one.
    ///
    /// # Errors
    /// [`JournalError::Write`] and [`JournalError::Gone`].
    pub fn append<'r>(
        &mut self,
        results: impl IntoIterator<Item = &'r CaseResult>,
    ) -> Result<(), JournalError> {
        let (mut texts, mut records) = (Vec::new(), Vec::new());
        for result in results {
            for (hash, text) in result.texts.iter() {
                if self.known_texts.insert(hash.clone()) {
                    write_text(&mut texts, hash, text)
                        .map_err(|error| self.failed(TEXTS, error))?;
                }
            }
            records.push(&result.record);
        }
        self.texts
            .append(&texts)
            .map_err(|error| self.failed(TEXTS, error))?;
        self.texts
            .sync()
            .map_err(|error| self.failed(TEXTS, error))?;
        for record in records {
            self.records
                .append_with(|out| record.write_line(out))
                .map_err(|error| self.failed(RECORDS, error))?;
        }
        self.records
            .sync()
            .map_err(|error| self.failed(RECORDS, error))
    }

    fn failed(&self, name: &str, error: NotKept) -> JournalError {
        match error {
            NotKept::Io(source) => JournalError::Write {
                path: self.dir.join(name),
                source,
            },
            NotKept::Gone => JournalError::Gone {
                dir: self.dir.clone(),
            },
        }
    }
}

fn write_text(texts: &mut Vec<u8>, hash: &str, text: &str) -> Result<(), NotKept> {
    let row = TextRow {
        hash: hash.to_owned(),
        text: text.to_owned(),
    };
    serde_json::to_writer(&mut *texts, &row).map_err(|error| NotKept::Io(error.into()))?;
    texts.push(b'\n');
    Ok(())
}

/// The hashes of texts that a record refers to.
fn named_texts(record: &Record) -> impl Iterator<Item = &str> {
    let inserted = record
        .compactions
        .iter()
        .flat_map(|row| &row.inserted)
        .map(String::as_str);
    let sent = record
        .calls()
        .flat_map(|call| [call.request.as_deref(), call.reply.as_deref()])
        .flatten();
    let of_contexts = record.contexts.iter().flat_map(ContextRow::texts);
    inserted.chain(sent).chain(of_contexts)
}

fn record(line: &str) -> Result<Record, String> {
    Record::from_line(line)
}

pub(super) fn text_row(line: &str) -> Result<TextRow, String> {
    let row: TextRow =
        serde_json::from_str(line).map_err(|error| format!("expected a text row: {error}"))?;
    if text_hash(&row.text) == row.hash {
        Ok(row)
    } else {
        Err("the text does not match its hash".to_owned())
    }
}

/// Reads the texts of a run by hash.
///
/// # Errors
/// [`JournalError`] as [`Journal::open`].
pub fn read_texts(dir: &Path) -> Result<BTreeMap<String, String>, JournalError> {
    let path = dir.join(TEXTS);
    let file = input::open(&path).map_err(|source| JournalError::Io {
        path: path.clone(),
        source,
    })?;
    let (rows, _) = read_lines(&path, &file, text_row)?;
    Ok(rows.into_iter().map(|row| (row.hash, row.text)).collect())
}

/// Reads the records of a run with their measured times. It leaves out a torn last line and changes
/// no file.
///
/// # Errors
/// [`JournalError`] as [`Journal::open`].
pub fn read_records(dir: &Path) -> Result<Vec<Record>, JournalError> {
    let path = dir.join(RECORDS);
    let file = input::open(&path).map_err(|source| JournalError::Io {
        path: path.clone(),
        source,
    })?;
    let mut records = read_lines(&path, &file, record)?.0;
    TimingsFile::open(dir).put(&mut records);
    Ok(records)
}

/// Reads the records of a run with their measured times one after the other, as [`read_records`]
/// does.
///
/// # Errors
/// [`JournalError`] as [`Journal::open`], and what `take` returns.
pub fn each_record<E: From<JournalError>>(
    dir: &Path,
    mut take: impl FnMut(Record) -> Result<(), E>,
) -> Result<(), E> {
    let path = dir.join(RECORDS);
    let file = input::open(&path).map_err(|source| JournalError::Io {
        path: path.clone(),
        source,
    })?;
    let timings = TimingsFile::open(dir);
    each_line(&path, &file, record, |mut record| {
        timings.put(std::slice::from_mut(&mut record));
        take(record)
    })?;
    Ok(())
}

fn open_lines<T>(
    path: &Path,
    parse: impl FnMut(&str) -> Result<T, String>,
) -> Result<(LineFile, Vec<T>), JournalError> {
    let io = |source| JournalError::Io {
        path: path.to_owned(),
        source,
    };
    let mut lines = LineFile::open(path).map_err(io)?;
    match lines.lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(JournalError::Busy {
                path: path.to_owned(),
            });
        }
        // On a file system without locks, no other run can hold one.
        Err(TryLockError::Error(source)) if source.kind() != ErrorKind::Unsupported => {
            return Err(io(source));
        }
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    let (rows, whole) = read_lines(path, lines.file(), parse)?;
    lines.keep(whole).map_err(io)?;
    Ok((lines, rows))
}

/// The rows, and the number of bytes in whole lines.
fn read_lines<T>(
    path: &Path,
    file: &File,
    parse: impl FnMut(&str) -> Result<T, String>,
) -> Result<(Vec<T>, u64), JournalError> {
    let mut rows = Vec::new();
    let whole = each_line(path, file, parse, |row| {
        rows.push(row);
        Ok::<_, JournalError>(())
    })?;
    Ok((rows, whole))
}

/// Hands over the rows. Returns the number of bytes in whole lines.
fn each_line<T, E: From<JournalError>>(
    path: &Path,
    file: &File,
    mut parse: impl FnMut(&str) -> Result<T, String>,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<u64, E> {
    let mut reader = BufReader::new(file);
    let (mut whole, mut number) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader
            .read_until(b'\n', &mut line)
            .map_err(|source| JournalError::Io {
                path: path.to_owned(),
                source,
            })?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(whole);
        }
        number += 1;
        let parsed = std::str::from_utf8(&line)
            .map_err(|error| error.to_string())
            .and_then(|text| parse(text.trim_end()));
        take(parsed.map_err(|what| JournalError::Line {
            path: path.to_owned(),
            line: number,
            what,
        })?)?;
        whole += read as u64;
    }
}
