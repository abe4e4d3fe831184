//! Rows of one thread: what a commit writes, what a reader makes of it.

use std::path::Path;

use compactometer_engine::message::MessageId;
use compactometer_engine::saved::{Saved, SavedKind};
use compactometer_engine::view::Edit;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

use super::cannot;
use crate::checkpoints::Change;
use crate::contents::{Contents, Kept, Rollback, names_version, to_fold};
use crate::error::Error;
use crate::metadata::timestamp;
use crate::thread_id::ThreadId;

/// Sequence and number of records.
pub(super) fn ends(connection: &Connection, id: &ThreadId) -> rusqlite::Result<(u64, u32)> {
    let sql =
        "SELECT sequence, (SELECT count(*) FROM records WHERE session_id = ?1) FROM threads WHERE session_id = ?1";
    let row = connection.query_row(sql, [id.as_str()], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)));
    Ok(row.optional()?.unwrap_or_default())
}

/// Everything of a thread.
pub(super) fn read(connection: &Connection, id: &ThreadId, path: &Path) -> Result<Contents, Error> {
    let rows = || {
        let (sequence, _) = ends(connection, id)?;
        Ok((sequence, records(connection, id)?, rollbacks(connection, id)?, views(connection, id)?))
    };
    let (sequence, records, rollbacks, views) = rows().map_err(cannot("read a thread", path))?;
    let history = records.into_iter().zip(0..).map(|((record, summary), number)| {
        let saved: Saved = parse(&record, path, "a row of `records`")?;
        if saved.number != number {
            return Err(Error::damaged(path, format!("record {number} of thread `{id}` is missing")));
        }
        match summary {
            Some(body) => Ok(Saved { body, ..saved }),
            None if has_summary_row(&saved) => {
                let row = format!("the row of record {number} of thread `{id}` in `checkpoint_summaries` is missing");
                Err(Error::damaged(path, row))
            }
            None => Ok(saved),
        }
    });
    let history = history.collect::<Result<Vec<_>, Error>>()?;
    let kept = views.into_iter().map(|(first, records, after, view)| {
        let view: Vec<Edit> = parse(&view, path, "a row of `views`")?;
        Ok(Kept { numbers: first..first + records, view, after: MessageId(after) })
    });
    Ok(Contents { sequence, history, rollbacks, kept: kept.collect::<Result<_, Error>>()? })
}

fn parse<T: DeserializeOwned>(json: &str, path: &Path, what: &str) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| Error::damaged(path, format!("{what}: {error}")))
}

fn records(connection: &Connection, id: &ThreadId) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let sql = "SELECT record, summary_content FROM records LEFT JOIN checkpoint_summaries \
               ON checkpoint_summaries.session_id = records.session_id AND checkpoint_num = number \
               WHERE records.session_id = ?1 ORDER BY number";
    all(connection, sql, id, |row| Ok((row.get(0)?, row.get(1)?)))
}

fn rollbacks(connection: &Connection, id: &ThreadId) -> rusqlite::Result<Vec<Rollback>> {
    let sql = "SELECT at_record, to_record FROM rollbacks WHERE session_id = ?1 ORDER BY sequence";
    all(connection, sql, id, |row| Ok(Rollback { at: row.get(0)?, to: row.get(1)? }))
}

