//! Shared by both stores: a healthy thread, and checks of one that may be damaged. Two reads give
//! the same result, a damaged thread gives an error with its place, and a thread that loads accepts
//! a commit and keeps its history.

use std::num::NonZeroUsize;

use compactometer_engine::message::{MessageId, Part, Role, Usage};
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, State, Store};
use compactometer_engine::view::{Edit, Origin, WrittenPart};
use compactometer_store::{Checkpoints, Error, Thread, Which};

/// The name of the thread in every store here.
pub(super) const THREAD: &str = "t";

/// Few views are kept, so that even a short history folds old commits.
pub(super) const KEEP: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");

/// The number of commits of a healthy thread.
const COMMITS: u32 = 4;

/// Four commits, two of them folded, and a step back.
pub(super) fn fill(store: &Checkpoints) {
    let mut thread = store.thread(THREAD).expect("a thread");
    for number in 0..COMMITS {
        commit(&mut thread, number).expect("a commit");
    }
    thread
        .set_memory_document("- quota: 455")
        .expect("a document");
    thread.rollback(COMMITS - 2).expect("a rollback");
}

/// Reads all of a store that may be damaged, continues its thread and clears it. Returns whether
/// the thread was intact.
pub(super) fn examine(store: &Checkpoints) -> bool {
    expect_reported(store.threads());
    let Some(mut thread) = expect_reported(store.thread(THREAD)) else {
        return false;
    };
    let state = loaded(&mut thread);
    for which in [
        Which::Latest,
        Which::Number(0),
        Which::Number(COMMITS - 1),
        Which::Number(u32::MAX),
    ] {
        expect_reported(thread.show(which));
    }
    expect_reported(thread.memory_document());
    if let Some(state) = &state {
        goes_on(&mut thread, state);
        goes_back(&mut thread);
    }
    if expect_reported(store.clear(THREAD)).is_some()
        && let Some(mut cleared) = expect_reported(store.thread(THREAD))
    {
        assert_eq!(
            loaded(&mut cleared),
            Some(State::default()),
            "a cleared thread is not empty"
        );
    }
    state.is_some()
}

/// The result, if there is one; an error must name its place.
fn expect_reported<T>(result: Result<T, Error>) -> Option<T> {
    result
        .inspect_err(|error| assert!(error.to_string().contains('`'), "no place: {error}"))
        .ok()
}

/// The state, if the thread is intact. A second read must give the same.
fn loaded(thread: &mut Thread) -> Option<State> {
    let versions = expect_reported(thread.versions());
    let (first, second) = (thread.load(), thread.load());
    match (&first, &second) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one, other);
            assert_eq!(
                versions.map(|versions| versions.len()),
                Some(one.history.len())
            );
        }
        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
        _ => panic!("two reads differ: {first:?}, {second:?}"),
    }
    expect_reported(first)
}

/// A commit either adds its record or changes nothing.
fn goes_on(thread: &mut Thread, before: &State) {
    let done = commit(thread, before.history.len() as u32);
    let after = loaded(thread);
    let Some(after) = after else {
        return assert!(done.is_err(), "a commit spoiled the thread");
    };
    match done {
        Ok(()) => {
            assert_eq!(after.history[..before.history.len()], before.history);
            assert_eq!(after.history.len(), before.history.len() + 1);
        }
        Err(_) => assert_eq!(after, *before),
    }
}

fn goes_back(thread: &mut Thread) {
    let versions = expect_reported(thread.versions()).unwrap_or_default();
    for version in versions.iter().filter(|version| version.restorable) {
        if let Some(state) = expect_reported(thread.rollback(version.number)) {
            assert_eq!(
                state.history.len(),
                versions.len(),
                "going back loses records"
            );
        }
    }
}

fn commit(thread: &mut Thread, number: u32) -> Result<(), String> {
    let saved = record(number);
    let part = WrittenPart {
        part: Part::Text {
            text: saved.body.clone(),
        },
        origin: Origin::Summary(number),
    };
    let view = [
        Edit::Keep(MessageId(0)),
        Edit::Insert(Role::User, vec![part]),
    ];
    thread
        .commit(&Commit {
            saved: &[saved],
            view: &view,
            after: MessageId(3),
        })
        .map_err(|error| error.to_string())
}

fn record(number: u32) -> SessionRecord {
    let kind = if number.is_multiple_of(2) {
        RecordKind::Summary
    } else {
        RecordKind::Checkpoint
    };
    let quota = 455 + u64::from(number);
    SessionRecord {
        number,
        kind,
        covers: Some((MessageId(1), MessageId(3))),
        tokens_before: 900,
        tokens_after: 300,
        usage: Usage {
            input: 700,
            output: 90,
            ..Usage::default()
        },
        created_at_ms: Some(1_769_870_000_000),
        body: format!("{{\"active_goals\":[\"the quota of svc-7 is {quota}\"]}}"),
        stage: 0,
    }
}
