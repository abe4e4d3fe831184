//! A fault at every single step of a commit, and files that are not as this store left them.

use std::io;

use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::record::SessionRecord;
use compactometer_engine::store::{Commit, State, Store};
use compactometer_engine::view::Edit;
use tempfile::TempDir;

use super::disk::faults::{self, DiskFault};
use super::*;
use crate::{Checkpoints, Thread};

const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");

fn open(folder: &Path) -> Checkpoints {
    Checkpoints::in_directory(folder, TWO).unwrap()
}

fn record(number: u32) -> SessionRecord {
    let text = format!(
        "Round {number}: the quota of svc-7 stands at {number}55, since finance asked for it."
    );
    SessionRecord {
        number,
        kind: RecordKind::Checkpoint,
        covers: None,
        tokens_before: 9_000,
        tokens_after: 9_000,
        usage: Usage::default(),
        created_at_ms: Some(1_769_870_000_000),
        body: format!(r#"{{"active_goals":["{text}"]}}"#),
        stage: 0,
    }
}

fn state(last: u32) -> State {
    let history = (0..=last).map(record).collect();
    State {
        history,
        view: vec![Edit::Keep(MessageId(last))],
        after: Some(MessageId(last)),
    }
}

fn commit(thread: &mut Thread, number: u32) -> Result<(), String> {
    let state = state(number);
    let commit = Commit {
        saved: &state.history[number as usize..],
        view: &state.view,
        after: MessageId(number),
    };
    thread.commit(&commit).map_err(|error| error.to_string())
}

/// A thread with that many commits, and its folder.
fn thread_of(commits: u32) -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let mut thread = open(root.path()).thread("telegram:1").unwrap();
    (0..commits).for_each(|number| commit(&mut thread, number).unwrap());
    let folder = root.path().join("telegram%3a1").join(CHECKPOINTS);
    (root, folder)
}

fn load(root: &TempDir) -> Result<State, String> {
    let thread = open(root.path()).thread("telegram:1");
    thread
        .and_then(|mut thread| thread.load())
        .map_err(|error| error.to_string())
}

/// What must hold of the files of a whole thread with that many commits.
fn check_files(folder: &Path, commits: u32) {
    let latest: Value = serde_json::from_slice(&fs::read(folder.join(LATEST)).unwrap()).unwrap();
    assert_eq!(
        latest["active_goals"],
        serde_json::from_str::<Value>(&record(commits - 1).body).unwrap()["active_goals"]
    );
    let count = |end: &str| {
        disk::names(folder)
            .unwrap()
            .iter()
            .filter(|name| name.ends_with(end))
            .count()
    };
    assert_eq!(
        (count(".partial"), count(".json")),
        (0, 1 + commits.min(2) as usize),
        "nothing is left over"
    );
}

#[test]
fn a_commit_syncs_everything_before_the_index_takes_its_name() {
    let (root, _) = thread_of(2);
    let mut thread = open(root.path()).thread("telegram:1").unwrap();
    thread.load().unwrap();
    let (result, steps) = faults::with(None, || commit(&mut thread, 2));
    result.unwrap();
    let expected = "
        create checkpoint_20260131_143320_000003.json.partial
        write checkpoint_20260131_143320_000003.json.partial
        sync checkpoint_20260131_143320_000003.json.partial
        rename checkpoint_20260131_143320_000003.json
        open history.zst
        cut history.zst
        write history.zst
        sync history.zst
        sync folder checkpoints
        create .checkpoint_index.partial
        write .checkpoint_index.partial
        sync .checkpoint_index.partial
        rename .checkpoint_index
        sync folder checkpoints
        remove checkpoint_20260131_143320_000001.json
        create latest.json.partial
        write latest.json.partial
        sync latest.json.partial
        rename latest.json";
    assert_eq!(
        steps,
        expected.trim().lines().map(str::trim).collect::<Vec<_>>()
    );
}

/// Steps of the commit number `number`.
fn steps_of(number: u32) -> usize {
    let (root, _) = thread_of(number);
    let mut thread = open(root.path()).thread("telegram:1").unwrap();
    thread.load().unwrap();
    faults::with(None, || commit(&mut thread, number)).1.len()
}

