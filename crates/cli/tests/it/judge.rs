//! `--judge` as a user meets it: what it adds, what it leaves alone, what it costs, and how it is
//! recorded.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::common::records;

const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 2\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";

fn program(dir: &Path, command: &str, more: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let plain = [
        command,
        "tiny.toml",
        "-s",
        "summarize,full,null",
        "--jobs",
        "1",
    ];
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .env("OPENAI_API_KEY", "sk-none")
        .env("NO_PROXY", "*")
        .env_remove("COMPACTOMETER_JUDGE");
    command
        .current_dir(dir)
        .args(plain)
        .args(more)
        .output()
        .unwrap()
}

fn ok(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_judge_adds_verdicts_and_changes_neither_requests_nor_grades() {
    let dir = tempfile::tempdir().unwrap();
    ok(&program(
        dir.path(),
        "run",
        &["--record", "plain", "--out", "a"],
    ));
    let table = ok(&program(
        dir.path(),
        "compare",
        &["--record", "tape", "--judge", "mock:weak", "--out", "b"],
    ));
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    assert_eq!(
        read("plain/calls.jsonl"),
        read("tape/calls.jsonl"),
        "the model is asked the same"
    );
    let mut judged = records(dir.path(), "b");
    let (mut judgements, mut verdicts) = (0_u64, 0);
    for record in &mut judged {
        for answer in record["answers"].as_array_mut().into_iter().flatten() {
            let judgement = answer.as_object_mut().unwrap().remove("judged").unwrap();
            judgements += 1;
            verdicts += usize::from(judgement["verdict"] != "unreadable");
            assert_eq!(judgement["call"]["purpose"], "judge");
        }
        record["key"] = Value::Null;
    }
    let mut plain = records(dir.path(), "a");
    plain
        .iter_mut()
        .for_each(|record| record["key"] = Value::Null);
    assert_eq!(plain, judged);
    assert!(
        verdicts > 0,
        "the mock chooses one of the words by general rules"
    );
    assert!(
        table.contains("- judge: Cohen's kappa: ")
            && table.contains("judge: mock:weak judged 33 answers"),
        "{table}"
    );
    assert!(read("b/report.md").contains("the judge `mock:weak` is a mock"));
    let summary: Value = serde_json::from_str(&read("b/summary.json")).unwrap();
    assert_eq!(summary["groups"][0]["judged"]["judgements"], judgements);
    let recorded = read("tape/judge/calls.jsonl").lines().count() as u64;
    assert!(
        (1..=judgements).contains(&recorded),
        "equal answers to one question are asked about once"
    );
    assert!(read("b/index.html").contains(">Judge</h") && read("b/report.md").contains("# Judge"));
    assert!(!read("b/manifest.json").contains("\"judge\": null"));
}

#[test]
fn a_judges_calls_are_replayed_from_their_own_recording_and_doctor_misses_them() {
    let dir = tempfile::tempdir().unwrap();
    ok(&program(
        dir.path(),
        "run",
        &["--record", "tape", "--judge", "mock:weak", "--out", "live"],
    ));
    let replay = ["--model", "cassette:tape", "--judge", "cassette:tape/judge"];
    ok(&program(
        dir.path(),
        "run",
        &[&replay[..], &["--out", "replayed"]].concat(),
    ));
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    assert_eq!(read("live/records.jsonl"), read("replayed/records.jsonl"));
    assert!(
        ok(&program(dir.path(), "doctor", &replay)).contains("every call of 6 replays is recorded")
    );
    let calls = read("tape/judge/calls.jsonl");
    std::fs::write(
        dir.path().join("tape/judge/calls.jsonl"),
        calls.lines().next().unwrap().to_owned() + "\n",
    )
    .unwrap();
    let missed = program(dir.path(), "doctor", &replay);
    let told = String::from_utf8(missed.stdout).unwrap();
    assert!(
        missed.status.code() == Some(1) && told.contains("--record tape/judge"),
        "{told}"
    );
}

#[test]
fn a_paid_judge_is_estimated_asked_for_and_capped_like_the_model() {
    let dir = tempfile::tempdir().unwrap();
    let judge = ["--judge", "openai:gpt-5.4"];
    let table = ok(&program(
        dir.path(),
        "run",
        &[&judge[..], &["--estimate"]].concat(),
    ));
    let row = |name: &str| {
        let line = table
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{name} in {table}"));
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        row("judge")[1],
        row("probe")[1],
        "each answer is judged once"
    );
    assert_eq!(row("probe")[4], "0.00-0.00", "the mock costs nothing");
    assert_eq!(row("judge")[4], row("all")[4]);
    let refused = program(dir.path(), "run", &judge);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(
        told.contains("`openai:gpt-5.4` may cost") && told.contains("`api.openai.com`"),
        "{told}"
    );
    let unknown = program(
        dir.path(),
        "run",
        &["--judge", "openai:new", "--max-cost", "1"],
    );
    assert!(
        String::from_utf8(unknown.stderr)
            .unwrap()
            .contains("needs the price of `openai:new`")
    );
    let no_judge = program(dir.path(), "run", &["--judge", "mock:stron"]);
    assert_eq!(no_judge.status.code(), Some(2));
}
