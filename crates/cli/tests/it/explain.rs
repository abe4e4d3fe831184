//! `explain`, as a user meets it: in lines and as a page.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::common::records;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 2\nlengths = [9000, 10000]\nfacts = [24, 24]\npoints = [2, 3]\n";

fn program(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn done(dir: &Path, args: &[&str]) -> String {
    let output = program(dir, args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    dir
}

/// What is between two marks, wherever they are.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Vec<&'t str> {
    text.split(open)
        .skip(1)
        .map(|rest| rest.split(close).next().unwrap())
        .collect()
}

#[test]
fn the_page_shows_the_fates_of_the_record() {
    let dir = folder();
    let dir = dir.path();
    done(
        dir,
        &["run", "tiny.toml", "-s", "chained", "--out", "run", "-q"],
    );
    let told = done(
        dir,
        &[
            "explain",
            "tiny.toml",
            "-s",
            "chained",
            "--html",
            "page.html",
        ],
    );
    assert_eq!(told, "page.html\n");
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    let title = between(&page, "<h1>chained on ", "</h1>")[0];
    let records = std::fs::read_to_string(dir.join("run/records.jsonl")).unwrap();
    let mut records = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].take());
    let record = records
        .find(|record| record["case"]["scenario"] == title)
        .unwrap();

    let grid = between(&page, "<table class=\"grid\">", "</table>")[0];
    let rows = grid
        .lines()
        .filter(|line| line.contains("scope=\"row\""))
        .collect::<Vec<_>>();
    let facts = record["facts"].as_array().unwrap().iter().enumerate();
    let facts = facts
        .filter(|(_, fact)| fact["decoy"] != json!(true))
        .collect::<Vec<_>>();
    assert_eq!(rows.len(), facts.len());
    for (row, (index, fact)) in rows.iter().zip(facts) {
        assert!(
            row.contains(&format!(">{} ", fact["id"].as_str().unwrap())),
            "{row}"
        );
        let observations = record["observations"].as_array().unwrap();
        let fates = observations
            .iter()
            .map(|point| &point["fates"].as_str().unwrap()[index..=index]);
        let cells = row.split("<td class=").skip(1).map(|cell| &cell[2..3]);
        assert_eq!(
            cells.collect::<String>(),
            fates.collect::<String>(),
            "{row}"
        );
    }
    let questions = between(&page, "<h2>Questions and answers</h2>", "</table>")[0]
        .matches("<tr><td>")
        .count();
    assert_eq!(questions, record["answers"].as_array().unwrap().len());

    // It opens with the facts that are lost at the end, and every link leads somewhere.
    let last = record["observations"].as_array().unwrap().last().unwrap()["fates"]
        .as_str()
        .unwrap()
        .to_owned();
    let is_lost = |index: usize| ["d", "u", "e", "l", "s"].contains(&&last[index..=index]);
    let decoys = record["facts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| fact["decoy"] == json!(true));
    let lost = decoys
        .enumerate()
        .filter(|(index, is_decoy)| !is_decoy && is_lost(*index))
        .map(|(index, _)| index);
    let opening = between(
        &page,
        "<h2>What was lost</h2>",
        "<h2>What became of each fact</h2>",
    )[0];
    let linked = between(opening, "href=\"#fact-", "\"")
        .into_iter()
        .map(|index| index.parse::<usize>().unwrap());
    assert_eq!(
        linked.collect::<Vec<_>>(),
        lost.collect::<Vec<_>>(),
        "{last}"
    );
    for address in between(&page, "href=\"#", "\"") {
        assert!(page.contains(&format!("id=\"{address}\"")), "{address}");
    }

    // One fact alone: its row, and what was asked about it.
    done(
        dir,
        &[
            "explain",
            "tiny.toml",
            "-s",
            "chained",
            "--fact",
            "f02",
            "--html",
            "page.html",
        ],
    );
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    assert_eq!(page.matches("scope=\"row\"").count(), 1);
}

