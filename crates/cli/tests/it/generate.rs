//! `generate` as a user meets it, and what becomes of its suites.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 5\nlengths = [9000, 10000]\nfacts = [24, 24]\npoints = [2, 3]\n\
                    [splits]\ndev = 3\ntest = 2\n";

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

#[test]
fn a_spec_becomes_a_suite_that_says_what_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let made = program(dir.path(), &["generate", "tiny.toml", "--out", "one.jsonl"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let told = text(&made.stdout);
    for line in [
        "conversations 5, independent 5, tokens ",
        "splits: dev 3, test 2, calibration 0",
        "facts 120, decoys 120, questions ",
        "questions answered without the conversation: 0.0",
        "questions that share a word of four characters with the answer: 0.000, at most 0, holds",
        "how often the best cue picks the fact",
        "facts of the test split whose subject or value occurs in another split: 0.000, at most 0, holds",
    ] {
        assert!(told.contains(line), "{line} in {told}");
    }
    assert!(!told.contains("FAILS"), "{told}");

    let again = program(
        dir.path(),
        &["generate", "tiny.toml", "--out", "two.jsonl", "--quiet"],
    );
    assert_eq!(
        (text(&again.stdout), text(&again.stderr)),
        (told, String::new())
    );
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert_eq!(read("one.jsonl"), read("two.jsonl"));
}

#[test]
fn a_run_of_one_split_says_so_and_carries_the_suites_properties() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let run = |split: &str| {
        let args = [
            "compare",
            "tiny.toml",
            "-s",
            "full,null",
            "--split",
            split,
            "--out",
            split,
        ];
        program(dir.path(), &args)
    };
    let done = run("test");
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(
        text(&done.stdout).starts_with("tiny: 2 conversations, "),
        "{}",
        text(&done.stdout)
    );
    let report = std::fs::read_to_string(dir.path().join("test/report.md")).unwrap();
    assert!(
        report.contains("only the split `test`: 2 of 5 conversations"),
        "{report}"
    );
    let summary = std::fs::read(dir.path().join("test/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let properties = summary["groups"][0]["properties"].as_array().unwrap();
    let ids: Vec<&str> = properties
        .iter()
        .map(|property| property["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "closed_book",
            "question_overlap",
            "decoy_balance",
            "shared_passages",
            "held_out",
            "called_tools"
        ]
    );
    let again = run("test");
    assert!(
        text(&again.stderr).contains("resumed: 4 of 4"),
        "{}",
        text(&again.stderr)
    );
    let none = run("calibration");
    assert_eq!(none.status.code(), Some(2));
    assert!(
        text(&none.stderr).contains("no conversations of the split `calibration`"),
        "{}",
        text(&none.stderr)
    );
}

#[test]
fn bad_specs_and_places_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("bad.toml"),
        SPEC.replace("test = 2", "test = 9"),
    )
    .unwrap();
    std::fs::write(dir.path().join("there.jsonl"), "keep").unwrap();
    for (args, expected) in [
        (
            ["generate", "standrd", "--out", "x.jsonl"],
            "did you mean `standard`",
        ),
        (
            ["generate", "none.toml", "--out", "x.jsonl"],
            "cannot read `none.toml`",
        ),
        (
            ["generate", "bad.toml", "--out", "x.jsonl"],
            "`splits` are `3`, `9` and `0` conversations; expected `5`",
        ),
        (["generate", "smoke", "--out", "there.jsonl"], "--force"),
        (
            ["generate", "smoke", "--out", "x.toml"],
            "names generator specs",
        ),
    ] {
        let output = program(dir.path(), &args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            text(&output.stderr)
        );
        assert!(
            text(&output.stderr).contains(expected),
            "{args:?}: {}",
            text(&output.stderr)
        );
    }
    assert!(!dir.path().join("x.jsonl").exists());
    assert_eq!(
        std::fs::read(dir.path().join("there.jsonl")).unwrap(),
        b"keep"
    );
}

#[test]
fn a_sample_is_noted_resumes_and_is_never_more_than_there_are() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let run = |count: &str, out: &str| {
        program(
            dir.path(),
            &[
                "compare",
                "tiny.toml",
                "-s",
                "full,null",
                "--sample",
                count,
                "--out",
                out,
            ],
        )
    };
    let done = run("3", "three");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let note = "a sample of 3 of 5 conversations";
    for file in ["manifest.json", "report.md", "summary.json"] {
        let written = std::fs::read_to_string(dir.path().join("three").join(file)).unwrap();
        assert!(written.contains(note), "{file}");
    }
    let again = run("3", "three");
    assert!(
        text(&again.stderr).contains("resumed: 6 of 6 replays"),
        "{}",
        text(&again.stderr)
    );
    let other = run("2", "three");
    assert_eq!(
        other.status.code(),
        Some(2),
        "another sample is another run: {}",
        text(&other.stderr)
    );
    let all = run("99", "all");
    assert!(
        text(&all.stderr).contains("5 conversations") && !text(&all.stderr).contains("a sample"),
        "{}",
        text(&all.stderr)
    );
    assert_eq!(run("0", "none").status.code(), Some(2));
}

#[test]
fn a_suite_goes_to_standard_output_and_nothing_else_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let program = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("compactometer").unwrap();
        command.current_dir(dir.path()).args(args).output().unwrap()
    };
    std::fs::write(dir.path().join("s.jsonl"), crate::hook::session()).unwrap();
    program(&["import", "s.jsonl", "--auto-facts", "--out", "suite.jsonl"]);
    let written = std::fs::read(dir.path().join("suite.jsonl")).unwrap();
    let printed = program(&["import", "s.jsonl", "--auto-facts", "--out", "-"]);
    assert!(printed.status.success() && printed.stdout == written);
    let told = String::from_utf8(printed.stderr).unwrap();
    assert!(told.contains("wrote to standard output"), "{told}");
    let generated = program(&["generate", "smoke", "--out", "-", "-q"]).stdout;
    let text = String::from_utf8(generated).unwrap();
    assert!(text.lines().all(|line| line.starts_with('{')), "{text}");
    // What prints its own text there takes a file.
    let page = program(&["losses", "s.jsonl", "--html", "-"]);
    let told = String::from_utf8(page.stderr).unwrap();
    assert!(
        told.contains("standard output has what the command prints"),
        "{told}"
    );
    assert!(!page.status.success() && !dir.path().join("-").exists());
}
