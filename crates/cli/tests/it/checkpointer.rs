//! `--checkpointer` as a user meets it: who writes checkpoints before turns, and what happens where
//! it fails.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::common::{lines, metric, records};

const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 2\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";
const ROWS: &str = "summarize,middleware-checkpoint,hybrid-checkpoint";

fn program(dir: &Path, args: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .env("NO_PROXY", "*")
        .env_remove("COMPACTOMETER_CHECKPOINTER");
    command.current_dir(dir).args(args).output().unwrap()
}

fn compare(dir: &Path, out: &str, more: &[&str]) {
    let plain = [
        "compare",
        "tiny.toml",
        "-s",
        ROWS,
        "--jobs",
        "1",
        "-q",
        "--out",
        out,
    ];
    let output = program(dir, &[&plain[..], more].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn another_model_writes_the_checkpoints_before_turns_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    compare(dir, "one", &[]);
    compare(
        dir,
        "two",
        &["--checkpointer", "mock:weak", "--record", "tape"],
    );
    for (one, two) in records(dir, "one").iter().zip(records(dir, "two")) {
        assert_eq!(two["case"]["checkpointer"], "mock:weak");
        assert!(one["case"].get("checkpointer").is_none() && one["key"] != two["key"]);
        let checkpoints = |record: &Value| record["checkpoints"].as_array().map_or(0, Vec::len);
        if one["case"]["strategy"] == "summarize" {
            assert_eq!(
                one["compactions"], two["compactions"],
                "the summarizer is the same"
            );
        } else {
            assert!(checkpoints(one) > 1 && checkpoints(&two) > 1);
            assert_ne!(
                one["checkpoints"], two["checkpoints"],
                "{}",
                one["case"]["strategy"]
            );
        }
    }
    let models = |path: &str| {
        lines(dir, path)
            .iter()
            .map(|call| call["model"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let (tape, beside) = (
        models("tape/calls.jsonl"),
        models("tape/checkpointer/calls.jsonl"),
    );
    assert!(
        tape.iter().all(|model| model == "mock:claude-code")
            && !beside.is_empty()
            && beside.iter().all(|model| model == "mock:weak")
    );
    let records_of = records(dir, "two")
        .into_iter()
        .filter(|record| record["case"]["strategy"] == "middleware-checkpoint");
    let (mut saved, mut before_turns) = (0, 0);
    for record in records_of {
        saved += record.to_string().matches(r#""kind":"checkpoint""#).count();
        before_turns += record["checkpoints"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["failed"].is_null())
            .count();
    }
    // A compaction that shortens a checkpoint saves what is left.
    assert!(
        saved >= before_turns && before_turns > 2,
        "{saved} {before_turns}"
    );
    assert_eq!(
        metric(dir, "two", "middleware-checkpoint", "checkpoints_written"),
        saved as f64 / 2.0
    );
    assert_eq!(metric(dir, "two", "summarize", "checkpoints_written"), 0.0);
    assert_eq!(metric(dir, "two", "summarize", "summaries_shown"), 1.0);
    let report = std::fs::read_to_string(dir.join("two/report.md")).unwrap();
    assert!(report.contains("mock:weak"), "the report names it");

    // A recording brings its checkpointer along.
    compare(dir, "again", &["--model", "cassette:tape"]);
    for (two, again) in records(dir, "two").iter().zip(records(dir, "again")) {
        assert_eq!(two["checkpoints"], again["checkpoints"]);
    }
    // The name of the model that summarizes is no other model.
    compare(dir, "same", &["--checkpointer", "mock:claude-code"]);
    assert_eq!(records(dir, "one"), records(dir, "same"));
}

#[test]
fn a_checkpointer_that_fails_is_counted_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    compare(dir, "failing", &["--checkpointer", "mock+server-error=1"]);
    for record in records(dir, "failing")
        .iter()
        .filter(|record| record["case"]["strategy"] == "middleware-checkpoint")
    {
        let checkpoints = record["checkpoints"].as_array().unwrap();
        assert!(checkpoints.len() > 1 && checkpoints.iter().all(|row| !row["failed"].is_null()));
        let applied = record["compactions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["outcome"]["outcome"] == "applied");
        assert!(applied.count() > 0, "summaries are written all the same");
    }
    let of = |id: &str| metric(dir, "failing", "middleware-checkpoint", id);
    assert_eq!(
        of("extraction_success"),
        0.0,
        "a failed call counts as a miss"
    );
    assert_eq!(of("checkpoints_written"), 0.0);

    let wrong = program(
        dir,
        &["run", "tiny.toml", "--checkpointer", "mok", "--out", "x"],
    );
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        wrong.status.code() == Some(2) && said.contains("`--checkpointer`"),
        "{said}"
    );
}
