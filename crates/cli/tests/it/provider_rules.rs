//! Runs against servers that enforce a provider's published rules or reject requests.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use compactometer_testing::provider_server;
use serde_json::Value;
use tokio::runtime::Runtime;
use wiremock::MockServer;

/// Conversations with tool calls.
const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 6\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";

/// A server, and the runtime that it runs on.
pub(crate) struct Served(
    #[allow(dead_code, reason = "it runs the server")] Runtime,
    pub(crate) MockServer,
);

pub(crate) fn serve(rejects: impl Fn(&Value) -> Option<String> + Send + Sync + 'static) -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(provider_server::start(rejects));
    Served(runtime, server)
}

impl Served {
    fn model(&self) -> String {
        format!("anthropic:small@{}", self.1.uri())
    }
}

fn compare(dir: &Path, model: &str, strategies: &str, more: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let plain = [
        "compare",
        "tiny.toml",
        "-s",
        strategies,
        "--model",
        model,
        "--jobs",
        "1",
    ];
    let mut program = Command::cargo_bin("compactometer").unwrap();
    program
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("COMPACTOMETER_API_KEY")
        .current_dir(dir);
    program.args(plain).args(more).output().unwrap()
}

fn records(dir: &Path, out: &str) -> String {
    std::fs::read_to_string(dir.join(out).join("records.jsonl")).unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a report says about rejected requests, with lines joined.
fn rejections(report: &str) -> Option<String> {
    let text = report.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = text.find("that the server rejected or")?;
    Some(text[at..].chars().take(200).collect())
}

#[test]
fn every_strategy_runs_against_a_server_that_enforces_anthropics_rules() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(|_| None);
    let output = compare(
        dir.path(),
        &server.model(),
        "@all",
        &["--sample", "1", "--out", "out"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    assert_eq!(rejections(&words(&output.stdout)), None);
    let records = records(dir.path(), "out");
    assert!(
        records.contains("\"summarizer\":\"anthropic:small@localhost\""),
        "no name of the provider's own model"
    );
    assert!(!records.contains("\"refusal\":\"form\""));
}

#[test]
fn measured_times_are_in_timings_json_and_records_of_two_live_runs_are_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(|_| None);
    for out in ["one", "two"] {
        let more = ["--out", out, "--json"];
        let output = compare(dir.path(), &server.model(), "summarize,full", &more);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        let latency = &summary["groups"][0]["strategies"][0]["metrics"]["wait_ms_total"];
        assert!(latency["value"].is_number(), "{latency}");
    }
    assert_eq!(records(dir.path(), "one"), records(dir.path(), "two"));
    assert!(!records(dir.path(), "one").contains("latency_ms"));
    let path = dir.path().join("one/timings.json");
    let timings: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let cases = timings["cases"].as_object().unwrap();
    assert_eq!(cases.len(), 12);
    assert!(
        cases
            .values()
            .all(|case| case["seconds"].is_number() && case["calls"][0]["latency_ms"].is_number())
    );

    std::fs::remove_file(&path).unwrap();
    let without = Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir.path())
        .args(["report", "one", "--json"])
        .output();
    let summary: Value = serde_json::from_slice(&without.unwrap().stdout).unwrap();
    let latency = &summary["groups"][0]["strategies"][0]["metrics"]["wait_ms_total"];
    assert!(
        latency["value"].is_null() && latency["reason"].as_str().unwrap().contains("timings.json"),
        "{latency}"
    );
}

