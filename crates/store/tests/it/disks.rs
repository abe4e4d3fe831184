//! A disk that is really full, and a folder that is really read-only, where this machine lets a
//! test mount one.

use std::path::Path;
use std::process::{Command, Output};

use compactometer_engine::message::MessageId;
use compactometer_engine::record::RecordKind;
use compactometer_engine::store::{Commit, Store};
use compactometer_store::KEEP;

use crate::rounds::{STORES, commit, open, record, state, try_open, view};

/// Runs [`in_a_small_disk`] with 256 kB mounted at a folder; none where mounts are not allowed.
fn in_a_mount(kind: &str, folder: &Path) -> Option<Output> {
    let script = "mount -t tmpfs -o size=256k none \"$STORE_FOLDER\" || exit 77; \
                  exec \"$0\" --ignored --exact --nocapture disks::in_a_small_disk";
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(std::env::current_exe().ok()?);
    let output = command
        .env("STORE_FOLDER", folder)
        .env("STORE_KIND", kind)
        .output()
        .ok()?;
    let mounted = output.status.code() != Some(77)
        && !String::from_utf8_lossy(&output.stderr).starts_with("unshare:");
    mounted.then_some(output)
}

#[test]
fn a_full_or_read_only_disk_keeps_what_was_there() {
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let Some(output) = in_a_mount(kind, folder.path()) else {
            println!(
                "skipped: this machine lets no test mount a disk; faults at each step are tested in any case"
            );
            return;
        };
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{kind}: {text}"
        );
    }
}

#[test]
#[ignore = "runs in a mount that another test makes"]
fn in_a_small_disk() {
    let folder = std::env::var("STORE_FOLDER").unwrap();
    let kind = std::env::var("STORE_KIND").unwrap();
    let store = open(&kind, Path::new(&folder));
    let mut thread = store.thread("t").unwrap();
    let ballast = Path::new(&folder).join("ballast");
    std::fs::write(&ballast, vec![0; 60_000]).unwrap();
    let (last, error) = fill(&mut thread);
    assert!(
        error.ends_with("nothing was lost: free space there, then commit again"),
        "{error}"
    );
    assert!(error.contains(&folder), "{error}");
    assert_eq!(
        thread.load().unwrap(),
        state(last, 8_000),
        "what was there is there"
    );
    std::fs::remove_file(ballast).unwrap();
    commit(&mut thread, last + 1, 8_000);
    assert_eq!(
        open(&kind, Path::new(&folder))
            .thread("t")
            .unwrap()
            .load()
            .unwrap(),
        state(last + 1, 8_000)
    );
    drop((thread, store));
    let remounted = Command::new("mount")
        .args(["-o", "remount,ro", &folder])
        .status()
        .unwrap();
    assert!(remounted.success());
    let error = reopen_and_commit(&kind, Path::new(&folder), last + 2).unwrap_err();
    assert!(
        error.contains("make ") && error.contains("writable for this user"),
        "{error}"
    );
    let remounted = Command::new("mount")
        .args(["-o", "remount,rw", &folder])
        .status()
        .unwrap();
    assert!(remounted.success());
    reopen_and_commit(&kind, Path::new(&folder), last + 2).unwrap();
    assert_eq!(
        open(&kind, Path::new(&folder))
            .thread("t")
            .unwrap()
            .load()
            .unwrap(),
        state(last + 2, 8_000)
    );
}

/// Opens the store, loads the thread and commits; the first error of these.
fn reopen_and_commit(kind: &str, folder: &Path, number: u32) -> Result<(), String> {
    let opened = try_open(kind, folder, KEEP).and_then(|store| {
        let mut thread = store.thread("t")?;
        thread.load()?;
        Ok(thread)
    });
    let mut thread = opened.map_err(|error| error.to_string())?;
    let saved = [record(number, RecordKind::Summary, 8_000)];
    let commit = Commit {
        saved: &saved,
        view: &view(number),
        after: MessageId(number * 10 + 9),
    };
    thread.commit(&commit).map_err(|error| error.to_string())
}

/// Commits until the disk is full; gives the last number that it took, and the error.
fn fill(thread: &mut impl Store) -> (u32, String) {
    for number in 0..1_000 {
        let saved = [record(number, RecordKind::Summary, 8_000)];
        let view = view(number);
        if let Err(error) = thread.commit(&Commit {
            saved: &saved,
            view: &view,
            after: MessageId(number * 10 + 9),
        }) {
            return (number - 1, error.to_string());
        }
    }
    panic!("the disk never got full");
}
