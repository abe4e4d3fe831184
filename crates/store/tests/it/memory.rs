//! Notes come back with a session's records, and the agent's document stays apart from them.

use compactometer_engine::message::MessageId;
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, Store};

use crate::rounds::{STORES, commit, open, record, state, view};

#[test]
fn a_document_is_replaced_whole_and_no_commit_or_rollback_touches_it() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let mut thread = store.thread("telegram:1").unwrap();
        assert_eq!(thread.memory_document().unwrap(), None, "{kind}");
        thread
            .set_memory_document("# MEMORY.md\n- first\n")
            .unwrap();
        assert_eq!(
            store.threads().unwrap(),
            Vec::<String>::new(),
            "a document alone is not a conversation"
        );
        commit(&mut thread, 0, 20);
        commit(&mut thread, 1, 20);
        thread.set_memory_document("- second, \u{65e5}").unwrap();
        thread.rollback(0).unwrap();
        let again = open(kind, folder.path());
        assert_eq!(
            again
                .thread("telegram:1")
                .unwrap()
                .memory_document()
                .unwrap()
                .as_deref(),
            Some("- second, \u{65e5}")
        );
        assert_eq!(
            again
                .thread("telegram:2")
                .unwrap()
                .memory_document()
                .unwrap(),
            None,
            "{kind}: another thread's"
        );
    }
}

#[test]
fn clearing_a_thread_deletes_its_document_and_no_other() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let threads = ["a", "b"].map(|id| store.thread(id).unwrap());
        threads
            .iter()
            .for_each(|thread| thread.set_memory_document("the secret").unwrap());
        store.clear("a").unwrap();
        let documents = threads.map(|thread| thread.memory_document().unwrap());
        assert_eq!(documents, [None, Some("the secret".to_owned())], "{kind}");
    }
}

#[test]
fn notes_alone_are_no_version_and_load_as_they_were_written() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let mut thread = open(kind, folder.path()).thread("t").unwrap();
        commit(&mut thread, 0, 20);
        let body = r#"{"text":"deploys only on Tuesdays","importance":7}"#.to_owned();
        let note = SessionRecord {
            covers: None,
            body,
            ..record(1, RecordKind::Note, 20)
        };
        let saved = [note.clone()];
        thread
            .commit(&Commit {
                saved: &saved,
                view: &view(0),
                after: MessageId(9),
            })
            .unwrap();
        let loaded = open(kind, folder.path())
            .thread("t")
            .unwrap()
            .load()
            .unwrap();
        assert_eq!(
            loaded.history,
            [state(0, 20).history, vec![note]].concat(),
            "{kind}"
        );
        let latest = thread.show(compactometer_store::Which::Latest).unwrap();
        assert_eq!(latest.kind, RecordKind::Summary, "{kind}");
    }
}
