//! Old records are packed, and nothing but the columns of the threshold plan shows it. A database
//! of version 1 becomes such a one.

use super::*;
use crate::Which;

fn two() -> NonZeroUsize {
    NonZeroUsize::new(2).unwrap()
}

/// Four commits of a summary and a checkpoint, of which the newest two stay plain.
fn four_rounds(path: &Path) -> (Vec<SessionRecord>, crate::Thread) {
    let mut thread = Checkpoints::in_sqlite(path, two())
        .unwrap()
        .thread("t")
        .unwrap();
    let rounds = (0..4).map(|round| {
        let summary = record(
            2 * round,
            &format!("- moved {round}\n\nKey facts:\n- quota: {round}55"),
        );
        let body = format!(r#"{{"active_goals":["goal {round}"]}}"#);
        [
            summary,
            SessionRecord {
                kind: RecordKind::Checkpoint,
                body,
                ..record(2 * round + 1, "")
            },
        ]
    });
    let rounds = rounds.collect::<Vec<_>>();
    rounds
        .iter()
        .for_each(|both| commit(&mut thread, both).unwrap());
    (rounds.concat(), thread)
}

#[test]
fn the_newest_are_readable_and_older_ones_load_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (written, mut thread) = four_rounds(&path);
    let connection = Connection::open(&path).unwrap();
    let columns = "SELECT checkpoint_num, summary_content, key_facts, original_tokens, created_at FROM checkpoint_summaries";
    let rest = "80000 | 2026-01-31 14:33:20";
    assert_eq!(
        lines(&connection, columns),
        [
            format!("0 | (packed in packed_records) | [\"quota: 055\"] | {rest}"),
            format!("2 | (packed in packed_records) | [\"quota: 155\"] | {rest}"),
            format!("4 | - moved 2\n\nKey facts:\n- quota: 255 | [\"quota: 255\"] | {rest}"),
            format!("6 | - moved 3\n\nKey facts:\n- quota: 355 | [\"quota: 355\"] | {rest}"),
        ]
    );
    let columns = "SELECT number, json_extract(record, '$.body') FROM saved_records";
    assert_eq!(
        lines(&connection, columns),
        [
            "4 | ",
            "5 | {\"active_goals\":[\"goal 2\"]}",
            "6 | ",
            "7 | {\"active_goals\":[\"goal 3\"]}"
        ]
    );
    let columns = "SELECT first_record, records, against_first, against_records, typeof(packed) FROM packed_records";
    assert_eq!(
        lines(&connection, columns),
        ["0 | 2 | 2 | 2 | blob", "2 | 2 | 4 | 2 | blob"]
    );
    assert_eq!(thread.load().unwrap().history, written);
    assert_eq!(thread.show(Which::Number(0)).unwrap(), written[0]);
    assert_eq!(thread.versions().unwrap()[1].bytes, written[1].body.len());
    assert_eq!(
        thread.rollback(5).unwrap().history[..6],
        written[..6],
        "a rollback leaves packed records as they are"
    );
    // A store that keeps more from here on packs nothing for a while, and unpacks nothing.
    let mut wider = Checkpoints::in_sqlite(&path, KEEP)
        .unwrap()
        .thread("t")
        .unwrap();
    let before = wider.load().unwrap().history;
    commit(&mut wider, &[record(8, "later")]).unwrap();
    assert_eq!(
        wider.load().unwrap().history,
        [before, vec![record(8, "later")]].concat()
    );
    assert_eq!(
        lines(&connection, "SELECT count(*) FROM saved_records"),
        ["3"],
        "those of the newest two commits"
    );
}

#[test]
fn the_newest_summaries_stay_readable_behind_any_number_of_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut thread = Checkpoints::in_sqlite(&path, two())
        .unwrap()
        .thread("t")
        .unwrap();
    let kinds = [0, 0, 0, 1, 1, 1].map(|kind| [RecordKind::Summary, RecordKind::Checkpoint][kind]);
    let written = kinds
        .into_iter()
        .zip(0..)
        .map(|(kind, number)| SessionRecord {
            kind,
            ..record(number, "{}")
        });
    let written = written.collect::<Vec<_>>();
    written
        .iter()
        .for_each(|saved| commit(&mut thread, std::slice::from_ref(saved)).unwrap());
    let connection = Connection::open(&path).unwrap();
    let texts = lines(
        &connection,
        "SELECT summary_content FROM checkpoint_summaries",
    );
    assert_eq!(texts, ["(packed in packed_records)", "{}", "{}"]);
    assert_eq!(
        lines(&connection, "SELECT number FROM saved_records"),
        ["4", "5"]
    );
    assert_eq!(thread.load().unwrap().history, written);
}