#[test]
fn a_kill_at_each_step_leaves_the_old_or_the_new_state() {
    for number in 0..5 {
        for at in 0..steps_of(number) {
            let (root, folder) = thread_of(number);
            let mut thread = open(root.path()).thread("telegram:1").unwrap();
            thread.load().unwrap();
            let (result, _) =
                faults::with(Some((at, DiskFault::Kill)), || commit(&mut thread, number));
            let before = number.checked_sub(1).map_or_else(State::default, state);
            let loaded = load(&root).unwrap();
            let place = format!("commit {number}, step {at}");
            assert!(
                loaded == before || loaded == state(number),
                "{place}: {loaded:?}"
            );
            assert!(
                result.is_err() || loaded == state(number),
                "{place}: what was acknowledged holds"
            );
            // Whatever was left over, the thread goes on from what is there.
            let mut thread = open(root.path()).thread("telegram:1").unwrap();
            let next = thread.load().unwrap().history.len() as u32;
            commit(&mut thread, next).unwrap();
            assert_eq!(load(&root).unwrap(), state(next), "{place}");
            check_files(&folder, next + 1);
        }
    }
}

#[test]
fn a_full_disk_or_a_refused_write_at_each_step_loses_nothing() {
    let kinds = [
        (io::ErrorKind::StorageFull, "free space there"),
        (io::ErrorKind::PermissionDenied, "make the folder writable"),
        (
            io::ErrorKind::ReadOnlyFilesystem,
            "make the folder writable",
        ),
    ];
    for (kind, advice) in kinds {
        for at in 0..steps_of(3) {
            let (root, folder) = thread_of(3);
            let mut thread = open(root.path()).thread("telegram:1").unwrap();
            thread.load().unwrap();
            let (result, steps) =
                faults::with(Some((at, DiskFault::Once(kind))), || commit(&mut thread, 3));
            match result {
                Err(error) => {
                    assert!(
                        error.contains(advice) && error.contains("telegram%3a1"),
                        "{error}"
                    );
                    // Where the folder's last sync fails, the index already is under its name.
                    let last_sync = steps[at] == "sync folder checkpoints"
                        && steps[at - 1] == "rename .checkpoint_index";
                    assert_eq!(
                        load(&root).unwrap(),
                        state(if last_sync { 3 } else { 2 }),
                        "{}",
                        steps[at]
                    );
                    if !last_sync {
                        commit(&mut thread, 3).unwrap();
                    }
                }
                Ok(()) => assert_eq!(load(&root).unwrap(), state(3), "{}", steps[at]),
            }
            load(&root).unwrap();
            check_files(&folder, 4);
        }
    }
}

#[test]
fn a_deletion_that_is_killed_is_finished_or_was_none() {
    let (root, _) = thread_of(3);
    let (_, steps) = faults::with(None, || open(root.path()).clear("telegram:1").unwrap());
    assert!(!root.path().join("telegram%3a1").exists());
    for at in 0..steps.len() {
        let (root, folder) = thread_of(3);
        let store = open(root.path());
        let _ = faults::with(Some((at, DiskFault::Kill)), || store.clear("telegram:1"));
        let loaded = load(&root).unwrap();
        assert!(
            loaded == state(2) || loaded == State::default(),
            "step {at}: {loaded:?}"
        );
        assert!(
            !folder.with_file_name(REMOVED).exists(),
            "step {at}: opening it finishes the deletion"
        );
    }
}

#[test]
fn a_failed_attempt_stands_beside_the_checkpoint_before() {
    let (root, folder) = thread_of(1);
    let mut thread = open(root.path())
        .thread("telegram:1")
        .unwrap()
        .priced(|_| Some(0.5));
    thread.load().unwrap();
    let latest = || fs::read_to_string(folder.join(LATEST)).unwrap();
    let expected = r#"{
  "active_goals": [
    "Round 0: the quota of svc-7 stands at 055, since finance asked for it."
  ],
  "metadata": {
    "extracted_at": "2026-01-31T14:33:20Z",
    "token_count": 9000,
    "thread_id": "telegram:1",
    "summarization_imminent": true
  }
}
"#;
    assert_eq!(latest(), expected);
    let failed = SessionRecord {
        kind: RecordKind::Failed,
        body: "no answer".into(),
        ..record(1)
    };
    thread
        .commit(&Commit {
            saved: &[failed],
            view: &[],
            after: MessageId(1),
        })
        .unwrap();
    assert_eq!(
        latest(),
        expected.replace("true\n", "true,\n    \"extraction_error\": \"no answer\"\n")
    );
    commit(&mut thread, 2).unwrap();
    assert!(
        latest().contains("Round 2") && latest().contains("\"cost_usd\": 0.5"),
        "{}",
        latest()
    );
    thread.rollback(2).unwrap();
    assert!(
        latest().contains("Round 2") && !latest().contains("extraction_error"),
        "{}",
        latest()
    );
}

