//! `probes` as a user meets it: from a complaint to a test.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 2000\ndomains = [\"service\"]\nconversations = 2\n\
                    lengths = [6000]\nfacts = [12, 12]\npoints = [2, 2]\n";

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

/// A folder with a suite of two conversations.
fn suite() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let made = program(
        dir.path(),
        &["generate", "tiny.toml", "--out", "tiny.jsonl", "-q"],
    );
    assert!(made.status.success(), "{}", text(&made.stderr));
    dir
}

/// The id of the first conversation, the value of its first fact, and a message that states it.
fn state(dir: &Path) -> (String, String, u64) {
    let file = std::fs::read_to_string(dir.join("tiny.jsonl")).unwrap();
    let scenario: serde_json::Value = serde_json::from_str(file.lines().nth(1).unwrap()).unwrap();
    let fact = &scenario["facts"][0];
    assert_eq!(fact["id"], "f01");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    (
        text(&scenario["id"]),
        text(&fact["value"]),
        fact["evidence_message_ids"][0].as_u64().unwrap(),
    )
}

#[test]
fn a_forgotten_value_becomes_a_question_that_a_run_asks() {
    let dir = suite();
    let (scenario, value, message) = state(dir.path());
    let ours = ["--scenario", &scenario];
    let changed = |more: &[&str], told: &str| {
        let done = program(
            dir.path(),
            &[&["probes", "tiny.jsonl"], more, &ours].concat(),
        );
        assert!(
            done.status.success() && text(&done.stderr).contains(told),
            "{told}: {}",
            text(&done.stderr)
        );
    };
    let question = ["--question", "Which rate was it?"];
    changed(
        &["--reject", "f02,f01"],
        "took out facts: 2, questions: 2; wrote tiny.jsonl",
    );
    changed(
        &[&["--add", &value], &question[..]].concat(),
        "added fact `added-1`",
    );
    let listed = text(&program(dir.path(), &["probes", "tiny.jsonl"]).stdout);
    assert!(
        listed.contains(&format!(
            "  added-1  \"{value}\"  stated in {message}\n    added-1  after "
        )),
        "{listed}"
    );
    assert!(listed.contains(": Which rate was it?\n"), "{listed}");
    let ran = program(
        dir.path(),
        &["run", "tiny.jsonl", "-s", "full", "--out", "out", "-q"],
    );
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let records = std::fs::read_to_string(dir.path().join("out/records.jsonl")).unwrap();
    assert!(records.contains("\"added-1\""), "the run asks for it");

    let before = std::fs::read(dir.path().join("tiny.jsonl")).unwrap();
    changed(
        &[
            "--accept",
            "f03",
            "--question",
            "And again, which?",
            "--out",
            "more.jsonl",
        ],
        "asks for fact `f03`",
    );
    assert_eq!(
        std::fs::read(dir.path().join("tiny.jsonl")).unwrap(),
        before,
        "`--out` leaves the suite alone"
    );
    let more = text(&program(dir.path(), &["probes", "more.jsonl"]).stdout);
    assert!(more.contains("And again, which?"), "{more}");
}

#[test]
fn what_cannot_be_asked_is_refused_and_the_suite_stays() {
    let dir = suite();
    let (scenario, value, message) = state(dir.path());
    let before = std::fs::read(dir.path().join("tiny.jsonl")).unwrap();
    let told = |more: &[&str]| {
        let done = program(dir.path(), &[&["probes", "tiny.jsonl"], more].concat());
        assert_eq!(
            done.status.code(),
            Some(2),
            "{more:?}: {}",
            text(&done.stdout)
        );
        text(&done.stderr)
    };
    let early = (message - 1).to_string();
    let question = ["--question", "Which rate was it?"];
    for (more, expected) in [
        (
            vec!["--add", "zzyzx-404"],
            "no conversation of `tiny` states `zzyzx-404`",
        ),
        (
            vec!["--add", "zzyzx-404", "--scenario", &scenario],
            "no message of",
        ),
        (
            vec![
                "--accept",
                "f01",
                "--scenario",
                &scenario,
                "--after",
                "999999",
            ],
            "there is no message `999999`",
        ),
        (
            vec![
                "--accept",
                "f01",
                "--scenario",
                &scenario,
                "--after",
                &early,
            ],
            "is not yet stated",
        ),
        (vec!["--accept", "f01"], "2 conversations of `tiny` fit"),
        (
            vec!["--accept", "fact-x", "--scenario", &scenario],
            "unknown fact `fact-x`",
        ),
        (
            vec!["--add", &value, "--scenario", "nobody"],
            "unknown conversation `nobody`",
        ),
    ] {
        let error = told(&[&more[..], &question[..]].concat());
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let given_away = format!("Was it {value}?");
    let error = told(&[
        "--accept",
        "f01",
        "--scenario",
        &scenario,
        "--question",
        &given_away,
    ]);
    assert!(
        error.contains("the question contains the answer"),
        "{error}"
    );
    assert!(told(&["--add", &value]).contains("--question"));
    assert!(told(&["--reject", "f01", "--scenario", &scenario]).contains("replaced by `f02`"));
    assert!(
        told(&["--reject", "no-such-fact"])
            .contains("no conversation of `tiny` has a fact `no-such-fact`")
    );
    assert_eq!(
        std::fs::read(dir.path().join("tiny.jsonl")).unwrap(),
        before
    );
}

/// Several processes edit one suite: none of them writes over what another one has just written.
#[test]
#[cfg(unix)]
fn edits_at_the_same_time_are_all_kept() {
    let dir = suite();
    let (scenario, ..) = state(dir.path());
    let ours = ["--scenario", scenario.as_str()];
    let ids = |dir: &Path| {
        let listed = program(dir, &[&["probes", "tiny.jsonl"], &ours[..]].concat());
        let listed = text(&listed.stdout);
        let ids = listed
            .lines()
            .filter_map(|line| line.trim_start().split(' ').next())
            .filter(|id| id.starts_with('f') && id[1..].parse::<u32>().is_ok());
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = ids(dir.path());
    let chosen = ["f02", "f06", "f07", "f09"].map(str::to_owned);
    assert!(
        chosen.iter().all(|fact| before.contains(fact)),
        "{before:?}"
    );
    std::thread::scope(|scope| {
        for fact in &chosen {
            scope.spawn(|| {
                let reject = ["probes", "tiny.jsonl", "--reject", fact];
                let done = program(dir.path(), &[&reject[..], &ours[..]].concat());
                assert!(done.status.success(), "{}", text(&done.stderr));
            });
        }
    });
    let left = ids(dir.path());
    assert!(chosen.iter().all(|fact| !left.contains(fact)), "{left:?}");
}
