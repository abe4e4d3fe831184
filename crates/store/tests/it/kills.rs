//! Other processes: killed in the middle of a commit, or at work on the same thread.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use compactometer_engine::message::MessageId;
use compactometer_engine::record::RecordKind;
use compactometer_engine::store::{Commit, Store};
use compactometer_store::KEEP;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::rounds::{STORES, commit, open, record, state, view};

const KILLS: usize = 60;
/// Text of a round, in bytes: a commit is then some milliseconds of work.
const SIZE: usize = 3_000;

fn child(what: &str, kind: &str, folder: &Path, thread: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "kills::as_a_child"])
        .env("STORE_CHILD", what)
        .env("STORE_KIND", kind)
        .env("STORE_FOLDER", folder)
        .env("STORE_THREAD", thread)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the body of the processes that other tests start"]
fn as_a_child() {
    let variable = |name| std::env::var(name).unwrap();
    let store = open(
        &variable("STORE_KIND"),
        Path::new(&variable("STORE_FOLDER")),
    );
    let mut thread = store.thread(&variable("STORE_THREAD")).unwrap();
    if variable("STORE_CHILD") == "saves for ever" {
        for number in 0.. {
            commit(&mut thread, number, SIZE);
            println!("\ncommitted {number}");
        }
    }
    // Adds 25 records, loading anew wherever the other one was faster.
    let mut added = 0;
    while added < 25 {
        let number = thread.load().unwrap().history.len() as u32;
        let saved = [record(number, RecordKind::Summary, 200)];
        match thread.commit(&Commit {
            saved: &saved,
            view: &view(number),
            after: MessageId(number * 10 + 9),
        }) {
            Ok(()) => added += 1,
            Err(error) => assert!(
                error.to_string().contains("changed since it was loaded"),
                "{error}"
            ),
        }
    }
}

/// Lets a child save, kills it after a time, and gives the last number that it reported.
fn save_and_kill(kind: &str, folder: &Path, thread: &str, delay: Duration) -> Option<u32> {
    let mut child = child("saves for ever", kind, folder, thread);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let number =
        |line: std::io::Result<String>| line.ok()?.strip_prefix("committed ")?.parse::<u32>().ok();
    // Counted from the commit on after which each folds or packs an older one, so that the start of
    // the process takes nothing of the time.
    let full = |number: &u32| *number >= KEEP.get() as u32;
    let first = lines.by_ref().filter_map(number).find(full);
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.filter_map(number).last().or(first)
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_state() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(20_261);
        let mut ahead = 0;
        for kill in 0..KILLS {
            let id = format!("kill-{kill}");
            let delay = Duration::from_micros(u64::from(random.next_u32() % 30_000));
            let reported = save_and_kill(kind, folder.path(), &id, delay).unwrap();
            let mut thread = open(kind, folder.path()).thread(&id).unwrap();
            let loaded = thread.load().unwrap();
            let last = loaded.history.len() as u32 - 1;
            // The kill may fall between a commit and its report.
            assert!(
                last == reported || last == reported + 1,
                "{kind}: {reported} reported, {last} there"
            );
            ahead += usize::from(last > reported);
            assert_eq!(
                loaded,
                state(last, SIZE),
                "{kind}: kill {kill} after {delay:?}"
            );
            commit(&mut thread, last + 1, SIZE);
            assert_eq!(
                thread.load().unwrap(),
                state(last + 1, SIZE),
                "{kind}: it goes on"
            );
        }
        println!("{kind}: {KILLS} kills, {ahead} between a commit and its report");
    }
}

#[test]
fn two_processes_at_one_thread_take_turns() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let children = [(); 2].map(|()| child("takes turns", kind, folder.path(), "shared"));
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{kind}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let loaded = open(kind, folder.path())
            .thread("shared")
            .unwrap()
            .load()
            .unwrap();
        assert_eq!(loaded, state(49, 200), "{kind}: every record of both, once");
    }
}

/// Creation is the moment at which each wants the file for itself.
#[test]
fn a_store_that_many_create_together_opens_for_all() {
    for &kind in STORES {
        for _ in 0..50 {
            let folder = tempfile::tempdir().unwrap();
            let start = std::sync::Barrier::new(8);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        start.wait();
                        open(kind, folder.path())
                            .thread("shared")
                            .unwrap()
                            .load()
                            .unwrap();
                    });
                }
            });
        }
    }
}
