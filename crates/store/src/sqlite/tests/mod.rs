//! The table of the threshold plan, what is packed of it, and databases that are not as this store
//! left them.

mod packed;

use std::num::NonZeroUsize;

use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, State, Store};
use rusqlite::types::Value;
use rusqlite::{Connection, Row};

use super::*;
use crate::{Checkpoints, KEEP};

fn record(number: u32, body: &str) -> SessionRecord {
    SessionRecord {
        number,
        kind: RecordKind::Summary,
        covers: Some((MessageId(3), MessageId(12))),
        tokens_before: 80_000,
        tokens_after: 20_000,
        usage: Usage {
            input: 2_000,
            output: 100,
            ..Usage::default()
        },
        created_at_ms: Some(1_769_870_000_999),
        body: body.to_owned(),
        stage: 0,
    }
}

fn commit(store: &mut impl Store, saved: &[SessionRecord]) -> Result<(), String> {
    store
        .commit(&Commit {
            saved,
            view: &[],
            after: MessageId(12),
        })
        .map_err(|error| error.to_string())
}

fn text(value: Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Text(text) => text,
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Blob(_) => "a blob".to_owned(),
    }
}

fn line(row: &Row<'_>, columns: usize) -> String {
    (0..columns)
        .map(|column| text(row.get_unwrap(column)))
        .collect::<Vec<_>>()
        .join(" | ")
}

fn lines(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement
        .query_map([], |row| Ok(line(row, columns)))
        .unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn a_summary_is_a_row_of_the_sources_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = Checkpoints::in_sqlite(&path, KEEP).unwrap();
    let price = |saved: &SessionRecord| Some(saved.usage.input as f64 / 4_000.0);
    let mut thread = store.thread("telegram:1").unwrap().priced(price);
    let checkpoint = SessionRecord {
        kind: RecordKind::Checkpoint,
        ..record(1, "{}")
    };
    commit(
        &mut thread,
        &[
            record(0, "- moved it\n\nKey facts:\n- quota: 455"),
            checkpoint,
        ],
    )
    .unwrap();
    let untimed = SessionRecord {
        created_at_ms: None,
        tokens_before: 0,
        ..record(2, "none")
    };
    let uncovered = SessionRecord {
        covers: None,
        ..record(3, "covers nothing")
    };
    let mut unpriced = store.thread("telegram:1").unwrap();
    unpriced.load().unwrap();
    commit(&mut unpriced, &[untimed, uncovered]).unwrap();
    let connection = Connection::open(&path).unwrap();
    let session_time = "SELECT *, created_at > '2026-02-01' FROM checkpoint_summaries";
    let now = lines(&connection, "SELECT created_at FROM checkpoint_summaries")[1].clone();
    assert_eq!(
        lines(&connection, session_time),
        [
            "1 | telegram:1 | 0 | 3 | 12 | 10 | - moved it\n\nKey facts:\n- quota: 455 | [\"quota: 455\"] | 80000 | 20000 | \
             0.25 | 0.5 | 2026-01-31 14:33:20 | 0".to_owned(),
            format!("2 | telegram:1 | 2 | 3 | 12 | 10 | none | null | 0 | 20000 | null | null | {now} | 1"),
        ]
    );
    let columns = "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('checkpoint_summaries')";
    assert_eq!(
        lines(&connection, columns),
        [
            "id | INTEGER | 0 | null | 1",
            "session_id | TEXT | 1 | null | 0",
            "checkpoint_num | INTEGER | 1 | null | 0",
            "from_message_id | INTEGER | 1 | null | 0",
            "to_message_id | INTEGER | 1 | null | 0",
            "messages_compressed | INTEGER | 0 | null | 0",
            "summary_content | TEXT | 1 | null | 0",
            "key_facts | TEXT | 0 | null | 0",
            "original_tokens | INTEGER | 0 | null | 0",
            "compressed_tokens | INTEGER | 0 | null | 0",
            "compression_ratio | REAL | 0 | null | 0",
            "summary_cost_usd | REAL | 0 | null | 0",
            "created_at | DATETIME | 0 | CURRENT_TIMESTAMP | 0",
        ]
    );
    let indexes =
        "SELECT name, \"unique\" FROM pragma_index_list('checkpoint_summaries') ORDER BY name";
    let expected = [
        "idx_checkpoint_session | 0",
        "sqlite_autoindex_checkpoint_summaries_1 | 1",
    ];
    assert_eq!(lines(&connection, indexes), expected);
    let unique = "SELECT name FROM pragma_index_info('sqlite_autoindex_checkpoint_summaries_1')";
    assert_eq!(lines(&connection, unique), ["session_id", "checkpoint_num"]);
    let pragmas = ["journal_mode", "user_version"]
        .map(|name| lines(&connection, &format!("PRAGMA {name}")).concat());
    assert_eq!(pragmas, ["wal", "2"]);
}

