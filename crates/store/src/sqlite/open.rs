//! Opening a database: whose it is, which version, how it writes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::{cannot, with_ending};
use crate::error::Error;

const SCHEMA: &str = concat!(include_str!("schema.sql"), include_str!("packed.sql"));

/// Makes a database of version 1 one of this version.
const FROM_1: &str = concat!(include_str!("from_1.sql"), include_str!("packed.sql"));

/// What shows a database of version 1 to a reader as one of this version; only this connection sees
/// it.
const AS_OF_1: &str = "CREATE TEMP VIEW saved_records AS SELECT * FROM main.records; \
                       CREATE TEMP TABLE packed_records (session_id, first_record, records, against_first, against_records, plain_bytes, packed);";

/// Kept in `user_version`.
const VERSION: u64 = 2;

/// Kept in `application_id`: "Cmpm", so that no other program's database is taken for a store.
const APPLICATION: i64 = 0x436d_706d;

/// How long a commit waits for another process's: longer than any takes.
const BUSY: Duration = Duration::from_secs(10);

/// Between two tries to switch to a write-ahead log.
const SWITCH: Duration = Duration::from_millis(20);

/// Bytes of a page: texts of some kilobytes fill small ones better than the default of 4,096.
const PAGE: u32 = 1_024;

/// From a log of this many pages on, what was written moves to the database; the default of 1,000
/// outweighs most threads.
const LOG_PAGES: u32 = 64;

/// Opens a database, and says which older version it was of, if it had to be brought to this one.
pub(super) fn open(path: &Path) -> Result<(Connection, Option<u64>), Error> {
    let mut connection =
        Connection::open(as_file(path)).map_err(cannot("open the database", path))?;
    connection
        .busy_timeout(BUSY)
        .map_err(cannot("set up the database", path))?;
    let found = version(&connection, path)?;
    if found != Some(VERSION) {
        bring_up(&mut connection, path)?;
    }
    set_up(&connection).map_err(cannot("set up the database", path))?;
    Ok((connection, found.filter(|found| *found != VERSION)))
}

/// Opens a database for reading, even on a disk that cannot be written. There SQLite cannot make
/// the index that a log needs, so the database is read as immutable. That would leave out commits
/// that are still in the log, so such commits are an error. A database of an older version stays
/// one.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, Error> {
    if let Ok((connection, Some(1))) = read_only(&as_file(path), OpenFlags::SQLITE_OPEN_READ_ONLY) {
        return as_of_version_1(connection, path);
    }
    let error = match open(path) {
        Err(error) if error.is_of_place() => error,
        opened => return opened.map(|(connection, _)| connection),
    };
    let found = read_only(&as_file(path), OpenFlags::SQLITE_OPEN_READ_ONLY).or_else(|_| {
        let log = with_ending(path, "-wal");
        match std::fs::metadata(&log) {
            Ok(about) if about.len() > 0 => Err(Error::LogUnread {
                path: path.to_owned(),
                log,
            }),
            _ => read_only(
                &unchanging(path),
                OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
            ),
        }
    });
    match found {
        Ok((connection, Some(VERSION))) => Ok(connection),
        Ok((connection, Some(1))) => as_of_version_1(connection, path),
        Ok(_) => Err(error),
        Err(found @ (Error::LogUnread { .. } | Error::Newer { .. } | Error::Damaged { .. })) => {
            Err(found)
        }
        Err(_) => Err(error),
    }
}

/// A name that SQLite takes for that of a file and not for a URI, which may name any other file.
fn as_file(path: &Path) -> PathBuf {
    match path.as_os_str().as_encoded_bytes().starts_with(b"file:") {
        true => Path::new(".").join(path),
        false => path.to_owned(),
    }
}

fn read_only(path: &Path, flags: OpenFlags) -> Result<(Connection, Option<u64>), Error> {
    let connection =
        Connection::open_with_flags(path, flags).map_err(cannot("open the database", path))?;
    connection
        .busy_timeout(BUSY)
        .map_err(cannot("set up the database", path))?;
    let version = version(&connection, path)?;
    Ok((connection, version))
}

