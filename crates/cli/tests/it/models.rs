//! Models other than the mock, as a user meets them: recorded calls, servers that answer or do not,
//! keys.

use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use crate::common::serve;
use assert_cmd::Command;

const KEY: &str = "sk-never-to-be-seen-0123456789";

const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 2\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";

fn program(dir: &Path, args: &[&str], key: Option<&str>) -> Output {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    for variable in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "COMPACTOMETER_API_KEY",
    ] {
        command.env_remove(variable);
    }
    if let Some(key) = key {
        command.env("COMPACTOMETER_API_KEY", key);
    }
    command.current_dir(dir).args(args).output().unwrap()
}

/// A run of one strategy and one control on the tiny suite.
fn run(dir: &Path, out: &str, more: &[&str], key: Option<&str>) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let plain = [
        "run",
        "tiny.toml",
        "-s",
        "summarize,null",
        "--jobs",
        "1",
        "--out",
        out,
    ];
    program(dir, &[&plain[..], more].concat(), key)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn records(dir: &Path, out: &str) -> String {
    std::fs::read_to_string(dir.join(out).join("records.jsonl")).unwrap()
}

#[test]
fn a_recorded_run_is_replayed_to_the_same_records() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = run(
        dir.path(),
        "live",
        &["--model", "mock", "--record", "tape"],
        None,
    );
    assert!(recorded.status.success(), "{}", stderr(&recorded));
    let replayed = run(dir.path(), "replayed", &["--model", "cassette:tape"], None);
    assert!(replayed.status.success(), "{}", stderr(&replayed));
    assert_eq!(records(dir.path(), "live"), records(dir.path(), "replayed"));
    let by_name = [
        "run",
        "--model",
        "cassette:tape",
        "-s",
        "summarize,null",
        "--jobs",
        "1",
        "--out",
        "by-name",
    ];
    let by_name = program(dir.path(), &by_name, None);
    assert!(
        by_name.status.success(),
        "a recording knows its suite: {}",
        stderr(&by_name)
    );
    assert_eq!(records(dir.path(), "live"), records(dir.path(), "by-name"));
    let spoiled = run(
        dir.path(),
        "spoiled",
        &["--model", "cassette:tape+server-error=1"],
        None,
    );
    assert!(spoiled.status.success(), "{}", stderr(&spoiled));
    assert_ne!(
        records(dir.path(), "live"),
        records(dir.path(), "spoiled"),
        "faults stand outside of a recording"
    );
}

#[test]
fn a_recording_keeps_the_conversations_of_all_its_runs() {
    let dir = tempfile::tempdir().unwrap();
    let part = ["--model", "mock", "--record", "tape", "--sample", "1"];
    assert!(run(dir.path(), "part", &part, None).status.success());
    let kept = || std::fs::read_to_string(dir.path().join("tape/suite/tiny.jsonl")).unwrap();
    assert_eq!(
        kept().lines().count(),
        2,
        "a header and the one that was run"
    );
    let one = kept().lines().last().unwrap().to_owned();
    assert!(run(dir.path(), "whole", &part[..4], None).status.success());
    assert!(kept().contains(&one) && kept().lines().count() == 3);
    assert!(run(dir.path(), "again", &part, None).status.success());
    assert_eq!(kept().lines().count(), 3, "a part takes nothing away");
}

#[test]
fn a_miss_ends_the_run_keeps_what_is_done_and_can_be_recorded() {
    let dir = tempfile::tempdir().unwrap();
    assert!(
        run(
            dir.path(),
            "live",
            &["--model", "mock", "--record", "tape"],
            None
        )
        .status
        .success()
    );
    let tape = dir.path().join("tape/calls.jsonl");
    let text = std::fs::read_to_string(&tape).unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&tape, format!("{kept}\n")).unwrap();
    let missed = run(dir.path(), "replayed", &["--model", "cassette:tape"], None);
    assert_eq!(missed.status.code(), Some(1));
    let told = stderr(&missed);
    assert!(
        told.contains("(1 missed so far)")
            && told.contains("--model mock:claude-code --record tape"),
        "{told}"
    );
    assert!(told.contains("the same command resumes"), "{told}");
    let (all, some) = (records(dir.path(), "live"), records(dir.path(), "replayed"));
    assert!(
        !some.is_empty() && all.len() > some.len() && all.starts_with(&some),
        "no record of the case that missed"
    );
    assert!(
        run(
            dir.path(),
            "filled",
            &["--model", "mock", "--record", "tape"],
            None
        )
        .status
        .success()
    );
    assert!(
        run(dir.path(), "replayed", &["--model", "cassette:tape"], None)
            .status
            .success()
    );
    assert_eq!(records(dir.path(), "replayed"), all);
}

#[test]
fn a_server_that_is_not_there_ends_the_run_for_now_and_nothing_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!(
        "openai-compatible:small@http://{}/v1",
        free.local_addr().unwrap()
    );
    drop(free);
    for store in [&[][..], &["--store", "kept"]] {
        let refused = run(
            dir.path(),
            "out",
            &[&["--model", &model][..], store].concat(),
            None,
        );
        assert_eq!(refused.status.code(), Some(75), "{}", stderr(&refused));
        assert!(
            stderr(&refused).contains("is the server running"),
            "{}",
            stderr(&refused)
        );
        assert_eq!(records(dir.path(), "out"), "");
    }
    let told = program(
        dir.path(),
        &["explain", "tiny.toml", "-s", "summarize", "--model", &model],
        None,
    );
    assert_eq!(told.status.code(), Some(75), "{}", stderr(&told));
}

#[test]
fn a_missing_key_or_address_says_what_to_set() {
    let dir = tempfile::tempdir().unwrap();
    for (model, expected) in [
        (
            "openai:gpt",
            "set the environment's variable `OPENAI_API_KEY`",
        ),
        (
            "anthropic:claude",
            "set the environment's variable `ANTHROPIC_API_KEY`",
        ),
        (
            "openai-compatible:small",
            "write `openai-compatible:MODEL@URL`",
        ),
        ("cassette:nowhere", "cannot read the cassette `nowhere`"),
    ] {
        let refused = run(dir.path(), "out", &["--model", model], None);
        assert_eq!(refused.status.code(), Some(2), "{model}");
        assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
    }
}

#[test]
fn a_key_stands_in_no_file_and_no_message() {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!(
        "openai-compatible:small@http://{}",
        listener.local_addr().unwrap()
    );
    // The server repeats the key.
    std::thread::spawn(move || serve(listener, &format!("x-echo: {KEY}"), (9, 5)));
    let more = [
        "--model", &model, "--record", "tape", "--store", "kept", "-vv",
    ];
    let output = run(dir.path(), "out", &more, Some(KEY));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        records(dir.path(), "out").contains("\"served\":{\"usage\":{\"prompt_tokens\":9"),
        "the raw usage is kept"
    );
    assert!(
        !stderr(&output).contains(KEY) && !String::from_utf8_lossy(&output.stdout).contains(KEY)
    );
    let mut folders = vec![dir.path().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&entry).unwrap();
            assert!(
                !bytes
                    .windows(KEY.len())
                    .any(|window| window == KEY.as_bytes()),
                "{}",
                entry.display()
            );
        }
    }
    assert!(files > 6, "{files} files");
}
