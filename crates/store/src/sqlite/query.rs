//! What every table is read and written with.

use rusqlite::{Connection, Row};

use crate::thread_id::ThreadId;

/// Every row of a thread.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    id: &ThreadId,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection
        .prepare(sql)?
        .query_map([id.as_str()], read)?
        .collect()
}

pub(super) fn json<T: serde::Serialize + ?Sized>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
