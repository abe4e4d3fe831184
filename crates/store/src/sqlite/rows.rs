//! Rows of one thread: what a commit writes, what a reader makes of it. Its records are
//! [`records`].

use std::path::Path;

use compactometer_engine::message::MessageId;
use compactometer_engine::view::Edit;
use rusqlite::{Connection, OptionalExtension, params};
use serde::de::DeserializeOwned;

use super::query::{all, json};
use super::{cannot, records};
use crate::backend::ThreadChange;
use crate::contents::{CommittedView, Contents, Rollback, names_version, to_fold};
use crate::error::Error;
use crate::thread_id::ThreadId;

/// Sequence and number of records.
pub(super) fn ends(connection: &Connection, id: &ThreadId) -> rusqlite::Result<(u64, u32)> {
    let sql = "SELECT sequence, (SELECT count(*) FROM saved_records WHERE session_id = ?1) \
               + (SELECT coalesce(sum(records), 0) FROM packed_records WHERE session_id = ?1) \
               FROM threads WHERE session_id = ?1";
    let row = connection.query_row(sql, [id.as_str()], |row| {
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?))
    });
    Ok(row.optional()?.unwrap_or_default())
}

/// Everything of a thread.
pub(super) fn read(connection: &Connection, id: &ThreadId, path: &Path) -> Result<Contents, Error> {
    let rows = || {
        Ok((
            ends(connection, id)?.0,
            rollbacks(connection, id)?,
            views(connection, id)?,
        ))
    };
    let (sequence, rollbacks, views) = rows().map_err(cannot("read a thread", path))?;
    let history = records::read(connection, id, path)?;
    let kept = views.into_iter().map(|(first, records, after, view)| {
        let view: Vec<Edit> = parse(&view, path, "a row of `views`")?;
        Ok(CommittedView {
            numbers: first..first.saturating_add(records),
            view,
            after: MessageId(after),
        })
    });
    let contents = Contents {
        sequence,
        history,
        rollbacks,
        kept: kept.collect::<Result<_, Error>>()?,
    };
    contents
        .check()
        .map_err(|why| Error::damaged(path, format!("thread `{id}`: {why}")))?;
    Ok(contents)
}

fn parse<T: DeserializeOwned>(json: &str, path: &Path, what: &str) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| Error::damaged(path, format!("{what}: {error}")))
}

fn rollbacks(connection: &Connection, id: &ThreadId) -> rusqlite::Result<Vec<Rollback>> {
    let sql = "SELECT at_record, to_record FROM rollbacks WHERE session_id = ?1 ORDER BY sequence";
    all(connection, sql, id, |row| {
        Ok(Rollback {
            at: row.get(0)?,
            to: row.get(1)?,
        })
    })
}

fn views(connection: &Connection, id: &ThreadId) -> rusqlite::Result<Vec<(u32, u32, u32, String)>> {
    let sql = "SELECT first_record, records, after_message, view FROM views WHERE session_id = ?1 ORDER BY sequence";
    all(connection, sql, id, |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })
}

/// Adds a commit; `records` counts those before it.
pub(super) fn write(
    connection: &Connection,
    id: &ThreadId,
    (sequence, records): (u64, u32),
    change: &ThreadChange<'_>,
) -> rusqlite::Result<()> {
    let (session, sequence) = (id.as_str(), sequence.cast_signed());
    connection.execute(
        "INSERT INTO threads VALUES (?1, ?2) ON CONFLICT (session_id) DO UPDATE SET sequence = ?2",
        params![session, sequence],
    )?;
    let saved = change.commit.saved;
    for (saved, cost) in saved.iter().zip(&change.costs) {
        records::write(connection, id, saved, *cost)?;
    }
    let view = json(change.commit.view)?;
    connection.execute(
        "INSERT INTO views VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            session,
            sequence,
            records,
            saved.len() as u32,
            names_version(saved),
            change.commit.after.0,
            view
        ],
    )?;
    if let Some(Rollback { at, to }) = change.rollback {
        connection.execute(
            "INSERT INTO rollbacks VALUES (?1, ?2, ?3, ?4)",
            params![session, sequence, at, to],
        )?;
    }
    Ok(())
}

/// Removes the views beyond those to keep.
pub(super) fn forget_views(
    connection: &Connection,
    id: &ThreadId,
    keep: usize,
) -> rusqlite::Result<()> {
    let sql = "SELECT sequence, names_version FROM views WHERE session_id = ?1 ORDER BY sequence";
    let views = all(connection, sql, id, |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?))
    })?;
    let (mut sequences, mut names): (Vec<_>, Vec<_>) = views.into_iter().unzip();
    while let Some(at) = to_fold(&names, keep) {
        let sql = "DELETE FROM views WHERE session_id = ?1 AND sequence = ?2";
        connection.execute(sql, params![id.as_str(), sequences.remove(at)])?;
        names.remove(at);
    }
    Ok(())
}

/// Ids of all threads.
pub(super) fn threads(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare("SELECT session_id FROM threads")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Removes every row of a thread.
pub(super) fn clear(connection: &Connection, id: &ThreadId) -> rusqlite::Result<()> {
    for table in [
        "checkpoint_summaries",
        "saved_records",
        "packed_records",
        "views",
        "rollbacks",
        "threads",
    ] {
        connection.execute(
            &format!("DELETE FROM {table} WHERE session_id = ?1"),
            [id.as_str()],
        )?;
    }
    Ok(())
}
