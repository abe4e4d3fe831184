//! Single records and texts of a run, without the others in memory.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use compactometer_disk::input;
use compactometer_formats::record::Record;
use serde::Deserialize;

use super::journal::{RECORDS, TEXTS, text_row};
use super::journal_error::JournalError;

/// Texts by hash.
pub type Texts = BTreeMap<String, String>;

/// The records and texts of a finished run, found by key and by hash.
pub struct Lookup {
    records: RecordIndex,
    texts: RecordIndex,
}

impl Lookup {
    /// Finds where each record and text is. Checksums are checked when a line is read.
    ///
    /// # Errors
    /// [`JournalError`] if a file cannot be read, or a line has no key or hash.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        #[derive(Deserialize)]
        struct RecordLine {
            record: CaseKey,
        }
        #[derive(Deserialize)]
        struct CaseKey {
            key: String,
        }
        #[derive(Deserialize)]
        struct Hash {
            hash: String,
        }
        let key = |line: &str| serde_json::from_str::<RecordLine>(line).map(|line| line.record.key);
        let hash = |line: &str| serde_json::from_str::<Hash>(line).map(|row| row.hash);
        Ok(Lookup {
            records: RecordIndex::new(dir.join(RECORDS), key)?,
            texts: RecordIndex::new(dir.join(TEXTS), hash)?,
        })
    }

    /// The record with this key, and what it wrote into the context and was answered, by hash.
    /// Nothing if the run has no such record.
    ///
    /// # Errors
    /// [`JournalError`] if a line cannot be read or is damaged, or a text is missing.
    pub fn case(&self, key: &str) -> Result<Option<(Record, Texts)>, JournalError> {
        let Some(record) = self.records.read(key, Record::from_line)? else {
            return Ok(None);
        };
        let inserted = record.compactions.iter().flat_map(|row| &row.inserted);
        let replies = record.probe_calls().filter_map(|call| call.reply.as_ref());
        let mut texts = BTreeMap::new();
        for hash in inserted.chain(replies) {
            if !texts.contains_key(hash) {
                let missing = || JournalError::Missing {
                    path: self.texts.path.clone(),
                    hash: hash.clone(),
                };
                let row = self.texts.read(hash, text_row)?.ok_or_else(missing)?;
                texts.insert(hash.clone(), row.text);
            }
        }
        Ok(Some((record, texts)))
    }
}

/// Where each line of a file is, by what names it.
struct RecordIndex {
    path: PathBuf,
    file: File,
    /// Where the line begins, its length in bytes, and its number.
    lines: HashMap<String, (u64, u64, usize)>,
}

impl RecordIndex {
    fn new(
        path: PathBuf,
        name: impl Fn(&str) -> serde_json::Result<String>,
    ) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io {
            path: path.clone(),
            source,
        };
        let file = input::open(&path).map_err(io)?;
        let mut reader = BufReader::new(file);
        let (mut lines, mut line, mut begin) = (HashMap::new(), String::new(), 0);
        for number in 1.. {
            line.clear();
            let length = reader.read_line(&mut line).map_err(io)? as u64;
            if !line.ends_with('\n') {
                break;
            }
            let damaged = |error: serde_json::Error| JournalError::Line {
                path: path.clone(),
                line: number,
                what: error.to_string(),
            };
            lines.insert(name(&line).map_err(damaged)?, (begin, length, number));
            begin += length;
        }
        Ok(RecordIndex {
            path,
            file: reader.into_inner(),
            lines,
        })
    }

    fn read<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, JournalError> {
        let Some((begin, length, number)) = self.lines.get(name).copied() else {
            return Ok(None);
        };
        let io = |source| JournalError::Io {
            path: self.path.clone(),
            source,
        };
        (&self.file).seek(SeekFrom::Start(begin)).map_err(io)?;
        let mut line = String::new();
        (&self.file)
            .take(length)
            .read_to_string(&mut line)
            .map_err(io)?;
        let damaged = |what| JournalError::Line {
            path: self.path.clone(),
            line: number,
            what,
        };
        parse(line.trim_end()).map(Some).map_err(damaged)
    }
}