#[test]
fn a_rejected_request_is_its_cases_result() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(|body| {
        let asks = body["messages"][0]["content"].to_string();
        asks.contains("Session Summary")
            .then(|| "messages: no session summaries here".to_owned())
    });
    let recorded = ["--record", "tape", "--out", "out"];
    let output = compare(
        dir.path(),
        &server.model(),
        "summarize,chained,null",
        &recorded,
    );
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let told = words(&output.stderr);
    assert!(
        told.contains("requests that the server did not take: 71 of ")
            && told.contains("(71 x `messages`)"),
        "{told}"
    );
    let tries = std::fs::read_to_string(dir.path().join("out/tries.jsonl")).unwrap();
    let lines = |part: &str| tries.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("\"outcome\":\"refused\""), 71);
    assert_eq!(lines("{\"sent\":"), lines("{\"ended\":"));
    let report = std::fs::read_to_string(dir.path().join("out/report.md")).unwrap();
    for text in [words(&output.stdout), report] {
        let told = rejections(&text).unwrap_or_else(|| panic!("{text}"));
        assert!(
            told.starts_with(
                "that the server rejected or answered without end, counted as failed: chained 71; most often:"
            ),
            "{told}"
        );
        assert!(told.contains("no session summaries here"), "{told}");
    }
    let gate = |more: &[&str]| {
        let args = ["gate", "out", "--baseline", "base.json"];
        let mut program = Command::cargo_bin("compactometer").unwrap();
        program.current_dir(dir.path()).args(args).args(more);
        words(&program.output().unwrap().stdout)
    };
    gate(&["--update"]);
    let judged = gate(&[]);
    assert!(
        judged.contains("! requests that the server did not take: 71 of "),
        "{judged}"
    );
    assert_eq!(records(dir.path(), "out").lines().count(), 18);
    let replayed = compare(
        dir.path(),
        "cassette:tape",
        "summarize,chained,null",
        &["--out", "again"],
    );
    assert_eq!(
        replayed.status.code(),
        Some(0),
        "{}",
        words(&replayed.stderr)
    );
    assert_eq!(records(dir.path(), "again"), records(dir.path(), "out"));
}

/// Each attempt at a shard keeps what it sent; the merged run says what failed.
#[test]
fn shards_keep_their_requests() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(|body| {
        let asks = body["messages"][0]["content"].to_string();
        asks.contains("Session Summary")
            .then(|| "messages: no session summaries here".to_owned())
    });
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let program = |args: &[&str]| {
        let mut program = Command::cargo_bin("compactometer").unwrap();
        program.env_remove("ANTHROPIC_API_KEY");
        let done = program.current_dir(dir.path()).args(args).output().unwrap();
        assert!(done.status.success(), "{}", words(&done.stderr));
        words(&done.stdout)
    };
    let model = server.model();
    let rows = "summarize,chained";
    program(&[
        "plan",
        "tiny.toml",
        "-s",
        rows,
        "--model",
        &model,
        "--shards",
        "2",
        "--out",
        "p",
        "-q",
    ]);
    for shard in ["1/2", "2/2"] {
        program(&[
            "run",
            "--shard",
            shard,
            "p",
            "--jobs",
            "1",
            "-q",
            "--call-timeout",
            "60",
        ]);
    }
    for shard in [1, 2] {
        let path = format!("p/attempts/{shard}-of-2.1.tries/tries.jsonl");
        let tries = std::fs::read_to_string(dir.path().join(path)).unwrap();
        assert!(tries.lines().count() >= 2 && tries.lines().count().is_multiple_of(2));
    }
    program(&["merge", "p", "--out", "merged", "-q"]);
    let manifest = std::fs::read_to_string(dir.path().join("merged/manifest.json")).unwrap();
    assert!(
        manifest.contains("requests that the server did not take: "),
        "{manifest}"
    );
}

#[test]
fn a_server_that_rejects_every_request_ends_the_run_and_nothing_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(|_| Some("messages.7: nothing is taken today, request 81".to_owned()));
    let recorded = ["--record", "tape", "--out", "out"];
    let output = compare(dir.path(), &server.model(), "summarize,chained", &recorded);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output.stderr));
    let told = words(&output.stderr);
    assert!(
        told.contains("first request of 5 replays in a row")
            && told.contains("nothing is taken today"),
        "{told}"
    );
    assert_eq!(records(dir.path(), "out"), "");
    let mended = serve(|_| None);
    let output = compare(dir.path(), &mended.model(), "summarize,chained", &recorded);
    assert_eq!(
        output.status.code(),
        Some(0),
        "a recorded rejection is asked again: {}",
        words(&output.stderr)
    );
    assert_eq!(rejections(&words(&output.stdout)), None);
}