#[test]
fn a_database_that_is_moved_or_replaced_takes_no_more_commits() {
    for replaced in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (
            folder.path().join("store.db"),
            folder.path().join("moved.db"),
        );
        let mut thread = Checkpoints::in_sqlite(&path, KEEP)
            .unwrap()
            .thread("t")
            .unwrap();
        commit(&mut thread, &[record(0, "first")]).unwrap();
        std::fs::rename(&path, &moved).unwrap();
        if replaced {
            std::fs::copy(&moved, &path).unwrap();
        }
        let error = commit(&mut thread, &[record(1, "second")]).unwrap_err();
        assert!(
            error.contains(&format!("`{}` was removed or replaced", path.display())),
            "{error}"
        );
        assert!(error.contains("move it back"), "{error}");
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("store.db"), KEEP).unwrap();
    let id = ThreadId::parse("t").unwrap();
    let append = |sequence: u64, body: &str| {
        let saved = [record(sequence as u32, body)];
        let commit = Commit {
            saved: &saved,
            view: &[],
            after: MessageId(1),
        };
        store.append(
            &id,
            sequence,
            &ThreadChange {
                commit,
                rollback: None,
                costs: vec![None],
            },
        )
    };
    append(0, "small").unwrap();
    let pages: u32 = store
        .connection()
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    let limit = |pages: u32| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        store.connection().query_row(&sql, [], |_| Ok(())).unwrap();
    };
    limit(pages + 3);
    let large = "large ".repeat(10_000);
    let error = append(1, &large).unwrap_err().to_string();
    assert!(
        error.contains("store.db` : ") || error.contains("store.db`: "),
        "{error}"
    );
    assert!(
        error.ends_with("nothing was lost: free space there, then commit again"),
        "{error}"
    );
    assert_eq!(store.read(&id).unwrap().history, [record(0, "small")]);
    limit(pages + 1_000);
    append(1, &large).unwrap();
    assert_eq!(
        store.read(&id).unwrap().history,
        [record(0, "small"), record(1, &large)]
    );
}

#[test]
fn what_is_no_store_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let path = folder.path().join(name);
        let error = Checkpoints::in_sqlite(&path, NonZeroUsize::MIN)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
        error.replace(&path.display().to_string(), name)
    };
    let text = "not a database, but long enough to be looked at as if it were one. ".repeat(20);
    std::fs::write(folder.path().join("text"), &text).unwrap();
    assert!(
        open("text").ends_with("; it was left as it is: name another file"),
        "{}",
        open("text")
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("text")).unwrap(),
        text
    );
    let foreign = Connection::open(folder.path().join("foreign")).unwrap();
    foreign
        .execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        .unwrap();
    assert!(
        open("foreign").contains("it is another program's database"),
        "{}",
        open("foreign")
    );
    assert_eq!(lines(&foreign, "SELECT * FROM theirs"), ["1"]);
    drop(Checkpoints::in_sqlite(&folder.path().join("newer"), KEEP).unwrap());
    let newer = Connection::open(folder.path().join("newer")).unwrap();
    newer.pragma_update(None, "user_version", 3).unwrap();
    let expected =
        "`newer` has format 3; this version reads up to 2: use the newer version that wrote it";
    assert_eq!(open("newer"), expected);
    assert!(
        open("no/such/folder")
            .ends_with("name a file in a folder that exists, and make both writable for this user")
    );
}

#[test]
fn rows_that_somebody_took_are_missed() {
    for (sql, text) in [
        (
            "DELETE FROM checkpoint_summaries",
            "the row of record 0 of thread `t` in `checkpoint_summaries` is missing",
        ),
        (
            "DELETE FROM saved_records WHERE number = 0",
            "record 0 of thread `t` is missing",
        ),
        (
            "UPDATE saved_records SET record = '{'",
            "a row of `saved_records`: EOF while parsing",
        ),
        (
            "UPDATE views SET view = '7'",
            "a row of `views`: invalid type",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut thread = Checkpoints::in_sqlite(&path, KEEP)
            .unwrap()
            .thread("t")
            .unwrap();
        commit(&mut thread, &[record(0, "a"), record(1, "b")]).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = thread.load().unwrap_err().to_string();
        assert!(
            error.contains(text) && error.contains("store.db"),
            "{error}"
        );
    }
}

#[test]
fn a_torn_database_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut thread = Checkpoints::in_sqlite(&path, KEEP)
        .unwrap()
        .thread("t")
        .unwrap();
    commit(&mut thread, &[record(0, &"long ".repeat(4_000))]).unwrap();
    drop(thread);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let read = Checkpoints::in_sqlite(&path, KEEP).and_then(|store| store.thread("t")?.load());
    let error = read
        .map(|state: State| state.history.len())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("store.db") && error.ends_with("restore the file from a copy"),
        "{error}"
    );
}
