//! `--summarizer` as a user meets it: who writes and who answers, in records, recordings, cost and
//! comparisons.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use crate::common::{lines, records};

const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 2\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";
const PAIR: [&str; 4] = ["--model", "mock:strong", "--summarizer", "mock:weak"];

fn program(dir: &Path, args: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .env("OPENAI_API_KEY", "sk-none")
        .env("NO_PROXY", "*")
        .env_remove("COMPACTOMETER_SUMMARIZER");
    command.current_dir(dir).args(args).output().unwrap()
}

/// A command on the tiny suite.
fn tiny(dir: &Path, command: &str, more: &[&str]) -> Output {
    let plain = [
        command,
        "tiny.toml",
        "-s",
        "summarize,middleware-checkpoint,full,oracle,null",
        "--jobs",
        "1",
    ];
    program(dir, &[&plain[..], more].concat())
}

fn ok(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a command that cannot be done says.
fn refused(output: &Output) -> String {
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_summarizer_writes_and_the_model_answers() {
    let dir = tempfile::tempdir().unwrap();
    ok(&tiny(
        dir.path(),
        "run",
        &[
            "--model",
            "mock:weak",
            "--record",
            "weak-tape",
            "--out",
            "weak",
        ],
    ));
    ok(&tiny(
        dir.path(),
        "run",
        &["--model", "mock:strong", "--out", "strong"],
    ));
    ok(&tiny(
        dir.path(),
        "run",
        &[&PAIR[..], &["--record", "tape", "--out", "pair"]].concat(),
    ));
    let [weak, strong, pair] = ["weak", "strong", "pair"].map(|out| records(dir.path(), out));
    let (mut better, mut written) = (0, 0);
    for ((weak, strong), pair) in weak.iter().zip(&strong).zip(&pair) {
        assert_eq!(
            (&pair["case"]["summarizer"], &pair["case"]["target"]),
            (&"mock:weak".into(), &"mock:strong".into())
        );
        assert!(
            weak["case"].get("target").is_none()
                && pair["key"] != weak["key"]
                && pair["key"] != strong["key"]
        );
        for part in [
            "compactions",
            "checkpoints",
            "observations",
            "turns",
            "facts",
        ] {
            assert_eq!(
                pair[part], weak[part],
                "nothing that is written depends on the reader"
            );
        }
        let is_control = pair["case"]["family"] == "control";
        if is_control {
            assert_eq!(pair["answers"], strong["answers"], "a control only answers");
        } else {
            written += usize::from(pair["compactions"] != strong["compactions"]);
            better += usize::from(pair["answers"] != weak["answers"]);
        }
    }
    assert!(written > 0 && better > 0, "{written} {better}");

    // Each is asked what the pure run of the weak model asked it, so what answers here is the
    // strong model's on the same views.
    let of = |tape: &str, model: &str| {
        let calls = lines(dir.path(), &format!("{tape}/calls.jsonl"));
        assert!(
            !calls.is_empty() && calls.iter().all(|call| call["model"] == model),
            "{tape}"
        );
        calls
            .iter()
            .map(|call| call["request"].to_string())
            .collect::<BTreeSet<_>>()
    };
    let (asked, told) = (
        of("tape", "mock:strong"),
        of("tape/summarizer", "mock:weak"),
    );
    assert!(asked.is_disjoint(&told));
    assert_eq!(&asked | &told, of("weak-tape", "mock:weak"));
}

#[test]
fn a_recording_of_both_replays_without_either() {
    let dir = tempfile::tempdir().unwrap();
    ok(&tiny(
        dir.path(),
        "run",
        &[&PAIR[..], &["--record", "c", "--out", "live"]].concat(),
    ));
    ok(&tiny(
        dir.path(),
        "run",
        &["--model", "cassette:c", "--out", "replayed"],
    ));
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    assert_eq!(read("live/records.jsonl"), read("replayed/records.jsonl"));
    let doctor = ok(&tiny(dir.path(), "doctor", &["--model", "cassette:c"]));
    assert!(
        doctor.contains("every call of 10 replays is recorded"),
        "{doctor}"
    );
    assert!(
        doctor.contains("ok       summarizer `mock:weak` answers without"),
        "{doctor}"
    );
    // Faults of the model are its summarizer's too, as where one model does both.
    let faulty = tiny(dir.path(), "doctor", &["--model", "cassette:c+empty=1"]);
    let told = String::from_utf8(faulty.stdout).unwrap();
    assert!(
        told.contains("ok       summarizer `mock:weak+empty=1` answers without"),
        "{told}"
    );
    // Nobody wrote, so that of the summarizer nothing is recorded.
    let readers = ["run", "tiny.toml", "-s", "full,null"];
    ok(&program(
        dir.path(),
        &[&readers, &PAIR[..], &["--record", "e", "--out", "read"]].concat(),
    ));
    assert!(read("e/summarizer/calls.jsonl").is_empty());
    ok(&program(
        dir.path(),
        &[
            &readers[..],
            &["--model", "cassette:e", "--out", "read-again"],
        ]
        .concat(),
    ));
    let calls = read("c/summarizer/calls.jsonl");
    std::fs::write(
        dir.path().join("c/summarizer/calls.jsonl"),
        calls.lines().next().unwrap().to_owned() + "\n",
    )
    .unwrap();
    let missed = tiny(dir.path(), "doctor", &["--model", "cassette:c"]);
    let told = String::from_utf8(missed.stdout).unwrap();
    assert!(
        missed.status.code() == Some(1) && told.contains("--record c/summarizer"),
        "{told}"
    );
}

#[test]
fn one_name_for_both_is_the_run_of_one() {
    let dir = tempfile::tempdir().unwrap();
    ok(&tiny(
        dir.path(),
        "run",
        &["--model", "mock:weak", "--record", "tape", "--out", "one"],
    ));
    let both = [
        "--model",
        "mock:weak",
        "--summarizer",
        "mock:weak",
        "--record",
        "tapes",
        "--out",
        "both",
    ];
    ok(&tiny(dir.path(), "run", &both));
    for file in ["records.jsonl", "texts.jsonl"] {
        let read = |out: &str| std::fs::read_to_string(dir.path().join(out).join(file)).unwrap();
        assert_eq!(read("one"), read("both"), "{file}");
    }
    assert!(!dir.path().join("tapes/summarizer").exists());
}

#[test]
fn a_run_that_was_stopped_goes_on_and_one_of_another_pair_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let run = |out: &str, store: &[&str]| {
        tiny(
            dir.path(),
            "run",
            &[&PAIR[..], store, &["--out", out]].concat(),
        )
    };
    ok(&run("whole", &[]));
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    let whole = read("whole/records.jsonl");
    ok(&run("cut", &["--store", "kept.db"]));
    assert_eq!(read("cut/records.jsonl"), whole, "a store changes nothing");
    std::fs::write(
        dir.path().join("cut/records.jsonl"),
        whole.lines().next().unwrap().to_owned() + "\n",
    )
    .unwrap();
    let again = run("cut", &[]);
    assert!(
        String::from_utf8_lossy(&again.stderr).contains("resumed: 1 of 10 replays"),
        "{again:?}"
    );
    assert_eq!(read("cut/records.jsonl"), whole);
    for other in [
        &PAIR[..2],
        &["--model", "mock:weak"],
        &[
            "--model",
            "mock:perfect-reader",
            "--summarizer",
            "mock:weak",
        ],
    ] {
        let told = refused(&tiny(
            dir.path(),
            "run",
            &[other, &["--out", "whole"]].concat(),
        ));
        assert!(told.contains("holds another run (`"), "{told}");
    }
}

#[test]
fn a_manifest_and_a_report_name_both() {
    let dir = tempfile::tempdir().unwrap();
    let table = ok(&tiny(
        dir.path(),
        "compare",
        &[&PAIR[..], &["--out", "pair"]].concat(),
    ));
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    let manifest = read("pair/manifest.json");
    let of_models = |line: &&str| {
        ["\"summarizer\"", "\"target\"", "\"judge\""]
            .iter()
            .any(|key| line.contains(key))
    };
    let named: Vec<_> = manifest.lines().filter(of_models).collect();
    assert_eq!(
        named,
        [
            "  \"summarizer\": \"mock:weak\",",
            "  \"target\": \"mock:strong\","
        ]
    );
    let table = table.replace("\n  ", " ");
    let heading = "tiny: 2 conversations, compacted to 600 tokens in a context window of 2,000. A simulated model wrote (mock:weak, target model mock:strong); a real one may differ.\n";
    assert!(table.starts_with(heading), "{table}");
    assert!(
        read("pair/report.md")
            .contains("`mock:weak` wrote the summaries and `mock:strong` answered the questions")
    );
    let summary: Value = serde_json::from_str(&read("pair/summary.json")).unwrap();
    assert_eq!(summary["groups"][0]["target"], "mock:strong");
    assert!(
        read("pair/report.md").contains("target model")
            && read("pair/details.html").contains("target model")
    );
}

/// A mock costs what another model would, so that a promise of a cheap model's cost is decided.
#[test]
fn a_mock_has_the_price_of_the_model_that_it_is_named_after() {
    let dir = tempfile::tempdir().unwrap();
    let cost = |flags: &[&str]| {
        let told = ok(&tiny(dir.path(), "compare", &[flags, &["--json"]].concat()));
        let summary: Value = serde_json::from_str(&told).unwrap();
        let rows = summary["groups"][0]["strategies"].as_array().unwrap();
        let row = |name: &str| {
            let row = rows.iter().find(|row| row["name"] == name).unwrap();
            row["metrics"]["cost_usd"]["value"].as_f64().unwrap()
        };
        ["summarize", "middleware-checkpoint", "full"].map(row)
    };
    let own = cost(&[]);
    let cheap = cost(&["--summarizer-as", "claude-haiku-4-5"]);
    let checkpoints = cost(&["--checkpointer-as", "claude-haiku-4-5"]);
    assert!(cheap[0] < own[0] && cheap[1] < own[1], "{own:?} {cheap:?}");
    assert!(
        checkpoints[0] == own[0] && checkpoints[1] < own[1],
        "{own:?} {checkpoints:?}"
    );
    assert!(own[2] == cheap[2] && own[2] == checkpoints[2], "{own:?}");
    let unknown = refused(&tiny(dir.path(), "compare", &["--summarizer-as", "haiku"]));
    assert!(unknown.contains("`haiku`"), "{unknown}");
}

#[test]
fn runs_of_other_models_are_neither_joined_nor_gated_nor_ordered() {
    let dir = tempfile::tempdir().unwrap();
    let pairs: [(&str, &[&str]); 4] = [
        ("pair", &PAIR),
        ("writer", &["--model", "mock:weak"]),
        (
            "other-reader",
            &[
                "--model",
                "mock:perfect-reader",
                "--summarizer",
                "mock:weak",
            ],
        ),
        (
            "other-writer",
            &[
                "--model",
                "mock:strong",
                "--summarizer",
                "mock:perfect-reader",
            ],
        ),
    ];
    for (out, models) in pairs {
        ok(&tiny(
            dir.path(),
            "run",
            &[models, &["--out", out]].concat(),
        ));
    }
    let program = |args: &[&str]| program(dir.path(), args);
    let first = ["gate", "pair", "--baseline", "b.json"];
    ok(&program(&[&first[..], &["--update"]].concat()));
    ok(&program(
        &[&first[..], &["--exact", "--on-inconclusive", "pass"]].concat(),
    ));
    let two_models = "`mock:weak` summarized and `mock:strong` answered";
    for (out, differing, what, no_order) in [
        (
            "writer",
            "`target` differs",
            "the target model: `mock:weak` against `mock:strong`",
            two_models,
        ),
        (
            "other-reader",
            "`target` differs",
            "the target model: `mock:perfect-reader` against `mock:strong`",
            two_models,
        ),
        // One model answered in both, so that an order could be compared if the second were no
        // mock.
        (
            "other-writer",
            "`summarizer` differs",
            "the summarizer: `mock:perfect-reader` against `mock:weak`",
            "the second run is of `mock:perfect-reader`, which is a mock",
        ),
    ] {
        for both in [["pair", out], [out, "pair"]] {
            let told = refused(&program(
                &[&["report"], &both[..], &["--out", "joined"]].concat(),
            ));
            assert!(told.contains(differing), "{told}");
        }
        let told = refused(&program(&["gate", out, "--baseline", "b.json"]));
        assert!(told.contains(what), "{told}");
        let told = refused(&program(&["agreement", "pair", out]));
        assert!(told.contains(no_order), "{told}");
    }
}

#[test]
fn a_paid_summarizer_is_estimated_asked_for_and_capped_beside_the_model() {
    let dir = tempfile::tempdir().unwrap();
    let estimate = |models: &[&str]| {
        let table = ok(&tiny(
            dir.path(),
            "run",
            &[models, &["--estimate"]].concat(),
        ));
        ["compaction", "checkpoint", "probe", "all"].map(|name| {
            let line = table
                .lines()
                .find(|line| line.starts_with(name))
                .unwrap_or_else(|| panic!("{name} in {table}"));
            line.split_whitespace().nth(4).unwrap().to_owned()
        })
    };
    let free = "0.00-0.00";
    let [compaction, checkpoint, probe, _] = estimate(&["--model", "openai:gpt-5.4"]);
    assert!(compaction != free && checkpoint != free && probe != free);
    let paid = ["--summarizer", "openai:gpt-5.4"];
    let written = estimate(&paid);
    assert_eq!(written[..3], [compaction, checkpoint, free.to_owned()]);
    assert_eq!(
        estimate(&["--model", "openai:gpt-5.4", "--summarizer", "mock"])[..3],
        [free, free, &probe]
    );
    let told = refused(&tiny(dir.path(), "run", &paid));
    assert!(
        told.contains("`openai:gpt-5.4` may cost") && told.contains("`api.openai.com`"),
        "{told}"
    );
    let told = refused(&tiny(
        dir.path(),
        "run",
        &["--summarizer", "openai:new", "--max-cost", "1"],
    ));
    assert!(told.contains("needs the price of `openai:new`"), "{told}");
}

#[test]
fn what_is_wrong_with_it_names_its_flag() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["run", "compare"] {
        let told = refused(&tiny(dir.path(), command, &["--summarizer", "mock:stron"]));
        assert!(
            told.contains("`--summarizer`: ") && told.contains("`mock:stron`"),
            "{told}"
        );
        assert!(told.contains("choose one of: mock:claude-code"), "{told}");
    }
    let explained = refused(&program(
        dir.path(),
        &[
            "explain",
            "smoke",
            "-s",
            "summarize",
            "--summarizer",
            "nobody",
        ],
    ));
    assert!(
        explained.contains("`--summarizer`: ") && explained.contains("`nobody`"),
        "{explained}"
    );
    let doctor = tiny(dir.path(), "doctor", &["--summarizer", "mock:stron"]);
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(
        doctor.status.code() == Some(1) && told.contains("problem  summarizer "),
        "{told}"
    );
    std::fs::write(
        dir.path().join("compactometer.toml"),
        "summarizer = \"openai-compatible:x@http://example.com\"\n",
    )
    .unwrap();
    let told = refused(&tiny(dir.path(), "run", &[]));
    assert!(
        told.contains("`--summarizer` or COMPACTOMETER_SUMMARIZER"),
        "{told}"
    );
    std::fs::write(
        dir.path().join("compactometer.toml"),
        "summarizer = \"mock:weak\"\n",
    )
    .unwrap();
    ok(&tiny(dir.path(), "run", &["--out", "by-file"]));
    assert_eq!(
        records(dir.path(), "by-file")[0]["case"]["summarizer"],
        "mock:weak"
    );
}
