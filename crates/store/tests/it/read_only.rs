//! A database on a disk that cannot be written, if this machine lets a test mount one.

use std::path::Path;
use std::process::{Command, Output};

use compactometer_store::{Checkpoints, Error, KEEP};

use crate::rounds::{commit, open, state};

/// Runs [`in_a_read_only_folder`] with the folder mounted read-only; none if mounts are not
/// allowed.
fn in_a_mount(folder: &Path) -> Option<Output> {
    let script = "mount --bind \"$STORE_FOLDER\" \"$STORE_FOLDER\" && mount -o remount,bind,ro \"$STORE_FOLDER\" || exit 77; \
                  exec \"$0\" --ignored --exact --nocapture read_only::in_a_read_only_folder";
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(std::env::current_exe().ok()?);
    let output = command.env("STORE_FOLDER", folder).output().ok()?;
    let mounted = output.status.code() != Some(77)
        && !String::from_utf8_lossy(&output.stderr).starts_with("unshare:");
    mounted.then_some(output)
}

#[test]
fn a_database_is_read_where_nothing_can_be_written() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open("sqlite", folder.path());
    let mut thread = store.thread("t").unwrap();
    commit(&mut thread, 0, 300);
    commit(&mut thread, 1, 300);
    // A kill leaves this: only the log has the last commits.
    for name in ["store.db", "store.db-wal"] {
        std::fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    drop((thread, store));
    for folder in [folder.path(), copy.path()] {
        let Some(output) = in_a_mount(folder) else {
            println!("skipped: this machine lets no test mount a disk");
            return;
        };
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
    }
}

#[test]
#[ignore = "runs in a mount that another test makes"]
fn in_a_read_only_folder() {
    let folder = std::env::var("STORE_FOLDER").unwrap();
    let path = Path::new(&folder).join("store.db");
    let read = Checkpoints::in_sqlite_to_read(&path, KEEP);
    if path.with_extension("db-wal").exists() {
        let error = read.map(drop).unwrap_err();
        assert!(matches!(error, Error::LogUnread { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("copy both files to another folder"),
            "{error}"
        );
        return;
    }
    let store = read.unwrap();
    assert_eq!(store.threads().unwrap(), ["t"]);
    let mut thread = store.thread("t").unwrap();
    assert_eq!(thread.load().unwrap(), state(1, 300));
    let error = store.clear("t").unwrap_err().to_string();
    assert!(error.contains("writable for this user"), "{error}");
    assert!(Checkpoints::in_sqlite(&path, KEEP).is_err(), "a run writes");
}
