//! Looking at what was saved, going back, deleting.

use compactometer_engine::message::MessageId;
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, State, Store};
use compactometer_store::{Thread, Version, Which};

use crate::rounds::{STORES, commit, commit_records, open, open_keeping, record, state, view};

/// What a list of versions says of a record that [`record`] made.
fn version(saved: &SessionRecord, restorable: bool, rolled_back: bool) -> Version {
    Version {
        number: saved.number,
        kind: saved.kind,
        created_at_ms: saved.created_at_ms,
        covers: saved.covers,
        tokens_before: saved.tokens_before,
        tokens_after: saved.tokens_after,
        bytes: saved.body.len(),
        restorable,
        rolled_back,
    }
}

fn flags(thread: &Thread) -> Vec<(u32, bool, bool)> {
    let versions = thread.versions().unwrap();
    versions
        .iter()
        .map(|version| (version.number, version.restorable, version.rolled_back))
        .collect()
}

#[test]
fn going_back_and_forth_keeps_everything() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let mut thread = store.thread("t").unwrap();
        (0..4).for_each(|number| commit(&mut thread, number, 20));
        let back = thread.rollback(1).unwrap();
        let hidden = |number| SessionRecord {
            kind: RecordKind::Failed,
            body: "rolled back".into(),
            ..record(number, RecordKind::Summary, 20)
        };
        let expected = State {
            history: [state(1, 20).history, vec![hidden(2), hidden(3)]].concat(),
            ..state(1, 20)
        };
        assert_eq!(back, expected, "{kind}");
        assert_eq!(
            thread.show(Which::Latest).unwrap(),
            record(1, RecordKind::Summary, 20)
        );
        assert_eq!(
            thread.show(Which::Number(3)).unwrap(),
            record(3, RecordKind::Summary, 20),
            "{kind}: nothing is deleted"
        );
        assert_eq!(
            thread.versions().unwrap(),
            (0..4)
                .map(|number| version(&record(number, RecordKind::Summary, 20), true, number > 1))
                .collect::<Vec<_>>()
        );
        // A session goes on from there; its numbers stay without gaps.
        commit(&mut thread, 4, 20);
        assert_eq!(thread.load().unwrap().view, view(4));
        // And forth to what was left behind.
        let forth = open(kind, folder.path())
            .thread("t")
            .unwrap()
            .rollback(3)
            .unwrap();
        assert_eq!(
            forth,
            State {
                history: [state(3, 20).history, vec![hidden(4)]].concat(),
                ..state(3, 20)
            },
            "{kind}"
        );
    }
}

#[test]
fn a_rollback_takes_all_records_of_one_decision() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let mut thread = open(kind, folder.path()).thread("t").unwrap();
        let both = |number| {
            [
                record(number, RecordKind::Summary, 20),
                record(number + 1, RecordKind::Checkpoint, 20),
            ]
        };
        commit_records(&mut thread, &both(0));
        commit_records(&mut thread, &both(2));
        assert_eq!(thread.show(Which::Latest).unwrap().number, 3, "{kind}");
        let back = thread.rollback(0).unwrap();
        assert_eq!(back.view, view(1), "{kind}");
        assert_eq!(
            thread.show(Which::Latest).unwrap(),
            record(1, RecordKind::Checkpoint, 20),
            "{kind}"
        );
        assert_eq!(
            flags(&thread),
            [
                (0, true, false),
                (1, true, false),
                (2, true, true),
                (3, true, true)
            ],
            "{kind}"
        );
    }
}

#[test]
fn the_newest_views_are_kept_and_failed_attempts_push_none_out() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let mut thread = open_keeping(kind, folder.path(), 2.try_into().unwrap())
            .thread("t")
            .unwrap();
        (0..3).for_each(|number| commit(&mut thread, number, 20));
        for number in 3..9 {
            commit_records(&mut thread, &[record(number, RecordKind::Failed, 20)]);
        }
        let restorable = flags(&thread)
            .into_iter()
            .filter(|(_, restorable, _)| *restorable)
            .map(|(number, ..)| number);
        assert_eq!(
            restorable.collect::<Vec<_>>(),
            [2, 8],
            "{kind}: the newest with a version, and where the thread is"
        );
        let error = thread.rollback(0).unwrap_err().to_string();
        assert_eq!(
            error,
            "thread `t` has no kept view of record 0; it has 9 records, with the views of: 2, 8",
            "{kind}"
        );
        assert_eq!(thread.rollback(2).unwrap().view, view(2), "{kind}");
        let error = thread.show(Which::Number(9)).unwrap_err().to_string();
        assert!(
            error.starts_with("thread `t` has no record 9; it has 9 records"),
            "{kind}: {error}"
        );
    }
}

#[test]
fn a_cut_without_a_summary_is_kept_too() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let mut thread = open_keeping(kind, folder.path(), 1.try_into().unwrap())
            .thread("t")
            .unwrap();
        for cut in 1..4 {
            thread
                .commit(&Commit {
                    saved: &[],
                    view: &view(cut),
                    after: MessageId(cut),
                })
                .unwrap();
        }
        let expected = State {
            history: Vec::new(),
            view: view(3),
            after: Some(MessageId(3)),
        };
        assert_eq!(
            open(kind, folder.path())
                .thread("t")
                .unwrap()
                .load()
                .unwrap(),
            expected,
            "{kind}"
        );
        let error = thread.show(Which::Latest).unwrap_err().to_string();
        let expected = "thread `t` has no checkpoint or summary that holds; it has 0 records, with the views of: none";
        assert_eq!(error, expected, "{kind}");
    }
}

#[test]
fn deleting_a_thread_leaves_nothing_of_it() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        for id in ["stays", "goes"] {
            let mut thread = store.thread(id).unwrap();
            commit_records(
                &mut thread,
                &[SessionRecord {
                    body: format!("the secret of {id}"),
                    ..record(0, RecordKind::Summary, 20)
                }],
            );
        }
        let mut live = store.thread("goes").unwrap();
        live.load().unwrap();
        store.clear("goes").unwrap();
        store.clear("never was").unwrap();
        assert_eq!(store.threads().unwrap(), ["stays"], "{kind}");
        assert_eq!(
            store.thread("goes").unwrap().load().unwrap(),
            State::default(),
            "{kind}"
        );
        let error = live
            .commit(&Commit {
                saved: &[],
                view: &[],
                after: MessageId(0),
            })
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("commit 1 was loaded, 0 is there"),
            "{kind}: {error}"
        );
        let held = bytes_under(folder.path());
        let holds = |text: &str| {
            held.windows(text.len())
                .any(|window| window == text.as_bytes())
        };
        assert!(holds("the secret of stays"), "{kind}");
        assert!(
            !holds("the secret of goes"),
            "{kind}: its bytes are still there"
        );
    }
}

/// All bytes of all files.
pub(crate) fn bytes_under(folder: &std::path::Path) -> Vec<u8> {
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                bytes_under(&path)
            } else {
                std::fs::read(&path).unwrap()
            }
        })
        .collect()
}
