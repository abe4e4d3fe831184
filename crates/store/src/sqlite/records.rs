//! Records of one thread: those of the newest two commits plain, older ones packed, a commit at a
//! time.
//!
//! A frame's dictionary is the next newer commit, which is still plain when the frame is made; so a
//! commit reads no more than the two, and reading goes from the newest back. Dictionaries are made
//! only of stored bytes, since another version may write a record in other words.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use compactometer_engine::record::{RecordKind, SessionRecord};
use rusqlite::{Connection, Row, params};
use serde_json::value::RawValue;

use super::query::{all, json};
use super::{cannot, summaries};
use crate::error::Error;
use crate::packing;
use crate::thread_id::ThreadId;

/// A record as the tables hold it: its JSON, and the body if that is kept apart.
type RecordPieces = (Box<RawValue>, Option<String>);

type Pieces = BTreeMap<u32, RecordPieces>;

/// All of a thread, oldest first; their numbers count from 0.
pub(super) fn read(
    connection: &Connection,
    id: &ThreadId,
    path: &Path,
) -> Result<Vec<SessionRecord>, Error> {
    let mut pieces = plain(connection, id, 0..u32::MAX, path)?;
    for frame in frames(connection, id).map_err(cannot("read a thread", path))? {
        let first = frame.first;
        let unpacked = frame.unpack(&pieces).map_err(|why| {
            Error::damaged(
                path,
                format!("what is packed of thread `{id}` from record {first} on: {why}"),
            )
        })?;
        pieces.extend((first..).zip(unpacked));
    }
    pieces
        .values()
        .zip(0..)
        .map(|(piece, number)| saved(piece, number, id, path))
        .collect()
}

/// Adds a record with a body that can be read.
pub(super) fn write(
    connection: &Connection,
    id: &ThreadId,
    saved: &SessionRecord,
    cost: Option<f64>,
) -> rusqlite::Result<()> {
    let has_row = has_summary_row(saved);
    let record = if has_row {
        SessionRecord {
            body: String::new(),
            ..saved.clone()
        }
    } else {
        saved.clone()
    };
    let sql = "INSERT INTO saved_records VALUES (?1, ?2, ?3)";
    connection.execute(sql, params![id.as_str(), saved.number, json(&record)?])?;
    if has_row {
        summaries::write(connection, id.as_str(), saved, cost)
    } else {
        Ok(())
    }
}

/// Packs the records of all but the newest commit.
pub(super) fn pack_old(connection: &Connection, id: &ThreadId, path: &Path) -> Result<(), Error> {
    let (runs, newest) = due(connection, id).map_err(cannot("find old records", path))?;
    let read = |numbers: &Range<u32>| {
        let pieces = plain(connection, id, numbers.clone(), path)?;
        text(&pieces, numbers)
            .ok_or_else(|| Error::damaged(path, format!("a record of thread `{id}` is missing")))
    };
    for numbers in runs {
        let (old, dictionary) = (read(&numbers)?, read(&newest)?);
        pack(connection, id, (&numbers, &old), (&newest, &dictionary))
            .map_err(cannot("pack old records", path))?;
    }
    Ok(())
}

fn pack(
    connection: &Connection,
    id: &ThreadId,
    (numbers, old): (&Range<u32>, &[u8]),
    (newer, dictionary): (&Range<u32>, &[u8]),
) -> rusqlite::Result<()> {
    let packed = packing::pack(old, dictionary);
    let packed = packed.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let (records, against_records) = (numbers.len() as u32, newer.len() as u32);
    connection.execute(
        "INSERT INTO packed_records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            id.as_str(),
            numbers.start,
            records,
            newer.start,
            against_records,
            old.len() as u32,
            packed
        ],
    )?;
    let sql = "DELETE FROM saved_records WHERE session_id = ?1 AND number >= ?2 AND number < ?3";
    connection
        .execute(sql, params![id.as_str(), numbers.start, numbers.end])
        .map(drop)
}

/// Runs of plain records of all but the newest commit that has any, and the records of that one.
fn due(connection: &Connection, id: &ThreadId) -> rusqlite::Result<(Vec<Range<u32>>, Range<u32>)> {
    let sql = "SELECT first_record, records FROM views WHERE session_id = ?1 AND records > 0 \
               ORDER BY first_record DESC LIMIT 1";
    let newest = all(connection, sql, id, |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?))
    })?;
    let newest = newest.first().map_or(0..0, |(first, records)| {
        *first..first.saturating_add(*records)
    });
    let sql = "SELECT number FROM saved_records WHERE session_id = ?1 ORDER BY number";
    let numbers = all(connection, sql, id, |row| row.get::<_, u32>(0))?;
    let before = numbers.into_iter().filter(|number| *number < newest.start);
    Ok((runs(before), newest))
}

