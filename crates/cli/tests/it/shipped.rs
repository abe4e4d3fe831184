//! What the program ships for a first try: the sample session, the prompts, and the recording.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn program(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn dataset(name: &str) -> String {
    format!("{}/../../datasets/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_sample_session_has_what_readme_says_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let sample = dataset("sample-session.jsonl");
    let imported = program(
        dir.path(),
        &[
            "import",
            &sample,
            "--auto-facts",
            "--out",
            "mine.jsonl",
            "--strict",
        ],
    );
    let told = text(&imported.stderr);
    assert_eq!(imported.status.code(), Some(0), "{told}");
    for line in [
        "1 conversation of 1 independent session, 66 messages",
        "1 secret masked",
        "2 compactions of the recorded program",
        "0 repairs",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let suite = std::fs::read_to_string(dir.path().join("mine.jsonl")).unwrap();
    assert!(
        !suite.contains("fk9Qw2Lr7Zt4Xv8Bn3Mc6Hd1"),
        "the key is masked"
    );

    let losses = program(dir.path(), &["losses", &sample]);
    let told = text(&losses.stdout);
    assert!(
        told.contains("`tr-5e20b4`") && told.contains("`.env.staging`"),
        "calls used what was lost: {told}"
    );

    // The complaint of README: the import has found the value already, so only the question is new.
    let question = ["--question", "Which index did we choose?"];
    let add = program(
        dir.path(),
        &[
            &["probes", "mine.jsonl", "--add", "idx_readings_station_day"],
            &question[..],
        ]
        .concat(),
    );
    assert_eq!(add.status.code(), Some(0), "{}", text(&add.stderr));
    let listed = text(&program(dir.path(), &["probes", "mine.jsonl"]).stdout);
    assert!(listed.contains("Which index did we choose?"), "{listed}");
    let suite = std::fs::read_to_string(dir.path().join("mine.jsonl")).unwrap();
    assert_eq!(
        suite
            .matches(r#""value":"idx_readings_station_day""#)
            .count(),
        1,
        "no fact twice"
    );
}

#[test]
fn a_prompt_is_printed_to_be_changed_and_tried() {
    let dir = tempfile::tempdir().unwrap();
    let printed = program(dir.path(), &["prompt", "chained"]);
    let about = text(&printed.stderr);
    assert!(
        about.contains("{previous}  the summary") && about.contains("(required)"),
        "{about}"
    );
    std::fs::write(dir.path().join("my.md"), &printed.stdout).unwrap();
    let own = program(
        dir.path(),
        &["doctor", "smoke", "-s", "chained,mine=chained:prompt=my.md"],
    );
    assert_eq!(own.status.code(), Some(0), "{}", text(&own.stderr));

    for (name, why) in [
        ("full", "calls no model"),
        ("chaned", "did you mean `chained`"),
    ] {
        let refused = program(dir.path(), &["prompt", name]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            text(&refused.stderr).contains(why),
            "{}",
            text(&refused.stderr)
        );
    }
}

#[test]
fn a_prompt_file_that_cannot_be_used_says_everything_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("bare.md", "Sum up {messages} and {messages}.");
    write("empty.md", "\n");
    write("large.md", &"a".repeat(50 << 20));
    std::fs::create_dir(dir.path().join("folder.md")).unwrap();
    for (file, why) in [
        (
            "bare.md",
            "lacks the placeholders `{previous}`, `{task}` and repeats the placeholder `{messages}`",
        ),
        (
            "empty.md",
            "is empty; `compactometer prompt chained` prints the original",
        ),
        ("large.md", "larger than 1 MiB"),
        ("folder.md", "it is a folder"),
        ("none.md", "cannot read the prompt `none.md`"),
    ] {
        let refused = program(
            dir.path(),
            &[
                "run",
                "-s",
                &format!("mine=chained:prompt={file}"),
                "--out",
                "out",
            ],
        );
        assert_eq!(refused.status.code(), Some(2), "{file}");
        assert!(
            text(&refused.stderr).contains(why),
            "{file}: {}",
            text(&refused.stderr)
        );
    }
    assert!(!dir.path().join("out").exists(), "nothing half-written");
}

/// A recording of two rows of the mock, and the folder that it is in.
fn recorded() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let spec = std::fs::read_to_string(dataset("smoke.toml")).unwrap();
    std::fs::write(
        dir.path().join("two.toml"),
        spec.replace("conversations = 16", "conversations = 2"),
    )
    .unwrap();
    let record = [
        "run",
        "two.toml",
        "-s",
        "summarize",
        "--record",
        "tape",
        "--out",
        "one",
        "--quiet",
    ];
    assert_eq!(program(dir.path(), &record).status.code(), Some(0));
    let more = [
        "run",
        "two.toml",
        "-s",
        "null,summarize",
        "--record",
        "tape",
        "--out",
        "two",
        "--quiet",
    ];
    assert_eq!(program(dir.path(), &more).status.code(), Some(0));
    let about = dir.path().join("tape/recording.toml");
    (dir, about)
}

#[test]
fn a_replay_runs_the_rows_that_were_recorded() {
    let (dir, about) = recorded();
    assert!(
        std::fs::read_to_string(&about)
            .unwrap()
            .contains(r#"rows = ["summarize", "null"]"#)
    );
    let replay = |out: &str, more: &[&str]| {
        let replayed = program(
            dir.path(),
            &[
                &["run", "--model", "cassette:tape", "--out", out, "--quiet"],
                more,
            ]
            .concat(),
        );
        let manifest = std::fs::read_to_string(dir.path().join(out).join("manifest.json"));
        (
            replayed,
            manifest.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap()),
        )
    };
    let (replayed, manifest) = replay("again", &[]);
    assert_eq!(
        replayed.status.code(),
        Some(0),
        "{}",
        text(&replayed.stderr)
    );
    assert_eq!(
        manifest["strategies"],
        serde_json::json!(["summarize", "null"])
    );
    assert_eq!(
        manifest["latency_is_result"],
        Value::Null,
        "a recording's latencies are a result unless it denies it"
    );
    let (_, manifest) = replay("named", &["-s", "null"]);
    assert_eq!(
        manifest["strategies"],
        serde_json::json!(["null"]),
        "rows that are named go first"
    );

    std::fs::write(&about, "latency_is_result = false\nrows = [\"null\"]\n").unwrap();
    let (_, manifest) = replay("busy", &[]);
    assert_eq!(manifest["latency_is_result"], Value::Bool(false));

    // Without the file the rows are unknown, so the default ones run, and some of their calls are
    // missing.
    std::fs::remove_file(&about).unwrap();
    let (missed, _) = replay("unknown", &[]);
    assert_eq!(missed.status.code(), Some(1));
    assert!(text(&missed.stderr).contains("does not hold this call"));
}

#[test]
fn what_is_wrong_with_a_recordings_description_names_its_line() {
    let (dir, about) = recorded();
    std::fs::write(&about, "latency_is_result = false\nrow = []\n").unwrap();
    let refused = program(
        dir.path(),
        &["run", "--model", "cassette:tape", "--out", "out"],
    );
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(
        told.contains("recording.toml") && told.contains("line 2") && told.contains("`rows`"),
        "{told}"
    );

    std::fs::write(&about, "rows = [\"sumarize\"]\n").unwrap();
    let refused = program(
        dir.path(),
        &["run", "--model", "cassette:tape", "--out", "out"],
    );
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(
        told.contains("recording.toml") && told.contains("did you mean `summarize`"),
        "{told}"
    );
    assert!(!dir.path().join("out").exists(), "nothing half-written");
}
