//! `skeleton`: from a session to a suite that shares its structure.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

fn program(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command.current_dir(dir).args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SESSION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../datasets/sample-session.jsonl"
);

#[test]
fn a_session_becomes_a_suite_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    let made = program(
        dir.path(),
        &["skeleton", SESSION, "--out", "mine.jsonl.zst"],
    );
    assert!(
        stderr(&made).contains("sessions 1, projects 1,"),
        "{made:?}"
    );
    std::fs::write(
        dir.path().join("mine.toml"),
        "name = \"mine\"\nseed = 1\nwindow = 12000\nskeletons = \"mine.jsonl.zst\"\n",
    )
    .unwrap();
    let run = program(
        dir.path(),
        &["compare", "mine.toml", "-s", "summarize,full,null", "-q"],
    );
    let told = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        told.starts_with(
            "mine: 1 conversation, compacted to 3,600 tokens in a context window of 12,000"
        ),
        "{told}{run:?}"
    );
    let generated = program(
        dir.path(),
        &["generate", "mine.toml", "--out", "mine.jsonl"],
    );
    assert!(generated.status.success(), "{generated:?}");
    // A suite that was rendered is a suite like any other, also for this command.
    let again = program(
        dir.path(),
        &["skeleton", "mine.jsonl", "--out", "again.jsonl"],
    );
    assert!(again.status.success(), "{again:?}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], what: &str| {
        let output = program(dir.path(), args);
        let told = stderr(&output);
        assert!(
            output.status.code() == Some(2) && told.contains(what),
            "{told}"
        );
    };
    let spec = |skeletons: &str, more: &str| {
        let text = format!(
            "name = \"mine\"\nseed = 1\nwindow = 12000\nskeletons = \"{skeletons}\"\n{more}"
        );
        std::fs::write(dir.path().join("mine.toml"), text).unwrap();
    };
    spec("none.jsonl", "");
    refused(&["compare", "mine.toml"], "none.jsonl");
    std::fs::write(dir.path().join("broken.jsonl.zst"), "{}").unwrap();
    spec("broken.jsonl.zst", "");
    refused(&["compare", "mine.toml"], "broken.jsonl.zst");
    spec("broken.jsonl.zst", "lengths = [1]");
    refused(&["compare", "mine.toml"], "unknown field `lengths`");
    refused(
        &["skeleton", "missing.jsonl", "--out", "a.jsonl"],
        "missing.jsonl",
    );
    std::fs::write(dir.path().join("a.jsonl"), "").unwrap();
    refused(&["skeleton", SESSION, "--out", "a.jsonl"], "`--force`");
}