/// Ascending numbers as ranges without gaps.
fn runs(numbers: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end = number.saturating_add(1),
            _ => runs.push(number..number.saturating_add(1)),
        }
    }
    runs
}

/// The records with these numbers, of those that are not packed.
fn plain(
    connection: &Connection,
    id: &ThreadId,
    numbers: Range<u32>,
    path: &Path,
) -> Result<Pieces, Error> {
    let sql = "SELECT number, record, summary_content FROM saved_records LEFT JOIN checkpoint_summaries \
               ON checkpoint_summaries.session_id = saved_records.session_id AND checkpoint_num = number \
               WHERE saved_records.session_id = ?1 AND number >= ?2 AND number < ?3";
    let read = || {
        let mut statement = connection.prepare(sql)?;
        let piece =
            |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?, row.get(2)?));
        let rows = statement.query_map(params![id.as_str(), numbers.start, numbers.end], piece)?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    let rows = read()
        .map_err(cannot("read a thread", path))?
        .into_iter()
        .map(|(number, record, summary)| {
            let record = RawValue::from_string(record).map_err(|error| damaged(path, &error))?;
            Ok((number, (record, summary)))
        });
    rows.collect()
}

fn damaged(path: &Path, error: &serde_json::Error) -> Error {
    Error::damaged(path, format!("a row of `saved_records`: {error}"))
}

fn saved(
    (record, summary): &RecordPieces,
    number: u32,
    id: &ThreadId,
    path: &Path,
) -> Result<SessionRecord, Error> {
    let saved: SessionRecord =
        serde_json::from_str(record.get()).map_err(|error| damaged(path, &error))?;
    if saved.number != number {
        return Err(Error::damaged(
            path,
            format!("record {number} of thread `{id}` is missing"),
        ));
    }
    match summary {
        Some(body) => Ok(SessionRecord {
            body: body.clone(),
            ..saved
        }),
        None if has_summary_row(&saved) => {
            let row = format!(
                "the row of record {number} of thread `{id}` in `checkpoint_summaries` is missing"
            );
            Err(Error::damaged(path, row))
        }
        None => Ok(saved),
    }
}

/// The source's table wants the ends of what was summarized.
fn has_summary_row(saved: &SessionRecord) -> bool {
    saved.kind == RecordKind::Summary && saved.covers.is_some()
}

/// What is packed, or is a dictionary, of the records with these numbers; none where one is
/// missing.
fn text(pieces: &Pieces, numbers: &Range<u32>) -> Option<Vec<u8>> {
    let list = numbers
        .clone()
        .map(|number| pieces.get(&number))
        .collect::<Option<Vec<_>>>()?;
    serde_json::to_vec(&list).ok()
}

/// A row of `packed_records`.
struct RecordFrame {
    first: u32,
    records: u32,
    against: Range<u32>,
    plain_bytes: u32,
    packed: Vec<u8>,
}

/// Newest first.
fn frames(connection: &Connection, id: &ThreadId) -> rusqlite::Result<Vec<RecordFrame>> {
    let sql = "SELECT first_record, records, against_first, against_records, plain_bytes, packed FROM packed_records \
               WHERE session_id = ?1 ORDER BY first_record DESC";
    all(connection, sql, id, |row| {
        let (against, records) = (row.get::<_, u32>(2)?, row.get(3)?);
        Ok(RecordFrame {
            first: row.get(0)?,
            records: row.get(1)?,
            against: against..against.saturating_add(records),
            plain_bytes: row.get(4)?,
            packed: row.get(5)?,
        })
    })
}

impl RecordFrame {
    fn unpack(&self, newer: &Pieces) -> Result<Vec<RecordPieces>, String> {
        let Range { start, end } = self.against;
        let dictionary = text(newer, &self.against);
        let dictionary = dictionary.ok_or_else(|| {
            format!("of its dictionary, records {start} to {end}, some are missing")
        })?;
        let plain_bytes = self.plain_bytes as usize;
        if plain_bytes > packing::MOST {
            return Err(format!("{plain_bytes} bytes are more than any commit has"));
        }
        let json = packing::unpack(&self.packed, plain_bytes, &dictionary)
            .map_err(|error| error.to_string())?;
        let pieces = serde_json::from_slice::<Vec<RecordPieces>>(&json)
            .map_err(|error| error.to_string())?;
        let (held, named) = (pieces.len(), self.records);
        if held == named as usize {
            Ok(pieces)
        } else {
            Err(format!("it holds {held} records, not {named}"))
        }
    }
}
