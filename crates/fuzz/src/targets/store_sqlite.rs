//! A SQLite store that somebody changed. Each line of an input changes a healthy database:
//! `TABLE.COLUMN ROW VALUE` sets a value (a number, `null`, `x` and hex, or a text) in a row, `@
//! OFFSET HEX` overwrites bytes of the file. Other lines change nothing.

use std::path::Path;
use std::sync::LazyLock;

use compactometer_store::Checkpoints;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::{store, store_directory};
use crate::scratch_files;

const DATABASE: &str = "store.db";

static HEALTHY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(DATABASE);
    store::fill(&Checkpoints::in_sqlite(&path, store::KEEP).expect("a store"));
    std::fs::read(path).expect("a file")
});

/// Tables and columns that a reader reads.
const CELLS: &[&str] = &[
    "checkpoint_summaries.checkpoint_num",
    "checkpoint_summaries.session_id",
    "checkpoint_summaries.summary_content",
    "packed_records.against_first",
    "packed_records.against_records",
    "packed_records.first_record",
    "packed_records.packed",
    "packed_records.plain_bytes",
    "packed_records.records",
    "rollbacks.at_record",
    "rollbacks.sequence",
    "rollbacks.to_record",
    "saved_records.number",
    "saved_records.record",
    "saved_records.session_id",
    "threads.sequence",
    "threads.session_id",
    "views.after_message",
    "views.first_record",
    "views.names_version",
    "views.records",
    "views.sequence",
    "views.view",
];

pub(super) fn run(data: &[u8]) -> bool {
    scratch_files::in_folder(|folder| {
        let path = scratch_files::write(folder, DATABASE, &HEALTHY);
        change(&path, &String::from_utf8_lossy(data));
        Checkpoints::in_sqlite(&path, store::KEEP).is_ok_and(|store| store::examine(&store))
    })
}

fn change(path: &Path, lines: &str) {
    let connection = Connection::open(path).expect("a healthy database opens");
    for line in lines.lines() {
        let _ = cell(&connection, line);
    }
    drop(connection);
    let mut bytes = std::fs::read(path).expect("a file");
    for change in lines.lines().filter_map(|line| line.strip_prefix("@ ")) {
        let _ = store_directory::over(&mut bytes, change);
    }
    std::fs::write(path, bytes).expect("a file");
}

/// Makes the change that a line describes. `None` if the database refuses it.
fn cell(connection: &Connection, line: &str) -> Option<()> {
    let (name, rest) = line.split_once(' ')?;
    let (row, value) = rest.split_once(' ')?;
    let (table, column) = CELLS.iter().find(|cell| **cell == name)?.split_once('.')?;
    let sql = format!(
        "UPDATE {table} SET {column} = ?1 WHERE {column} = (SELECT {column} FROM {table} LIMIT 1 OFFSET ?2)"
    );
    connection
        .execute(&sql, params![read(value), row.parse::<u32>().ok()?])
        .ok()
        .map(drop)
}

fn read(value: &str) -> Value {
    if value == "null" {
        return Value::Null;
    }
    let bytes = value
        .strip_prefix('x')
        .filter(|hex| hex.len() % 2 == 0 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let byte = |two: &[u8]| {
        u8::from_str_radix(std::str::from_utf8(two).unwrap_or_default(), 16).unwrap_or_default()
    };
    match (bytes, value.parse::<i64>()) {
        (Some(hex), _) => Value::Blob(hex.as_bytes().chunks(2).map(byte).collect()),
        (None, Ok(number)) => Value::Integer(number),
        (None, Err(_)) => Value::Text(value.to_owned()),
    }
}
