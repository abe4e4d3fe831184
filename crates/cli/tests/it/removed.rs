//! If a folder is removed or replaced under a run, the run ends and says which folder it was.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{serve, serve_and};
use assert_cmd::Command;

const SPEC: &str = r#"
name = "tiny"
seed = 7
window = 2000
domains = ["software"]
conversations = 1
lengths = [6000]
facts = [12, 12]
points = [2, 2]
"#;

/// Starts a server that changes a folder before its tenth answer; gives its model's name.
fn serving(change: impl Fn() + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!(
        "openai-compatible:small@http://{}/v1",
        listener.local_addr().unwrap()
    );
    let (asked, change) = (Arc::new(AtomicUsize::new(0)), Arc::new(change));
    let before = move || {
        if asked.fetch_add(1, Ordering::Relaxed) == 9 {
            change();
        }
    };
    std::thread::spawn(move || serve_and(listener, "x-test: removed", (100, 5), before));
    model
}

fn run(dir: &Path, model: &str, more: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let mut command = Command::cargo_bin("compactometer").unwrap();
    let args = [
        "run",
        "tiny.toml",
        "-s",
        "summarize,chained,null",
        "--out",
        "out",
        "-q",
        "--jobs",
        "1",
        "--model",
        model,
    ];
    command
        .current_dir(dir)
        .args(args)
        .args(more)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_run_whose_folder_is_removed_ends_and_names_it() {
    for more in [
        &[][..],
        &["--store", "kept"],
        &["--store", "kept.db"],
        &["--store", "out/kept.db"],
    ] {
        for replaced in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let out = dir.path().join("out");
            let change = move || {
                std::fs::remove_dir_all(&out).unwrap();
                if replaced {
                    std::fs::create_dir(&out).unwrap();
                }
            };
            let ended = run(dir.path(), &serving(change), more);
            let told = stderr(&ended);
            assert_eq!(ended.status.code(), Some(1), "{more:?}: {told}");
            assert!(
                told.contains("`out") && told.contains("was removed or replaced"),
                "{more:?}: {told}"
            );
            assert!(told.contains("move it back"), "{more:?}: {told}");
        }
    }
}

#[test]
fn a_run_whose_store_or_recording_is_removed_ends_and_what_is_finished_is_kept() {
    for (option, name) in [
        ("--store", "kept"),
        ("--store", "kept.db"),
        ("--record", "tape"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join(name), dir.path().join("moved"));
        let change = move || std::fs::rename(&from, &to).unwrap();
        let ended = run(dir.path(), &serving(change), &[option, name]);
        let told = stderr(&ended);
        assert_eq!(ended.status.code(), Some(1), "{name}: {told}");
        assert!(
            told.contains(&format!("`{name}")) && told.contains("removed"),
            "{told}"
        );
        assert!(
            told.contains("move") && told.contains("the same command resumes"),
            "{told}"
        );
        // As the message says.
        let (from, to): (PathBuf, PathBuf) = (dir.path().join("moved"), dir.path().join(name));
        if to.is_dir() {
            std::fs::remove_dir_all(&to).unwrap();
        }
        std::fs::rename(from, to).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let model = format!(
            "openai-compatible:small@http://{}/v1",
            listener.local_addr().unwrap()
        );
        std::thread::spawn(move || serve(listener, "x-test: back", (100, 5)));
        let again = run(dir.path(), &model, &[option, name]);
        assert!(again.status.success(), "{name}: {}", stderr(&again));
        let records = std::fs::read_to_string(dir.path().join("out/records.jsonl")).unwrap();
        assert_eq!(records.lines().count(), 3, "{name}");
    }
}