#[test]
fn nothing_of_a_conversation_is_markup() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let evil = "</pre><script>alert(1)</script><img src=//evil.example/x>";
    let header = json!({"format": "compactometer-suite", "version": 1, "name": "evil"});
    let say = |id: u32, text: String| {
        let role = if id.is_multiple_of(2) {
            "user"
        } else {
            "assistant"
        };
        json!({"id": id, "role": role, "parts": [{"type": "text", "text": text}]})
    };
    let mut messages = vec![say(0, format!("The hook is {evil}."))];
    messages.extend((1..40).map(|id| {
        say(
            id,
            format!("{evil} {}", "some words of no weight ".repeat(20)),
        )
    }));
    let fact = json!({"id": "<b>f</b>", "category": "incidental", "subject": evil, "value": evil, "value_kind": "path",
        "evidence_message_ids": [0], "stated_by": "user"});
    let scenario = json!({"id": "a", "group_id": "a", "source": "by hand", "messages": messages, "facts": [fact]});
    std::fs::write(dir.join("evil.jsonl"), format!("{header}\n{scenario}\n")).unwrap();
    done(
        dir,
        &[
            "explain",
            "evil.jsonl",
            "-s",
            "summarize",
            "--window",
            "2000",
            "--html",
            "page.html",
        ],
    );
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    assert!(
        page.contains("alert(1)") && page.contains("default-src 'none'"),
        "{page}"
    );
    assert_eq!(
        page.matches("<script").count(),
        1,
        "the policy names the hash of the program's own"
    );
    for markup in ["<script>alert", "<img", "<b>", "</pre><"] {
        assert!(!page.replace("</pre>\n", "").contains(markup), "{markup}");
    }
}

#[test]
fn what_left_unread_is_told() {
    let dir = folder();
    let explain = |strategy: &str, model: &str| {
        done(
            dir.path(),
            &[
                "explain",
                "tiny.toml",
                "-s",
                strategy,
                "--model",
                model,
                "--window",
                "2000",
            ],
        )
    };
    let failed = explain("threshold-summary", "mock+server-error=1");
    assert!(
        failed.contains(" message(s) left with text that no summarizer read\n"),
        "{failed}"
    );
    let read = explain("summarize", "mock");
    assert!(
        read.contains("compacted") && !read.contains("unread"),
        "{read}"
    );
}

#[test]
fn a_page_that_cannot_be_written_is_named() {
    let dir = folder();
    let output = program(
        dir.path(),
        &[
            "explain",
            "tiny.toml",
            "-s",
            "null",
            "--html",
            "tiny.toml/page.html",
        ],
    );
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("cannot write `tiny.toml/page.html`") && said.contains("`--html`"),
        "{said}"
    );
}

/// The record of the run's case on that conversation.
fn of_conversation(dir: &Path, scenario: &str) -> Value {
    records(dir, "run")
        .into_iter()
        .find(|record| record["case"]["scenario"] == scenario)
        .unwrap()
}

