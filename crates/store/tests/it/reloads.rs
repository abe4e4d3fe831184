//! What was committed last is what loads.

use compactometer_engine::message::{MessageId, Part, Role, Usage};
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, State, Store};
use compactometer_engine::view::{Edit, Origin, WrittenPart};
use proptest::prelude::*;

use crate::rounds::{STORES, commit, open, open_keeping, state};

fn text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        any::<String>(),
        "[a-z ]{0,300}",
        Just(String::new()),
        Just("{\"active_goals\":[\"g\"]}".to_owned())
    ]
}

fn saved() -> impl Strategy<Value = SessionRecord> {
    let kind = prop_oneof![
        Just(RecordKind::Summary),
        Just(RecordKind::Checkpoint),
        Just(RecordKind::Failed),
        Just(RecordKind::Note)
    ];
    let covers = proptest::option::of((any::<u32>(), any::<u32>()));
    let time = proptest::option::of(prop_oneof![
        any::<i64>(),
        1_769_000_000_000..1_770_000_000_000_i64
    ]);
    let numbers = any::<(u32, u32, u32, u8)>();
    (kind, covers, numbers, time, text()).prop_map(|(kind, covers, tokens, created_at_ms, body)| {
        SessionRecord {
            number: 0,
            kind,
            covers: covers.map(|(first, last)| (MessageId(first), MessageId(last))),
            tokens_before: tokens.0,
            tokens_after: tokens.1,
            usage: Usage {
                input: u64::from(tokens.2),
                ..Usage::default()
            },
            created_at_ms,
            body,
            stage: tokens.3,
        }
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    let part = text().prop_map(|text| WrittenPart {
        part: Part::Text { text },
        origin: Origin::Summary(0),
    });
    let parts = proptest::collection::vec(part, 0..3);
    prop_oneof![
        any::<u32>().prop_map(|id| Edit::Keep(MessageId(id))),
        (any::<u32>(), parts.clone()).prop_map(|(id, parts)| Edit::Replace(MessageId(id), parts)),
        parts.prop_map(|parts| Edit::Insert(Role::User, parts)),
    ]
}

fn commits() -> impl Strategy<Value = Vec<(Vec<SessionRecord>, Vec<Edit>, u32)>> {
    let records = proptest::collection::vec(saved(), 0..4);
    let view = proptest::collection::vec(edit(), 0..5);
    proptest::collection::vec((records, view, any::<u32>()), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_committed_last_loads(commits in commits(), keep in 1_usize..5, reopened in any::<u16>()) {
        for &kind in STORES {
            let folder = tempfile::tempdir().unwrap();
            let keep = keep.try_into().unwrap();
            let mut thread = open_keeping(kind, folder.path(), keep).thread("telegram:1").unwrap();
            let mut expected = State::default();
            for (step, (saved, view, after)) in commits.iter().enumerate() {
                let first = expected.history.len() as u32;
                let number = |(saved, number): (&SessionRecord, u32)| SessionRecord { number, ..saved.clone() };
                let saved = saved.iter().zip(first..).map(number).collect::<Vec<_>>();
                thread.commit(&Commit { saved: &saved, view, after: MessageId(*after) }).unwrap();
                expected.history.extend(saved);
                expected.view.clone_from(view);
                expected.after = Some(MessageId(*after));
                if reopened >> step & 1 == 1 {
                    thread = open_keeping(kind, folder.path(), keep).thread("telegram:1").unwrap();
                    prop_assert_eq!(&thread.load().unwrap(), &expected);
                }
            }
            let mut again = open(kind, folder.path()).thread("telegram:1").unwrap();
            prop_assert_eq!(again.load().unwrap(), expected);
        }
    }
}

#[test]
fn a_thread_that_never_was_is_empty_and_stays_so() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let mut thread = store.thread("new").unwrap();
        assert_eq!(thread.load().unwrap(), State::default());
        assert_eq!(thread.versions().unwrap(), []);
        assert_eq!(store.threads().unwrap(), Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn ids_that_look_alike_stay_apart() {
    let ids = [
        "Team",
        "team",
        "会議",
        "a.b",
        "a%2eb",
        "con",
        "telegram:123456",
        "x/y",
        "\u{e9}",
        "e\u{301}",
        "x".repeat(240).leak(),
    ];
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        for (count, id) in ids.iter().enumerate() {
            let mut thread = store.thread(id).unwrap();
            for number in 0..=count as u32 {
                commit(&mut thread, number, 20);
            }
        }
        for (count, id) in ids.iter().enumerate() {
            assert_eq!(
                store.thread(id).unwrap().load().unwrap(),
                state(count as u32, 20),
                "{kind}: {id}"
            );
        }
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        assert_eq!(store.threads().unwrap(), sorted, "{kind}");
        for id in ["", ".", "..", "../../x", "a\0b", "x".repeat(10_000).leak()] {
            let error = store.thread(id).unwrap_err().to_string();
            assert!(error.starts_with("thread id `"), "{kind}: {error}");
            assert_eq!(store.clear(id).unwrap_err().to_string(), error, "{kind}");
        }
    }
}

#[test]
fn who_goes_on_from_an_older_state_is_refused() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let [mut first, mut second] = [store.thread("t").unwrap(), store.thread("t").unwrap()];
        commit(&mut first, 0, 20);
        let saved = [state(0, 30).history.remove(0)];
        let late = Commit {
            saved: &saved,
            view: &[],
            after: MessageId(1),
        };
        let error = second.commit(&late).unwrap_err().to_string();
        let expected = "thread `t` changed since it was loaded (commit 0 was loaded, 1 is there): load it again and \
                        restore the session from that";
        assert_eq!(error, expected, "{kind}");
        assert_eq!(
            second.load().unwrap(),
            state(0, 20),
            "{kind}: nothing was lost"
        );
        // A session that was not restored from what was loaded numbers from 0 again.
        let error = second.commit(&late).unwrap_err().to_string();
        assert!(
            error.contains("record 0 was to be kept where 1 is next"),
            "{kind}: {error}"
        );
        commit(&mut second, 1, 20);
        assert_eq!(first.load().unwrap(), state(1, 20), "{kind}");
    }
}

#[test]
fn a_thousand_threads_do_not_mix() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let mut threads = (0..1_000)
            .map(|id| store.thread(&format!("chat:{id}")).unwrap())
            .collect::<Vec<_>>();
        for (number, thread) in threads.iter_mut().enumerate() {
            commit(thread, 0, 20 + number);
        }
        drop(threads);
        let store = open(kind, folder.path());
        assert_eq!(store.threads().unwrap().len(), 1_000, "{kind}");
        for number in 0..1_000 {
            let loaded = store
                .thread(&format!("chat:{number}"))
                .unwrap()
                .load()
                .unwrap();
            assert_eq!(loaded, state(0, 20 + number), "{kind}");
        }
    }
}