#[test]
fn what_is_torn_in_a_packed_record_is_named() {
    let of = |first: u32| format!("what is packed of thread `t` from record {first} on: ");
    for (sql, text) in [
        ("packed = zeroblob(9) WHERE first_record = 2", of(2)),
        ("plain_bytes = 1 WHERE first_record = 0", of(0)),
        (
            "plain_bytes = 4000000000 WHERE first_record = 0",
            "4000000000 bytes are more than any commit has".into(),
        ),
        (
            "records = 3 WHERE first_record = 0",
            "it holds 2 records, not 3".into(),
        ),
        (
            "against_first = 1 WHERE first_record = 0",
            "its dictionary, records 1 to 3, some are missing".into(),
        ),
        (
            "against_first = 99 WHERE first_record = 0",
            "its dictionary, records 99 to 101, some are missing".into(),
        ),
        ("against_records = 0 WHERE first_record = 0", of(0)),
        (
            "first_record = 1 WHERE first_record = 0",
            "of thread `t` is missing".into(),
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (_, mut thread) = four_rounds(&path);
        Connection::open(&path)
            .unwrap()
            .execute_batch(&format!("UPDATE packed_records SET {sql}"))
            .unwrap();
        let error = thread.load().unwrap_err().to_string();
        assert!(
            error.contains(&text) && error.contains("store.db"),
            "{sql}: {error}"
        );
    }
}

#[test]
fn a_deleted_thread_leaves_no_packed_body() {
    /// The first bytes of each packed body.
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (_, thread) = four_rounds(&path);
    let in_file = || {
        std::fs::read(&path)
            .unwrap()
            .windows(4)
            .filter(|bytes| *bytes == MAGIC)
            .count()
    };
    let store = Checkpoints::in_sqlite(&path, KEEP).unwrap();
    store.clear("another").unwrap();
    assert!(in_file() >= 2, "emptying the log brought them there");
    drop(thread);
    store.clear("t").unwrap();
    assert_eq!(in_file(), 0);
}

#[test]
fn reading_a_database_of_version_1_leaves_it_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("version_1.sql")).unwrap();
    drop(old);
    let before = std::fs::read(&path).unwrap();
    let store = Checkpoints::in_sqlite_to_read(&path, KEEP).unwrap();
    let thread = || store.thread("telegram:1").unwrap();
    let history = thread().load().unwrap().history;
    assert_eq!((history.len(), store.older_format()), (25, None));
    assert_eq!(thread().versions().unwrap().len(), 25);
    assert!(
        thread().rollback(17).is_err() && store.clear("telegram:1").is_err(),
        "it was opened to read"
    );
    drop(store);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // Opened to write it is brought up, once, and says so.
    let store = Checkpoints::in_sqlite(&path, KEEP).unwrap();
    assert_eq!(store.older_format(), Some(1));
    assert_eq!(
        store.thread("telegram:1").unwrap().load().unwrap().history,
        history
    );
    assert_eq!(
        Checkpoints::in_sqlite(&path, KEEP).unwrap().older_format(),
        None
    );
}

#[test]
fn a_database_of_version_1_loads_as_it_was_and_is_packed_from_the_next_commit_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("version_1.sql")).unwrap();
    let mut thread = Checkpoints::in_sqlite(&path, KEEP)
        .unwrap()
        .thread("telegram:1")
        .unwrap();
    let loaded = thread.load().unwrap();
    let body = |round: u32| {
        let text = format!(
            "Round {round}: the quota of svc-{round} stands at {}55. ",
            round % 10
        );
        text.repeat(11)[..200].to_owned()
    };
    let bodies = |state: &State| {
        state
            .history
            .iter()
            .map(|saved| saved.body.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(bodies(&loaded), (0..25).map(body).collect::<Vec<_>>());
    assert_eq!(
        loaded.history[24].covers,
        Some((MessageId(240), MessageId(249)))
    );
    assert_eq!(loaded.after, Some(MessageId(249)));
    let packed = || {
        lines(
            &old,
            "SELECT first_record, records, against_first FROM packed_records",
        )
    };
    assert_eq!(packed(), Vec::<String>::new());
    // A process of the old version that had it open learns it, in place of reading packed bodies as
    // empty ones.
    let error = old
        .prepare("SELECT record FROM records")
        .unwrap_err()
        .to_string();
    assert!(error.contains("no such table: records"), "{error}");
    commit(&mut thread, &[record(25, "the newest")]).unwrap();
    assert_eq!(packed(), ["0 | 24 | 24"], "all but the newest two commits");
    assert_eq!(thread.load().unwrap().history[..25], loaded.history);
    assert_eq!(
        thread.rollback(17).unwrap().after,
        Some(MessageId(179)),
        "its views were kept"
    );
    let tables = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY name";
    let fresh = folder.path().join("fresh.db");
    drop(Checkpoints::in_sqlite(&fresh, KEEP).unwrap());
    let fresh = lines(&Connection::open(&fresh).unwrap(), tables);
    // A table that was renamed has its name in quotes.
    assert_eq!(
        lines(&old, tables)
            .iter()
            .map(|line| line.replace('"', ""))
            .collect::<Vec<_>>(),
        fresh
    );
    assert_eq!(lines(&old, "PRAGMA user_version"), ["2"]);
}