#[test]
fn every_checkpoint_before_a_trigger_is_told() {
    let dir = folder();
    let dir = dir.path();
    done(
        dir,
        &[
            "run",
            "tiny.toml",
            "-s",
            "middleware-checkpoint",
            "--out",
            "run",
            "-q",
        ],
    );
    let told = done(
        dir,
        &["explain", "tiny.toml", "-s", "middleware-checkpoint"],
    );
    let title = told.lines().next().unwrap().split(' ').nth(2).unwrap();
    let record = of_conversation(dir, title);
    let checkpoints = record["checkpoints"].as_array().unwrap();
    assert!(checkpoints.len() > 2, "{told}");
    let lines = told
        .lines()
        .filter(|line| line.contains(": checkpoint, "))
        .collect::<Vec<_>>();
    assert_eq!(lines.len(), checkpoints.len());
    for (line, checkpoint) in lines.iter().zip(checkpoints) {
        let (after, tokens) = (
            checkpoint["after"].as_u64().unwrap(),
            checkpoint["tokens"].as_u64().unwrap(),
        );
        let (thousands, rest) = (tokens / 1_000, tokens % 1_000);
        let begin =
            format!("after message {after}: checkpoint, {thousands},{rest:03} tokens, read ");
        assert!(line.starts_with(&begin), "{line}: {begin}");
    }
    // In order of the log.
    let after = |line: &&str| {
        line.split([' ', ':'])
            .nth(2)
            .unwrap()
            .parse::<u32>()
            .unwrap()
    };
    let steps = told
        .lines()
        .filter(|line| line.starts_with("after message "))
        .collect::<Vec<_>>();
    assert!(steps.iter().map(after).is_sorted(), "{told}");
    // A model whose checkpoints fail is told too.
    let failing = done(
        dir,
        &[
            "explain",
            "tiny.toml",
            "-s",
            "middleware-checkpoint",
            "--model",
            "mock+server-error=1",
        ],
    );
    assert!(
        failing.contains(": no checkpoint, ") && !failing.contains(": checkpoint, "),
        "{failing}"
    );
}

#[test]
fn levels_and_merges_of_summaries_are_told_and_drawn() {
    let dir = folder();
    let dir = dir.path();
    let strategy = "aging=progressive:most=2:moderate_age=1:compact_age=2:compact=640:moderate=2400:detailed=6400";
    done(
        dir,
        &["run", "tiny.toml", "-s", strategy, "--out", "run", "-q"],
    );
    let told = done(dir, &["explain", "tiny.toml", "-s", strategy]);
    let record = of_conversation(dir, told.lines().next().unwrap().split(' ').nth(2).unwrap());
    let journeys = record["compactions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row.get("journey"));
    let journeys = journeys.collect::<Vec<_>>();
    let lines = told
        .lines()
        .filter_map(|line| line.strip_prefix("  summaries: "))
        .collect::<Vec<_>>();
    assert!(
        journeys.len() > 3 && lines.len() == journeys.len(),
        "{told}"
    );
    for (line, journey) in lines.iter().zip(&journeys) {
        let summaries = journey["summaries"].as_array().unwrap();
        let tokens = summaries
            .iter()
            .map(|summary| summary["tokens"].as_u64().unwrap())
            .sum::<u64>();
        assert_eq!(
            (journey["total"].as_u64(), journey["tokens"].as_u64()),
            (Some(summaries.len() as u64), Some(tokens))
        );
        for (level, count) in journey["by_level"].as_object().unwrap() {
            assert!(line.contains(&format!("{count} {level}")), "{line}");
        }
        assert!(
            line.replace(',', "").ends_with(&format!("{tokens} tokens")),
            "{line}"
        );
    }
    assert!(
        told.contains("  summary of round 1: detailed -> moderate\n"),
        "{told}"
    );
    assert!(
        told.contains("  summaries of rounds 1-2: merged\n"),
        "{told}"
    );

    done(
        dir,
        &[
            "explain",
            "tiny.toml",
            "-s",
            strategy,
            "--html",
            "page.html",
        ],
    );
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    let picture = between(
        &page,
        "<h2>The context after each compaction</h2>",
        "</figure>",
    )[0];
    assert!(
        told.contains("  summaries of rounds 1-3: merged\n"),
        "{told}"
    );
    for kind in ["a summary, detailed", "moderate", "compact"] {
        assert!(picture.contains(kind), "{picture}");
    }
    assert_eq!(
        between(&page, "<p>summaries: ", "</p>").len(),
        journeys.len()
    );
    // Another strategy shows one summary, which has no level.
    done(
        dir,
        &[
            "explain",
            "tiny.toml",
            "-s",
            "chained",
            "--html",
            "page.html",
        ],
    );
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    assert!(page.contains("a summary") && !page.contains("a summary, detailed"));
}
