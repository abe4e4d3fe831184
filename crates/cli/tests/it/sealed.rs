//! Summaries that only their provider's models read: what is known of them, and what is not.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::provider_rules::serve;

/// Conversations of several compactions.
const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\"]\nconversations = 6\n\
                    lengths = [9000]\nfacts = [20, 20]\npoints = [4, 5]\n";

fn compactometer(dir: &Path, args: &[&str]) -> Output {
    let mut program = Command::cargo_bin("compactometer").unwrap();
    program.current_dir(dir).args(args).output().unwrap()
}

fn compare(dir: &Path, seals: &str, models: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    std::fs::write(dir.join("sealing.py"), include_str!("sealing.py")).unwrap();
    let row = format!("x=exec:\"python3 sealing.py {seals}\",summarize,null");
    let args = ["compare", "tiny.toml", "-s", &row, "--out", "run", "-q"];
    compactometer(dir, &[&args, models].concat())
}

/// The row of the strategy, and its comparisons.
fn found(dir: &Path) -> (Value, Vec<Value>) {
    let summary = std::fs::read(dir.join("run/summary.json")).unwrap();
    let summary = serde_json::from_slice::<Value>(&summary).unwrap();
    let group = &summary["groups"][0];
    let of = |list: &str, key: &str| {
        let rows = group[list].as_array().unwrap().iter();
        let own = rows.filter(|row| row[key] == "x").cloned();
        own.collect::<Vec<_>>()
    };
    (
        of("strategies", "name").remove(0),
        of("comparisons", "strategy"),
    )
}

#[test]
fn what_a_sealed_summary_holds_is_unknown_and_not_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let server = serve(|_| None);
    let reader = format!("openai-responses:small@{}", server.1.uri());
    let output = compare(dir, "", &["--model", &reader, "--summarizer", "mock"]);
    let screen = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{screen}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (row, comparisons) = found(dir);
    assert!(row["decisions"]["applied"].as_u64().unwrap() > 6, "{row}");
    let metric = |id: &str| &row["metrics"][id];
    for id in ["bound_recall", "context_recall", "written", "kept", "lift"] {
        assert_eq!(metric(id)["value"], Value::Null, "{id}");
        let reason = metric(id)["reason"].as_str().unwrap();
        assert!(reason.contains("only its provider's models"), "{reason}");
    }
    // What the summarizer was given, the size and the cost are known.
    assert!(metric("reached")["value"].as_f64().unwrap() > 0.5, "{row}");
    for parts in ["by_category", "by_kind", "by_round", "by_position"] {
        assert!(
            row[parts].as_object().is_none_or(serde_json::Map::is_empty),
            "{parts}"
        );
        assert!(row[parts].as_array().is_none_or(Vec::is_empty), "{parts}");
    }
    assert!(metric("tokens_retained")["value"].as_f64().unwrap() > 50.0);
    assert!(metric("cost_usd_compaction")["value"].as_f64().unwrap() > 0.0);
    assert!(metric("answer_recall")["value"].as_f64().is_some(), "{row}");
    assert!(row["fates"]["sealed"].as_f64().unwrap() > 0.1, "{row}");
    assert!(!comparisons.is_empty());
    for made in &comparisons {
        assert_eq!(made["verdict"], "undefined", "{made}");
    }
    assert_ne!(row["not_understood"], true);
    assert!(
        screen.contains("only their provider's models read"),
        "{screen}"
    );
    let reached = compactometer(dir, &["gate", "--reached", "run"]);
    let told = String::from_utf8_lossy(&reached.stdout).into_owned();
    // The program sends no result of a tool to its summarizer, and the gate sees it.
    assert!(told.contains("x (matched): REGRESSION"), "{told}");
}

#[test]
fn a_summary_that_this_program_sealed_is_read_as_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let output = compare(dir.path(), "open", &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (row, _) = found(dir.path());
    assert!(row["metrics"]["bound_recall"]["value"].as_f64().unwrap() > 0.0);
    assert!(row["fates"].get("sealed").is_none(), "{row}");
}

#[test]
fn a_model_that_cannot_read_a_seal_stops_the_run_and_says_who_can() {
    let dir = tempfile::tempdir().unwrap();
    let output = compare(dir.path(), "", &[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{error}");
    assert!(error.contains("openai-responses:MODEL"), "{error}");
}