/// The tables of this version, as views of those of version 1.
fn as_of_version_1(connection: Connection, path: &Path) -> Result<Connection, Error> {
    connection
        .execute_batch(AS_OF_1)
        .map_err(cannot("read the older tables", path))?;
    Ok(connection)
}

/// What stands for itself in an address.
const ADDRESS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// An address for which SQLite assumes that nobody can change the database.
fn unchanging(path: &Path) -> PathBuf {
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), ADDRESS);
    PathBuf::from(format!("file:{path}?immutable=1"))
}

/// The version of the tables; none in a database without any.
fn version(connection: &Connection, path: &Path) -> Result<Option<u64>, Error> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let read = || {
        let tables = number("SELECT count(*) FROM sqlite_schema")?;
        Ok((
            tables,
            number("PRAGMA application_id")?,
            number("PRAGMA user_version")?,
        ))
    };
    let (tables, application, version) = read().map_err(cannot("read the database", path))?;
    if tables == 0 {
        return Ok(None);
    }
    if application != APPLICATION {
        return Err(Error::damaged(path, "it is another program's database"));
    }
    let found = u64::try_from(version).unwrap_or_default();
    if found > VERSION {
        return Err(Error::Newer {
            path: path.to_owned(),
            found,
            known: VERSION,
        });
    }
    Ok(Some(found))
}

/// Makes the tables, or those of version 1 into these.
fn bring_up(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    connection
        .pragma_update(None, "page_size", PAGE)
        .map_err(cannot("create the tables", path))?;
    overwrite_deleted(connection).map_err(cannot("set up the database", path))?;
    // Where another process is at it too, one of the two finds it done.
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.map_err(cannot("create the tables", path))?;
    let (doing, sql) = match version(&transaction, path)? {
        None => ("create the tables", SCHEMA),
        Some(VERSION) => return Ok(()),
        Some(_) => ("bring the tables to a newer version", FROM_1),
    };
    write(&transaction, sql).map_err(cannot(doing, path))?;
    transaction.commit().map_err(cannot(doing, path))
}

fn write(transaction: &Transaction<'_>, sql: &str) -> rusqlite::Result<()> {
    transaction.execute_batch(sql)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION as i64)
}

/// Switches to a write-ahead log. SQLite answers "busy" at once where two processes switch
/// together, whatever the timeout says, since each would wait for the other.
fn switch_to_log(connection: &Connection) -> rusqlite::Result<()> {
    let mode = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0));
    for _ in 0..BUSY.as_millis() / SWITCH.as_millis() {
        match mode("PRAGMA journal_mode").and_then(|now| {
            if now == "wal" {
                Ok(now)
            } else {
                mode("PRAGMA journal_mode = WAL")
            }
        }) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(SWITCH)
            }
            other => return other.map(drop),
        }
    }
    mode("PRAGMA journal_mode = WAL").map(drop)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    switch_to_log(connection)?;
    // With less, the last commits may go in a power failure.
    connection.pragma_update(None, "synchronous", "FULL")?;
    overwrite_deleted(connection)?;
    connection.query_row(
        &format!("PRAGMA wal_autocheckpoint = {LOG_PAGES}"),
        [],
        |_| Ok(()),
    )
}

/// What a deletion or a packed text frees is overwritten.
fn overwrite_deleted(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite would read such a name as a URI, and write to another folder.
    #[test]
    fn the_name_of_a_file_is_no_uri() {
        let name = Path::new("file:..%2f..%2fX.db");
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(as_file(name), Path::new("./file:..%2f..%2fX.db"));
        assert_eq!(as_file(&below.join(name)), below.join(name));
        drop(open(&below.join(name)).unwrap());
        assert!(below.join(name).is_file() && !dir.path().join("X.db").exists());
    }
}
