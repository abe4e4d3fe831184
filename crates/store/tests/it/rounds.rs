//! Commits that are known from their number alone, so that another process can tell which ones it
//! finds.

use std::num::NonZeroUsize;
use std::path::Path;

use compactometer_engine::message::{MessageId, Part, Role, Usage};
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, State, Store};
use compactometer_engine::view::{Edit, Origin, WrittenPart};
use compactometer_store::{Checkpoints, Error, KEEP, Thread};

/// The kinds of store that are compiled in, by name.
pub(crate) const STORES: &[&str] = if cfg!(feature = "sqlite") {
    &["directory", "sqlite"]
} else {
    &["directory"]
};

pub(crate) fn open(kind: &str, folder: &Path) -> Checkpoints {
    open_keeping(kind, folder, KEEP)
}

pub(crate) fn open_keeping(kind: &str, folder: &Path, keep: NonZeroUsize) -> Checkpoints {
    try_open(kind, folder, keep).unwrap()
}

pub(crate) fn try_open(
    kind: &str,
    folder: &Path,
    keep: NonZeroUsize,
) -> Result<Checkpoints, Error> {
    match kind {
        "directory" => Checkpoints::in_directory(&folder.join("threads"), keep),
        #[cfg(feature = "sqlite")]
        "sqlite" => Checkpoints::in_sqlite(&folder.join("store.db"), keep),
        other => panic!("no store `{other}`"),
    }
}

/// A record; `size` is the length of its text.
pub(crate) fn record(number: u32, kind: RecordKind, size: usize) -> SessionRecord {
    let text = format!(
        "Round {number}: the quota of svc-{number} stands at {}55. ",
        number % 10
    )
    .repeat(size / 20 + 1);
    let text = &text[..size.max(20)];
    let body = match kind {
        RecordKind::Checkpoint => format!(r#"{{"active_goals":["{text}"]}}"#),
        _ => text.to_owned(),
    };
    SessionRecord {
        number,
        kind,
        covers: Some((MessageId(number * 10), MessageId(number * 10 + 9))),
        tokens_before: 9_000 + number,
        tokens_after: 2_000 + number,
        usage: Usage {
            input: 1_000,
            output: u64::from(number),
            ..Usage::default()
        },
        created_at_ms: Some(1_769_870_000_000 + i64::from(number) * 400),
        body,
        stage: 0,
    }
}

/// The view that names the newest summary.
pub(crate) fn view(number: u32) -> Vec<Edit> {
    let part = WrittenPart {
        part: Part::Text {
            text: format!("so far: {number}"),
        },
        origin: Origin::Summary(number),
    };
    vec![
        Edit::Keep(MessageId(0)),
        Edit::Insert(Role::User, vec![part]),
        Edit::Keep(MessageId(number * 10 + 9)),
    ]
}

/// The state after the commits of rounds 0 to `last`, with one summary each.
pub(crate) fn state(last: u32, size: usize) -> State {
    State {
        history: (0..=last)
            .map(|number| record(number, RecordKind::Summary, size))
            .collect(),
        view: view(last),
        after: Some(MessageId(last * 10 + 9)),
    }
}

pub(crate) fn commit_records(thread: &mut Thread, saved: &[SessionRecord]) {
    let last = saved.last().unwrap().number;
    let view = view(last);
    thread
        .commit(&Commit {
            saved,
            view: &view,
            after: MessageId(last * 10 + 9),
        })
        .unwrap();
}

/// Commits round `number`, a summary.
pub(crate) fn commit(thread: &mut Thread, number: u32, size: usize) {
    commit_records(thread, &[record(number, RecordKind::Summary, size)]);
}
