//! The agent's own document of a thread: one row. Databases of the first version have its table
//! from the first write on.

use rusqlite::{Connection, OptionalExtension, params};

use crate::thread_id::ThreadId;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS memory_documents (
  session_id TEXT PRIMARY KEY,
  document TEXT NOT NULL
) WITHOUT ROWID";

pub(super) fn read(connection: &Connection, id: &ThreadId) -> rusqlite::Result<Option<String>> {
    if !connection.table_exists(None, "memory_documents")? {
        return Ok(None);
    }
    let sql = "SELECT document FROM memory_documents WHERE session_id = ?1";
    connection
        .query_row(sql, [id.as_str()], |row| row.get(0))
        .optional()
}

pub(super) fn write(connection: &Connection, id: &ThreadId, text: &str) -> rusqlite::Result<()> {
    connection.execute(TABLE, [])?;
    connection.execute(
        "INSERT OR REPLACE INTO memory_documents VALUES (?1, ?2)",
        params![id.as_str(), text],
    )?;
    Ok(())
}

pub(super) fn clear(connection: &Connection, id: &ThreadId) -> rusqlite::Result<()> {
    if connection.table_exists(None, "memory_documents")? {
        connection.execute(
            "DELETE FROM memory_documents WHERE session_id = ?1",
            [id.as_str()],
        )?;
    }
    Ok(())
}