/// Damages one file of a thread of five commits; gives the error of loading it.
fn damaged(file: &str, damage: impl FnOnce(&Path)) -> String {
    let (root, folder) = thread_of(5);
    let path = folder.join(file);
    damage(&path);
    let held = fs::read(&path).ok();
    let error = load(&root).unwrap_err();
    assert!(error.contains(&path.display().to_string()), "{error}");
    let mut thread = open(root.path())
        .thread("telegram:1")
        .unwrap_or_else(|_| open(root.path()).thread("other").unwrap());
    thread.load().ok();
    assert_eq!(fs::read(&path).ok(), held, "it stays as it was found");
    error.replace(&path.display().to_string(), file)
}

#[test]
fn torn_and_foreign_files_are_named_and_left_alone() {
    let last = "checkpoint_20260131_143320_000005.json";
    let tear = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let edit = |from: &'static str, to: &'static str| {
        move |path: &Path| {
            fs::write(
                path,
                fs::read_to_string(path).unwrap().replacen(from, to, 1),
            )
            .unwrap()
        }
    };
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    for file in [INDEX, last, ARCHIVE] {
        let error = damaged(file, tear);
        assert!(
            error.starts_with(&format!("`{file}` is not a whole file of this store: ")),
            "{error}"
        );
        assert!(
            error.ends_with("it was left as it is: restore it from a copy, or move it away"),
            "{error}"
        );
    }
    assert!(damaged(INDEX, remove).contains(
        "it is missing, and `checkpoint_20260131_143320_000004.json` beside it is there"
    ));
    assert!(damaged(last, remove).contains("the index names it, and it is missing"));
    assert!(damaged(ARCHIVE, remove).contains("cannot open"));
    assert!(
        damaged(last, edit("telegram:1", "telegram:2"))
            .contains("it belongs to thread `telegram:2`")
    );
    assert!(
        damaged(last, edit("\"sequence\":5", "\"sequence\":4"))
            .contains("it holds commit 4, the index names 5")
    );
    assert!(damaged(INDEX, edit(last, "../../x.json")).contains("it names `../../x.json`"));
    assert!(
        damaged(INDEX, edit("\"records\":5", "\"records\":6")).contains("do not hold just those")
    );
    let newer = damaged(INDEX, |path| {
        fs::write(path, r#"{"format": 2, "new": true}"#).unwrap()
    });
    assert_eq!(
        newer,
        "`.checkpoint_index` has format 2; this version reads up to 1: use the newer version that wrote it"
    );
}

#[test]
fn files_of_others_stay() {
    let (root, folder) = thread_of(2);
    // As the strategic plan names and fills them, and torn.
    let foreign = [
        ("checkpoint_20260131_143022.json", "{\"active_goals\": []}"),
        ("checkpoint_x.json", "{"),
        ("notes", ""),
    ];
    for (name, text) in foreign {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::create_dir(root.path().join("Not-A-Thread")).unwrap();
    let store = open(root.path());
    let mut thread = store.thread("telegram:1").unwrap();
    assert_eq!(thread.load().unwrap(), state(1));
    commit(&mut thread, 2).unwrap();
    assert_eq!(store.threads().unwrap(), ["telegram:1"]);
    for (name, text) in foreign {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
    }
}

#[test]
fn a_root_that_is_moved_takes_no_more_commits() {
    let (root, _) = thread_of(1);
    let (store, moved) = (root.path().join("store"), root.path().join("moved"));
    let mut thread = open(&store).thread("t").unwrap();
    commit(&mut thread, 0).unwrap();
    fs::rename(&store, moved).unwrap();
    let error = commit(&mut thread, 1).unwrap_err();
    assert!(
        error.contains(&store.display().to_string())
            && error.contains("move back what was removed"),
        "{error}"
    );
    assert!(!store.exists());
}

#[test]
fn a_root_that_is_a_file_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    fs::write(&path, "mine").unwrap();
    let error = Checkpoints::in_directory(&path, TWO).unwrap_err();
    assert!(
        std::error::Error::source(&error).is_none(),
        "who prints the chain would say its cause twice"
    );
    let error = error.to_string();
    assert!(
        error.starts_with("cannot make the folder `") && error.ends_with("name a folder"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}