fn views(connection: &Connection, id: &ThreadId) -> rusqlite::Result<Vec<(u32, u32, u32, String)>> {
    let sql = "SELECT first_record, records, after_message, view FROM views WHERE session_id = ?1 ORDER BY sequence";
    all(connection, sql, id, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
}

fn all<T>(
    connection: &Connection,
    sql: &str,
    id: &ThreadId,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare(sql)?.query_map([id.as_str()], read)?.collect()
}

/// Adds a commit; `records` counts those before it.
pub(super) fn write(
    connection: &Connection,
    id: &ThreadId,
    (sequence, records): (u64, u32),
    change: &Change<'_>,
) -> rusqlite::Result<()> {
    let (session, sequence) = (id.as_str(), sequence.cast_signed());
    connection.execute(
        "INSERT INTO threads VALUES (?1, ?2) ON CONFLICT (session_id) DO UPDATE SET sequence = ?2",
        params![session, sequence],
    )?;
    let saved = change.commit.saved;
    for (saved, cost) in saved.iter().zip(&change.costs) {
        let has_row = has_summary_row(saved);
        let record = if has_row { Saved { body: String::new(), ..saved.clone() } } else { saved.clone() };
        let sql = "INSERT INTO records VALUES (?1, ?2, ?3)";
        connection.execute(sql, params![session, saved.number, json(&record)?])?;
        if has_row {
            write_summary(connection, session, saved, *cost)?;
        }
    }
    let view = json(change.commit.view)?;
    connection.execute(
        "INSERT INTO views VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![session, sequence, records, saved.len() as u32, names_version(saved), change.commit.after.0, view],
    )?;
    if let Some(Rollback { at, to }) = change.rollback {
        connection.execute("INSERT INTO rollbacks VALUES (?1, ?2, ?3, ?4)", params![session, sequence, at, to])?;
    }
    Ok(())
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// The source's table wants the ends of what was summarized.
fn has_summary_row(saved: &Saved) -> bool {
    saved.kind == SavedKind::Summary && saved.covers.is_some()
}

fn write_summary(connection: &Connection, session: &str, saved: &Saved, cost: Option<f64>) -> rusqlite::Result<()> {
    let Some((first, last)) = saved.covers else { return Ok(()) };
    let ratio = (saved.tokens_before > 0).then(|| f64::from(saved.tokens_after) / f64::from(saved.tokens_before));
    // As CURRENT_TIMESTAMP writes it, but from the session's time; null where the session has none.
    let created = saved.created_at_ms.and_then(timestamp).map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    connection.execute(
        "INSERT INTO checkpoint_summaries (session_id, checkpoint_num, from_message_id, to_message_id, \
         messages_compressed, summary_content, key_facts, original_tokens, compressed_tokens, compression_ratio, \
         summary_cost_usd, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            session,
            saved.number,
            first.0,
            last.0,
            i64::from(last.0) - i64::from(first.0) + 1,
            saved.body,
            key_facts(&saved.body),
            saved.tokens_before,
            saved.tokens_after,
            ratio,
            cost,
            created,
        ],
    )?;
    Ok(())
}

/// The lines under the heading "Key facts", as a JSON list; none where the summary has no such section.
fn key_facts(body: &str) -> Option<String> {
    let title = |line: &str| line.trim_matches([' ', '#', '*', ':']).to_lowercase();
    let lines = body.lines().skip_while(|line| title(line) != "key facts").skip(1);
    let lines = lines.map(str::trim).skip_while(|line| line.is_empty());
    let facts = lines.take_while(|line| !line.is_empty() && !line.starts_with('#'));
    let facts =
        facts.map(|line| line.strip_prefix("- ").or(line.strip_prefix("* ")).unwrap_or(line)).collect::<Vec<_>>();
    (!facts.is_empty()).then(|| serde_json::Value::from(facts).to_string())
}

/// Removes the views beyond those to keep.
pub(super) fn forget_views(connection: &Connection, id: &ThreadId, keep: usize) -> rusqlite::Result<()> {
    let sql = "SELECT sequence, names_version FROM views WHERE session_id = ?1 ORDER BY sequence";
    let views = all(connection, sql, id, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?)))?;
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
    connection.prepare("SELECT session_id FROM threads")?.query_map([], |row| row.get(0))?.collect()
}

/// Removes every row of a thread.
pub(super) fn clear(connection: &Connection, id: &ThreadId) -> rusqlite::Result<()> {
    for table in ["checkpoint_summaries", "records", "views", "rollbacks", "threads"] {
        connection.execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [id.as_str()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::key_facts;

    #[test]
    fn key_facts_are_the_lines_under_their_heading() {
        let list = |body: &str| key_facts(body);
        assert_eq!(
            list("- done\n\nKey facts:\n- svc-7: 455\n* `a.rs`: the file"),
            Some(r#"["svc-7: 455","`a.rs`: the file"]"#.into())
        );
        assert_eq!(list("**Key facts**:\n\nport 8080\n\nNext steps:\n- none"), Some(r#"["port 8080"]"#.into()));
        assert_eq!(list("## Key Facts\n- one\n## Other\n- two"), Some(r#"["one"]"#.into()));
        assert_eq!(list("the key facts: none of these"), None);
        assert_eq!(list("Key facts:\n"), None);
        assert_eq!(list(""), None);
    }
}
